/**
 * Proposing a contract for a project: what it shows of its job, put into the form of
 * `failure-lab.json`.
 *
 * This file is the only door of the folder.
 *
 * @module
 */
export type { Entry } from "./_entry.ts";
export { type ProjectFacts, readProject } from "./project_facts.ts";
export {
  type AnswerId,
  type Answers,
  contractOf,
  missingParts,
  type Proposal,
  type ProposalOptions,
  propose,
} from "./proposal.ts";
