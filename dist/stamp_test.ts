import { assertEquals, assertNotEquals } from "@std/assert";
import { embeddedFiles } from "./embedded.ts";
import { entersBinary, sourceStamp } from "./stamp.ts";

/** A checkout in miniature. */
async function withCheckout(body: (root: string) => Promise<void>): Promise<void> {
  const root = await Deno.makeTempDir({ prefix: "failure-lab-stamp-" });
  const files = [
    "main.ts",
    "README.md",
    "lab/clock.ts",
    "lab/clock_test.ts",
    "drills/01-hung-process.json",
    "drills/guide/START-HERE.html",
    "drills/faults/stop.ts",
    "drills/faults/testdata/cut.json",
    "rehearsal/worker.ts",
    "rehearsal/runners/good.ts",
    "rehearsal/runners/good_test.ts",
    "rehearsal/runners/sloppy.sh",
    "rehearsal/examples/receipt.json",
    "dist/failure-lab",
    "dist/flags.ts",
  ];
  try {
    for (const path of files) {
      await Deno.mkdir(`${root}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
      await Deno.writeTextFile(`${root}/${path}`, path);
    }
    await body(root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test("sourceStamp() changes with a source file, its name and the import source", () =>
  withCheckout(async (root) => {
    const before = await sourceStamp(root, "npm");
    assertEquals(await sourceStamp(root, "npm"), before);
    assertNotEquals(await sourceStamp(root, "jsr"), before);
    await Deno.rename(`${root}/lab/clock.ts`, `${root}/lab/clocks.ts`);
    const renamed = await sourceStamp(root, "npm");
    assertNotEquals(renamed, before);
    await Deno.writeTextFile(`${root}/drills/01-hung-process.json`, "changed");
    assertNotEquals(await sourceStamp(root, "npm"), renamed);
  }));

Deno.test("sourceStamp() stays when a test, a text or the binary itself changes", () =>
  withCheckout(async (root) => {
    const before = await sourceStamp(root, "npm");
    for (const path of ["lab/clock_test.ts", "README.md", "dist/failure-lab"]) {
      await Deno.writeTextFile(`${root}/${path}`, "changed");
    }
    assertEquals(await sourceStamp(root, "npm"), before);
  }));

Deno.test("entersBinary() covers each file that the compile step carries along", () =>
  withCheckout(async (root) => {
    const files = await embeddedFiles(root);
    assertEquals(files.filter((path) => !entersBinary(path)), []);
    assertEquals(files, [
      "drills/01-hung-process.json",
      "drills/guide/START-HERE.html",
      "rehearsal/runners/good.ts",
      "rehearsal/runners/sloppy.sh",
      "rehearsal/worker.ts",
    ]);
  }));
