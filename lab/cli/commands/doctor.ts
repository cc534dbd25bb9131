/**
 * `failure-lab doctor`: what this machine lacks, and which failures the contract allows.
 *
 * @module
 */
import type { LoadedConfig } from "../../../rehearsal/mod.ts";
import { EXIT_CODES } from "../../verdict.ts";
import type { Command, CommandContext } from "../command.ts";
import { contractOverrides } from "../contract_flags.ts";
import type { FlagValues } from "../flag_values.ts";
import { CONTRACT_FLAGS, PROJECT_FLAGS } from "../flags.ts";
import { type Output, visible } from "../output.ts";
import type { Machine, MachineCheck } from "./_doctor_machine.ts";

/** What a contract allows of one failure. */
export interface ReplayCheck {
  /** For example `stale-lock`. */
  id: string;
  /** Variants that can be done. */
  allowed: string[];
  /** What is missing for the others, with the JSON to add; `null` when nothing is. */
  missing: string | null;
}

/** What was found out about the contract. */
export interface ContractChecks {
  /** The file; `null` when only flags were given. */
  file: string | null;
  /** Its commands, as the machine finds them. */
  commands: MachineCheck[];
  /** Every failure. */
  replays: ReplayCheck[];
}

/** Looks at machine and contract. */
export const command: Command = {
  name: "doctor",
  summary: "Say what this machine lacks, and which failures your contract allows",
  usage: "doctor [--project DIR] [--config failure-lab.json] [flags]",
  description:
    "Tries out in small what a run needs: programs, the process table with the marker in the " +
    "environment, the kill of a whole group, the temp dir, the place for reports, the clock. With " +
    "a contract it also finds its commands, and says for each of the eleven failures whether it " +
    "can be done and which declaration is missing. Your job is not run. Exit 0: all there. 4: " +
    "something is lacking; a warning alone does not change the exit code.",
  flags: [
    ...PROJECT_FLAGS,
    ...CONTRACT_FLAGS,
    { kind: "boolean", name: "json", summary: "Print the result as JSON" },
  ],
  positionals: [],
  examples: [
    { line: "failure-lab doctor", does: "This machine, and the contract in this folder" },
    { line: "failure-lab doctor --project ~/job --json", does: "Another project, as JSON" },
  ],
  async run(context) {
    const { thisMachine } = await import("./_doctor_machine.ts");
    const { defaultReportDirs } = await import("../../report/mod.ts");
    const { clock } = context;
    const dirs = defaultReportDirs({
      env: (name) => Deno.env.get(name),
      timeIso: clock.wallIso(),
      command: "doctor",
      label: null,
    });
    return await examine(context, thisMachine(clock, dirs));
  },
};

/** Does the work of the command. */
export async function examine(context: CommandContext, machine: Machine): Promise<number> {
  const { flags, out } = context;
  const { checkMachine } = await import("./_doctor_machine.ts");
  out.progress("trying out what a run needs");
  const checks = await checkMachine(machine);
  context.signal.throwIfAborted();
  const contract = await examineContract(flags);
  const all = [...checks, ...contract instanceof Error ? [] : contract?.commands ?? []];
  const exitCode = contract instanceof Error
    ? EXIT_CODES.usage
    : all.some((check) => check.state === "lacking")
    ? EXIT_CODES.environment
    : EXIT_CODES.pass;
  if (flags.boolean("json")) {
    out.out(JSON.stringify(
      {
        schema: "failure-lab/doctor",
        version: 1,
        exitCode,
        machine: checks,
        contract: contract instanceof Error ? { error: contract.message } : contract,
      },
      null,
      2,
    ));
  } else await print(out, checks, contract, exitCode);
  return exitCode;
}

/** `null` when there is no contract, which is no fault; an error when there is one that is wrong. */
async function examineContract(flags: FlagValues): Promise<ContractChecks | Error | null> {
  const { CONFIG_NAME, ContractError, loadConfig } = await import("../../../rehearsal/mod.ts");
  const overrides = contractOverrides(flags);
  const project = flags.string("project") ?? ".";
  const isThere = await Deno.lstat(`${project}/${CONFIG_NAME}`).then(() => true, () => false);
  const isNamed = flags.given("config") || flags.given("project");
  if (!isThere && !isNamed && Object.keys(overrides).length === 0) return null;
  try {
    const config = loadConfig({
      cwd: Deno.cwd(),
      project: flags.string("project") ?? null,
      config: flags.string("config") ?? null,
      overrides,
    });
    return {
      file: config.file,
      commands: await commandChecks(config),
      replays: await replayChecks(config),
    };
  } catch (error) {
    if (error instanceof ContractError) return error;
    throw error;
  }
}

