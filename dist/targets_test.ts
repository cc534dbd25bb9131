import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { hostTarget, parseBuilds } from "./targets.ts";
import { TaskError } from "./task_error.ts";

const host = () => "linux-x64" as const;

Deno.test("hostTarget() knows the four machines and refuses others with exit code 4", () => {
  assertEquals(hostTarget({ os: "linux", arch: "x86_64" }), "linux-x64");
  assertEquals(hostTarget({ os: "linux", arch: "aarch64" }), "linux-arm64");
  assertEquals(hostTarget({ os: "darwin", arch: "x86_64" }), "macos-x64");
  assertEquals(hostTarget({ os: "darwin", arch: "aarch64" }), "macos-arm64");
  const error = assertThrows(() => hostTarget({ os: "windows", arch: "x86_64" }), TaskError);
  assertEquals(error.exitCode, 4);
});

Deno.test("parseBuilds() without arguments builds for this machine", () => {
  assertEquals(parseBuilds([], host), [{ target: "linux-x64", output: "failure-lab" }]);
});

Deno.test("parseBuilds() accepts both spellings and builds each target once", () => {
  const builds = parseBuilds(
    ["--target", "macos-arm64", "--target=linux-x64", "--target=linux-x64"],
    host,
  );
  assertEquals(builds, [
    { target: "macos-arm64", output: "failure-lab-macos-arm64" },
    { target: "linux-x64", output: "failure-lab-linux-x64" },
  ]);
});

Deno.test("parseBuilds() expands all", () => {
  assertEquals(parseBuilds(["--target", "all"], host).map((build) => build.target), [
    "linux-x64",
    "linux-arm64",
    "macos-x64",
    "macos-arm64",
  ]);
});

for (
  const [args, words] of [
    [["--target", "linux-x46"], `Did you mean "linux-x64"?`],
    [["--target"], "--target needs a value"],
    [["--targt=all"], `Did you mean "--target"?`],
    [["--target", "toString"], `the target "toString" is unknown`],
  ] as const
) {
  Deno.test(`parseBuilds() refuses "${args.join(" ")}" with exit code 2`, () => {
    const error = assertThrows(() => parseBuilds(args, host), TaskError);
    assertEquals(error.exitCode, 2);
    assertStringIncludes(error.message, words);
  });
}
