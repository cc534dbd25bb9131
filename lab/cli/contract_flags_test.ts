// Flags that override parts of the contract.

import { assertEquals, assertThrows } from "@std/assert";
import { parseContract } from "../../rehearsal/contract.ts";
import { parseArguments } from "./arguments.ts";
import type { Command } from "./command.ts";
import { contractOverrides } from "./contract_flags.ts";
import { UsageError } from "./errors.ts";
import { CONTRACT_FLAGS } from "./flags.ts";

const COMMAND: Command = {
  name: "rehearse",
  summary: "",
  usage: "",
  description: "",
  flags: CONTRACT_FLAGS,
  positionals: [],
  examples: [],
  run: () => Promise.resolve(0),
};

function overrides(...args: string[]): Record<string, unknown> {
  return contractOverrides(parseArguments(COMMAND, args).flags);
}

Deno.test("contractOverrides() gives nothing where nothing was given", () => {
  assertEquals(overrides(), {});
});

Deno.test("contractOverrides() puts each flag where the contract has it", () => {
  const table: [string[], Record<string, unknown>][] = [
    [["--start", "./run.sh"], { start: "./run.sh" }],
    [["--resume", "./run.sh -r"], { resume: "./run.sh -r" }],
    [["--artifacts", "a/*", "--artifacts", "b/*"], { artifacts: { paths: ["a/*", "b/*"] } }],
    [["--count", "6"], { artifacts: { count: 6 } }],
    [["--count", "0"], { artifacts: { count: 0 } }],
    [["--min-bytes", "2KB"], { artifacts: { minBytes: 2000 } }],
    [["--ends-with", "END"], { artifacts: { endsWith: "END" } }],
    [["--same-as-control"], { artifacts: { sameAsControl: true } }],
    [["--no-same-as-control"], { artifacts: { sameAsControl: false } }],
    [["--check", "./check.sh"], { artifacts: { check: "./check.sh" } }],
    [["--checkpoint", "s.json"], { checkpoint: { path: "s.json" } }],
    [["--done-at", "/done"], { checkpoint: { doneAt: "/done" } }],
    [["--lock", "run.lock"], { lock: { path: "run.lock" } }],
    [["--effects", "sent.log"], { effects: { path: "sent.log" } }],
    [["--key-at", "/id"], { effects: { keyAt: "/id" } }],
    [["--key-at", "2"], { effects: { keyAt: 2 } }],
    [["--monitor", "./watch.sh"], { monitor: { start: "./watch.sh" } }],
    [["--kill-after", "0"], { killAfterArtifacts: 0 }],
    [["--run-seconds", "2m"], { limits: { runSeconds: 120 } }],
    [["--idle-seconds", "500ms"], { limits: { idleSeconds: 0.5 } }],
    [["--grace-seconds", "0"], { limits: { graceSeconds: 0 } }],
    [["--watch", "/etc/hosts", "--watch", "x"], { watch: ["/etc/hosts", "x"] }],
    [["--env", "A=1", "--env", "B=x=y", "--env", "C="], { env: { A: "1", B: "x=y", C: "" } }],
    [["--env", "A=1", "--env", "A=2"], { env: { A: "2" } }],
    [["--leave-behind", "dist/**"], { leaveBehind: ["dist/**"] }],
    [["--control"], { control: true }],
    [["--no-control"], { control: false }],
    [["--start-fails"], { startFails: true }],
  ];
  for (const [args, parts] of table) assertEquals(overrides(...args), parts, args.join(" "));
  const given = new Set(table.flatMap(([args]) => args.map((arg) => arg.split("=")[0])));
  const untried = CONTRACT_FLAGS.filter((flag) => !given.has(`--${flag.name}`));
  assertEquals(untried.map((flag) => flag.name), [], "every flag must have its place");
});

Deno.test("flags alone make a contract that its rules accept", () => {
  const parts = overrides(
    ...["--start", "a", "--resume", "b", "--artifacts", "o/*", "--count", "3"],
    ...["--done-at", "/done", "--checkpoint", "s.json", "--idle-seconds", "5", "--kill-after", "2"],
    ...["--effects", "sent", "--key-at", "1", "--min-bytes", "1", "--no-control"],
  );
  const contract = parseContract(parts, "the flags");
  assertEquals(contract.checkpoint, { path: "s.json", doneAt: "/done" });
  assertEquals(contract.effects, { path: "sent", keyAt: 1 });
  assertEquals([contract.limits.idleSeconds, contract.killAfterArtifacts], [5, 2]);
  assertEquals(contract.control, false);
});

Deno.test("a place of a key that is none is refused", () => {
  for (const place of ["id", "0", "1.5", "/a~2"]) {
    assertThrows(() => overrides("--key-at", place), UsageError, "it takes a JSON pointer");
  }
});
