// A project with everything in it that a copy can stumble over, end to end on the built program.

import { assert, assertEquals, assertFalse } from "@std/assert";
import { Bench, onlyRun } from "./support/binary.ts";
import { cleanUpAfterEach } from "./support/processes.ts";
import { makeSocket } from "./support/special_files.ts";

cleanUpAfterEach();

/** Notes what the copy holds, then makes its six outputs. */
const LOOK = `
mkdir -p out
ls -A >seen.txt
cat 'with space.txt' "$(printf 'new\\nline.txt')" inside-link >contents.txt
for i in 1 2 3 4 5 6; do
  [ -e out/$i.txt ] && continue
  sleep 0.03
  cat seen.txt contents.txt >out/.$i; mv out/.$i out/$i.txt
done
`;

Deno.test("an odd project is copied without its dangers and rehearsed", async () => {
  await using bench = await Bench.make("odd");
  const at = (name: string) => `${bench.project}/${name}`;
  await bench.write("run.sh", LOOK);
  await bench.write("with space.txt", "space\n");
  await bench.write("new\nline.txt", "newline\n");
  await bench.write(".env", "SECRET=1\n");
  await bench.write("read-only.txt", "read only\n", 0o444);
  await Deno.writeTextFile(`${bench.path}/outside.txt`, "outside\n");
  await Deno.symlink(`${bench.path}/outside.txt`, at("leads-out"));
  await Deno.symlink("with space.txt", at("inside-link"));
  await Deno.symlink("nowhere", at("dangling"));
  await new Deno.Command("mkfifo", { args: [at("pipe")] }).output();
  assert(await makeSocket(at("socket")), "this test needs perl or python3 to make a socket");
  await Deno.writeTextFile(at("sparse.bin"), "");
  await Deno.truncate(at("sparse.bin"), 1024 ** 3);

  const began = performance.now();
  const { code, set, stderr } = await bench.runJson(
    ["rehearse", "--start", "sh run.sh", "--resume", "sh run.sh", "--artifacts", "out/*.txt"]
      .concat(["--count", "6", "--watch", `${bench.path}/outside.txt`])
      // What it lists is another thing when it begins again.
      .concat(["--no-same-as-control"]),
  );
  const { grade, record } = onlyRun(set);
  assertEquals([grade.verdict, code], ["pass", 0], grade.reason + stderr);
  const skipped = new Map(record.project?.skipped.map((each) => [each.path, each.reason]));
  assertEquals(skipped.get(".env"), "credential");
  assertEquals(skipped.get("leads-out"), "link-out");
  assertEquals(skipped.get("pipe"), "fifo");
  assertEquals(skipped.get("socket"), "socket");
  assertFalse(skipped.has("dangling"));
  assertFalse(skipped.has("inside-link"));
  assertFalse(skipped.has("sparse.bin"));
  assertEquals(await Deno.readTextFile(at(".env")), "SECRET=1\n");
  // Three copies of a 1 GiB hole would take many seconds and 3 GiB if they were written out.
  assert(performance.now() - began < 45_000);
});

Deno.test("the copy of a sparse file stays sparse", async () => {
  await using bench = await Bench.make("sparse");
  await Deno.writeTextFile(`${bench.project}/sparse.bin`, "");
  await Deno.truncate(`${bench.project}/sparse.bin`, 1024 ** 3);
  await bench.write(
    "run.sh",
    "mkdir -p out; for i in 1 2 3; do sleep 0.03; du -k sparse.bin | cut -f 1 >out/$i; done\n",
  );
  const { set } = await bench.runJson(
    ["rehearse", "--start", "sh run.sh", "--resume", "sh run.sh", "--artifacts", "out/*"]
      .concat(["--count", "3", "--keep"]),
  );
  const { record } = onlyRun(set);
  const lab = bench.labs()[0];
  assert(lab !== undefined);
  const kilobytes = Number(
    await Deno.readTextFile(`${bench.temp}/${lab}/work/project/out/1`),
  );
  await Deno.remove(`${bench.temp}/${lab}`, { recursive: true });
  assertEquals(record.control?.phase.exitCode, 0);
  assert(kilobytes < 1024, `the copy of a hole takes ${kilobytes} kB`);
});
