import { assertEquals } from "@std/assert";
import { chooseCompiler, type CompilerOptions } from "./compiler.ts";

const HERE: CompilerOptions = {
  deno: "/deno",
  denoVersion: "9.9.9",
  denortBin: undefined,
  host: "linux-x64",
  official: () => Promise.resolve(undefined),
  recovered: () => Promise.resolve({ deno: "/cache/deno", denort: "/cache/denort" }),
};

Deno.test("chooseCompiler() takes the official runtime of the running Deno first", async () => {
  const options = { ...HERE, official: () => Promise.resolve("/deno-dir/denort.zip") };
  const compiler = await chooseCompiler("linux-x64", options);
  assertEquals(compiler?.deno, "/deno");
  assertEquals(compiler?.runtimeFile, "/deno-dir/denort.zip");
});

Deno.test("chooseCompiler() falls back to the recovered runtime with its own Deno", async () => {
  const compiler = await chooseCompiler("linux-x64", HERE);
  assertEquals(compiler?.deno, "/cache/deno");
  assertEquals(compiler?.denoVersion, "2.4.2");
  assertEquals(compiler?.env["DENORT_BIN"], "/cache/denort");
});

Deno.test("chooseCompiler() has no recovered runtime for or on another machine", async () => {
  assertEquals(await chooseCompiler("macos-arm64", HERE), undefined);
  assertEquals(await chooseCompiler("linux-x64", { ...HERE, host: "macos-x64" }), undefined);
});

Deno.test("chooseCompiler() uses DENORT_BIN for this machine only", async () => {
  const options: CompilerOptions = {
    ...HERE,
    denortBin: "/my/denort",
    official: () => Promise.resolve("/deno-dir/denort.zip"),
  };
  assertEquals((await chooseCompiler("linux-x64", options))?.runtimeFile, "/my/denort");
  const other = await chooseCompiler("linux-arm64", options);
  assertEquals(other?.runtimeFile, "/deno-dir/denort.zip");
  assertEquals(other?.without, ["DENORT_BIN"]);
});
