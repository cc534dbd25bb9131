import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import type { Clock } from "../clock.ts";
import { mixedSet, passSet } from "./_fixture_sets.ts";
import { parseMarkup } from "./_markup_checker.ts";
import { defaultReportDirs, openReport, parseRunSet, ReportError } from "./mod.ts";
import { replaceFile } from "./write_file.ts";

const FILES = ["junit.xml", "report.html", "report.json", "report.md"];

async function withDir(does: (dir: string) => Promise<void>): Promise<void> {
  const dir = await Deno.makeTempDir({ prefix: "failure-lab-report-test-" });
  try {
    await does(dir);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

async function namesIn(dir: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(dir), (entry) => entry.name)).sort();
}

function clockAt(now: { ms: number }): Clock {
  return {
    nowMs: () => now.ms,
    wallMs: () => now.ms,
    wallIso: () => "2026-01-02T03:04:05.678Z",
    sleep: () => Promise.resolve(),
  };
}

const noSpace = () =>
  Object.assign(new Error("No space left on device (os error 28)"), { code: "ENOSPC" });

Deno.test("a report is complete after every update, and nothing else is in its folder", () =>
  withDir(async (dir) => {
    const path = join(dir, "new", "folder");
    const report = await openReport(path, { command: "replay", clock: clockAt({ ms: 0 }) });
    assertEquals(await namesIn(path), [], "the probe file is gone");
    for (const set of [passSet, mixedSet]) {
      await report.update(set);
      assertEquals(await namesIn(path), FILES);
      assertEquals(parseRunSet(await Deno.readTextFile(join(path, "report.json"))) as unknown, set);
      parseMarkup(await Deno.readTextFile(join(path, "report.html")), "html");
      parseMarkup(await Deno.readTextFile(join(path, "junit.xml")), "xml");
    }
    await report.close();
    assertEquals(report.dir, path);
    assertEquals(report.notes, []);
    assertEquals(report.paths[0], { format: "html", path: join(path, "report.html") });
  }));

Deno.test("a report that is there stays as it is; the next one goes beside it and says so", () =>
  withDir(async (dir) => {
    await Deno.writeTextFile(join(dir, "notes.txt"), "mine");
    const first = await openReport(dir, { command: "replay" });
    assertEquals(first.dir, dir, "other files do not matter");
    await first.update(passSet);
    const before = await Deno.readTextFile(join(dir, "report.json"));
    for (const number of ["2", "3"]) {
      const next = await openReport(dir, { command: "replay" });
      assertEquals(next.dir, join(dir, number));
      assertStringIncludes(next.notes.join(), "already holds a report, which stays as it is");
      await next.update(mixedSet);
      await next.close();
      assertEquals(await namesIn(next.dir), FILES);
    }
    assertEquals(await Deno.readTextFile(join(dir, "report.json")), before);
  }));

Deno.test("two runs that start together do not overwrite each other", () =>
  withDir(async (dir) => {
    const one = await openReport(dir, { command: "replay" });
    const two = await openReport(dir, { command: "replay" });
    await one.update(passSet);
    await two.update(mixedSet);
    await two.update(mixedSet);
    assertEquals(one.dir, dir);
    assertEquals(two.dir, join(dir, "2"));
    assertStringIncludes(two.notes.join(), "Another run wrote its report");
    assertEquals(two.paths[0]?.path, join(dir, "2", "report.html"));
    const kept = parseRunSet(await Deno.readTextFile(join(dir, "report.json")));
    assertEquals(kept.runs.length, 1);
    assertEquals(await namesIn(join(dir, "2")), FILES);
  }));

Deno.test("a folder that cannot be written is found before the run, with exit 4 and the flag", () =>
  withDir(async (dir) => {
    const file = join(dir, "file\n");
    await Deno.writeTextFile(file, "mine");
    for (const path of [file, join(file, "below"), "/proc/nowhere/report"]) {
      const error = await assertRejects(
        () => openReport(path, { command: "demo" }),
        ReportError,
        "--report DIR",
      );
      assertEquals(error.exitCode, 4);
      assertStringIncludes(error.message, "Nothing was run");
      assert(!error.message.includes("\n"), error.message);
    }
    assertEquals(await Deno.readTextFile(file), "mine");
  }));

Deno.test("folders that were made for a report that cannot be written go away again", () =>
  withDir(async (dir) => {
    // Just short enough for the folder, too long for a file in it.
    let path = dir;
    while (path.length < 3800) path = join(path, "d".repeat(240));
    path = join(path, "d".repeat(4090 - path.length));
    await assertRejects(() => openReport(path, { command: "demo" }), ReportError, "too long");
    assertEquals(await namesIn(dir), []);
  }));

Deno.test("a full disk: the older files stay whole, the run goes on, and close says which", () =>
  withDir(async (dir) => {
    let isFull = false;
    const report = await openReport(dir, {
      command: "replay",
      clock: clockAt({ ms: 0 }),
      write: (path, text, options) =>
        isFull && !path.endsWith(".md")
          ? Promise.reject(noSpace())
          : replaceFile(path, text, options),
    });
    await report.update(passSet);
    const before = await Deno.readTextFile(join(dir, "report.json"));
    isFull = true;
    await report.update(mixedSet);
    assertEquals(await Deno.readTextFile(join(dir, "report.json")), before);
    assertStringIncludes(report.notes.join("\n"), "report.json in");
    const error = await assertRejects(() => report.close(), ReportError, "no space is left");
    assertStringIncludes(error.message, "junit.xml");
    assertStringIncludes(error.message, "the older, complete file is still there");
    assert(!error.message.includes("report.md"), error.message);
    assertStringIncludes(await Deno.readTextFile(join(dir, "report.md")), "4 runs");
    isFull = false;
    await report.close();
    const after = parseRunSet(await Deno.readTextFile(join(dir, "report.json")));
    assertEquals(after.runs.length, 4, "close tried again, and now there was room");
    assertEquals(report.notes, []);
  }));

