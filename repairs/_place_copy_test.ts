import { assertEquals } from "@std/assert";
import { copyPlace } from "./_place_copy.ts";
import { inFolder, namesIn, read, write } from "./_test_tools.ts";

const NOTHING = { ignore: [], exclude: [] };

Deno.test("copyPlace copies files, folders, links and modes, and leaves out what it was told to", () =>
  inFolder(async (dir) => {
    write(`${dir}/a/src/x.txt`, "x");
    write(`${dir}/a/.git/HEAD`, "ref");
    write(`${dir}/a/nested/y.txt`, "y");
    await Deno.chmod(`${dir}/a/src/x.txt`, 0o640);
    await Deno.symlink("src", `${dir}/a/link`);
    await copyPlace(`${dir}/a`, `${dir}/copy`, null, {
      ignore: [".git"],
      exclude: [`${dir}/a/nested`],
    });
    assertEquals(namesIn(`${dir}/copy`), ["link", "src"]);
    assertEquals([read(`${dir}/copy/src/x.txt`), await Deno.readLink(`${dir}/copy/link`)], [
      "x",
      "src",
    ]);
    assertEquals(((await Deno.stat(`${dir}/copy/src/x.txt`)).mode ?? 0) & 0o777, 0o640);
  }));

Deno.test("copyPlace copies one file and not its neighbours", () =>
  inFolder(async (dir) => {
    write(`${dir}/a/x`, "x");
    write(`${dir}/a/y`, "y");
    await copyPlace(`${dir}/a`, `${dir}/copy`, "x", NOTHING);
    assertEquals(namesIn(`${dir}/copy`), ["x"]);
  }));
