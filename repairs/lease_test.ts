import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import { systemClock, systemTool } from "../lab/mod.ts";
import { inFolder, isThere, namesIn, read, textOf, write } from "./_test_tools.ts";
import {
  acquireLease,
  clearStaleLock,
  LeaseHeldError,
  LeaseLostError,
  type LeaseOptions,
} from "./lease.ts";

/** A pid that belonged to a process which is gone. */
async function deadPid(): Promise<number> {
  const child = new Deno.Command("true").spawn();
  await child.status;
  return child.pid;
}

function take(path: string, more: Partial<LeaseOptions> = {}) {
  return acquireLease({ path, ...more });
}

function age(path: string, seconds: number): Promise<void> {
  const at = systemClock.wallMs() / 1000 - seconds;
  return Deno.utime(path, at, at);
}

Deno.test("acquireLease makes a lock that names its owner, and release takes it away", () =>
  inFolder(async (dir) => {
    const path = `${dir}/run.lock`;
    const lease = await take(path);
    const record = JSON.parse(read(path));
    assertEquals([record.pid, record.host, record.generation], [Deno.pid, Deno.hostname(), 1]);
    lease.assertStillOurs();
    await lease.release();
    assertEquals(namesIn(dir), ["run.lock.fence"]);
    await lease.release();
  }));

Deno.test("acquireLease counts the generation up with each owner", () =>
  inFolder(async (dir) => {
    const path = `${dir}/run.lock`;
    for (const generation of [1, 2, 3]) {
      await using lease = await take(path);
      assertEquals(lease.generation, generation);
    }
    await Deno.remove(`${path}.fence`);
    write(
      path,
      JSON.stringify({ ...JSON.parse(await leaseText(dir)), generation: 41, pid: await deadPid() }),
    );
    await using lease = await take(path);
    assertEquals(lease.generation, 42, "the number in a lock counts, too, when the fence is lost");
  }));

async function leaseText(dir: string): Promise<string> {
  await using _lease = await take(`${dir}/other.lock`);
  return read(`${dir}/other.lock`);
}

Deno.test("acquireLease respects a living owner at once, and takes the lock when it is given back", () =>
  inFolder(async (dir) => {
    const path = `${dir}/run.lock`;
    const first = await take(path);
    const error = await assertRejects(() => take(path), LeaseHeldError);
    assertEquals(error.judgement.state, "live");
    assertStringIncludes(error.message, "It was left as it is");
    const said: string[] = [];
    const second = take(path, {
      waitMs: 20_000,
      say: (text) => (said.push(text), void first.release()),
    });
    await using lease = await second;
    assertEquals(lease.generation, 2);
    assertMatch(said.join(), /^Waiting for/);
  }));

for (
  const [name, content] of [
    ["a bare pid", (pid: number) => `${pid}\n`],
    ["host, pid and time", (pid: number) => `${Deno.hostname()} ${pid} 1700000000\n`],
  ] as const
) {
  Deno.test(`acquireLease takes over the lock of a dead owner (${name}) and keeps it`, () =>
    inFolder(async (dir) => {
      const path = `${dir}/run.lock`;
      const text = content(await deadPid());
      write(path, text);
      write(`${path}.stale-1`, "an older one");
      await using lease = await take(path);
      assertEquals(lease.takenOver, `${path}.stale-2`);
      assertEquals(read(`${path}.stale-2`), text);
      assertEquals(read(`${path}.stale-1`), "an older one");
    }));
}

Deno.test("acquireLease takes over from a pid that a stranger uses now, and signals nobody", () =>
  inFolder(async (dir) => {
    const path = `${dir}/run.lock`;
    const stranger = new Deno.Command("sleep", { args: ["60"] }).spawn();
    try {
      write(path, `${stranger.pid}\n`);
      await assertRejects(() => take(path), LeaseHeldError, "may be its owner");
      await age(path, 3600);
      await using lease = await take(path);
      assertEquals(lease.takenOver, `${path}.stale-1`);
      stranger.kill("SIGTERM"); // It throws when the stranger was ended by somebody else.
    } finally {
      await stranger.status;
    }
  }));

for (
  const [name, content] of [
    ["empty", ""],
    ["not a number", "someone"],
    ["of another host", "another-host 1 1700000000"],
    ["half of ours", '{"schema":"failure-lab/lease","version":1'],
  ] as const
) {
  Deno.test(`acquireLease never touches a lock that is ${name}, however old`, () =>
    inFolder(async (dir) => {
      const path = `${dir}/run.lock`;
      write(path, content);
      await age(path, 40 * 24 * 3600);
      const before = await Deno.stat(path);
      const error = await assertRejects(() => take(path, { waitMs: 60_000 }), LeaseHeldError);
      assertEquals(error.judgement.state, "unknown");
      const after = await Deno.stat(path);
      assertEquals([after.ino, after.mtime, read(path)], [before.ino, before.mtime, content]);
    }));
}

Deno.test("acquireLease reads a lock folder and takes it over when its owner is dead", () =>
  inFolder(async (dir) => {
    const path = `${dir}/run.lock`;
    await Deno.mkdir(path);
    await assertRejects(() => take(path), LeaseHeldError, "names no owner");
    write(`${path}/pid`, `${await deadPid()}\n`);
    await using lease = await take(path, { shape: "folder" });
    assertEquals(lease.takenOver, `${path}.stale-1`);
    assertEquals(namesIn(`${path}.stale-1`), ["pid"]);
    assertEquals(namesIn(path), ["owner.json"]);
    lease.renew();
    await lease.release();
    assertEquals(isThere(path), false);
  }));