Deno.test("a write that breaks off leaves the old file and no temporary one", () =>
  withDir(async (dir) => {
    const path = join(dir, "report.json");
    await replaceFile(path, "old");
    await Deno.mkdir(join(dir, "report.md"));
    await assertRejects(() => replaceFile(join(dir, "report.md"), "new"));
    await assertRejects(() => replaceFile(path, "new", { isNew: true }), Deno.errors.AlreadyExists);
    assertEquals(await namesIn(dir), ["report.json", "report.md"]);
    assertEquals(await Deno.readTextFile(path), "old");
    await replaceFile(path, "new");
    assertEquals(await Deno.readTextFile(path), "new");
  }));

Deno.test("a symbolic link in the place of a report file is replaced, not followed", () =>
  withDir(async (dir) => {
    const victim = join(dir, "victim");
    await Deno.writeTextFile(victim, "mine");
    const report = await openReport(join(dir, "r"), { command: "demo" });
    await Deno.symlink(victim, join(dir, "r", "report.html"));
    await report.update(passSet);
    assertEquals(await Deno.readTextFile(victim), "mine");
    assert((await Deno.lstat(join(dir, "r", "report.html"))).isFile);
  }));

Deno.test("when writing is slow, some states are left out, but never the last one", () =>
  withDir(async (dir) => {
    const now = { ms: 0 };
    const writes: string[] = [];
    const report = await openReport(dir, {
      command: "replay",
      clock: clockAt(now),
      write: (path) => {
        now.ms += 200;
        writes.push(path);
        return Promise.resolve();
      },
    });
    const rounds = () => writes.filter((path) => path.endsWith("report.json")).length;
    await report.update(passSet);
    assertEquals(rounds(), 1);
    now.ms += 3000;
    await report.update(passSet);
    assertEquals(rounds(), 1, "800 ms of writing: 3,200 ms of peace");
    now.ms += 300;
    await report.update(passSet);
    assertEquals(rounds(), 2);
    await report.update(mixedSet);
    assertEquals(rounds(), 2);
    await report.close();
    assertEquals(rounds(), 3);
    await report.close();
    assertEquals(rounds(), 3, "nothing new, nothing written");
  }));

Deno.test("as long as writing is quick, every state is written", () =>
  withDir(async (dir) => {
    const now = { ms: 0 };
    let writes = 0;
    const write = () => {
      now.ms += 10;
      writes += 1;
      return Promise.resolve();
    };
    const report = await openReport(dir, { command: "replay", clock: clockAt(now), write });
    for (let index = 0; index < 5; index++) await report.update(passSet);
    assertEquals(writes, 5 * FILES.length);
  }));

Deno.test("without --report the folder is under the state folder of the user, else under temp", () => {
  const dirs = (env: Record<string, string>, label: string | null = null) =>
    defaultReportDirs({
      env: (name) => env[name],
      timeIso: "2026-01-02T03:04:05.678Z",
      command: "replay",
      label,
    });
  const name = "2026-01-02T03-04-05Z-replay";
  assertEquals(dirs({ HOME: "/h", XDG_STATE_HOME: "/s", TMPDIR: "/t" }), [
    `/s/failure-lab/runs/${name}`,
    `/t/failure-lab-reports/${name}`,
  ]);
  assertEquals(dirs({ HOME: "/h", XDG_STATE_HOME: "relative" }), [
    `/h/.local/state/failure-lab/runs/${name}`,
    `/tmp/failure-lab-reports/${name}`,
  ]);
  assertEquals(dirs({}), [`/tmp/failure-lab-reports/${name}`]);
  assertEquals(dirs({}, "../be fore/\n"), [`/tmp/failure-lab-reports/${name}-be-fore`]);
});

Deno.test("a home that cannot be written: the report goes to temp, says so, and latest follows", () =>
  withDir(async (dir) => {
    const blocked = join(dir, "not-a-folder");
    await Deno.writeTextFile(blocked, "");
    const env = (name: string) => name === "HOME" ? blocked : name === "TMPDIR" ? dir : undefined;
    const options = { command: "demo", clock: clockAt({ ms: 0 }), env };
    const parent = join(dir, "failure-lab-reports");
    const first = await openReport(null, options);
    assertStringIncludes(first.notes.join(), "cannot be written");
    assertEquals(first.dir, join(parent, "2026-01-02T03-04-05Z-demo"));
    await first.update(passSet);
    assertEquals(await Deno.readLink(join(parent, "latest")), first.dir);
    const second = await openReport(null, options);
    assertEquals(second.dir, `${first.dir}-2`, "two runs in one second have two folders");
    await second.update(passSet);
    assertEquals(await Deno.readLink(join(parent, "latest")), second.dir);
    assertEquals(await namesIn(parent), [
      "2026-01-02T03-04-05Z-demo",
      "2026-01-02T03-04-05Z-demo-2",
      "latest",
    ]);
    const info = await Deno.stat(second.dir);
    assertEquals((info.mode ?? 0) & 0o777, 0o700, "job output is in it");
  }));

Deno.test("a link planted in the shared temp folder is not followed", () =>
  withDir(async (dir) => {
    await Deno.mkdir(join(dir, "elsewhere"));
    await Deno.symlink(join(dir, "elsewhere"), join(dir, "failure-lab-reports"));
    const env = (name: string) => name === "TMPDIR" ? dir : undefined;
    await assertRejects(
      () => openReport(null, { command: "demo", env }),
      ReportError,
      "There is no place for the report",
    );
    assertEquals(await namesIn(join(dir, "elsewhere")), []);
  }));
