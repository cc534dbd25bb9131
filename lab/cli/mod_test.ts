import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { Command, CommandContext, CommandEntry } from "./command.ts";
import { EnvironmentError, run, UsageError } from "./mod.ts";
import { captureOutput } from "./output.ts";
import { REGISTRY } from "./registry.ts";
import { commandLine } from "./shell_quote.ts";
import type { SignalSource, StopSignal } from "./signals.ts";

function command(name: string, does: (context: CommandContext) => Promise<number>): Command {
  return {
    name,
    summary: `Test command ${name}`,
    usage: `${name} [flags]`,
    description: "Only for tests.",
    flags: [{ kind: "boolean", name: "json", summary: "Print JSON" }],
    positionals: [],
    examples: [{ line: `failure-lab ${name}`, does: "Runs it" }],
    run: does,
  };
}

function registryOf(...commands: Command[]): CommandEntry[] {
  return commands.map((one) => ({ name: one.name, load: () => Promise.resolve({ command: one }) }));
}

class FakeSignals implements SignalSource {
  readonly handlers = new Map<StopSignal, Set<() => void>>();
  add(signal: StopSignal, handler: () => void): void {
    this.handlers.set(signal, (this.handlers.get(signal) ?? new Set()).add(handler));
  }
  remove(signal: StopSignal, handler: () => void): void {
    this.handlers.get(signal)?.delete(handler);
  }
  send(signal: StopSignal): void {
    for (const handler of this.handlers.get(signal) ?? []) handler();
  }
  get listening(): number {
    return [...this.handlers.values()].reduce((sum, set) => sum + set.size, 0);
  }
}

Deno.test("a command gets its flags and its exit code is passed on", async () => {
  const output = captureOutput();
  const probe = command("probe", ({ flags, out, rerun }) => {
    out.out(`${flags.boolean("json")} ${rerun}`);
    return Promise.resolve(3);
  });
  const signals = new FakeSignals();
  const code = await run(["probe", "--json"], { registry: registryOf(probe), output, signals });
  assertEquals(code, 3);
  assertEquals(output.stdout, "true failure-lab probe --json\n");
  assertEquals(output.stderr, "");
  assertEquals(signals.listening, 0);
});

Deno.test("usage errors go to standard error with exit 2 and the way to the help", async () => {
  const registry = registryOf(command("probe", () => Promise.resolve(0)));
  const cases: [string[], string][] = [
    [["prboe"], "Did you mean probe?"],
    [["nothing-like-it"], "failure-lab --help lists the commands"],
    [["probe", "--jsno"], "More: failure-lab probe --help"],
    [["--json", "probe"], "Flags go after the command"],
    [["--version", "x"], "stands alone"],
    [["--__proto__"], "must be a command"],
    [["__proto__"], "There is no command"],
    [["constructor"], "There is no command"],
    [[""], "There is no command"],
    [[], "No command was given"],
    [["help", "demmo"], "There is no command"],
    [["--help", "prboe"], "Did you mean probe?"],
  ];
  for (const [args, text] of cases) {
    const output = captureOutput();
    assertEquals(await run(args, { registry, output, signals: new FakeSignals() }), 2, `${args}`);
    assertEquals(output.stdout, "", `${args}`);
    assertStringIncludes(output.stderr, text);
  }
});

Deno.test("a place that the runtime keeps closed is no defect, and is named", async () => {
  const closed = new Deno.errors.NotCapable('Requires all access to "/dev/shm/x", specify');
  const output = captureOutput();
  const registry = registryOf(command("probe", () => Promise.reject(closed)));
  const code = await run(["probe"], { registry, output, signals: new FakeSignals() });
  assertEquals(code, 4);
  assertStringIncludes(output.stderr, 'failure-lab: Cannot use "/dev/shm/x": the runtime of');
});

Deno.test("errors that carry an exit code are printed without a stack", async () => {
  class OwnError extends Error {
    readonly exitCode = 5;
  }
  for (
    const [error, expected] of [
      [new EnvironmentError("no ps\x07 here"), 4],
      [new UsageError("wrong"), 2],
      [new OwnError("left the lab"), 5],
    ] as const
  ) {
    const output = captureOutput();
    const registry = registryOf(command("probe", () => Promise.reject(error)));
    const code = await run(["probe"], { registry, output, signals: new FakeSignals() });
    assertEquals(code, expected);
    assertStringIncludes(output.stderr, `failure-lab: ${error.message.replace("\x07", "\\x07")}`);
    assert(!output.stderr.includes("    at "), output.stderr);
  }
});

Deno.test("an unexpected error is thrown on, and the listeners are gone", async () => {
  const signals = new FakeSignals();
  const registry = registryOf(command("probe", () => Promise.reject(new TypeError("defect"))));
  await assertRejects(
    () => run(["probe"], { registry, output: captureOutput(), signals }),
    TypeError,
    "defect",
  );
  assertEquals(signals.listening, 0);
});

