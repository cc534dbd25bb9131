/**
 * `failure-lab receipt RUN`: a saved run in a form that can be handed out and checked.
 *
 * @module
 */
import { dirname, join, resolve } from "@std/path";
import type { MadeReceipt, RedactionContext } from "../../../rehearsal/mod.ts";
import { EXIT_CODES } from "../../verdict.ts";
import type { Command, CommandContext } from "../command.ts";
import { EnvironmentError, UsageError } from "../errors.ts";
import { type Output, visible } from "../output.ts";

const FILE_NAME = "receipt.json";

/** Makes a receipt of a saved run. */
export const command: Command = {
  name: "receipt",
  summary: "Make a receipt of a saved run, to hand to someone who can check it",
  usage: "receipt RUN [--out FILE] [flags]",
  description:
    "Writes the records of a report without what tells about your machine: the project's folder, " +
    "home, temp and other absolute paths, user and host name, values of the contract's environment " +
    "and of secret-looking variables. Names of outputs stay, because the receipt is checked " +
    "against them; what the commands printed stays as well, unless you leave it out. Look through " +
    "it before you hand it out. It is sealed by hashes, so that a changed byte is found by " +
    "'failure-lab verify'. It is not a signature: it shows that nothing was changed since it was " +
    "made, not who made it, and anybody can make a new one.",
  flags: [
    {
      kind: "string",
      name: "out",
      valueName: "FILE",
      summary: "Where to write it; - is standard output",
      defaultText: "receipt.json in the report's folder",
    },
    {
      kind: "boolean",
      name: "omit-output",
      summary: "Leave out what the commands of the job printed",
    },
  ],
  positionals: [{
    name: "RUN",
    summary: "A report folder, its report.json, or the word latest for the newest report",
    required: true,
  }],
  examples: [
    { line: "failure-lab receipt latest", does: "Beside the newest report" },
    {
      line: "failure-lab receipt latest --omit-output --out receipt.json",
      does: "In this folder, without what the job printed",
    },
  ],
  async run({ flags, positionals, out }: CommandContext) {
    const { readSavedRun } = await import("./_saved_run.ts");
    const { makeReceipt, receiptText } = await import("../../../rehearsal/mod.ts");
    const { path, set } = readSavedRun(positionals[0] ?? "", "RUN");
    const made = makeReceipt({
      command: String(set.command),
      startedAt: String(set.startedAt),
      endedAt: typeof set.endedAt === "string" ? set.endedAt : null,
      interrupted: typeof set.interrupted === "string" ? set.interrupted : null,
      records: set.runs.map((run) => run.record),
    }, machineContext(dirname(path), flags.boolean("omit-output")));
    const text = receiptText(made.receipt);
    const target = flags.string("out") ?? join(dirname(path), FILE_NAME);
    if (target === "-") out.out(text);
    else await write(resolve(target), text);
    await tell(out, made, target);
    return EXIT_CODES.pass;
  },
};

/** What this machine knows about itself. */
export function machineContext(reportDir: string, omitOutput: boolean): RedactionContext {
  const env = Deno.env.toObject();
  const temps = [env.TMPDIR, "/tmp", "/var/tmp"].flatMap((path) => path ? [path] : []);
  return {
    home: env.HOME?.startsWith("/") && env.HOME !== "/" ? env.HOME : null,
    users: [env.USER, env.LOGNAME].flatMap((name) => name ? [name] : []),
    host: hostName(),
    tempDirs: [...new Set([...temps, ...temps.map(realPath)])].map((path) =>
      path.replace(/\/+$/, "")
    ),
    reportDir,
    env,
    omitOutput,
  };
}

function hostName(): string | null {
  try {
    return Deno.hostname() || null;
  } catch {
    return null; // Not known, so there is nothing to take out.
  }
}

function realPath(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch {
    return path;
  }
}

async function write(path: string, text: string): Promise<void> {
  const { replaceFile } = await import("../../report/mod.ts");
  const { whyNot } = await import("../../report/folder.ts");
  if (!isFreeOrReceipt(path)) {
    throw new UsageError(
      `--out is "${path}", where something else lies already. It stays as it is; name another file`,
    );
  }
  try {
    await replaceFile(path, text);
  } catch (error) {
    throw new EnvironmentError(
      `The receipt cannot be written to "${path}": ${whyNot(error)}. Name another place with --out`,
      { cause: error },
    );
  }
}

/** An older receipt may be replaced, and nothing else. */
function isFreeOrReceipt(path: string): boolean {
  try {
    const info = Deno.lstatSync(path);
    return info.isFile && JSON.parse(Deno.readTextFileSync(path)).schema === "failure-lab/receipt";
  } catch (error) {
    return error instanceof Deno.errors.NotFound;
  }
}

async function tell(out: Output, { receipt, redaction }: MadeReceipt, target: string) {
  const { paragraph, plural } = await import("../../report/mod.ts");
  const say = target === "-" ? out.err : out.out;
  const replaced = Object.entries(redaction.replaced);
  const total = replaced.reduce((sum, [, count]) => sum + count, 0);
  const names = replaced.map(([token]) => token).filter((token) => !/^<(path|env)/.test(token));
  const text = (line: string) => paragraph(visible(line), out.width);
  say([
    ...(target === "-" ? [] : [visible(resolve(target))]),
    text(
      `${plural(receipt.sections.length, "section")}, sealed; ${plural(total, "private part")} ` +
        `replaced${names.length === 0 ? "" : ` (${names.join(" ")})`}.`,
    ),
    ...redaction.left.map((line) => out.style.yellow(text(`Look at this: ${line}.`))),
    text(
      "It shows that nothing was changed since it was made, not who made it. Look through it " +
        "before you hand it out; to check it: failure-lab verify " +
        (target === "-" ? "FILE" : target),
    ),
  ].join("\n"));
}
