// Every safety rule of a rehearsal, end to end on the built program: where it works, what it watches,
// what the job gets and does not get. Sudden ends are in rehearse_ends_test.ts, the permission scope
// in rehearse_scope_test.ts, odd projects in rehearse_project_test.ts.

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { assertLabRoot, LabPlaceError, systemTempDir } from "../lab/mod.ts";
import { revert, RevertRefusedError, snapshotWatchList } from "../lab/mod.ts";
import { startProvider } from "../lab/provider/mod.ts";
import { cloneTree } from "../lab/tree_copy.ts";
import { Bench, onlyRun } from "./support/binary.ts";
import { cleanUpAfterEach } from "./support/processes.ts";
import { makeTestDir } from "./support/temp_dir.ts";

cleanUpAfterEach();

const FOUR = "mkdir -p out; for i in 1 2 3 4; do [ -e out/$i ] && continue; sleep 0.03; " +
  "echo $i >out/.$i; mv out/.$i out/$i; done\n";
const JOB = ["--start", "sh run.sh", "--resume", "sh run.sh", "--artifacts", "out/*"]
  .concat(["--count", "4"]);

Deno.test("the job runs in a copy under the system temp dir, through links, and never in place", async () => {
  await using bench = await Bench.make("place");
  await Deno.symlink(bench.temp, `${bench.path}/link-to-tmp`);
  await bench.write("run.sh", `pwd -P >where.txt; cp where.txt "$SEEN"\n${FOUR}`);
  const seen = `${bench.path}/seen`;
  const { code, stderr } = await bench.runJson(["rehearse", ...JOB], {
    env: { TMPDIR: `${bench.path}/link-to-tmp`, SEEN: seen },
  });
  assertEquals(code, 0, stderr);
  const where = (await Deno.readTextFile(seen)).trim();
  assert(where.startsWith(`${bench.temp}/failure-lab-`), where);
  assert(where.endsWith("/project"), where);
  assertEquals(exists(`${bench.project}/out`), false);
});

Deno.test("no folder but a lab under the temp dir is ever taken for a lab", async () => {
  await using dir = await makeTestDir("isolation");
  await Deno.mkdir(`${dir.path}/failure-lab-0`);
  await Deno.mkdir(`${dir.path}/other`);
  await Deno.symlink(`${dir.path}/other`, `${dir.path}/failure-lab-1`);
  assertEquals(assertLabRoot(`${dir.path}/failure-lab-0`, dir.path), `${dir.path}/failure-lab-0`);
  const refused = [`${dir.path}/other`, `${dir.path}/failure-lab-1`, dir.path, "/", "/usr"];
  for (const path of [...refused, `${dir.path}/failure-lab-0/..`]) {
    assertThrows(() => assertLabRoot(path, dir.path), LabPlaceError);
  }
  assertThrows(() => systemTempDir(`${dir.path}/nowhere`), LabPlaceError);
});

/** Places that are watched without being asked for; `$REAL` is where the job finds them. */
const WATCHED: readonly [string, string][] = [
  ["the project", "project/important.txt"],
  ["the shell's configuration", "home/.bashrc"],
  ["git's configuration", "home/.gitconfig"],
  ["an agent's settings", "home/.claude/settings.json"],
];

for (const [what, path] of WATCHED) {
  Deno.test(`a change of ${what} is seen without being asked for, with exit 5`, async () => {
    await using bench = await Bench.make("watched");
    await bench.write("important.txt", "before\n");
    await bench.write("run.sh", `echo changed >>"$REAL/${path}"\n${FOUR}`);
    await Deno.mkdir(`${bench.path}/home/.claude`);
    for (const [, each] of WATCHED) await Deno.writeTextFile(`${bench.path}/${each}`, "{}\n");
    const { code, set } = await bench.runJson(["rehearse", ...JOB], { env: { REAL: bench.path } });
    const { record, grade } = onlyRun(set);
    assertEquals([grade.verdict, grade.reasonId, code], ["fail", "containment-clean", 5]);
    const changes = record.containment?.changes.map((change) => change.path) ?? [];
    assert(changes.includes(`${bench.path}/${path}`), changes.join(", "));
  });
}

