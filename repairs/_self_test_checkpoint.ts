/**
 * The self-test of `checkpoint`.
 *
 * @module
 */
import { hashBytes } from "../lab/mod.ts";
import { artifactDisk } from "./artifact_disk.ts";
import { appendRecord, loadCheckpoint, saveCheckpoint, TornCheckpointError } from "./checkpoint.ts";
import { mendCheckpoint, type MendReport } from "./checkpoint_mend.ts";
import { RepairError } from "./errors.ts";
import { expect, runSelfTest, type SelfTestResult } from "./self_testing.ts";

const END = "END";

function makeUnit(dir: string, unit: string, claim = true): void {
  const content = new TextEncoder().encode(`work of ${unit}, größer\n${END}\n`);
  Deno.mkdirSync(`${dir}/out`, { recursive: true });
  Deno.writeFileSync(`${dir}/out/${unit}.txt`, content);
  const record = {
    unit,
    path: `out/${unit}.txt`,
    bytes: content.length,
    sha256: hashBytes(content),
  };
  if (claim) appendRecord(`${dir}/state.jsonl`, record);
}

function mend(dir: string, name = "state.jsonl"): Promise<MendReport> {
  return mendCheckpoint({
    path: `${dir}/${name}`,
    cwd: dir,
    disk: artifactDisk({ cwd: dir, globs: ["out/*.txt"], unitName: "name", endsWith: END }),
    quietMs: 20,
  });
}

function tear(path: string, cutBytes: number): Uint8Array {
  const bytes = Deno.readFileSync(path);
  Deno.truncateSync(path, bytes.length - cutBytes);
  return bytes.subarray(0, bytes.length - cutBytes);
}

async function fineIsLeftAlone(dir: string): Promise<string> {
  makeUnit(dir, "a");
  const before = await Deno.stat(`${dir}/state.jsonl`);
  const report = await mend(dir);
  const after = await Deno.stat(`${dir}/state.jsonl`);
  expect(report.isFine && before.ino === after.ino, JSON.stringify(report));
  return "a whole log in step with the files kept its inode";
}

async function tornTailIsSetAside(dir: string): Promise<string> {
  makeUnit(dir, "a");
  makeUnit(dir, "b");
  const torn = tear(`${dir}/state.jsonl`, 20);
  const refusal = throws(() => appendRecord(`${dir}/state.jsonl`, { unit: "c" }));
  expect(refusal instanceof TornCheckpointError, "a record was glued to a torn one");
  const report = await mend(dir);
  expect(report.units === 2, JSON.stringify(report));
  const kept = await Deno.readFile(`${dir}/state.jsonl.torn-1`);
  expect(hashBytes(kept) === hashBytes(torn), "the torn bytes were not kept");
  makeUnit(dir, "c");
  expect(loadCheckpoint(`${dir}/state.jsonl`, null).records.length === 3, "the log is not whole");
  return "2 units kept, the torn bytes set aside, a third added";
}

async function liesGoBothWays(dir: string): Promise<string> {
  makeUnit(dir, "absent");
  makeUnit(dir, "half");
  makeUnit(dir, "swapped");
  makeUnit(dir, "good");
  makeUnit(dir, "unclaimed", false);
  await Deno.remove(`${dir}/out/absent.txt`);
  await Deno.truncate(`${dir}/out/half.txt`, 5);
  await Deno.writeTextFile(`${dir}/out/swapped.txt`, `another work\n${END}\n`);
  const report = await mend(dir);
  const removed = report.removed.map((each) => each.unit).join();
  expect(removed === "absent,half,swapped", `removed ${removed}`);
  expect(report.added.join() === "unclaimed", `added ${report.added}`);
  const units = loadCheckpoint(`${dir}/state.jsonl`, null).records.length;
  expect(units === 2, `${units} units`);
  const isInTheWay = await Deno.stat(`${dir}/out/half.txt`).then(() => true, () => false);
  expect(!isInTheWay, "a half file is in the way");
  return "3 false claims out, 1 whole unit in, the half file out of the way";
}

async function goodCopyIsTakenUp(dir: string): Promise<string> {
  const path = `${dir}/state.json`;
  saveCheckpoint(path, { note: "kept", done: [] });
  makeUnit(dir, "a", false);
  saveCheckpoint(path, { note: "kept", done: ["a"] });
  await Deno.truncate(path);
  expect(
    throws(() => loadCheckpoint(path, {})) instanceof TornCheckpointError,
    "began from nothing",
  );
  const report = await mend(dir, "state.json");
  const { document } = loadCheckpoint(path, {});
  expect(JSON.stringify(document) === '{"note":"kept","done":["a"]}', JSON.stringify(document));
  return `an empty file came back from the ${report.base}`;
}

async function livingWriterIsRespected(dir: string): Promise<string> {
  const path = `${dir}/state.json`;
  let number = 0;
  const write = () => Deno.writeTextFileSync(path, `{"done":[${number++}`);
  write();
  const timer = setInterval(write, 10);
  try {
    const refusal = await mendCheckpoint({ path, quietMs: 300 }).then(() => null, (error) => error);
    expect(refusal instanceof RepairError, "mended under a living writer");
  } finally {
    clearInterval(timer);
  }
  return "refused while the file was being written";
}

function throws(body: () => unknown): unknown {
  try {
    body();
    return null;
  } catch (error) {
    return error;
  }
}

/** Tries `checkpoint` on small real files. Takes about a second. Requires `ps`. */
export function selfTestCheckpoint(options: { dir?: string } = {}): Promise<SelfTestResult> {
  return runSelfTest("checkpoint", {
    "a checkpoint that is fine is left alone": fineIsLeftAlone,
    "a torn tail is set aside and not appended to": tornTailIsSetAside,
    "claims and files are brought into step, both ways": liesGoBothWays,
    "the last good copy is taken up, never an empty beginning": goodCopyIsTakenUp,
    "nothing is mended while another writer lives": livingWriterIsRespected,
  }, options);
}
