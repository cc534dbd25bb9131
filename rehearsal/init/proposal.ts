/**
 * Puts together a contract out of what a project shows.
 *
 * @module
 */
import { AGENT_LIMITS, AGENT_NOTE, findPreset, type Preset, PRESETS } from "../presets/mod.ts";
import { type Entry, filesNamedIn } from "./_entry.ts";
import { findEntries } from "./entries.ts";
import { type Guess, guessCount, guessOutputs, scriptText } from "./outputs.ts";
import type { ProjectFacts } from "./project_facts.ts";
import { guessCheckpoint, guessEffects, guessLock } from "./side_files.ts";

/** The parts of a contract that a person is asked about. */
export interface Answers {
  /** The command that starts the job, as text for `sh -c`; `null` when none was found. */
  start: string | null;
  /** The command that recovers it, in the same form; the start where nothing else was found. */
  resume: string | null;
  /** Globs of the outputs. */
  artifacts: string[] | null;
  /** How many outputs a whole run leaves; `null` when nothing tells it. */
  count: number | null;
  /** Whether every run must give the same bytes as the control run. */
  sameAsControl: boolean;
  /** Path of the job's own record, and a JSON pointer to what is done; `null` when none. */
  checkpoint: { path: string; doneAt?: string } | null;
  /** Path of the job's lock file; `null` when none was found. */
  lock: string | null;
  /** File in which each effect is noted, and a pointer to the key in a line; `null` when none. */
  effects: { path: string; keyAt?: string } | null;
}

/** One of {@linkcode Answers}. */
export type AnswerId = keyof Answers;

/** What is proposed, and why. */
export interface Proposal {
  /** One answer for each part; `null` where nothing could be guessed. */
  answers: Answers;
  /** Where each answer comes from, or why there is none. */
  why: Record<AnswerId, string>;
  /** Other ways to start the job that were found. */
  alternatives: Entry[];
  /** Parts that nobody needs to be asked about. */
  extra: Record<string, unknown>;
  /** What the user should know. */
  notes: string[];
}

/** What is known before anything is guessed. */
export interface ProposalOptions {
  /** The command that starts the job, when the user has said it. */
  start?: string | undefined;
  /** Id of a preset that the user named. */
  preset?: string | undefined;
}

