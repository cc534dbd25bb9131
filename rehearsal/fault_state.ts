/**
 * What is known of the outputs at the moment of the failure: which were finished, and which the job
 * threw away when it was asked to end.
 *
 * @module
 */
import type { Artifact, ArtifactGlimpse } from "../lab/mod.ts";
import { newestOf } from "./disk_look.ts";
import type { Stage } from "./stage.ts";

/** Notes which outputs were finished, and which only seem so. */
export function noteFinished(stage: Stage, artifacts: readonly Artifact[]): void {
  const { record, disk, contract } = stage;
  let finished = disk.finished(artifacts);
  // A start that failed had not finished everything, whatever its outputs look like.
  const isAll = finished.length > 0 && finished.length === contract.artifacts.count;
  if (contract.startFails === true && isAll && record.start?.exitCode !== 0) {
    const newest = newestOf(artifacts)?.path;
    finished = finished.filter((path) => path !== newest);
  }
  record.finishedAtFault = finished;
  const likely = disk.likely(artifacts, finished);
  if (likely.length > 0) record.likelyAtFault = likely;
  else delete record.likelyAtFault;
}

/**
 * Notes finished outputs that were there while the job was frozen, and not when it had ended: a trap
 * that cleans up too much. The newest one may have been half, and is nobody's loss.
 */
export function noteThrownAway(
  { record, options }: Stage,
  atStrike: readonly ArtifactGlimpse[],
  artifacts: readonly Artifact[],
): void {
  const wholes = new Map(options.control?.record.artifacts.map((each) => [each.path, each]));
  const left = new Set(artifacts.map((each) => each.path));
  const newest = newestOf(atStrike);
  const gone = atStrike.filter((each) =>
    each !== newest && !left.has(each.path) && each.bytes > 0 &&
    each.bytes === wholes.get(each.path)?.bytes
  );
  const [first] = gone;
  if (first === undefined) return;
  record.findings.push({
    id: "kept-at-end",
    ok: false,
    text: `When the job was asked to end (SIGTERM), it threw away ${gone.length} finished ` +
      `output(s), the first is "${first.path}". A clean-up must leave finished work alone`,
  });
}
