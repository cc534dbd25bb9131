import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { artifactDisk } from "./artifact_disk.ts";
import { checkCheckpoint, mendCheckpoint, type MendOptions } from "./checkpoint_mend.ts";
import { RepairError } from "./errors.ts";
import { hashBytes } from "../lab/mod.ts";
import { inFolder, namesIn, read, textOf, write } from "./_test_tools.ts";

const END = "END OF UNIT";

/** Writes a whole artifact and gives the line that claims it. */
function makeUnit(dir: string, number: number): string {
  const unit = `unit-0${number}`;
  const text = `Grüße von ${unit}\n${END}\n`;
  write(`${dir}/out/${unit}.txt`, text);
  const bytes = new TextEncoder().encode(text);
  return `${
    JSON.stringify({
      unit,
      path: `out/${unit}.txt`,
      bytes: bytes.length,
      sha256: hashBytes(bytes),
    })
  }\n`;
}

function options(dir: string, more: Partial<MendOptions> = {}): MendOptions {
  return {
    path: `${dir}/state.jsonl`,
    cwd: dir,
    disk: artifactDisk({ cwd: dir, globs: ["out/*.txt"], unitName: "name", endsWith: END }),
    quietMs: 20,
    ...more,
  };
}

Deno.test("mendCheckpoint does not touch a log that is whole and in step", () =>
  inFolder(async (dir) => {
    const log = makeUnit(dir, 1) + makeUnit(dir, 2);
    write(`${dir}/state.jsonl`, log);
    const before = await Deno.stat(`${dir}/state.jsonl`);
    const report = await mendCheckpoint(options(dir));
    const after = await Deno.stat(`${dir}/state.jsonl`);
    assertEquals([report.isFine, report.isWritten, report.units], [true, false, 2]);
    assertEquals([before.ino, before.mtime], [after.ino, after.mtime]);
    assertEquals(namesIn(dir).length, 2, "nothing else was made");
  }));

const encoder = new TextEncoder();

/** Every way in which a log of three units is found after a crash. */
const TORN_LOGS: Record<string, (log: Uint8Array, lines: string[]) => Uint8Array> = {
  "empty": () => new Uint8Array(),
  "a prefix that ends inside the second record": (log) => log.subarray(0, log.length * 0.5),
  "cut so that only the last line end is gone": (log) => log.subarray(0, log.length - 1),
  "cut inside a character": (_, lines) => {
    const bytes = encoder.encode(lines.slice(0, 2).join("") + '{"unit":"ü');
    return bytes.subarray(0, bytes.length - 1);
  },
  "old and new mixed": (_, lines) => encoder.encode(`${lines[0]}{"unit":"un${lines[1]}${lines[2]}`),
  "with a block of NUL bytes in the middle": (log) => {
    const copy = log.slice();
    copy.fill(0, 100, 200);
    return copy;
  },
  "glued by a later append": (_, lines) => encoder.encode(`${lines[0]}{"unit":"uni${lines[2]}`),
};

for (const [name, tear] of Object.entries(TORN_LOGS)) {
  Deno.test(`mendCheckpoint brings back a log that is ${name}`, () =>
    inFolder(async (dir) => {
      const lines = [1, 2, 3].map((number) => makeUnit(dir, number));
      const torn = tear(encoder.encode(lines.join("")), lines);
      write(`${dir}/state.jsonl`, torn);
      assertEquals(checkCheckpoint(options(dir)).isFine, false);
      const report = await mendCheckpoint(options(dir));
      assertEquals([report.units, report.isWritten], [3, true]);
      assertEquals(
        read(`${dir}/state.jsonl`).split("\n").filter(Boolean).sort(),
        lines.map((line) => line.trimEnd()).sort(),
      );
      assertEquals(read(`${dir}/state.jsonl`), read(`${dir}/state.jsonl.good`));
      if (torn.length > 0) {
        assertEquals(
          await Deno.readFile(`${dir}/state.jsonl.torn-1`),
          torn,
          "the old bytes are kept",
        );
      }
      assertEquals(checkCheckpoint(options(dir)).isFine, true);
    }));
}

Deno.test("mendCheckpoint keeps the whole lines of a torn log when it has no files to compare", () =>
  inFolder(async (dir) => {
    write(`${dir}/state.jsonl`, '{"unit":"a"}\n{"unit":"b"}\n{"un');
    const report = await mendCheckpoint(options(dir, { disk: undefined }));
    assertEquals([report.isReconciled, report.units], [false, 2]);
    assertEquals(read(`${dir}/state.jsonl`), '{"unit":"a"}\n{"unit":"b"}\n');
  }));

