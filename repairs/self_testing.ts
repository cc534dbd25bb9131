/**
 * The self-test of a repair: a few small failures, done for real in a disposable folder, that the
 * repair has to get right. A machine on which one of them goes wrong must not be trusted with the
 * repair.
 *
 * @module
 */
import { join } from "@std/path";
import { createLab } from "../lab/mod.ts";

/** One step of a self-test. */
export interface SelfTestStep {
  /** What has to hold, in plain words. */
  name: string;
  /** Whether it held. */
  ok: boolean;
  /** What was seen. */
  detail: string;
}

/** What a self-test found. */
export interface SelfTestResult {
  /** The repair. */
  module: string;
  /** Whether every step held; a self-test without steps is never ok. */
  ok: boolean;
  /** What was tried, in this order. */
  steps: SelfTestStep[];
}

/** What a step works with, and what it gives back: what it saw. It throws when that is wrong. */
export type SelfTestBody = (dir: string) => Promise<string> | string;

/** Something in a self-test is not as it has to be. */
export class SelfTestError extends Error {
  override name = "SelfTestError";
}

/** Fails a step unless `condition` holds. */
export function expect(condition: boolean, what: string): asserts condition {
  if (!condition) throw new SelfTestError(what);
}

/** What a self-test may be told. */
export interface SelfTestOptions {
  /** An existing folder to work in; without it a lab is made, and removed. */
  dir?: string | undefined;
}

/**
 * Runs the steps, each in an empty folder of its own, and removes the folders at the end, also
 * after a failure. Requires `ps`.
 *
 * @param atOnce Steps that run at the same time: for those that mostly wait.
 */
export async function runSelfTest(
  module: string,
  bodies: Readonly<Record<string, SelfTestBody>>,
  options: SelfTestOptions = {},
  atOnce = 1,
): Promise<SelfTestResult> {
  await using lab = options.dir === undefined ? await createLab() : null;
  const base = lab?.root ?? options.dir ?? "";
  const steps: SelfTestStep[] = [];
  const waiting = [...Object.entries(bodies).entries()];
  const work = async () => {
    for (let next; (next = waiting.shift()) !== undefined;) {
      const [index, [name, body]] = next;
      steps[index] = await runStep(name, body, join(base, `self-test-${module}-${index + 1}`));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return { module, ok: steps.length > 0 && steps.every((step) => step.ok), steps };
}

async function runStep(name: string, body: SelfTestBody, dir: string): Promise<SelfTestStep> {
  await Deno.mkdir(dir, { mode: 0o700 });
  try {
    return { name, ok: true, detail: await body(dir) };
  } catch (error) {
    const detail = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return { name, ok: false, detail };
  } finally {
    await Deno.remove(dir, { recursive: true }).catch(() => {});
  }
}