async function commandChecks({ contract, projectDir }: LoadedConfig): Promise<MachineCheck[]> {
  const { ContractError, jobEnvironment, resolveCommand } = await import(
    "../../../rehearsal/mod.ts"
  );
  const { check } = contract.artifacts;
  const workspace = "/the-copy";
  const { env } = jobEnvironment(Deno.env.toObject(), contract, projectDir, workspace);
  const places = { projectDir, workspace, path: env.PATH ?? "", env };
  const commands: [string, Parameters<typeof resolveCommand>[1] | undefined][] = [
    ["start", contract.start],
    ["resume", contract.resume],
    ["artifacts.check", check],
    ["monitor.start", contract.monitor?.start],
  ];
  return commands.flatMap(([id, value]): MachineCheck[] => {
    if (value === undefined) return [];
    try {
      return [{ id, state: "ok", text: resolveCommand(id, value, places).join(" ") }];
    } catch (error) {
      if (!(error instanceof ContractError)) throw error;
      return [{ id, state: "lacking", text: error.message }];
    }
  });
}

async function replayChecks({ contract }: LoadedConfig): Promise<ReplayCheck[]> {
  const { REPLAYS } = await import("../../../rehearsal/mod.ts");
  return REPLAYS.map(({ id, variants, needs }) => {
    const said = variants.map((variant) => [variant, needs(contract, variant)] as const);
    return {
      id,
      allowed: said.filter(([, need]) => need === null).map(([variant]) => variant),
      missing: said.find(([, need]) => need !== null)?.[1] ?? null,
    };
  });
}

async function print(
  out: Output,
  checks: readonly MachineCheck[],
  contract: ContractChecks | Error | null,
  exitCode: number,
): Promise<void> {
  const { padded, wrapped } = await import("../../report/text.ts");
  const { green, red, yellow, bold } = out.style;
  const paint = { ok: green, warning: yellow, lacking: red };
  const row = (state: string, name: string, text: string, colour: (text: string) => string) => {
    const head = `  ${padded(state, 8)} ${padded(name, 18)} `;
    const lines = wrapped(visible(text), Math.max(30, out.width - head.length));
    return lines.map((line, index) =>
      index === 0
        ? `  ${colour(padded(state, 8))} ${padded(name, 18)} ${line}`
        : " ".repeat(head.length) + line
    ).join("\n");
  };
  const checkRow = ({ id, state, text }: MachineCheck) => row(state, id, text, paint[state]);
  const lines = [bold("This machine"), ...checks.map(checkRow), ""];
  if (contract === null) {
    lines.push("There is no contract here. Write one with: failure-lab init", "");
  } else if (contract instanceof Error) {
    lines.push(red(visible(contract.message, { keepNewlines: true })), "");
  } else {
    lines.push(
      bold(contract.file === null ? "The contract (from the flags)" : visible(contract.file)),
      ...contract.commands.map(checkRow),
      "",
      bold("Failures that it allows"),
      ...contract.replays.map(({ id, allowed, missing }) =>
        missing === null
          ? row("yes", id, allowed.join(", "), green)
          : allowed.length === 0
          ? row("no", id, missing, yellow)
          : row("partly", id, `${allowed.join(", ")}. For the others: ${missing}`, yellow)
      ),
      "",
    );
  }
  lines.push(sentence(checks, contract, exitCode));
  out.out(lines.join("\n"));
}

function sentence(
  checks: readonly MachineCheck[],
  contract: ContractChecks | Error | null,
  exitCode: number,
): string {
  const lacking = checks.filter((check) => check.state === "lacking").map((check) => check.id);
  const machine = lacking.length === 0
    ? "This machine has all that is needed"
    : `This machine lacks: ${lacking.join(", ")}`;
  if (contract === null) return `${machine}. (exit ${exitCode})`;
  if (contract instanceof Error) return `${machine}; the contract is not right. (exit ${exitCode})`;
  const all = contract.replays;
  const count = all.filter((each) => each.allowed.length > 0).length;
  const broken = contract.commands.filter((each) => each.state === "lacking").map((each) =>
    each.id
  );
  const commands = broken.length === 0 ? "" : `; these commands cannot run: ${broken.join(", ")}`;
  return `${machine}; the contract allows ${count} of ${all.length} failures${commands}. ` +
    `(exit ${exitCode})`;
}
