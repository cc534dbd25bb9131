// A checkpoint beside the disk.

import { assert, assertEquals } from "@std/assert";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { CHECKPOINT_BYTES_MAX, readCheckpoint } from "./checkpoint_reader.ts";
import { systemClock } from "./clock.ts";
import { hashBytes } from "./hash.ts";
import type { Artifact, CheckpointRecord } from "./record.ts";

function artifact(path: string, problems: string[] = []): Artifact {
  return { path, bytes: 1, sha256: "a".repeat(64), mtimeMs: 1, inode: 1, problems };
}

const SIX = Array.from({ length: 6 }, (_, i) => artifact(`out/unit-${i + 1}.md`));

type Compared = Pick<
  CheckpointRecord,
  "claims" | "claimedAbsent" | "unclaimedPresent" | "comparedBy"
>;

async function assertCompares(
  cases: Record<string, [text: string, artifacts: Artifact[], expected: Compared]>,
  doneAt?: string,
): Promise<void> {
  await using dir = await makeTestDir("checkpoint");
  for (const [name, [text, artifacts, expected]] of Object.entries(cases)) {
    const placed = text.replaceAll("ROOT", dir.path);
    await Deno.writeTextFile(`${dir.path}/state`, placed);
    const bytes = new TextEncoder().encode(placed);
    assertEquals(
      readCheckpoint({ root: dir.path, path: "state", doneAt }, artifacts),
      {
        path: "state",
        present: true,
        bytes: bytes.length,
        sha256: hashBytes(bytes),
        parses: true,
        problem: null,
        ...expected,
      },
      name,
    );
  }
}

const inStep = (claims: number, comparedBy: Compared["comparedBy"] = "names"): Compared => ({
  claims,
  claimedAbsent: [],
  unclaimedPresent: [],
  comparedBy,
});

Deno.test("readCheckpoint() finds claims on disk by path, file name, or name without ending", async () => {
  const names = (of: (i: number) => string) =>
    JSON.stringify(Array.from({ length: 6 }, (_, i) => of(i + 1)));
  await assertCompares({
    "path": [names((i) => `out/unit-${i}.md`), SIX, inStep(6)],
    "path from the folder": [names((i) => `././out/unit-${i}.md`), SIX, inStep(6)],
    "whole path": [names((i) => `ROOT/out/unit-${i}.md`), SIX, inStep(6)],
    "file name": [names((i) => `unit-${i}.md`), SIX, inStep(6)],
    "without ending": [names((i) => `unit-${i}`), SIX, inStep(6)],
    "numbers as names": ["[1, 2]", [artifact("out/1.md"), artifact("2.tar.gz")], {
      claims: 2,
      claimedAbsent: ["2"],
      unclaimedPresent: ["2.tar.gz"],
      comparedBy: "names",
    }],
    "said twice": ['["unit-1", "unit-1.md", "unit-1"]', [artifact("unit-1.md")], inStep(2)],
    "one name for two outputs": ['["a"]', [artifact("x/a.md"), artifact("y/a.txt")], inStep(1)],
  });
});

Deno.test("readCheckpoint() tells in both directions where claims and disk differ", async () => {
  const three = SIX.slice(0, 3);
  await assertCompares({
    "claims one more": ['["unit-1", "unit-2", "unit-3", "unit-4"]', three, {
      ...inStep(4),
      claimedAbsent: ["unit-4"],
    }],
    "knows one less": ['["unit-1", "unit-2"]', three, {
      ...inStep(2),
      unclaimedPresent: ["out/unit-3.md"],
    }],
    "both": ['["unit-1", "unit-9"]', three, {
      claims: 2,
      claimedAbsent: ["unit-9"],
      unclaimedPresent: ["out/unit-2.md", "out/unit-3.md"],
      comparedBy: "names",
    }],
    "claims one that is not whole": [
      '["unit-1", "unit-2"]',
      [artifact("out/unit-1.md"), artifact("out/unit-2.md", ["it is empty"])],
      { ...inStep(2), claimedAbsent: ["unit-2"] },
    ],
    "one that is not whole, and not claimed": [
      '["unit-1"]',
      [artifact("out/unit-1.md"), artifact("out/unit-2.md", ["it is empty"])],
      inStep(1),
    ],
    "claims nothing": ["[]", three, {
      ...inStep(0),
      unclaimedPresent: three.map((each) => each.path),
    }],
    "claims nothing, and nothing is there": ["[]", [], inStep(0)],
    "claims, and nothing is there": ['["unit-1"]', [], {
      ...inStep(1),
      claimedAbsent: ["unit-1"],
    }],
  });
});

