import { assertEquals } from "@std/assert";
import { hashBytes } from "../lab/mod.ts";
import { lookAtFile, placeOf } from "./_whole.ts";
import { inFolder, write } from "./_test_tools.ts";

Deno.test("lookAtFile says what of a file is not whole, by the rules it was given", () =>
  inFolder((dir) => {
    write(`${dir}/a.md`, "text END \n\n");
    write(`${dir}/empty.md`, "");
    const problem = (path: string, rules = {}) => lookAtFile(path, dir, rules).problem;
    assertEquals(problem("a.md"), null);
    assertEquals(problem("none.md"), "it is absent");
    assertEquals(problem("empty.md"), "it is empty");
    assertEquals(problem("a.md", { minBytes: 11 }), null);
    assertEquals(problem("a.md", { minBytes: 12 }), "it has 11 bytes; a whole one has at least 12");
    assertEquals(
      problem("a.md", { endsWith: "END" }),
      null,
      "white space behind it does not count",
    );
    assertEquals(problem("a.md", { endsWith: "END \n\n" }), null);
    // As much as the lab overlooks: what it calls whole is not to be made again.
    Deno.writeTextFileSync(`${dir}/spaces.md`, `END${" ".repeat(4000)}`);
    assertEquals(problem("spaces.md", { endsWith: "END" }), null);
    assertEquals(problem("a.md", { endsWith: "END\n" }), 'it does not end with "END\\n"');
    const sha256 = hashBytes(new TextEncoder().encode("text END \n\n"));
    assertEquals(problem("a.md", { sha256: sha256.toUpperCase() }), null);
    assertEquals(
      problem("a.md", { sha256: "0" }),
      "it has another content than declared (SHA-256)",
    );
    Deno.mkdirSync(`${dir}/folder`);
    assertEquals(problem("folder"), "it is not a file");
  }));

Deno.test("lookAtFile follows a link inside the folder, and no other", () =>
  inFolder((dir) => {
    write(`${dir}/job/a`, "text");
    write(`${dir}/else`, "text");
    for (const [name, target] of [["in", "a"], ["out", "../else"], ["gone", "none"]] as const) {
      Deno.symlinkSync(target, `${dir}/job/${name}`);
    }
    const problem = (path: string) => lookAtFile(path, `${dir}/job`).problem;
    assertEquals(problem("in"), null);
    assertEquals(problem("out"), `it is a link that leads out of the folder, to "${dir}/else"`);
    assertEquals(problem("gone"), "it is a link that leads nowhere");
    assertEquals(problem(`${dir}/else`), null, "an absolute path was meant as it is");
  }));

Deno.test("placeOf takes absolute paths as they are", () => {
  assertEquals([placeOf("a/b", "/x"), placeOf("/a/b", "/x")], ["/x/a/b", "/a/b"]);
});