Deno.test("mendCheckpoint takes out claims without a whole file and leaves the others alone", () =>
  inFolder(async (dir) => {
    const lines = [1, 2, 3, 4, 5].map((number) => makeUnit(dir, number));
    write(`${dir}/state.jsonl`, lines.join(""));
    await Deno.remove(`${dir}/out/unit-01.txt`);
    write(`${dir}/out/unit-02.txt`, "half");
    write(`${dir}/out/unit-03.txt`, "");
    write(`${dir}/out/unit-04.txt`, `Grüße von unit-XX\n${END}\n`);
    const untouched = await Deno.stat(`${dir}/out/unit-05.txt`);
    const report = await mendCheckpoint(options(dir));
    assertEquals(report.removed.map((each) => [each.unit, each.why]), [
      ["unit-01", "there is no such file"],
      ["unit-02", `it does not end with "${END}"`],
      ["unit-03", "it is empty"],
      ["unit-04", "it has another content (hash)"],
    ]);
    assertEquals(read(`${dir}/state.jsonl`), lines[4]);
    assertEquals((await Deno.stat(`${dir}/out/unit-05.txt`)).mtime, untouched.mtime);
    // A job that skips what is there must not skip these.
    assertEquals(namesIn(`${dir}/out`), [".failure-lab-aside", "unit-05.txt"]);
    assertEquals(read(`${dir}/out/.failure-lab-aside/unit-02.txt-1`), "half");
  }));

Deno.test("mendCheckpoint puts in whole files that are not claimed, and no half ones", () =>
  inFolder(async (dir) => {
    const lines = [1, 2].map((number) => makeUnit(dir, number));
    write(`${dir}/state.jsonl`, lines[0] ?? "");
    write(`${dir}/out/unit-03.txt`, "half");
    const report = await mendCheckpoint(options(dir));
    assertEquals([report.added, report.broken.map((each) => each.unit)], [["unit-02"], [
      "unit-03",
    ]]);
    assertEquals(read(`${dir}/state.jsonl`), lines.join(""));
  }));

Deno.test("mendCheckpoint neither claims nor moves a file of which nothing says that it is whole", () =>
  inFolder(async (dir) => {
    const line = makeUnit(dir, 1);
    write(`${dir}/state.jsonl`, line);
    makeUnit(dir, 2);
    const disk = artifactDisk({ cwd: dir, globs: ["out/*.txt"], unitName: "name" });
    const report = await mendCheckpoint(options(dir, { disk }));
    assertEquals([report.isFine, report.unknown], [true, ["unit-02"]]);
    assertEquals(read(`${dir}/state.jsonl`), line);
  }));

Deno.test("mendCheckpoint drops a second claim of the same unit and keeps lines that claim nothing", () =>
  inFolder(async (dir) => {
    const line = makeUnit(dir, 1);
    const old = '{"unit":"unit-01","path":"out/unit-01.txt","bytes":3}\n';
    write(`${dir}/state.jsonl`, `{"started":true}\n${old}${line}${line}`);
    const report = await mendCheckpoint(options(dir));
    assertEquals(report.removed.length, 2);
    assertEquals(read(`${dir}/state.jsonl`), `{"started":true}\n${line}`);
    assertEquals(report.broken, []);
    assertEquals(read(`${dir}/out/unit-01.txt`).includes(END), true);
  }));

Deno.test("mendCheckpoint takes an absent log with nothing done for a first start", () =>
  inFolder(async (dir) => {
    const report = await mendCheckpoint(options(dir));
    assertEquals([report.isFine, report.isWritten], [true, false]);
    assertEquals(namesIn(dir), []);
  }));

Deno.test("mendCheckpoint makes an absent log anew from the files that are done", () =>
  inFolder(async (dir) => {
    const lines = [1, 2].map((number) => makeUnit(dir, number));
    const report = await mendCheckpoint(options(dir));
    assertEquals([report.units, read(`${dir}/state.jsonl`)], [2, lines.join("")]);
  }));

function json(dir: string, more: Partial<MendOptions> = {}): MendOptions {
  return options(dir, { path: `${dir}/state.json`, ...more });
}

for (
  const [name, torn] of [["empty", ""], ["a prefix", '{"done":["unit-'], [
    "mixed",
    '{"done":[]}"]}',
  ]]
) {
  Deno.test(`mendCheckpoint takes a JSON document that is ${name} up from the good copy`, () =>
    inFolder(async (dir) => {
      [1, 2].forEach((number) => makeUnit(dir, number));
      write(`${dir}/state.json`, torn ?? "");
      write(`${dir}/state.json.good`, '{"v":7,"done":["unit-01"]}');
      const report = await mendCheckpoint(json(dir));
      assertEquals([report.base, report.added], ["good copy", ["unit-02"]]);
      assertEquals(JSON.parse(read(`${dir}/state.json`)), { v: 7, done: ["unit-01", "unit-02"] });
    }));
}

