import { assert, assertEquals } from "@std/assert";
import type { Artifact, PhaseRecord, ProcessRow } from "../../lab/mod.ts";
import { hangEvidence } from "./block_on_pipe.ts";
import { hollowCue, hollowEvidence, plantStaleOutputs } from "./hollow_success.ts";
import { orphanEvidence, orphansOf } from "./kill_leader.ts";
import { forgetLast, halveClaimed, removeClaimed } from "./lie_in_checkpoint.ts";
import { lockEvidence, plantLock } from "./plant_lock.ts";

function row(pid: number, more: Partial<ProcessRow> = {}): ProcessRow {
  return {
    pid,
    ppid: 1,
    pgid: pid,
    startedSeconds: 1000,
    name: "sh",
    state: "S",
    marker: null,
    ...more,
  };
}

function phase(exitCode: number | null): PhaseRecord {
  return {
    argv: ["job"],
    startedMs: 0,
    endedMs: 1,
    exitCode,
    signal: null,
    limitHit: null,
    endedByLab: false,
    stdoutBytes: 0,
    stderrBytes: 0,
    stdoutTail: "",
    stderrTail: "",
    startError: null,
  };
}

function artifact(path: string, problems: string[] = [], bytes = 10): Artifact {
  return { path, bytes, sha256: "a".repeat(64), mtimeMs: 0, inode: 1, problems };
}

async function inDir(body: (dir: string) => void): Promise<void> {
  const dir = await Deno.makeTempDir({ prefix: "drill-faults-" });
  try {
    body(dir);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

Deno.test("hangEvidence() needs both a live process and the whole idle limit", () => {
  const sighting = { processes: [row(7)], outputs: 5, silentMs: 350, idleMs: 350 };
  assertEquals(hangEvidence(sighting).length, 2);
  assertEquals(hangEvidence({ ...sighting, silentMs: 349 }), []);
  assertEquals(hangEvidence({ ...sighting, processes: [] }), []);
  assertEquals(hangEvidence({ ...sighting, processes: [row(7, { state: "Z" })] }), []);
});

Deno.test("hollowEvidence() needs exit 0 and fewer whole outputs than units", () => {
  const two = [artifact("a"), artifact("b")];
  assertEquals(hollowEvidence(phase(0), two, 3).length, 2);
  assertEquals(hollowEvidence(phase(0), [...two, artifact("c", ["it is empty"], 0)], 3).length, 2);
  assertEquals(hollowEvidence(phase(0), [...two, artifact("c")], 3), []);
  assertEquals(hollowEvidence(phase(1), [], 3), []);
  assertEquals(hollowEvidence(phase(null), [], 3), []);
});

Deno.test("hollowCue() has a cue of its own for each shape that the worker must play", () => {
  assertEquals(hollowCue("nothing"), "hollow");
  assertEquals(hollowCue("empty"), "hollow-empty");
  assertEquals(hollowCue("last-empty"), "hollow-last");
  assertEquals(hollowCue("last-half"), "hollow-half");
  assertEquals(hollowCue("stale"), "none");
});

Deno.test("plantStaleOutputs() makes files that are old and end like whole ones", async () => {
  await inDir((dir) => {
    const wallMs = Date.UTC(2026, 0, 2);
    plantStaleOutputs([`${dir}/a`], "END", wallMs);
    assert(Deno.readTextFileSync(`${dir}/a`).endsWith("END\n"));
    assertEquals(Deno.statSync(`${dir}/a`).mtime?.getTime(), Date.UTC(2026, 0, 1));
  });
});

Deno.test("orphanEvidence() needs a dead leader and a live process of its job", () => {
  const orphan = row(8, { pgid: 7 });
  const sighting = { leaderPid: 7, after: [orphan], hasWritten: true };
  assertEquals(orphanEvidence(sighting).length, 3);
  assertEquals(orphanEvidence({ ...sighting, hasWritten: null }).length, 2);
  assertEquals(orphanEvidence({ ...sighting, after: [row(7), orphan] }), []);
  assertEquals(orphanEvidence({ ...sighting, after: [row(7, { state: "Z" }), orphan] }).length, 3);
  assertEquals(orphanEvidence({ ...sighting, after: [] }), []);
  assertEquals(orphansOf(7, [row(7), orphan, row(9, { state: "Z" })]), [orphan]);
});

Deno.test("removeClaimed() and halveClaimed() tell what was there and what is there", async () => {
  await inDir((dir) => {
    Deno.writeTextFileSync(`${dir}/a`, "0123456789");
    assertEquals(halveClaimed(`${dir}/a`)[0]?.what.includes("5 of its 10 bytes"), true);
    assertEquals(Deno.readTextFileSync(`${dir}/a`), "01234");
    assertEquals(removeClaimed(`${dir}/a`).length, 2);
    Deno.writeTextFileSync(`${dir}/empty`, "");
    assertEquals(halveClaimed(`${dir}/empty`), []);
  });
});

Deno.test("forgetLast() takes whole records from the end and gives no evidence without any", async () => {
  await inDir((dir) => {
    Deno.writeTextFileSync(`${dir}/log`, "1\n2\n3\n");
    assertEquals(forgetLast(`${dir}/log`, 2)[0]?.value, { before: 3, after: 1 });
    assertEquals(Deno.readTextFileSync(`${dir}/log`), "1\n");
    Deno.writeTextFileSync(`${dir}/log`, "");
    assertEquals(forgetLast(`${dir}/log`, 2), []);
  });
});

Deno.test("plantLock() makes a file or a folder, as old as it is to look, and never over another", async () => {
  await inDir((dir) => {
    const wallMs = Date.UTC(2026, 0, 2);
    plantLock(`${dir}/f`, { shape: "file", content: "42\n", ageMs: 1000 }, wallMs);
    assertEquals(Deno.statSync(`${dir}/f`).mtime?.getTime(), wallMs - 1000);
    plantLock(`${dir}/d`, { shape: "folder", content: "42\n", ageMs: 1000 }, wallMs);
    assertEquals(Deno.readTextFileSync(`${dir}/d/pid`), "42\n");
    assertEquals(Deno.statSync(`${dir}/d`).mtime?.getTime(), wallMs - 1000);
    for (const name of ["f", "d"]) {
      const lock = { shape: name === "f" ? "file" : "folder", content: "1", ageMs: 0 } as const;
      let message = "";
      try {
        plantLock(`${dir}/${name}`, lock, wallMs);
      } catch (error) {
        message = String(error);
      }
      assert(message.includes("AlreadyExists"), `${name}: ${message}`);
    }
  });
});

Deno.test("lockEvidence() tells a dead owner, a stranger, a live owner and a holder apart", () => {
  const table = [row(42, { startedSeconds: 2000 })];
  const base = { pid: 42, takenSeconds: 2000, table, holder: null };
  const said = (more: Partial<typeof base>) => lockEvidence("42\n", { ...base, ...more })[1]?.what;
  assertEquals(said({}), "and its owner, pid 42, lives");
  assertEquals(said({ pid: 43 }), "and its owner, pid 43, is not there");
  assertEquals(said({ table: [row(42, { state: "Z" })] }), "and its owner, pid 42, is not there");
  assertEquals(
    said({ takenSeconds: 1000 }),
    "and pid 42 is a process that started after the lock was taken",
  );
  const held = lockEvidence("43\n", { ...base, pid: 43, holder: row(50) });
  assertEquals(held[2]?.what, "and another process holds the kernel lock on it");
});
