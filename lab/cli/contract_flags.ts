/**
 * Turns the flags of a command line into the parts of a contract that they override.
 *
 * @module
 */
import type { FlagValues } from "./flag_values.ts";

/** The parts that were given, in the shape of `failure-lab.json`. */
export function contractOverrides(flags: FlagValues): Record<string, unknown> {
  const parts: Record<string, unknown> = {};
  const put = (path: string, value: unknown) => {
    if (value === undefined) return;
    const keys = path.split(".");
    const last = keys.pop() ?? path;
    let inner = parts;
    for (const key of keys) {
      inner[key] ??= {};
      inner = inner[key] as Record<string, unknown>;
    }
    inner[last] = value;
  };
  const list = (name: string) => flags.given(name) ? flags.strings(name) : undefined;
  const yes = (name: string) => flags.given(name) ? flags.boolean(name) : undefined;
  put("start", flags.string("start"));
  put("resume", flags.string("resume"));
  put("artifacts.paths", list("artifacts"));
  put("artifacts.count", flags.integer("count"));
  put("artifacts.minBytes", flags.given("min-bytes") ? flags.bytes("min-bytes") : undefined);
  put("artifacts.endsWith", flags.string("ends-with"));
  put("artifacts.sameAsControl", yes("same-as-control"));
  put("artifacts.check", flags.string("check"));
  put("checkpoint.path", flags.string("checkpoint"));
  put("checkpoint.doneAt", flags.string("done-at"));
  put("lock.path", flags.string("lock"));
  put("effects.path", flags.string("effects"));
  put("effects.keyAt", keyAtOf(flags.string("key-at")));
  put("monitor.start", flags.string("monitor"));
  put("killAfterArtifacts", flags.integer("kill-after"));
  put("limits.runSeconds", flags.durationSeconds("run-seconds"));
  put("limits.idleSeconds", flags.durationSeconds("idle-seconds"));
  put("limits.graceSeconds", flags.durationSeconds("grace-seconds"));
  put("watch", list("watch"));
  put("env", envOf(list("env")));
  put("leaveBehind", list("leave-behind"));
  put("control", yes("control"));
  put("startFails", yes("start-fails"));
  return parts;
}

/** A JSON pointer, or the number of a word. */
function keyAtOf(text: string | undefined): string | number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : text;
}

function envOf(pairs: string[] | undefined): Record<string, string> | undefined {
  if (pairs === undefined) return undefined;
  return Object.fromEntries(pairs.map((pair) => {
    const at = pair.indexOf("=");
    return [pair.slice(0, at), pair.slice(at + 1)];
  }));
}
