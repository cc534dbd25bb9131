import { assertEquals, assertMatch } from "@std/assert";
import { CONFIG, ROOT } from "./paths.ts";

async function imports(path: string): Promise<Record<string, string>> {
  return (JSON.parse(await Deno.readTextFile(path)) as { imports: Record<string, string> }).imports;
}

Deno.test("both import sources name the same modules", async () => {
  const jsr = await imports(CONFIG);
  const npm = await imports(`${ROOT}/dist/import_map.npm.json`);
  assertEquals(Object.keys(npm).sort(), Object.keys(jsr).sort());
});

Deno.test("both import sources take the same zod", async () => {
  const jsr = await imports(CONFIG);
  const npm = await imports(`${ROOT}/dist/import_map.npm.json`);
  assertEquals(npm["zod"], jsr["zod"]);
});

Deno.test("every npm shim names an exact version of deno-std and has declarations", async () => {
  const npm = await imports(`${ROOT}/dist/import_map.npm.json`);
  for (const target of Object.values(npm).filter((value) => value.startsWith("./"))) {
    const shim = await Deno.readTextFile(`${ROOT}/dist/${target}`);
    assertMatch(shim, /^\/\/ @ts-types="\.\/[a-z]+\.d\.ts"$/m);
    assertMatch(shim, /from "npm:deno-std@\d+\.\d+\.\d+\/[a-z_/]+\.js";/);
  }
});

Deno.test("both lock files hold the hash of each npm package that is in use", async () => {
  const integrity = async (path: string) => {
    const lock = JSON.parse(await Deno.readTextFile(path)) as {
      npm: Record<string, { integrity: string }>;
    };
    return Object.entries(lock.npm).map(([name, { integrity }]) => [
      name.slice(0, name.lastIndexOf("@")),
      integrity.slice(0, 7),
    ]);
  };
  assertEquals(await integrity(`${ROOT}/deno.lock`), [["zod", "sha512-"]]);
  assertEquals(await integrity(`${ROOT}/dist/npm.lock`), [
    ["deno-std", "sha512-"],
    ["deno-std", "sha512-"],
    ["zod", "sha512-"],
  ]);
});
