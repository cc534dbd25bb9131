/**
 * The self-test of `evidence`.
 *
 * @module
 */
import { checkEvidence, type EvidenceRules, noteStart, proveOrRedo } from "./evidence.ts";
import { expect, runSelfTest, type SelfTestOptions, type SelfTestResult } from "./self_testing.ts";

async function wholeIsLeftAlone(cwd: string): Promise<string> {
  const result = await proveOrRedo({
    rules: { cwd, expect: [{ glob: "*.md", count: 2 }], endsWith: "END", fresh: true },
    retries: 1,
    async run() {
      for (const name of ["a", "b"]) await Deno.writeTextFile(`${cwd}/${name}.md`, `${name} END\n`);
      return true;
    },
  });
  expect(result.isProven && result.attempts === 1, JSON.stringify(result.missing));
  return "two whole files, one attempt";
}

async function hollowIsSeen(dir: string): Promise<string> {
  const cwd = `${dir}/job`;
  await Deno.mkdir(cwd);
  await Deno.writeTextFile(`${dir}/elsewhere.md`, "elsewhere END");
  const hash = "0".repeat(64);
  const rules: EvidenceRules = {
    cwd,
    expect: [{ glob: "*.md", count: 8 }, { glob: "extra*", count: 1 }],
    hashes: new Map([["hashed.txt", hash]]),
    endsWith: "END",
    minBytes: 6,
    fresh: true,
    newContent: true,
  };
  await Deno.writeTextFile(`${cwd}/old.md`, "old END\n");
  await Deno.utime(`${cwd}/old.md`, 1000, 1000);
  await Deno.writeTextFile(`${cwd}/untouched.md`, "untouched END\n");
  await Deno.writeTextFile(`${cwd}/touched.md`, "touched END\n");
  const start = noteStart(rules);
  const files = {
    "empty.md": "",
    "half.md": "half-written",
    "short.md": "END",
    "hashed.txt": "other END",
    "extra1": "extra END",
    "extra2": "extra END",
    "touched.md": "touched END\n",
  };
  for (const [name, text] of Object.entries(files)) {
    await Deno.writeTextFile(`${cwd}/${name}`, text);
  }
  await Deno.symlink("../elsewhere.md", `${cwd}/stray.md`);
  const { isProven, missing } = checkEvidence(rules, start);
  const found = missing.map((each) => each.path).sort().join();
  const wanted =
    "*.md,empty.md,extra*,half.md,hashed.txt,old.md,short.md,stray.md,touched.md,untouched.md";
  expect(!isProven && found === wanted, `found ${found}`);
  expect(!checkEvidence({ cwd, expect: [] }).isProven, "nothing expected passes for proof");
  return "absent, empty, half, short, old, touched, foreign, surplus and stray files were all seen";
}

async function ownFailureIsBelieved(cwd: string): Promise<string> {
  const result = await proveOrRedo({
    rules: { cwd, expect: [{ glob: "a" }] },
    retries: 2,
    run: () => Promise.resolve(false),
  });
  expect(result.hasFailed && result.attempts === 1, `${result.attempts} attempts`);
  return "a job that says it failed was not run again";
}

async function onlyTheMissingIsRedone(cwd: string): Promise<string> {
  let asked = "";
  const result = await proveOrRedo({
    rules: { cwd, expect: [{ glob: "d*.md", count: 2 }, { glob: "SUMMARY.md" }] },
    retries: 1,
    async run({ number, missing }) {
      asked = missing.join();
      await Deno.writeTextFile(`${cwd}/d1.md`, `by attempt ${number}`);
      await Deno.writeTextFile(`${cwd}/d2.md`, "same");
      const isThere = await Deno.stat(`${cwd}/SUMMARY.md`).then(() => true, () => false);
      if (!isThere) await Deno.writeTextFile(`${cwd}/SUMMARY.md`, number === 1 ? "" : "all");
      return true;
    },
  });
  expect(result.isProven && result.attempts === 2, JSON.stringify(result.missing));
  expect(asked === "SUMMARY.md", `asked for ${asked}`);
  const sibling = await Deno.readTextFile(`${cwd}/d1.md`);
  expect(sibling === "by attempt 1", `the sibling is now "${sibling}"`);
  return "the empty summary was redone, its siblings are as they were";
}

/** Tries `evidence` on small real files. Takes a few milliseconds. Requires `ps`. */
export function selfTestEvidence(options: SelfTestOptions = {}): Promise<SelfTestResult> {
  return runSelfTest("evidence", {
    "whole and fresh files are enough": wholeIsLeftAlone,
    "hollow success is seen": hollowIsSeen,
    "a failure by the job's own account is passed on": ownFailureIsBelieved,
    "only what is missing is done again": onlyTheMissingIsRedone,
  }, options);
}
