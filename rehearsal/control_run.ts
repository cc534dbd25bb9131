/**
 * The control run: the job without a failure, to see what a whole run leaves.
 *
 * @module
 */
import { type ArtifactGlimpse, artifactSignature, effectKeys, listArtifacts } from "../lab/mod.ts";
import { EffectsAhead } from "./effects_ahead.ts";
import type { Stage } from "./stage.ts";
import type { ControlResult } from "./stage_types.ts";
import { TempFiles } from "./temp_files.ts";

/** Notes which outputs change after they were first seen. */
class Growth {
  readonly #first = new Map<string, string>();
  readonly #grown = new Set<string>();

  look(outputs: readonly ArtifactGlimpse[]): void {
    for (const output of outputs) {
      const sign = artifactSignature([output]);
      const first = this.#first.get(output.path);
      if (first === undefined) this.#first.set(output.path, sign);
      else if (first !== sign) this.#grown.add(output.path);
    }
  }

  get paths(): string[] {
    return [...this.#grown].sort();
  }
}

/** Runs `start` once and undisturbed. Not part of a record by itself. */
export async function runControl(stage: Stage): Promise<ControlResult> {
  const { driver, journal, commands, provider } = stage.options;
  const beganMs = journal.atMs();
  let firstOutputMs: number | null = null;
  const temps = new TempFiles(stage);
  const growth = new Growth();
  const ahead = stage.contract.effects === undefined ? null : new EffectsAhead(stage);
  let hasTempFiles = false;
  stage.onOutputs = (outputs) => {
    if (outputs.length > 0) firstOutputMs ??= journal.atMs() - beganMs;
    growth.look(outputs);
    ahead?.look(outputs.length);
    hasTempFiles ||= temps.list(outputs).length > 0;
  };
  const spawned = await stage.begin("control", commands.start);
  let endedMs = journal.atMs();
  if ("pid" in spawned) {
    await stage.watch(spawned);
    endedMs = journal.atMs();
    if (spawned.ended !== null) await stage.quiet(driver);
    stage.record.quiet = null;
  }
  const kill = await driver.reap(stage.graceMs);
  const phase = "pid" in spawned ? await driver.finish(spawned) : spawned;
  growth.look(listArtifacts(stage.spec));
  const { artifacts, checkpoint } = await stage.look();
  const keys = ahead === null ? [] : effectKeys(stage.disk.effectsSpec());
  return {
    record: { phase, kill, artifacts, checkpoint, grown: growth.paths },
    effectKeys: keys,
    hasEffectsAhead: ahead?.wereAhead(keys.length, artifacts.length) ?? false,
    elapsedMs: endedMs - beganMs,
    firstOutputMs,
    endMarkRepeats: stage.disk.endMarkRepeats,
    providerRequests: provider?.log().counters.work ?? 0,
    hasChildren: kill.processes.length > 1,
    hasTempFiles,
  };
}
