import { assertEquals } from "@std/assert";
import { ASIDE_FOLDER, listFiles, ProgressWatch, writeSignature } from "./_progress.ts";
import { inFolder, write } from "./_test_tools.ts";

Deno.test("listFiles takes relative and absolute globs, and leaves out what was set aside", () =>
  inFolder((dir) => {
    for (const path of ["out/a.md", "out/b.txt", `out/${ASIDE_FOLDER}/c.md-1`]) {
      write(`${dir}/${path}`, "x");
    }
    assertEquals(listFiles(["out/*.md", "none/*"], dir).map((file) => file.path), ["out/a.md"]);
    assertEquals(listFiles([`${dir}/out/*.txt`], "/").map((file) => file.path), [
      `${dir}/out/b.txt`,
    ]);
    assertEquals(listFiles(["out/**"], dir).map((file) => file.path), ["out/a.md", "out/b.txt"]);
  }));

Deno.test("ProgressWatch sees new files, growth and new content, and nothing else", () =>
  inFolder((dir) => {
    write(`${dir}/a`, "1");
    const watch = new ProgressWatch(["*"], dir);
    const grows = (change?: () => void) => {
      change?.();
      return watch.look().grew;
    };
    assertEquals(grows(), false, "the first look is no growth");
    assertEquals(grows(), false);
    assertEquals(grows(() => write(`${dir}/b`, "")), true, "a new file");
    assertEquals(grows(() => write(`${dir}/a`, "12")), true, "growth");
    assertEquals(grows(() => Deno.utimeSync(`${dir}/a`, 1000, 1000)), false, "touched");
    assertEquals(grows(() => write(`${dir}/a`, "34")), true, "new content of the same size");
    Deno.utimeSync(`${dir}/a`, 2000, 2000);
    assertEquals(grows(() => write(`${dir}/a`, "34")), false, "the same content again");
    assertEquals(grows(() => write(`${dir}/a`, "")), false, "emptied");
    assertEquals(grows(() => write(`${dir}/a`, "9")), true, "a count-down is progress");
    Deno.utimeSync(`${dir}/a`, 3000, 3000);
    assertEquals(grows(() => write(`${dir}/a`, "34")), false, "back to what it was");
    assertEquals(grows(() => Deno.removeSync(`${dir}/b`)), false, "removed");
    assertEquals(grows(() => write(`${dir}/b`, "")), false, "made again, as it was");
  }));

Deno.test("ProgressWatch names a file that grew, and counts files and bytes", () =>
  inFolder((dir) => {
    const watch = new ProgressWatch(["out/*"], dir);
    watch.look();
    write(`${dir}/out/a`, "123");
    assertEquals(watch.look(), { grew: true, files: 1, bytes: 3, path: "out/a" });
    assertEquals(watch.look(), { grew: false, files: 1, bytes: 3, path: null });
  }));

Deno.test("writeSignature changes with every write, also one of the same content", () =>
  inFolder((dir) => {
    write(`${dir}/a`, "1");
    const before = writeSignature(["*"], dir);
    assertEquals(writeSignature(["*"], dir), before);
    Deno.utimeSync(`${dir}/a`, 1000, 1000);
    assertEquals(writeSignature(["*"], dir) === before, false);
  }));
