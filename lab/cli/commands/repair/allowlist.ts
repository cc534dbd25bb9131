/**
 * `failure-lab repair allowlist`.
 *
 * @module
 */
import { runInScope, SCOPE_BROKEN_EXIT } from "../../../../repairs/mod.ts";
import type { Command } from "../../command.ts";
import { UsageError } from "../../errors.ts";
import { runRepair, WRAPPER_FLAGS } from "./common.ts";

/** Runs a job and puts back what it changed where it may not. */
export const command: Command = {
  name: "allowlist",
  summary: "Put back what a job changed outside the places where it may write",
  usage: "repair allowlist --allow out/ [--root DIR] [flags] -- COMMAND…",
  description:
    "Hashes and copies the folder, runs COMMAND, and puts back byte for byte what changed " +
    "outside --allow, links resolved; the work in allowed places stays. Nothing outside the " +
    "folder is written, except --protect places, from a copy of their own. The exit code is that " +
    "of COMMAND; " +
    `${SCOPE_BROKEN_EXIT} when a watched place outside changed and was not put back; 3 when a ` +
    "revert would not have been safe, or COMMAND left something running. This is observation " +
    "after the fact and no sandbox.",
  flags: [
    {
      kind: "string",
      name: "allow",
      valueName: "PATH",
      repeatable: true,
      summary:
        "What COMMAND may change: paths or globs in the folder; a folder allows all in it; needed",
    },
    {
      kind: "string",
      name: "root",
      valueName: "DIR",
      summary: "The folder; COMMAND itself runs where you are",
      defaultText: "this folder",
    },
    {
      kind: "string",
      name: "protect",
      valueName: "PATH",
      repeatable: true,
      summary:
        "A place outside that is put back, too (its .git folders are left alone); whatever " +
        "you change there meanwhile is put back as well",
    },
    {
      kind: "string",
      name: "watch",
      valueName: "PATH",
      repeatable: true,
      summary: "A place outside whose changes are told; links that lead out are watched anyway",
    },
    {
      kind: "string",
      name: "keep",
      valueName: "DIR",
      summary: "Keep copies of files that were put back, as COMMAND had left them",
      defaultText: "not kept",
    },
    ...WRAPPER_FLAGS,
  ],
  positionals: [],
  rest: { name: "COMMAND", summary: "the job to run, with its arguments", required: true },
  examples: [
    {
      line: "failure-lab repair allowlist --allow out/ --allow 'logs/*.log' -- ./agent.sh",
      does: "Everything else in this folder stays as it is",
    },
    {
      line: "failure-lab repair allowlist --allow . --protect ../main --keep ../lost -- ./agent.sh",
      does: "A job in a linked work tree that must not touch the main one",
    },
  ],
  run(context) {
    const { flags, clock } = context;
    const allow = flags.strings("allow");
    if (allow.length === 0) {
      throw new UsageError("allowlist needs the places where the job may write: --allow out/");
    }
    return runRepair(context, "allowlist", async (tools) => {
      try {
        const result = await runInScope({
          argv: context.rest,
          root: flags.string("root") ?? Deno.cwd(),
          allow,
          protect: flags.strings("protect"),
          watch: flags.strings("watch"),
          keepDir: flags.string("keep"),
          clock,
          ...tools,
        });
        return { exitCode: result.exitCode, result };
      } catch (error) {
        // An allowed path that leads out, or a root that is not there.
        if (error instanceof RangeError && error.message.startsWith("Cannot allow")) {
          throw new UsageError(`--allow: ${error.message}.`);
        }
        if (error instanceof Deno.errors.NotFound) {
          throw new UsageError(`--root: ${error.message}.`);
        }
        throw error;
      }
    });
  },
};
