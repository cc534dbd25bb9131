import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  existsAt,
  isTemporaryOf,
  keepAside,
  moveAside,
  readIfThere,
  removeIfThere,
  replaceFile,
  syncFolder,
  temporaryName,
} from "./_durable.ts";
import { inFolder, namesIn, read, write } from "./_test_tools.ts";

Deno.test("replaceFile makes or replaces a file and leaves nothing else", () =>
  inFolder((dir) => {
    replaceFile(`${dir}/a`, "one");
    replaceFile(`${dir}/a`, new TextEncoder().encode("two"));
    assertEquals([read(`${dir}/a`), namesIn(dir)], ["two", ["a"]]);
  }));

Deno.test("replaceFile gives the file a new inode, so that whoever reads the old one reads it whole", () =>
  inFolder((dir) => {
    replaceFile(`${dir}/a`, "one");
    using reader = Deno.openSync(`${dir}/a`);
    replaceFile(`${dir}/a`, "another one");
    const bytes = new Uint8Array(100);
    assertEquals(reader.readSync(bytes), 3);
  }));

Deno.test("replaceFile leaves no temporary file when the folder is not there", () =>
  inFolder((dir) => {
    assertThrows(() => replaceFile(`${dir}/none/a`, "text"), Deno.errors.NotFound);
    assertEquals(namesIn(dir), []);
  }));

Deno.test("syncFolder takes a folder, and says when there is none", () =>
  inFolder((dir) => {
    syncFolder(dir);
    assertThrows(() => syncFolder(`${dir}/none`), Deno.errors.NotFound);
  }));

Deno.test("moveAside and keepAside take the first free number and never write over anything", () =>
  inFolder((dir) => {
    for (const name of ["a", "b"]) write(`${dir}/${name}`, name);
    write(`${dir}/torn-1`, "there");
    assertEquals(moveAside(`${dir}/a`, `${dir}/torn-`), `${dir}/torn-2`);
    assertEquals(keepAside(new TextEncoder().encode("c"), `${dir}/torn-`), `${dir}/torn-3`);
    Deno.mkdirSync(`${dir}/folder`);
    assertEquals(moveAside(`${dir}/folder`, `${dir}/torn-`), `${dir}/torn-4`);
    Deno.symlinkSync("nothing", `${dir}/dangling`);
    assertEquals(moveAside(`${dir}/dangling`, `${dir}/torn-`), `${dir}/torn-5`);
    assertEquals(["1", "2", "3"].map((n) => read(`${dir}/torn-${n}`)), ["there", "a", "c"]);
    assertEquals(namesIn(dir), ["b", "torn-1", "torn-2", "torn-3", "torn-4", "torn-5"]);
  }));

Deno.test("temporary names are told from others", () => {
  const name = temporaryName("/x/state.json").slice("/x/".length);
  assert(isTemporaryOf(name, "/x/state.json"));
  for (
    const other of [
      "state.json",
      ".state.json.tmp",
      ".state.json.0123456.tmp",
      ".other.01234567.tmp",
    ]
  ) {
    assertEquals(isTemporaryOf(other, "/x/state.json"), false, other);
  }
});

Deno.test("existsAt sees dangling links; readIfThere and removeIfThere take absence for what it is", () =>
  inFolder((dir) => {
    Deno.symlinkSync("nothing", `${dir}/dangling`);
    assertEquals([existsAt(`${dir}/dangling`), existsAt(`${dir}/none`)], [true, false]);
    assertEquals(readIfThere(`${dir}/none`), null);
    removeIfThere(`${dir}/none`);
    assertThrows(() => readIfThere(dir));
  }));
