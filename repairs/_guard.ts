/**
 * The guard of a lease: one small file beside the lock (`NAME.fence`) that holds the generation,
 * and whose kernel lock makes takers wait for each other. The kernel drops that lock at any death,
 * so the guard itself can never be stale. The file stays for ever: its number must not begin anew.
 *
 * @module
 */
import type { Clock } from "../lab/mod.ts";
import { writeAll } from "./_durable.ts";
import { RepairError } from "./errors.ts";

/** Where the generation of a lock is kept. */
export function fencePath(lockPath: string): string {
  return `${lockPath}.fence`;
}

/** The generation that was given out last; 0 when none was. */
export function readGeneration(lockPath: string): number {
  try {
    return parseGeneration(Deno.readTextFileSync(fencePath(lockPath)), lockPath);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return 0;
    throw error;
  }
}

function parseGeneration(text: string, lockPath: string): number {
  if (text === "") return 0;
  const match = /^(\d{1,16})\n$/.exec(text);
  if (match === null) {
    throw new RepairError(
      `Cannot tell the generation of "${lockPath}": "${fencePath(lockPath)}" holds no number. ` +
        "Write into it a number that is larger than any generation so far, and a line end",
    );
  }
  return Number(match[1]);
}

/** The guard, held. */
export interface Guard extends Disposable {
  /** The last generation, or a new one that is on disk before this returns. */
  generation: number;
  /**
   * Gives out the next generation.
   *
   * @param seen A generation that was met elsewhere; the next one is larger than that, too.
   */
  next(seen: number): number;
}

/** Always as many digits, so that it is written over in one piece and never cut short. */
const DIGITS = 16;

/**
 * Waits for the guard, at most `limitMs`.
 *
 * @returns `null` when another taker held it for all that time.
 */
export async function openGuard(
  lockPath: string,
  limitMs: number,
  clock: Clock,
): Promise<Guard | null> {
  const file = await Deno.open(fencePath(lockPath), { read: true, write: true, create: true });
  const locking = file.lock(true).then(() => true);
  const enough = new AbortController();
  let isLocked: boolean;
  try {
    isLocked = await Promise.race([
      locking,
      clock.sleep(limitMs, enough.signal).then(() => false),
    ]);
  } catch (error) {
    file.close();
    throw error;
  } finally {
    enough.abort();
  }
  if (!isLocked) {
    // It cannot be called off; once it comes it is given back at once.
    locking.finally(() => file.close()).catch(() => {});
    return null;
  }
  let generation: number;
  try {
    generation = readGeneration(lockPath);
  } catch (error) {
    file.close();
    throw error;
  }
  const guard: Guard = {
    generation,
    next(seen) {
      guard.generation = Math.max(guard.generation, seen) + 1;
      // In place: another file under this name would be another lock.
      file.seekSync(0, Deno.SeekMode.Start);
      const text = `${String(guard.generation).padStart(DIGITS, "0")}\n`;
      writeAll(file, new TextEncoder().encode(text));
      file.syncSync();
      return guard.generation;
    },
    [Symbol.dispose]: () => file.close(),
  };
  return guard;
}
