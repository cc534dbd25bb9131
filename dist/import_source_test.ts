import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { chooseSource, PROBE_CACHE_MS, seedLock, type SourceOptions } from "./import_source.ts";
import { TaskError } from "./task_error.ts";

interface Scene extends SourceOptions {
  /** How often the probe was asked. */
  asked: number;
}

async function withScene(
  reachable: boolean,
  body: (scene: Scene, dir: string) => Promise<void>,
): Promise<void> {
  const dir = await Deno.makeTempDir({ prefix: "failure-lab-source-" });
  const scene: Scene = {
    asked: 0,
    wanted: undefined,
    probe: () => {
      scene.asked++;
      return Promise.resolve(reachable);
    },
    cacheFile: `${dir}/deeper/answer.json`,
    nowMs: 1_000_000,
  };
  try {
    await body(scene, dir);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

Deno.test("chooseSource() takes JSR when it answers", () =>
  withScene(true, async (scene) => {
    assertEquals(await chooseSource(scene), { source: "jsr", reason: "jsr.io answers" });
  }));

Deno.test("chooseSource() takes npm when JSR does not answer", () =>
  withScene(false, async (scene) => {
    assertEquals(await chooseSource(scene), { source: "npm", reason: "jsr.io cannot be reached" });
  }));

Deno.test("chooseSource() obeys FAILURE_LAB_IMPORTS without asking JSR", () =>
  withScene(true, async (scene) => {
    const choice = await chooseSource({ ...scene, wanted: "npm" });
    assertEquals(choice, { source: "npm", reason: "FAILURE_LAB_IMPORTS=npm" });
    assertEquals(scene.asked, 0);
  }));

Deno.test("chooseSource() refuses any other value of FAILURE_LAB_IMPORTS with exit code 2", () =>
  withScene(true, async (scene) => {
    const error = await assertRejects(
      () => chooseSource({ ...scene, wanted: "yarn" }),
      TaskError,
    );
    assertEquals(error.exitCode, 2);
    assertStringIncludes(error.message, `FAILURE_LAB_IMPORTS is "yarn"`);
  }));

Deno.test("chooseSource() asks again only when the answer is too old", () =>
  withScene(false, async (scene) => {
    await chooseSource(scene);
    await chooseSource({ ...scene, nowMs: scene.nowMs + PROBE_CACHE_MS - 1 });
    assertEquals(scene.asked, 1);
    await chooseSource({ ...scene, nowMs: scene.nowMs + PROBE_CACHE_MS });
    assertEquals(scene.asked, 2);
  }));

Deno.test("chooseSource() asks again when the saved answer is damaged or from the future", () =>
  withScene(true, async (scene) => {
    await chooseSource(scene);
    await Deno.writeTextFile(scene.cacheFile, `{"reachable": fal`);
    assertEquals((await chooseSource(scene)).source, "jsr");
    await chooseSource({ ...scene, nowMs: scene.nowMs - 1 });
    assertEquals(scene.asked, 3);
  }));

Deno.test("seedLock() keeps what Deno added, until the committed lock changes", () =>
  withScene(true, async (_, dir) => {
    const [committed, copy] = [`${dir}/deno.lock`, `${dir}/cache/copy.lock`];
    await Deno.writeTextFile(committed, "one");
    await seedLock(committed, copy);
    await Deno.writeTextFile(copy, "one, and more");
    await seedLock(committed, copy);
    assertEquals(await Deno.readTextFile(copy), "one, and more");
    await Deno.writeTextFile(committed, "two");
    await seedLock(committed, copy);
    assertEquals(await Deno.readTextFile(copy), "two");
    assertEquals(await Deno.readTextFile(committed), "two");
  }));
