import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { TaskError } from "./task_error.ts";
import { compileImports } from "./vendor.ts";

const LOCKED = ["deno-std@1.3.0", "deno-std@1.4.0", "zod@4.6.7"];

Deno.test("compileImports() leads every npm address to the copied file of its locked version", () => {
  const imports = compileImports(
    {
      "zod": "npm:zod@^4",
      "npm:deno-std@1.4.0/path/mod.js": "npm:deno-std@1.4.0/path/mod.js",
      "@std/path": "../npm_std/path.ts",
      "@std/fs": "jsr:@std/fs@^1",
    },
    LOCKED,
    "./vendor",
  );
  assertEquals(imports, {
    "zod": "./vendor/zod@4.6.7/index.js",
    "npm:deno-std@1.4.0/path/mod.js": "./vendor/deno-std@1.4.0/path/mod.js",
    "@std/path": "../npm_std/path.ts",
    "@std/fs": "jsr:@std/fs@^1",
  });
});

for (
  const [address, words] of [
    ["npm:left-pad@1", "there are 0: none"],
    ["npm:deno-std@1.5.0/fs/mod.js", "there are 2: deno-std@1.3.0, deno-std@1.4.0"],
  ] as const
) {
  Deno.test(`compileImports() refuses ${address}, which the lock does not decide`, () => {
    const error = assertThrows(
      () => compileImports({ x: address }, LOCKED, "./vendor"),
      TaskError,
    );
    assertStringIncludes(error.message, words);
  });
}