Deno.test("a shell file that appears during the run is a change as well", async () => {
  await using bench = await Bench.make("appears");
  await bench.write("run.sh", `echo 'alias ls=rm' >"$HOME/.profile"\n${FOUR}`);
  const { code, set } = await bench.runJson(["rehearse", ...JOB]);
  assertEquals(code, 5);
  const [change] = onlyRun(set).record.containment?.changes ?? [];
  assertEquals([change?.path, change?.change], [`${bench.path}/home/.profile`, "added"]);
});

Deno.test("the file beside the copy is watched during the recovery as well", async () => {
  await using bench = await Bench.make("sentinel");
  await bench.write("run.sh", `[ -e out/2 ] && echo x >>../SENTINEL-do-not-touch.txt\n${FOUR}`);
  const { code, set } = await bench.runJson(["rehearse", ...JOB]);
  const { record } = onlyRun(set);
  assertEquals([record.containment?.sentinelIntact, code], [false, 5]);
});

Deno.test("real provider keys do not reach the job, and other variables do", async () => {
  await using bench = await Bench.make("keys");
  await bench.write("run.sh", `env >"$SEEN"\n${FOUR}`);
  const secret = ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENAI_BASE_URL"];
  const { code, stderr } = await bench.run(["rehearse", ...JOB], {
    env: {
      ...Object.fromEntries(secret.map((name) => [name, "real-and-costly"])),
      KEPT: "kept",
      SEEN: `${bench.path}/seen`,
    },
  });
  assertEquals(code, 0, stderr);
  const env = await Deno.readTextFile(`${bench.path}/seen`);
  assertEquals(env.includes("real-and-costly"), false);
  assert(env.includes("KEPT=kept"));
  for (const name of secret) assert(stderr.includes(name), `${name} is not named: ${stderr}`);
});

Deno.test("no secret of the environment is in the report", async () => {
  await using bench = await Bench.make("secret");
  await bench.write("run.sh", FOUR);
  const { code, stdout } = await bench.run(["rehearse", ...JOB, "--json"], {
    env: { MY_DATABASE_PASSWORD: "correct-horse-battery" },
  });
  assertEquals(code, 0);
  assertEquals(stdout.includes("correct-horse-battery"), false);
});

Deno.test("a revert with one absolute path or one '..' writes nothing at all", async () => {
  await using dir = await makeTestDir("revert");
  const [root, backup] = [`${dir.path}/failure-lab-r`, `${dir.path}/failure-lab-b`];
  await Deno.mkdir(root);
  await Deno.writeTextFile(`${root}/a.txt`, "before\n");
  await cloneTree(root, backup);
  const before = await snapshotWatchList([{ path: root, depth: "full" }]);
  await Deno.writeTextFile(`${root}/a.txt`, "after\n");
  await Deno.writeTextFile(`${dir.path}/outside.txt`, "outside\n");
  const good = { path: "a.txt", realPath: `${root}/a.txt`, kind: "outside-allowlist" as const };
  for (const path of [`${dir.path}/outside.txt`, "../outside.txt", "a/../../outside.txt"]) {
    const violations = [good, { ...good, path }];
    await assertRejects(
      () => revert({ root, backupDir: backup, before, violations }),
      RevertRefusedError,
    );
  }
  assertEquals(await Deno.readTextFile(`${root}/a.txt`), "after\n");
  assertEquals(await Deno.readTextFile(`${dir.path}/outside.txt`), "outside\n");
});

Deno.test("the provider listens on loopback only and refuses a real key", async () => {
  await using provider = await startProvider();
  assertEquals(new URL(provider.url).hostname, "127.0.0.1");
  await assertRejects(() => startProvider({ key: "sk-ant-real" }));
});

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