Deno.test("mendCheckpoint takes up a whole temporary file when nothing else is left", () =>
  inFolder(async (dir) => {
    write(`${dir}/state.json`, "");
    write(`${dir}/state.json.tmp`, '{"done":["a"]}');
    const report = await mendCheckpoint(json(dir, { disk: undefined }));
    assertEquals(report.base, "temporary file");
    assertEquals(JSON.parse(read(`${dir}/state.json`)), { done: ["a"] });
    assertEquals(read(`${dir}/state.json.torn-1`), '{"done":["a"]}', "moved out of the way");
  }));

Deno.test("mendCheckpoint moves a left temporary file away and believes the file itself", () =>
  inFolder(async (dir) => {
    write(`${dir}/state.json`, '{"done":["a"]}');
    write(`${dir}/state.json.tmp`, '{"done":["a","b"');
    const report = await mendCheckpoint(json(dir, { disk: undefined }));
    assertEquals([report.isFine, report.isWritten, report.setAside.length], [false, false, 1]);
    assertEquals(read(`${dir}/state.json`), '{"done":["a"]}');
  }));

Deno.test("mendCheckpoint starts from a skeleton only together with the files", () =>
  inFolder(async (dir) => {
    makeUnit(dir, 1);
    write(`${dir}/state.json`, '{"done":');
    await assertRejects(() => mendCheckpoint(json(dir)), RepairError, "neither a good copy");
    await assertRejects(
      () => mendCheckpoint(json(dir, { disk: undefined, skeleton: { done: [] } })),
      RepairError,
    );
    assertEquals(read(`${dir}/state.json`), '{"done":');
    const report = await mendCheckpoint(json(dir, { skeleton: { done: [] } }));
    assertEquals([report.base, report.units], ["skeleton", 1]);
    assertEquals(JSON.parse(read(`${dir}/state.json`)), { done: ["unit-01"] });
  }));

Deno.test("mendCheckpoint knows lists of objects and objects by unit, at a pointer", () =>
  inFolder(async (dir) => {
    const { sha256, bytes } = JSON.parse(makeUnit(dir, 1));
    const path = "out/unit-01.txt";
    for (
      const [before, after] of [
        [{ a: { done: [{ unit: "gone" }] } }, {
          a: { done: [{ unit: "unit-01", path, bytes, sha256 }] },
        }],
        [{ a: { done: { gone: { n: 1 } } } }, {
          a: { done: { "unit-01": { path, bytes, sha256 } } },
        }],
        [{ a: { done: { gone: true } } }, { a: { done: { "unit-01": true } } }],
      ]
    ) {
      write(`${dir}/state.json`, JSON.stringify(before));
      await mendCheckpoint(json(dir, { doneAt: "/a/done" }));
      assertEquals(JSON.parse(read(`${dir}/state.json`)), after);
    }
  }));

Deno.test("mendCheckpoint refuses a document in which it finds no claims", () =>
  inFolder(async (dir) => {
    write(`${dir}/state.json`, '{"offset":3}');
    const error = await assertRejects(() => mendCheckpoint(json(dir)), RepairError);
    assertStringIncludes(error.message, "--done-at");
  }));

Deno.test("mendCheckpoint refuses while somebody writes the checkpoint", () =>
  inFolder(async (dir) => {
    const path = `${dir}/state.jsonl`;
    write(path, '{"un');
    let number = 0;
    const timer = setInterval(() => write(path, `{"un${number++}`), 10);
    try {
      await assertRejects(
        () => mendCheckpoint(options(dir, { quietMs: 300 })),
        RepairError,
        "it is being written right now",
      );
    } finally {
      clearInterval(timer);
    }
    assertEquals(namesIn(dir).length, 1);
  }));

Deno.test("mendCheckpoint refuses while a process has the checkpoint open", () =>
  inFolder(async (dir) => {
    const path = `${dir}/state.jsonl`;
    write(path, '{"un');
    const holder = new Deno.Command("sh", {
      args: ["-c", `exec 9>>"$1"; echo ready >"$1.ready"; read _`, "sh", path],
      stdin: "piped",
    }).spawn();
    try {
      await textOf(`${path}.ready`);
      await assertRejects(() => mendCheckpoint(options(dir)), RepairError, "has it open");
      assertEquals(read(path), '{"un');
    } finally {
      await holder.stdin.close();
      await holder.status;
    }
  }));
