import { assertEquals, assertRejects } from "@std/assert";
import { runNarrowed } from "../tests/support/narrowed.ts";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { makeLinks } from "./links.ts";
import { systemTool } from "./system_tools.ts";

const MODULES = {
  links: new URL("./links.ts", import.meta.url).href,
  tools: new URL("./system_tools.ts", import.meta.url).href,
};

/** Texts and names that a shell or `ln` could take for something else. */
const ODD: [name: string, target: string][] = [
  ["plain", "a"],
  ["-s", "-target"],
  ["new\nline", "two\nlines"],
  ["$(touch oops)", "`touch oops`"],
  ["quote'\"", "* ?"],
  ["dangling", "/nowhere/at/all"],
];

async function namesIn(path: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(path))).map((entry) => entry.name);
}

Deno.test("makeLinks() makes links with their text as it is", async () => {
  await using dir = await makeTestDir("links");
  await makeLinks(ODD.map(([name, target]) => ({ path: `${dir.path}/${name}`, target })));
  for (const [name, target] of ODD) {
    assertEquals(await Deno.readLink(`${dir.path}/${name}`), target);
  }
});

Deno.test("makeLinks() uses ln where Deno refuses, also for many and for odd names", async () => {
  await using dir = await makeTestDir("links");
  const many = Array.from(
    { length: 450 },
    (_, i): [string, string] => [`l${i}`, `${i}`.repeat(99)],
  );
  const all = [...ODD, ...many];
  const requests = all.map(([name, target]) => ({ path: `${dir.path}/${name}`, target }));
  const sh = systemTool("sh");
  await runNarrowed(
    { read: [dir.path], write: [dir.path], run: [sh] },
    MODULES,
    `tools.rememberSystemTools({ sh: ${JSON.stringify(sh)} });
     await links.makeLinks(${JSON.stringify(requests)});`,
  );
  for (const [name, target] of all) {
    assertEquals(await Deno.readLink(`${dir.path}/${name}`), target);
  }
  assertEquals((await namesIn(dir.path)).length, all.length);
});

Deno.test("makeLinks() needs no program where a link of the same text is at hand", async () => {
  await using dir = await makeTestDir("links");
  await Deno.symlink("target", `${dir.path}/old`);
  const request = { path: `${dir.path}/new`, target: "target", like: `${dir.path}/old` };
  await runNarrowed(
    { read: [dir.path], write: [dir.path] },
    MODULES,
    `await links.makeLinks([${JSON.stringify(request)}]);`,
  );
  assertEquals(await Deno.readLink(`${dir.path}/new`), "target");
  await Deno.remove(`${dir.path}/old`);
  assertEquals(await Deno.readLink(`${dir.path}/new`), "target");
});

Deno.test("makeLinks() never replaces what is there", async () => {
  await using dir = await makeTestDir("links");
  await Deno.mkdir(`${dir.path}/folder`);
  const request = { path: `${dir.path}/folder`, target: "x" };
  await assertRejects(() => makeLinks([request]), Deno.errors.AlreadyExists);
  const sh = systemTool("sh");
  // By itself `ln` would put the link into the folder and be content.
  await assertRejects(
    () =>
      runNarrowed(
        { read: [dir.path], write: [dir.path], run: [sh] },
        MODULES,
        `tools.rememberSystemTools({ sh: ${JSON.stringify(sh)} });
         await links.makeLinks([${JSON.stringify(request)}]);`,
      ),
    Error,
    "something is there already",
  );
  assertEquals(await namesIn(`${dir.path}/folder`), []);
});