Deno.test("the first signal aborts, the second explains, the third leaves at once", async () => {
  const signals = new FakeSignals();
  const output = captureOutput();
  const exits: number[] = [];
  const seen: unknown[] = [];
  const probe = command("probe", ({ signal, interruptedBy }) => {
    seen.push(interruptedBy(), signal.aborted);
    signals.send("SIGINT");
    seen.push(interruptedBy(), signal.aborted);
    assertStringIncludes(output.stderr, "cleaning up");
    signals.send("SIGTERM");
    assertStringIncludes(output.stderr, "still running");
    assertEquals(exits, []);
    signals.send("SIGINT");
    return Promise.resolve(0);
  });
  const code = await run(["probe"], {
    registry: registryOf(probe),
    output,
    signals,
    exit: (exitCode) => exits.push(exitCode),
  });
  assertEquals(code, 130);
  assertEquals(seen, [null, false, "SIGINT", true]);
  assertEquals(exits, [130]);
  assertStringIncludes(output.stderr, "keeper");
  assertEquals(signals.listening, 0);
});

Deno.test("a command that ends by throwing the abort gives 143 after TERM, not a defect", async () => {
  const signals = new FakeSignals();
  const probe = command("probe", ({ signal }) => {
    signals.send("SIGTERM");
    return Promise.reject(signal.reason);
  });
  const registry = registryOf(probe);
  assertEquals(await run(["probe"], { registry, output: captureOutput(), signals }), 143);
});

Deno.test("a real TERM signal reaches the command", async () => {
  const probe = command("probe", async ({ signal }) => {
    const aborted = new Promise((resolve) => signal.addEventListener("abort", resolve));
    // The listener of Deno needs a live event loop to be called.
    const alive = setTimeout(() => {}, 10_000);
    Deno.kill(Deno.pid, "SIGTERM");
    await aborted;
    clearTimeout(alive);
    return 0;
  });
  const registry = registryOf(probe);
  assertEquals(await run(["probe"], { registry, output: captureOutput() }), 143);
});

Deno.test("groups hand over to the command they name, and list what they have", async () => {
  const lease = command("lease", ({ flags }) => Promise.resolve(flags.boolean("json") ? 0 : 1));
  const group: Command = {
    ...command("repair", () => Promise.reject(new Error("never"))),
    flags: [],
    subcommands: registryOf(lease, command("outbox", () => Promise.resolve(0))),
  };
  const registry = registryOf(group);
  const attempt = async (...args: string[]) => {
    const output = captureOutput();
    return { code: await run(args, { registry, output, signals: new FakeSignals() }), output };
  };
  assertEquals((await attempt("repair", "lease", "--json")).code, 0);
  assertEquals((await attempt("repair", "lease")).code, 1);
  const bare = await attempt("repair");
  assertEquals(bare.code, 2);
  assertStringIncludes(bare.output.stderr, "one of: lease, outbox");
  assertStringIncludes(
    (await attempt("repair", "laese")).output.stderr,
    "Did you mean repair lease?",
  );
  const help = await attempt("repair", "--help");
  assertEquals(help.code, 0);
  assertStringIncludes(help.output.stdout, "Test command outbox");
  assertStringIncludes((await attempt("repair", "lease", "-h")).output.stdout, "repair lease:");
  assertEquals((await attempt("--help", "repair", "lease", "x")).code, 2);
});

Deno.test("help lists every command, and the exit codes come last", async () => {
  const output = captureOutput();
  assertEquals(await run(["--help"], { output }), 0);
  for (const entry of REGISTRY) assertStringIncludes(output.stdout, `\n  ${entry.name} `);
  assertStringIncludes(output.stdout.slice(output.stdout.indexOf("Exit codes:")), "143");
  assert(output.stdout.split("\n").every((line) => line.length <= 100));
  const same = captureOutput();
  assertEquals(await run(["help"], { output: same, signals: new FakeSignals() }), 0);
  assertEquals(same.stdout, output.stdout);
});

Deno.test("every command is called as the registry calls it, and its examples are read well", async () => {
  const { parseArguments } = await import("./arguments.ts");
  const { findCommand } = await import("./dispatch.ts");
  for (const entry of REGISTRY) {
    const { command } = await entry.load();
    assertEquals(command.name, entry.name);
    const commands = command.subcommands
      ? await Promise.all(command.subcommands.map(async (sub) => (await sub.load()).command))
      : [command];
    for (const one of commands) {
      const atLeast = command.subcommands ? 1 : 2;
      assert(one.examples.length >= atLeast, `${one.name} needs ${atLeast} examples`);
      for (const { line } of one.examples) {
        const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, a, b]) => a ?? b ?? "");
        assertEquals(words.shift(), "failure-lab", line);
        const found = await findCommand(REGISTRY, words);
        // The example of a group names one of its own.
        const names = [one.name, ...(one.subcommands ?? []).map((sub) => sub.name)];
        assert(names.includes(found.command.name), line);
        parseArguments(found.command, found.args);
      }
      for (const flag of one.flags) {
        assert(/^[a-z][a-z0-9-]*[a-z]$/.test(flag.name), flag.name);
        // "--no-x" is read as the opposite of a switch "x".
        assert(!flag.name.startsWith("no-"), `${one.name} --${flag.name}`);
        assert(!flag.summary.endsWith("."), `${one.name} --${flag.name}`);
      }
      assertEquals(new Set(one.flags.map((flag) => flag.name)).size, one.flags.length, one.name);
    }
  }
});

Deno.test("the line to run it again survives a shell", () => {
  assertEquals(
    commandLine(["rehearse", "--start", "a 'b' $c", "--env=X=", "", "x\ny"]),
    `failure-lab rehearse --start 'a '\\''b'\\'' $c' --env=X= '' 'x\ny'`,
  );
});
