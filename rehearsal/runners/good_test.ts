// The good sample runner by itself: what it does with a claim whose owner it cannot read.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { makeTestDir } from "../../tests/support/temp_dir.ts";

const HERE = new URL("./good", import.meta.url).pathname;

interface Ended {
  code: number;
  stderr: string;
  files: string[];
}

/** Runs the runner in a folder of its own, after `prepare`. */
async function run(prepare: (dir: string) => Promise<void>): Promise<Ended> {
  await using dir = await makeTestDir("good");
  await Deno.copyFile(`${HERE}/run.sh`, `${dir.path}/run.sh`);
  await prepare(dir.path);
  const { code, stderr } = await new Deno.Command("sh", {
    args: ["run.sh"],
    cwd: dir.path,
    env: { PATH: "/usr/bin:/bin", UNIT_SECONDS: "0" },
    clearEnv: true,
    stdin: "null",
    stdout: "null",
  }).output();
  const files = (await Array.fromAsync(Deno.readDir(dir.path))).map((entry) => entry.name);
  return { code, stderr: new TextDecoder().decode(stderr), files: files.sort() };
}

function claim(text: string, name = "run.lock"): (dir: string) => Promise<void> {
  return (dir) => Deno.writeTextFile(`${dir}/${name}`, text);
}

function assertStoodDown({ code, stderr, files }: Ended, name = "run.lock"): void {
  assertEquals(code, 75, stderr);
  assertStringIncludes(stderr, `cannot read who owns ${name}`);
  assertEquals(files.filter((file) => !["out", name, "run.sh"].includes(file)), []);
}

Deno.test("the good runner does its work, and finds everything done the second time", async () => {
  const ended = await run(() => Promise.resolve());
  assertEquals([ended.code, ended.stderr], [0, ""]);
  assertEquals(ended.files, ["out", "run.sh", "sent.log", "state.jsonl"]);
});

Deno.test("the good runner stands down on an empty claim", async () => {
  assertStoodDown(await run(claim("")));
});

Deno.test("the good runner stands down on a claim whose owner is not a number", async () => {
  assertStoodDown(await run(claim("host=x boot=y pid=1o4 start=5\n")));
});

Deno.test("the good runner stands down on a claim with a field missing", async () => {
  assertStoodDown(await run(claim("host=x boot=y pid=104\n")));
  assertStoodDown(await run(claim("pid=104 start=5\n")));
});

Deno.test("the good runner stands down on a claim that it cannot read", async () => {
  // For root every file can be read, so a folder stands in its place as well.
  assertStoodDown(await run((dir) => Deno.mkdir(`${dir}/run.lock`)));
  assertStoodDown(await run((dir) => Deno.symlink("nowhere", `${dir}/run.lock`)));
  if (Deno.uid() === 0) return;
  assertStoodDown(
    await run(async (dir) => {
      await claim("host=x boot=y pid=104 start=5\n")(dir);
      await Deno.chmod(`${dir}/run.lock`, 0);
    }),
  );
});

Deno.test("the good runner stands down on a worker's claim that it cannot read", async () => {
  assertStoodDown(await run(claim("pid=\n", "run.worker")), "run.worker");
});
