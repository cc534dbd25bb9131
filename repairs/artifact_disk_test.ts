import { assertEquals } from "@std/assert";
import { artifactDisk } from "./artifact_disk.ts";
import { inFolder, write } from "./_test_tools.ts";

const claim = (unit: string, more = {}) => ({
  unit,
  path: null,
  bytes: null,
  sha256: null,
  ...more,
});

Deno.test("artifactDisk calls units by path, or by name without the ending", () =>
  inFolder((cwd) => {
    write(`${cwd}/out/unit-01.txt`, "text");
    const globs = ["out/*"];
    assertEquals(artifactDisk({ cwd, globs }).list(), ["out/unit-01.txt"]);
    assertEquals(artifactDisk({ cwd, globs, unitName: "name" }).list(), ["unit-01"]);
  }));

Deno.test("artifactDisk finds the file of a claim by path, file name, or name", () =>
  inFolder((cwd) => {
    write(`${cwd}/out/unit-01.txt`, "text");
    const disk = artifactDisk({ cwd, globs: ["out/*"] });
    for (const unit of ["out/unit-01.txt", "unit-01.txt", "unit-01"]) {
      assertEquals(disk.inspect(unit, claim(unit)).present, true, unit);
    }
    assertEquals(disk.inspect("other", claim("other", { path: "out/unit-01.txt" })).present, true);
    assertEquals(disk.inspect("unit-02", claim("unit-02")).present, false);
  }));

Deno.test("artifactDisk calls a file whole only by a rule, or where a claim names it", () =>
  inFolder((cwd) => {
    write(`${cwd}/a`, "text");
    const vague = artifactDisk({ cwd, globs: ["*"] });
    assertEquals(vague.inspect("a", null).whole, null);
    assertEquals(vague.inspect("a", claim("a")).whole, true);
    const exact = artifactDisk({ cwd, globs: ["*"], minBytes: 4 });
    assertEquals(exact.inspect("a", null).whole, true);
    write(`${cwd}/a`, "tex");
    assertEquals(exact.inspect("a", null).whole, false);
    write(`${cwd}/a`, "");
    assertEquals(vague.inspect("a", claim("a")).whole, false, "an empty file is never whole");
  }));

Deno.test("artifactDisk looks anew when it is asked for the list", () =>
  inFolder((cwd) => {
    const disk = artifactDisk({ cwd, globs: ["*"] });
    assertEquals(disk.list(), []);
    write(`${cwd}/a`, "text");
    assertEquals(disk.list(), ["a"]);
    assertEquals(disk.inspect("a", null).present, true);
  }));
