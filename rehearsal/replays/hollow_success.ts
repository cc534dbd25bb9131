/**
 * hollow-success: a run says that all is well (exit 0), and nothing is there.
 *
 * The start command is replaced by one that does nothing. Variant `empty`: the outputs are there by
 * name, but every one is empty. The resume command must do all the work.
 *
 * @module
 */
import { dirname } from "@std/path";
import { isKillProven, systemTool } from "../../lab/mod.ts";
import type { Contract } from "../contract.ts";
import type { Stage } from "../stage.ts";
import type { Replay } from "./replay.ts";

/** Replace the start by a command that exits 0 and leaves nothing, then resume. */
export const hollowSuccess: Replay = {
  id: "hollow-success",
  summary: "the start exits 0 and leaves nothing (or only empty outputs)",
  variants: ["nothing", "empty"],
  needs: (contract, variant) => variant === "empty" ? emptyNeeds(contract) : null,
  async run(stage, variant) {
    const argv = [systemTool("sh"), "-c", "exit 0"];
    const spawned = await stage.begin("start", argv);
    if ("pid" in spawned) await stage.watch(spawned);
    if (variant === "empty") makeEmptyOutputs(stage);
    const kill = await stage.options.driver.reap(stage.graceMs);
    const phase = "pid" in spawned ? await stage.options.driver.finish(spawned) : spawned;
    stage.record.start = phase;
    stage.record.kill = kill;
    const { artifacts } = await stage.noteFaultState();
    const filled = artifacts.filter((artifact) => artifact.bytes > 0).length;
    if (filled > 0) return noteNotEmpty(stage, filled);
    if (isKillProven(kill) !== true || phase.exitCode !== 0) return;
    stage.deliver([
      { what: "exit code of a start that did nothing", value: phase.exitCode },
      variant === "empty"
        ? { what: "outputs that it left, all empty", value: artifacts.length }
        : { what: "outputs that it left", value: artifacts.length },
    ]);
    await stage.resume();
  },
};

function emptyNeeds(contract: Contract): string | null {
  if (contract.artifacts.emptyAllowed === true) {
    return 'An empty output can be a whole one ("emptyAllowed": true), so empty ones prove nothing';
  }
  return contract.control ? null : "Without a control run nobody knows the names of the outputs. " +
    'Remove "control": false';
}

/** Makes an empty file for each output of the control run. */
function makeEmptyOutputs(stage: Stage): void {
  for (const { path } of stage.options.control?.record.artifacts ?? []) {
    Deno.mkdirSync(dirname(stage.path(path)), { recursive: true });
    Deno.writeFileSync(stage.path(path), new Uint8Array(0));
  }
}

function noteNotEmpty(stage: Stage, filled: number): void {
  stage.record.findings.push({
    id: "start-hollow",
    ok: null,
    text:
      `The project itself brings ${filled} output(s) along, so a start that does nothing does ` +
      'not leave nothing. Keep them out of the copy with "leaveBehind"',
  });
}
