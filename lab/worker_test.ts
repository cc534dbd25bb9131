import { assert, assertEquals } from "@std/assert";
import { hashBytes } from "./hash.ts";
import {
  CHECKPOINT_NAME,
  END_MARK,
  unitName,
  unitText,
  WORKER_DAMAGED_EXIT,
  workerEnvironment,
  type WorkerPlan,
  writeWorker,
} from "./worker.ts";

async function inLab(
  body: (run: (plan: WorkerPlan) => Promise<number>, dir: string) => Promise<void>,
) {
  const dir = await Deno.makeTempDir({ prefix: "worker-test-" });
  writeWorker(`${dir}/worker.sh`);
  await Deno.mkdir(`${dir}/job`);
  const run = async (plan: WorkerPlan) => {
    const { code } = await new Deno.Command("/bin/sh", {
      args: ["../worker.sh"],
      cwd: `${dir}/job`,
      env: workerEnvironment(plan),
      clearEnv: true,
      stdin: "null",
    }).output();
    return code;
  };
  try {
    await body(run, `${dir}/job`);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

const outputs = (dir: string) =>
  [...Deno.readDirSync(`${dir}/out`)].map((each) => each.name).sort();

Deno.test("the worker makes every unit, whole, with a claim that is true", async () => {
  await inLab(async (run, dir) => {
    assertEquals(await run({ units: 12, effects: "plain" }), 0);
    const units = Array.from({ length: 12 }, (_, i) => unitName(i + 1));
    assertEquals(outputs(dir), units.map((unit) => `${unit}.txt`));
    const claims = (await Deno.readTextFile(`${dir}/${CHECKPOINT_NAME}`)).trimEnd().split("\n")
      .map((line) => JSON.parse(line));
    for (const [i, unit] of units.entries()) {
      const bytes = await Deno.readFile(`${dir}/out/${unit}.txt`);
      assertEquals(new TextDecoder().decode(bytes), unitText(unit));
      const { sha256, bytes: claimed, path } = claims[i];
      assertEquals([path, claimed, sha256], [`out/${unit}.txt`, bytes.length, hashBytes(bytes)]);
    }
    assertEquals(await Deno.readTextFile(`${dir}/sent.log`), `${units.join("\n")}\n`);
  });
});

Deno.test("the worker skips what its checkpoint claims, and keeps none when told", async () => {
  await inLab(async (run, dir) => {
    assertEquals(await run({ units: 2 }), 0);
    const before = await Deno.stat(`${dir}/out/unit-01.txt`);
    assertEquals(await run({ units: 3 }), 0);
    const after = await Deno.stat(`${dir}/out/unit-01.txt`);
    assertEquals([after.ino, after.mtime], [before.ino, before.mtime]);
    assertEquals(outputs(dir).length, 3);
    await Deno.remove(`${dir}/${CHECKPOINT_NAME}`);
    assertEquals(await run({ units: 1, checkpoint: false, load: "disk" }), 0);
    assertEquals((await Deno.stat(`${dir}/out/unit-01.txt`)).ino, before.ino);
  });
});

Deno.test("the worker refuses a damaged checkpoint, in every way that it can be damaged", async () => {
  await inLab(async (run, dir) => {
    assertEquals(await run({ units: 2 }), 0);
    const path = `${dir}/${CHECKPOINT_NAME}`;
    const whole = await Deno.readTextFile(path);
    const [first = "", second = ""] = whole.split("\n");
    const damaged = {
      "no line end": whole.slice(0, -1),
      "cut": whole.slice(0, -30),
      "glued": `${first.slice(0, 20)}${second}\n`,
      "glued, and like a whole one at both ends": `${first.slice(0, 60)}${second}\n`,
      "other": `${whole}what?\n`,
    };
    for (const [name, text] of Object.entries(damaged)) {
      await Deno.writeTextFile(path, text);
      assertEquals(await run({ units: 3 }), WORKER_DAMAGED_EXIT, name);
      assertEquals(outputs(dir).length, 2, name);
    }
    assertEquals(await run({ units: 3, load: "skip-bad" }), 0);
  });
});

Deno.test("the worker goes by the outputs that end as whole ones do, when told", async () => {
  await inLab(async (run, dir) => {
    await Deno.mkdir(`${dir}/out`);
    await Deno.writeTextFile(`${dir}/out/unit-01.txt`, `mine\n${END_MARK}\n`);
    await Deno.writeTextFile(`${dir}/out/unit-02.txt`, "half");
    assertEquals(await run({ units: 2, load: "disk", checkpoint: false }), 0);
    assertEquals(await Deno.readTextFile(`${dir}/out/unit-01.txt`), `mine\n${END_MARK}\n`);
    assertEquals(await Deno.readTextFile(`${dir}/out/unit-02.txt`), unitText("unit-02"));
  });
});

Deno.test("the worker is hollow on cue: exit 0, and nothing or nothing in it", async () => {
  await inLab(async (run, dir) => {
    assertEquals(await run({ units: 3, cue: "hollow", cueAt: 1 }), 0);
    assertEquals(outputs(dir), []);
    assertEquals(await run({ units: 3, cue: "hollow-empty", cueAt: 1 }), 0);
    assertEquals(outputs(dir).length, 3);
    assertEquals((await Deno.stat(`${dir}/out/unit-03.txt`)).size, 0);
  });
});

Deno.test("the worker takes a cue once when told", async () => {
  await inLab(async (run, dir) => {
    const plan: WorkerPlan = { units: 2, cue: "hollow", cueAt: 1, cueOnce: "../once" };
    assertEquals(await run(plan), 0);
    assertEquals(outputs(dir), []);
    assertEquals(await run(plan), 0);
    assertEquals(outputs(dir).length, 2);
  });
});

Deno.test("the worker takes the default answer at end-of-file and goes on", async () => {
  await inLab(async (run, dir) => {
    assertEquals(await run({ units: 2, cue: "ask-beating", cueAt: 2 }), 0);
    assert((await Deno.readTextFile(`${dir}/worker.log`)).includes("unit-02: answer is N"));
    assertEquals(outputs(dir).length, 2);
  });
});
