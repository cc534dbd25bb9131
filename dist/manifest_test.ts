import { assertEquals } from "@std/assert";
import { type BuildRecord, checksumText, manifestText } from "./manifest.ts";

const RECORD: BuildRecord = {
  output: "failure-lab",
  stamp: "5555",
  version: "0.1.0",
  gitHead: "abc123 with uncommitted changes",
  target: "linux-x64",
  sizeBytes: 94_000_000,
  sha256: "aaaa",
  denoVersion: "2.4.2",
  runtimeOrigin: "official (dl.deno.land)",
  runtimeSha256: "bbbb",
  importSource: "npm",
  modules: ["npm:zod@4.6.7"],
  flags: ["--no-prompt", "--allow-read"],
  files: [{ path: "drills/01-hung-process.json", sizeBytes: 812, sha256: "cccc" }],
};

Deno.test("manifestText() says what is inside a binary and where it came from", () => {
  assertEquals(
    manifestText([RECORD]),
    `failure-lab
  version         0.1.0
  git head        abc123 with uncommitted changes
  target          linux-x64
  size            94000000 bytes
  sha256          aaaa
  deno            2.4.2
  runtime from    official (dl.deno.land)
  runtime sha256  bbbb
  imports from    npm
  modules         npm:zod@4.6.7
  permissions     --no-prompt --allow-read
  embedded files  1 (besides the modules that main.ts imports)
    cccc  812  drills/01-hung-process.json
`,
  );
});

Deno.test("manifestText() separates binaries by an empty line", () => {
  const two = manifestText([RECORD, { ...RECORD, output: "failure-lab-linux-x64" }]);
  assertEquals(two.split("\n\n").length, 2);
});

Deno.test("checksumText() has the form that sha256sum -c reads", () => {
  assertEquals(checksumText([RECORD]), "aaaa  failure-lab\n");
});
