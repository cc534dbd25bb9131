/**
 * The self-test of `checkpoint`.
 *
 * @module
 */
import { hashBytes, waitUntil } from "../lab/mod.ts";
import { findOpeners } from "./_openers.ts";
import { artifactDisk } from "./artifact_disk.ts";
import {
  appendRecord,
  loadCheckpoint,
  readCheckpointFile,
  saveCheckpoint,
  TornCheckpointError,
} from "./checkpoint.ts";
import { mendCheckpoint, type MendReport } from "./checkpoint_mend.ts";
import { RepairError } from "./errors.ts";
import { expect, runSelfTest, type SelfTestOptions, type SelfTestResult } from "./self_testing.ts";

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
  const alone = await mendCheckpoint({ path: `${dir}/state.jsonl`, quietMs: 20 }).then(
    (report) => report.units,
  );
  expect(alone === 1, `without files to compare, ${alone} whole lines were kept`);
  await Deno.writeFile(`${dir}/state.jsonl`, torn);
  await Deno.remove(`${dir}/state.jsonl.torn-1`);
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
  makeUnit(dir, "cut", false);
  makeUnit(dir, "good");
  makeUnit(dir, "unclaimed", false);
  appendRecord(`${dir}/state.jsonl`, { unit: "cut", path: "out/cut.txt" });
  await Deno.truncate(`${dir}/out/cut.txt`, 5);
  await Deno.remove(`${dir}/out/absent.txt`);
  await Deno.truncate(`${dir}/out/half.txt`, 5);
  await Deno.writeTextFile(`${dir}/out/swapped.txt`, `WORK of swapped, größer\n${END}\n`);
  const report = await mend(dir);
  const removed = report.removed.map((each) => each.unit).join();
  expect(removed === "absent,half,swapped,cut", `removed ${removed}`);
  expect(report.added.join() === "unclaimed", `added ${report.added}`);
  const units = loadCheckpoint(`${dir}/state.jsonl`, null).records.length;
  expect(units === 2, `${units} units`);
  const isInTheWay = await Deno.stat(`${dir}/out/half.txt`).then(() => true, () => false);
  expect(!isInTheWay, "a half file is in the way");
  return "4 false claims out, 1 whole unit in, half files out of the way";
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
  await Deno.remove(path);
  expect(
    throws(() => loadCheckpoint(path, {})) instanceof TornCheckpointError,
    "began from nothing",
  );
  await Deno.writeTextFile(path, '{"note":');
  saveCheckpoint(path, { note: "new" });
  const good = await Deno.readTextFile(`${path}.good`);
  expect(good.includes('"kept"'), "a torn file was made the good copy");
  return `an empty file came back from the ${report.base}`;
}

async function damageIsSeen(dir: string): Promise<string> {
  const whole = new TextEncoder().encode('{"unit":"ü"}\n{"unit":"b"}\n');
  const nul = whole.slice();
  nul.fill(0, 2, 6);
  const mixed = new TextEncoder().encode('{"unit":"a"}\n{"un{"unit":"b"}\n');
  const cut = whole.subarray(0, 10);
  for (const [name, bytes] of Object.entries({ nul, mixed, cut, noEnd: whole.subarray(0, 25) })) {
    await Deno.writeFile(`${dir}/state.jsonl`, bytes);
    const { state } = readCheckpointFile(`${dir}/state.jsonl`);
    expect(state === "torn", `${name} counts as ${state}`);
  }
  return "NUL bytes, mixed lines, a cut character and a missing line end are damage";
}

async function livingWriterIsRespected(dir: string): Promise<string> {
  const path = `${dir}/state.jsonl`;
  let number = 0;
  const write = () => Deno.writeTextFileSync(path, `{"unit":"a"}\n{"un${number++}`);
  write();
  const timer = setInterval(write, 10);
  try {
    expect(await refusalOf(path, 300) !== null, "mended under a living writer");
  } finally {
    clearInterval(timer);
  }
  const { isOpen } = await findOpeners(path);
  if (isOpen === "unknown") return "refused while it was written; lsof and fuser are missing";
  const holder = new Deno.Command("sh", {
    args: ["-c", `exec 9>>"$1"; echo ready >"$1.ready"; read _`, "sh", path],
    stdin: "piped",
  }).spawn();
  try {
    const ready = () => Deno.stat(`${path}.ready`).then(() => true, () => false);
    await waitUntil(ready, { limitMs: 10_000 });
    expect(await refusalOf(path, 20) !== null, "mended while a process had it open");
  } finally {
    await holder.stdin.close();
    await holder.status;
  }
  return "refused while the file was being written, and while somebody had it open";
}

async function refusalOf(path: string, quietMs: number): Promise<RepairError | null> {
  try {
    await mendCheckpoint({ path, quietMs });
    return null;
  } catch (error) {
    if (error instanceof RepairError) return error;
    throw error;
  }
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
export function selfTestCheckpoint(options: SelfTestOptions = {}): Promise<SelfTestResult> {
  return runSelfTest("checkpoint", {
    "a checkpoint that is fine is left alone": fineIsLeftAlone,
    "a torn tail is set aside and not appended to": tornTailIsSetAside,
    "every kind of damage is seen": damageIsSeen,
    "claims and files are brought into step, both ways": liesGoBothWays,
    "the last good copy is taken up, never an empty beginning": goodCopyIsTakenUp,
    "nothing is mended while another writer lives": livingWriterIsRespected,
  }, options);
}
