import { assertEquals } from "@std/assert";
import { listFiles } from "./files.ts";
import { STAGED_MAP, stageTree } from "./stage.ts";
import { sourceStamp } from "./stamp.ts";

async function write(root: string, path: string): Promise<void> {
  await Deno.mkdir(`${root}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
  await Deno.writeTextFile(`${root}/${path}`, path);
}

Deno.test("stageTree() copies what enters the binary, with one time for every file", async () => {
  const dir = await Deno.makeTempDir({ prefix: "failure-lab-stage-" });
  try {
    for (const path of ["main.ts", "lab/clock.ts", "lab/clock_test.ts", "README.md"]) {
      await write(`${dir}/root`, path);
    }
    for (const path of ["zod@4.0.0/index.js", "zod@4.0.0/LICENSE"]) {
      await write(`${dir}/vendor`, path);
    }
    const imports = { zod: "./vendor/zod@4.0.0/index.js" };
    const vendored = { dir: `${dir}/vendor`, imports };
    const licences = await stageTree(`${dir}/root`, vendored, `${dir}/stage`);
    assertEquals(licences, ["vendor/zod@4.0.0/LICENSE"]);
    const staged = await listFiles(`${dir}/stage`);
    assertEquals(staged, [
      STAGED_MAP,
      "lab/clock.ts",
      "main.ts",
      "vendor/zod@4.0.0/LICENSE",
      "vendor/zod@4.0.0/index.js",
    ]);
    const times = await Promise.all(
      staged.filter((path) => path !== STAGED_MAP).map(async (path) =>
        (await Deno.stat(`${dir}/stage/${path}`)).mtime?.toISOString()
      ),
    );
    assertEquals([...new Set(times)], ["2026-01-01T00:00:00.000Z"]);
    assertEquals(
      await sourceStamp(`${dir}/stage`, "npm"),
      await sourceStamp(`${dir}/root`, "npm"),
    );
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