const PROMPT_REGEXP = /^(?:[\w-]*prompt[\w-]*|task|tasks|todo|plan|instructions)\.(?:md|txt)$/i;
/** Calls of a provider that is no agent program. */
const PROVIDER_REGEXP =
  /api\.(?:anthropic|openai)\.com|\b(?:import|from)\s+(?:anthropic|openai)\b|require\(["'](?:@anthropic-ai\/sdk|openai)["']\)|from\s+["'](?:@anthropic-ai\/sdk|openai)["']/;

/** Proposes a contract. */
export function propose(facts: ProjectFacts, options: ProposalOptions = {}): Proposal {
  const preset = options.preset === undefined ? null : findPreset(options.preset);
  const entries = [...(preset === null ? [] : [presetEntry(facts, preset)]), ...findEntries(facts)];
  const agent = options.preset === undefined && options.start === undefined && entries.length === 0
    ? hintedPreset(facts)
    : null;
  if (agent !== null) entries.push(presetEntry(facts, agent));
  const entry = options.start === undefined
    ? entries[0]
    : entries.find(({ start }) => start === options.start) ?? ownEntry(facts, options.start);
  const text = entry === undefined ? "" : scriptText(facts, entry.sources);
  const called = calledAgent(text, entry);
  const isPaid = preset !== null || agent !== null || called !== null || PROVIDER_REGEXP.test(text);
  const outputs = guessOutputs(facts, text);
  const count = outputs === null ? null : guessCount(facts, text, outputs.value);
  const parts = {
    checkpoint: guessCheckpoint(facts, text),
    lock: guessLock(facts, text),
    effects: guessEffects(facts, text),
  };
  return {
    answers: {
      start: entry?.start ?? null,
      resume: entry?.resume ?? entry?.start ?? null,
      artifacts: outputs?.value ?? null,
      count: count?.value ?? null,
      sameAsControl: false,
      checkpoint: parts.checkpoint?.value ?? null,
      lock: parts.lock?.value ?? null,
      effects: parts.effects?.value ?? null,
    },
    why: {
      start: entry === undefined ? "nothing in the project shows it" : `found in ${entry.from}`,
      resume: entry === undefined
        ? "nothing in the project shows it"
        : entry.resume === null
        ? "the same command again: right when it skips what is done"
        : "the project has one for it",
      artifacts: whyOf(outputs, "no folder of outputs was found"),
      count: whyOf(count, "nothing in the project says it"),
      sameAsControl: "say yes when every run gives the same bytes: nothing checks more",
      checkpoint: whyOf(parts.checkpoint, "none was found"),
      lock: whyOf(parts.lock, "none was found"),
      effects: whyOf(parts.effects, "none was found"),
    },
    alternatives: entries.filter((each) => each !== entry),
    extra: isPaid ? { control: false, limits: AGENT_LIMITS } : {},
    notes: isPaid ? [AGENT_NOTE] : [],
  };
}

function whyOf(guess: Guess<unknown> | null, otherwise: string): string {
  return guess?.why ?? otherwise;
}

/** Nearly every project has an agent's folder, so it counts only where nothing else starts a job. */
function hintedPreset(facts: ProjectFacts): Preset | null {
  return PRESETS.find(({ hints }) =>
    hints.some((hint) =>
      hint.endsWith("/")
        ? facts.files.some((path) => path.startsWith(hint))
        : facts.files.includes(hint)
    )
  ) ?? null;
}

function presetEntry(facts: ProjectFacts, preset: Preset): Entry {
  const prompt = facts.files.find((path) => PROMPT_REGEXP.test(path)) ?? "PROMPT.md";
  return {
    start: preset.start(prompt),
    resume: preset.resume(prompt),
    from: `the preset for ${preset.title}`,
    sources: facts.files.includes(prompt) ? [prompt] : [],
  };
}

function ownEntry(facts: ProjectFacts, start: string): Entry {
  return { start, resume: null, from: "your answer", sources: filesNamedIn(facts, start) };
}

function calledAgent(text: string, entry: Entry | undefined): Preset | null {
  return PRESETS.find(({ calls }) => calls.test(text) || calls.test(entry?.start ?? "")) ?? null;
}

/** The contract as it stands in `failure-lab.json`. Parts without an answer are left out. */
export function contractOf(
  answers: Answers,
  extra: Record<string, unknown>,
): Record<string, unknown> {
  const { start, resume, artifacts, count, sameAsControl, checkpoint, lock, effects } = answers;
  return {
    ...(start === null ? {} : { start }),
    ...(resume === null ? {} : { resume }),
    artifacts: {
      paths: artifacts ?? [],
      ...(count === null ? {} : { count }),
      ...(sameAsControl ? { sameAsControl } : {}),
    },
    ...(checkpoint === null ? {} : { checkpoint }),
    ...(lock === null ? {} : { lock: { path: lock } }),
    ...(effects === null ? {} : { effects }),
    ...extra,
  };
}

/** What to add by hand, as JSON, for each part that has no answer. */
export function missingParts({ count, checkpoint, lock, effects }: Answers): string[] {
  return [
    ...(count === null
      ? ['"count" in "artifacts": without it every verdict is unproven: {"count": 6}']
      : []),
    ...(checkpoint === null
      ? ['"checkpoint", for torn and lying checkpoints: {"checkpoint": {"path": "state.json"}}']
      : []),
    ...(lock === null ? ['"lock", for stale locks: {"lock": {"path": "run.lock"}}'] : []),
    ...(effects === null
      ? ['"effects", so that doubled sends are seen: {"effects": {"path": "sent.jsonl"}}']
      : []),
  ];
}
