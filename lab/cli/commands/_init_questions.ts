/**
 * The questions of `init`: one answer at a time, each with its default shown.
 *
 * @module
 */
import type { AnswerId, Answers, Proposal } from "../../../rehearsal/init/mod.ts";
import { visible } from "../output.ts";
import { UsageError } from "../errors.ts";

/** Gives the user's lines; `null` at the end of the input. */
export type ReadLine = () => Promise<string | null>;

/** What the questions need. */
export interface Dialogue {
  /** Reads one line. */
  readLine: ReadLine;
  /** Shows text to the user. */
  say: (text: string) => void;
  /** Says what is wrong with a part of a contract, or gives `null`. */
  problemWith: (part: Record<string, unknown>) => string | null;
}

interface Question<K extends AnswerId> {
  id: K;
  text: string;
  /** The default as the user would type it; empty when there is none. */
  shown: (answer: Answers[K]) => string;
  /** Reads an answer; a string is what is wrong with it. */
  read: (line: string, before: Answers[K]) => { value: Answers[K] } | string;
  /** What `-` means; `null` when the part cannot be left out. */
  none: { value: Answers[K] } | null;
  /** The part of a contract that the answer makes, for its rules. */
  part: (answer: Answers[K]) => Record<string, unknown>;
}

function question<K extends AnswerId>(one: Question<K>): Question<K> {
  return one;
}

const commandQuestion = <K extends "start" | "resume">(id: K, text: string) =>
  question<"start" | "resume">({
    id,
    text,
    shown: (answer) => answer ?? "",
    read: (line) => ({ value: line }),
    none: null,
    part: (answer) => ({ [id]: answer }),
  });

const QUESTIONS = {
  start: commandQuestion("start", "How is the job started? (a command for sh -c)"),
  resume: commandQuestion("resume", "How is it resumed after a failure?"),
  artifacts: question<"artifacts">({
    id: "artifacts",
    text: "Which files show finished work? (globs in the project, commas between them)",
    shown: (answer) => answer?.join(", ") ?? "",
    read: (line) => ({ value: line.split(",").map((glob) => glob.trim()).filter(Boolean) }),
    none: null,
    part: (answer) => ({ artifacts: { paths: answer } }),
  }),
  count: question<"count">({
    id: "count",
    text: "How many of them does a finished run leave? (without a number nothing can be proven)",
    shown: (answer) => answer === null ? "" : String(answer),
    read: (line) => /^\d{1,9}$/.test(line) ? { value: Number(line) } : "it takes a whole number",
    none: { value: null },
    part: (answer) => ({
      artifacts: { paths: ["x"], ...(answer === null ? {} : { count: answer }) },
    }),
  }),
  sameAsControl: question<"sameAsControl">({
    id: "sameAsControl",
    text: "Is their content the same in every run? (y or n)",
    shown: (answer) => answer ? "y" : "n",
    read: (line) => /^(y|yes|n|no)$/i.test(line) ? { value: /^y/i.test(line) } : "it takes y or n",
    none: null,
    part: () => ({}),
  }),
  checkpoint: question<"checkpoint">({
    id: "checkpoint",
    text: "In which file does the job note what it has done? (its checkpoint)",
    shown: (answer) => answer?.path ?? "",
    read: (line, before) => ({ value: before?.path === line ? before : { path: line } }),
    none: { value: null },
    part: (answer) => answer === null ? {} : { checkpoint: answer },
  }),
  lock: question<"lock">({
    id: "lock",
    text: "Which lock does it take?",
    shown: (answer) => answer ?? "",
    read: (line) => ({ value: line }),
    none: { value: null },
    part: (answer) => answer === null ? {} : { lock: { path: answer } },
  }),
  effects: question<"effects">({
    id: "effects",
    text: "In which file does it note what it sends or does outside? (one line each)",
    shown: (answer) => answer?.path ?? "",
    read: (line, before) => ({ value: before?.path === line ? before : { path: line } }),
    none: { value: null },
    part: (answer) => answer === null ? {} : { effects: answer },
  }),
} as const;

/** In the order in which they are asked. */
export const QUESTION_IDS: readonly AnswerId[] = Object.keys(QUESTIONS) as AnswerId[];

/** Wrong answers in a row after which we stop asking. */
const TRIES_MAX = 5;

/**
 * Asks the questions that are not answered yet, and puts the answers in.
 *
 * @param ids What to ask.
 * @throws {UsageError} When the input ends before the last answer, or no answer fits.
 */
export async function askQuestions(
  proposal: Proposal,
  ids: readonly AnswerId[],
  dialogue: Dialogue,
): Promise<void> {
  for (const id of ids) {
    // Each question has its own type of answer, which only its own functions see.
    const one = QUESTIONS[id] as unknown as Question<AnswerId>;
    const { answers } = proposal as { answers: Record<AnswerId, Answers[AnswerId]> };
    const answer = await ask(one, proposal, dialogue);
    if (JSON.stringify(answer) !== JSON.stringify(answers[id])) proposal.why[id] = "your answer";
    answers[id] = answer;
  }
}

async function ask(
  one: Question<AnswerId>,
  proposal: Proposal,
  { readLine, say, problemWith }: Dialogue,
): Promise<Answers[AnswerId]> {
  const before = proposal.answers[one.id];
  const shown = one.shown(before);
  const others = one.id === "start" ? proposal.alternatives.map((entry) => entry.start) : [];
  say(questionText(one, shown, proposal.why[one.id], others));
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const line = (await readLine())?.trim();
    if (line === undefined) {
      throw new UsageError("The input ended before the last question. Nothing was written.");
    }
    if (line === "-" && one.none !== null) return one.none.value;
    if (line === "" && shown === "" && one.none !== null) return one.none.value;
    const text = line === "" ? shown : /^\d$/.test(line) ? others[Number(line) - 1] ?? line : line;
    const read = text === "" ? "it needs an answer" : one.read(text, before);
    const problem = typeof read === "string" ? read : problemWith(one.part(read.value));
    if (typeof read !== "string" && problem === null) return read.value;
    say(`  That cannot be used: ${visible(problem ?? "it does not fit")}. Once more:`);
  }
  throw new UsageError(
    `No answer to "${one.text}" could be used in ${TRIES_MAX} tries. Nothing was written.`,
  );
}

function questionText(
  one: Question<AnswerId>,
  shown: string,
  why: string,
  others: readonly string[],
): string {
  const choice = others.slice(0, 5).map((start, index) => `  ${index + 1}  ${visible(start)}`);
  const none = one.none === null ? "" : "; - for none";
  return [
    "",
    one.text,
    ...(choice.length === 0 ? [] : ["  Also found; its number takes it:", ...choice]),
    shown === ""
      ? `  No default (${why})${one.none === null ? "" : "; Enter or - for none"}`
      : `  Enter takes: ${visible(shown)}   (${why}${none})`,
  ].join("\n");
}