Deno.test("acquireLease respects a kernel lock that a grandchild holds after its owner died", () =>
  inFolder(async (dir) => {
    const path = `${dir}/run.lock`;
    const owner = new Deno.Command("sh", {
      args: [
        "-c",
        `exec 9>"$1"; flock -n 9 || exit 1; echo $$ >&9
         (echo ready >"$1.ready"; while [ -e "$1.hold" ]; do sleep 0.05; done) & exit 0`,
        "sh",
        path,
      ],
    });
    write(`${path}.hold`, "");
    try {
      assertEquals((await owner.spawn().status).code, 0);
      await textOf(`${path}.ready`);
      const error = await assertRejects(() => take(path), LeaseHeldError);
      assertEquals(error.judgement.state, "live");
      assertMatch(read(path), /^\d+\n$/);
    } finally {
      await Deno.remove(`${path}.hold`);
    }
    // The waiting run gets it as soon as the grandchild has gone.
    await using lease = await take(path, { waitMs: 20_000 });
    assertEquals(lease.takenOver, `${path}.stale-1`);
  }));

Deno.test("acquireLease takes an old lock without an owner only with every proof asked for", () =>
  inFolder(async (dir) => {
    const path = `${dir}/index.lock`;
    write(path, "");
    const options = {
      staleAfterMs: 60_000,
      progress: [`${dir}/out/*`],
      noProcess: "slow-committer",
    };
    await assertRejects(() => take(path, options), LeaseHeldError, "it changed");
    await age(path, 3600);
    write(`${dir}/out/a`, "just now");
    await assertRejects(() => take(path, options), LeaseHeldError, "its files still change");
    await age(`${dir}/out/a`, 3600);
    // A program with a name of its own: other tests of this machine run sleep, too.
    await Deno.symlink(systemTool("sleep"), `${dir}/slow-committer`);
    const slow = new Deno.Command(`${dir}/slow-committer`, { args: ["60"] }).spawn();
    try {
      await assertRejects(() => take(path, options), LeaseHeldError, "slow-committer runs");
    } finally {
      slow.kill("SIGKILL");
      await slow.status;
    }
    const opener = new Deno.Command("sh", {
      args: ["-c", `exec 9<"$1"; echo ready >"$1.ready"; read _`, "sh", path],
      stdin: "piped",
    }).spawn();
    try {
      await textOf(`${path}.ready`);
      await assertRejects(() => take(path, options), LeaseHeldError, "has it open");
    } finally {
      await opener.stdin.close();
      await opener.status;
    }
    await using lease = await take(path, options);
    assertEquals(lease.takenOver, `${path}.stale-1`);
  }));

Deno.test("a late owner is fenced off, and its release leaves the new owner's lock alone", () =>
  inFolder(async (dir) => {
    const path = `${dir}/run.lock`;
    const late = await take(path);
    await Deno.remove(path); // Somebody believed that it was left behind.
    assertThrows(() => late.assertStillOurs(), LeaseLostError, "the lock is gone");
    const owner = await take(path);
    assertThrows(() => late.renew(), LeaseLostError, "another lock is in its place");
    await late.release();
    owner.assertStillOurs();
    await owner.release();
    assertThrows(() => owner.assertStillOurs(), LeaseLostError, "given back");
  }));

Deno.test("a late owner is fenced off also when its own lock was put back", () =>
  inFolder(async (dir) => {
    const path = `${dir}/run.lock`;
    await using late = await take(path);
    await Deno.rename(path, `${path}.elsewhere`);
    await (await take(path)).release();
    await Deno.rename(`${path}.elsewhere`, path);
    assertThrows(() => late.assertStillOurs(), LeaseLostError, "generation 2 was given out");
    await late.release();
    assertEquals(isThere(path), true);
  }));

Deno.test("acquireLease gives one of many takers of a stale lock the lock, and only one", () =>
  inFolder(async (dir) => {
    const path = `${dir}/run.lock`;
    write(path, `${await deadPid()}\n`);
    const results = await Promise.allSettled([1, 2, 3, 4, 5].map(() => take(path)));
    const won = results.filter((result) => result.status === "fulfilled");
    assertEquals(won.length, 1);
    for (const result of results) {
      if (result.status === "fulfilled") await result.value.release();
      else assert(result.reason instanceof LeaseHeldError);
    }
    assertEquals(namesIn(dir), ["run.lock.fence", "run.lock.stale-1"]);
  }));

Deno.test("acquireLease refuses a generation that it cannot read", () =>
  inFolder(async (dir) => {
    write(`${dir}/run.lock.fence`, "seven");
    await assertRejects(() => take(`${dir}/run.lock`), Error, "holds no number");
    assertEquals(namesIn(dir), ["run.lock.fence"]);
  }));

Deno.test("clearStaleLock moves a stale lock away, takes none, and leaves others alone", () =>
  inFolder(async (dir) => {
    const path = `${dir}/app.pid`;
    assertEquals(await clearStaleLock({ path }), null);
    write(path, `${await deadPid()}\n`);
    assertEquals(await clearStaleLock({ path }), `${path}.stale-1`);
    assertEquals(isThere(path), false);
    write(path, "1\n");
    await assertRejects(() => clearStaleLock({ path }), LeaseHeldError);
    assertEquals(read(path), "1\n");
  }));
