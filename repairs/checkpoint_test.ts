import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import {
  appendRecord,
  loadCheckpoint,
  readCheckpointFile,
  saveCheckpoint,
  temporaryFilesOf,
  TornCheckpointError,
} from "./checkpoint.ts";
import { inFolder } from "./_test_tools.ts";

function namesIn(dir: string): string[] {
  return [...Deno.readDirSync(dir)].map((entry) => entry.name).sort();
}

Deno.test("saveCheckpoint replaces the file and keeps the version before as the good copy", () =>
  inFolder((dir) => {
    const path = `${dir}/state.json`;
    saveCheckpoint(path, { done: [1] });
    assertEquals(namesIn(dir), ["state.json"]);
    saveCheckpoint(path, { done: [1, 2] });
    assertEquals(namesIn(dir), ["state.json", "state.json.good"]);
    assertEquals(readCheckpointFile(path).document, { done: [1, 2] });
    assertEquals(JSON.parse(Deno.readTextFileSync(`${path}.good`)), { done: [1] });
  }));

Deno.test("saveCheckpoint never makes a torn file the good copy", () =>
  inFolder((dir) => {
    const path = `${dir}/state.json`;
    saveCheckpoint(path, { done: [1] });
    saveCheckpoint(path, { done: [1, 2] });
    Deno.writeTextFileSync(path, '{"done":[1,');
    saveCheckpoint(path, { done: [9] });
    assertEquals(JSON.parse(Deno.readTextFileSync(`${path}.good`)), { done: [1] });
  }));

Deno.test("saveCheckpoint leaves the old file and no temporary one when it cannot write", () =>
  inFolder((dir) => {
    const path = `${dir}/state.json`;
    Deno.mkdirSync(path);
    assertThrows(() => saveCheckpoint(path, { done: [] }));
    assertEquals(namesIn(dir), ["state.json"]);
  }));

Deno.test("saveCheckpoint keeps the mode of the file and follows a link to it", () =>
  inFolder((dir) => {
    Deno.writeTextFileSync(`${dir}/real.json`, "{}", { mode: 0o640 });
    Deno.chmodSync(`${dir}/real.json`, 0o640);
    Deno.symlinkSync("real.json", `${dir}/state.json`);
    saveCheckpoint(`${dir}/state.json`, { done: [1] });
    assertEquals(Deno.lstatSync(`${dir}/state.json`).isSymlink, true);
    assertEquals((Deno.statSync(`${dir}/real.json`).mode ?? 0) & 0o777, 0o640);
    assertEquals(JSON.parse(Deno.readTextFileSync(`${dir}/real.json`)), { done: [1] });
  }));

Deno.test("loadCheckpoint begins afresh only when nothing of an earlier run is there", () =>
  inFolder((dir) => {
    const path = `${dir}/state.json`;
    assertEquals(loadCheckpoint(path, { done: [] }), {
      document: { done: [] },
      records: [],
      isFresh: true,
    });
    saveCheckpoint(path, { done: [1] });
    assertEquals(loadCheckpoint(path, null).isFresh, false);
  }));

for (
  const [name, damage] of [
    ["gone, with a good copy", (path: string) => Deno.removeSync(path)],
    ["empty, with a good copy", (path: string) => Deno.truncateSync(path)],
    ["a prefix", (path: string) => Deno.writeTextFileSync(path, '{"done":[')],
    ["gone, with a temporary file", (path: string) => {
      Deno.removeSync(`${path}.good`);
      Deno.renameSync(path, `${path}.tmp`);
    }],
  ] as const
) {
  Deno.test(`loadCheckpoint refuses to start from a checkpoint that is ${name}`, () =>
    inFolder((dir) => {
      const path = `${dir}/state.json`;
      saveCheckpoint(path, { done: [1] });
      saveCheckpoint(path, { done: [1, 2] });
      damage(path);
      const before = namesIn(dir);
      const error = assertThrows(() => loadCheckpoint(path, { done: [] }), TornCheckpointError);
      assertStringIncludes(error.message, "repair checkpoint mend");
      assertEquals(namesIn(dir), before);
    }));
}

Deno.test("appendRecord adds whole lines that can be read back", () =>
  inFolder((dir) => {
    const path = `${dir}/state.jsonl`;
    appendRecord(path, { unit: "a" });
    appendRecord(path, { unit: "ü" });
    assertEquals(Deno.readTextFileSync(path), '{"unit":"a"}\n{"unit":"ü"}\n');
    assertEquals(loadCheckpoint(path, null).records, [{ unit: "a" }, { unit: "ü" }]);
  }));

Deno.test("appendRecord refuses to glue a record to a torn one", () =>
  inFolder((dir) => {
    const path = `${dir}/state.jsonl`;
    Deno.writeTextFileSync(path, '{"unit":"a"}\n{"unit":"b');
    assertThrows(() => appendRecord(path, { unit: "c" }), TornCheckpointError, "has no end");
    assertEquals(Deno.readTextFileSync(path), '{"unit":"a"}\n{"unit":"b');
  }));

Deno.test("appendRecord refuses to begin a new log while a good copy of the old one is there", () =>
  inFolder((dir) => {
    Deno.writeTextFileSync(`${dir}/state.jsonl.good`, '{"unit":"a"}\n');
    assertThrows(() => appendRecord(`${dir}/state.jsonl`, { unit: "b" }), TornCheckpointError);
    assertEquals(namesIn(dir), ["state.jsonl.good"]);
  }));

Deno.test("temporaryFilesOf names what a crash leaves and nothing else", () =>
  inFolder((dir) => {
    for (
      const name of ["s.json", "s.json.tmp", "s.json.new", "s.json~", ".s.json.0a1b2c3d.tmp"]
        .concat(["s.json.good", "s.json.torn-1", "other.tmp", "s.json.tmp2", "s.json.tmp.77"])
    ) Deno.writeTextFileSync(`${dir}/${name}`, "");
    assertEquals(temporaryFilesOf(`${dir}/s.json`).map((path) => path.slice(dir.length + 1)), [
      ".s.json.0a1b2c3d.tmp",
      "s.json.new",
      "s.json.tmp",
      "s.json.tmp.77",
      "s.json~",
    ]);
  }));
