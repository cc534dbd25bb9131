import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { cutToRuntime, type PinnedFile, pinnedFile, runtimeCacheDir } from "./runtime.ts";
import { sha256File, sha256Text } from "./sha256.ts";
import { TaskError } from "./task_error.ts";

const RUNTIME = "this stands for the runtime";
const PAYLOAD = "this stands for somebody's program";

/** Bytes in the form of a compiled program: runtime, payload, trailer. */
function compiledProgram(magic = 0x501e, payloadBytes = PAYLOAD.length): Uint8Array {
  const body = new TextEncoder().encode(RUNTIME + PAYLOAD);
  const program = new Uint8Array(body.length + 16);
  program.set(body);
  const trailer = new DataView(program.buffer, body.length);
  trailer.setUint32(0, magic, true);
  trailer.setUint32(4, 0xabcdef, true);
  trailer.setBigUint64(8, BigInt(payloadBytes), true);
  return program;
}

async function withDir(body: (dir: string) => Promise<void>): Promise<void> {
  const dir = await Deno.makeTempDir({ prefix: "failure-lab-runtime-" });
  try {
    await body(dir);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

function pinned(sha256: string): PinnedFile {
  return {
    cacheName: "denort",
    origin: { name: "some-package", version: "1.0.0", path: "program" },
    sha256,
    prepare: cutToRuntime,
  };
}

const take = (_: unknown, dest: string) => Deno.writeFile(dest, compiledProgram());
const takeNothing = () => Promise.reject(new Error("must not be fetched"));

Deno.test("cutToRuntime() leaves exactly what stands before payload and trailer", () =>
  withDir(async (dir) => {
    await Deno.writeFile(`${dir}/program`, compiledProgram());
    await cutToRuntime(`${dir}/program`);
    assertEquals(await Deno.readTextFile(`${dir}/program`), RUNTIME);
  }));

for (
  const [name, program, words] of [
    ["a wrong magic", compiledProgram(0x1234), "begins with 0x1234"],
    ["a payload longer than the file", compiledProgram(0x501e, 5_000), "payload of 5000 bytes"],
    ["an empty payload", compiledProgram(0x501e, 0), "payload of 0 bytes"],
    ["a file shorter than a trailer", new Uint8Array(9), "too short"],
  ] as const
) {
  Deno.test(`cutToRuntime() refuses ${name} and leaves the file alone`, () =>
    withDir(async (dir) => {
      await Deno.writeFile(`${dir}/program`, program);
      const error = await assertRejects(() => cutToRuntime(`${dir}/program`), TaskError, words);
      assertEquals(error.exitCode, 4);
      assertEquals(await Deno.readFile(`${dir}/program`), program);
    }));
}

Deno.test("pinnedFile() fetches once and then takes the file from the cache", () =>
  withDir(async (dir) => {
    const file = pinned(sha256Text(RUNTIME));
    const path = await pinnedFile(file, `${dir}/cache`, take);
    assertEquals(await Deno.readTextFile(path), RUNTIME);
    assertEquals((await Deno.stat(path)).mode! & 0o777, 0o755);
    assertEquals(await pinnedFile(file, `${dir}/cache`, takeNothing), path);
  }));

Deno.test("pinnedFile() refuses a wrong hash and keeps nothing", () =>
  withDir(async (dir) => {
    const error = await assertRejects(
      () => pinnedFile(pinned("0".repeat(64)), `${dir}/cache`, take),
      TaskError,
      sha256Text(RUNTIME),
    );
    assertEquals(error.exitCode, 4);
    assertEquals(await Array.fromAsync(Deno.readDir(`${dir}/cache`)), []);
  }));

Deno.test("pinnedFile() fetches a damaged file again", () =>
  withDir(async (dir) => {
    const file = pinned(sha256Text(RUNTIME));
    const path = await pinnedFile(file, dir, take);
    await Deno.writeTextFile(path, "damaged");
    await pinnedFile(file, dir, take);
    assertEquals(await sha256File(path), file.sha256);
  }));

Deno.test("runtimeCacheDir() prefers XDG_CACHE_HOME, then HOME, and refuses neither", () => {
  const env = (values: Record<string, string>) => (name: string) => values[name];
  assertEquals(runtimeCacheDir(env({ XDG_CACHE_HOME: "/c", HOME: "/h" })), "/c/failure-lab");
  assertEquals(runtimeCacheDir(env({ HOME: "/h" })), "/h/.cache/failure-lab");
  const error = assertThrows(() => runtimeCacheDir(env({})), TaskError);
  assertStringIncludes(error.message, "neither XDG_CACHE_HOME nor HOME is set");
});