Deno.test("readCheckpoint() only counts what fits no output, and numbers", async () => {
  await assertCompares({
    "row ids": ['["row-a", "row-b", "row-c"]', SIX.slice(0, 3), inStep(3, "entries")],
    "row ids, one more": ['["row-a", "row-b", "row-c"]', SIX.slice(0, 2), {
      ...inStep(3, "entries"),
      claimedAbsent: ["1 more than the disk holds"],
    }],
    "row ids, one less": ['["row-a"]', SIX.slice(0, 3), {
      ...inStep(1, "entries"),
      unclaimedPresent: ["2 of the finished ones"],
    }],
    "a number": ["6", SIX, inStep(6, "number")],
    "a number, too high": ["7", SIX, {
      ...inStep(7, "number"),
      claimedAbsent: ["1 more than the disk holds"],
    }],
    "a number, too low": ["5", SIX, {
      ...inStep(5, "number"),
      unclaimedPresent: ["1 of the finished ones"],
    }],
    "a number, counting whole ones only": ["1", [artifact("a"), artifact("b", ["torn"])], {
      ...inStep(1, "number"),
    }],
    "zero": ["0", [], inStep(0, "number")],
    "nothing that can be compared": ['{"cursor": "x"}', SIX, {
      ...inStep(0),
      claims: null,
      comparedBy: null,
    }],
  });
  await assertCompares({
    "where the pointer says": ['{"next": 9, "done": {"count": 6}}', SIX, inStep(6, "number")],
  }, "/done/count");
});

Deno.test("readCheckpoint() says what is wrong with a file that it cannot read", async () => {
  await using dir = await makeTestDir("checkpoint");
  const root = dir.path;
  const nothing: CheckpointRecord = {
    path: "",
    present: true,
    bytes: null,
    sha256: null,
    parses: null,
    claims: null,
    claimedAbsent: [],
    unclaimedPresent: [],
    comparedBy: null,
    problem: "it is not a file that can be read as a whole",
  };
  await Deno.mkdir(`${root}/folder`);
  await Deno.writeTextFile(`${root}/huge`, "");
  await Deno.truncate(`${root}/huge`, CHECKPOINT_BYTES_MAX + 1);
  const fifo = await new Deno.Command("mkfifo", { args: [`${root}/fifo`] }).output();
  assert(fifo.success);
  for (const path of ["folder", "huge", "fifo"]) {
    assertEquals(readCheckpoint({ root, path }, SIX), { ...nothing, path });
  }
  await Deno.symlink("nowhere", `${root}/dangling`);
  for (const path of ["absent", "no/such/folder", "dangling"]) {
    const expected = { ...nothing, path, present: false, problem: "it is not there" };
    assertEquals(readCheckpoint({ root, path }, SIX), expected);
  }
  await Deno.symlink("loop", `${root}/loop`);
  for (const path of ["loop", "huge/below-a-file"]) {
    const read = readCheckpoint({ root, path }, SIX);
    assertEquals(read, { ...nothing, path, problem: read.problem });
    assertEquals(read.problem?.startsWith("it cannot be read: "), true, read.problem ?? "");
  }
});

Deno.test("readCheckpoint() notes size and hash of a torn file as well", async () => {
  await using dir = await makeTestDir("checkpoint");
  await Deno.writeTextFile(`${dir.path}/s.json`, '{"done": ["unit-1"');
  const read = readCheckpoint({ root: dir.path, path: "s.json", doneAt: "/done" }, SIX);
  assertEquals([read.parses, read.claims, read.bytes], [false, null, 18]);
  assertEquals(read.sha256, hashBytes(new TextEncoder().encode('{"done": ["unit-1"')));
  assertEquals([read.claimedAbsent, read.unclaimedPresent, read.comparedBy], [[], [], null]);
});

Deno.test("readCheckpoint() compares 20,000 claims with as many outputs in no time", async () => {
  await using dir = await makeTestDir("checkpoint");
  const many = Array.from({ length: 20_000 }, (_, i) => artifact(`out/${i}.md`));
  await Deno.writeTextFile(`${dir.path}/s.json`, JSON.stringify(many.map(({ path }) => path)));
  const beganMs = systemClock.nowMs();
  const read = readCheckpoint({ root: dir.path, path: "s.json" }, many);
  assertEquals([read.claims, read.claimedAbsent, read.unclaimedPresent], [20_000, [], []]);
  assert(systemClock.nowMs() - beganMs < 3000);
});
