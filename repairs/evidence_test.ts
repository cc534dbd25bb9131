import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { type Clock, hashBytes, systemClock } from "../lab/mod.ts";
import {
  checkEvidence,
  type EvidenceRules,
  noteStart,
  parseHashList,
  proveOrRedo,
} from "./evidence.ts";
import { inFolder, isThere, read, write } from "./_test_tools.ts";

function whys(rules: EvidenceRules): Record<string, string> {
  return Object.fromEntries(checkEvidence(rules).missing.map(({ path, why }) => [path, why]));
}

Deno.test("checkEvidence wants the exact number, and each one whole", () =>
  inFolder((cwd) => {
    const rules = { cwd, expect: [{ glob: "out/*.md", count: 3 }], minBytes: 4, endsWith: "END" };
    assertEquals(whys(rules), { "out/*.md": "0 of 3 are there" });
    write(`${cwd}/out/a.md`, "a END\n");
    write(`${cwd}/out/b.md`, "");
    write(`${cwd}/out/c.md`, "END");
    assertEquals(whys(rules), {
      "out/b.md": "it is empty",
      "out/c.md": "it has 3 bytes; a whole one has at least 4",
    });
    write(`${cwd}/out/b.md`, "half of b");
    write(`${cwd}/out/c.md`, "c END");
    assertEquals(whys(rules), { "out/b.md": 'it does not end with "END"' });
    write(`${cwd}/out/b.md`, "b END");
    assertEquals(checkEvidence(rules).isProven, true);
    write(`${cwd}/out/d.md`, "d END");
    assertEquals(whys(rules), { "out/*.md": "there are 4, not 3" });
  }));

Deno.test("checkEvidence proves nothing when nothing was expected or found", () =>
  inFolder((cwd) => {
    assertEquals(checkEvidence({ cwd, expect: [] }).isProven, false);
    assertEquals(whys({ cwd, expect: [{ glob: "*.md" }] }), { "*.md": "0 of 1 are there" });
    assertEquals(whys({ cwd, expect: [{ glob: "report.md" }] }), { "report.md": "it is absent" });
  }));

Deno.test("checkEvidence holds files to declared hashes and wants each of them", () =>
  inFolder((cwd) => {
    write(`${cwd}/a.txt`, "a");
    write(`${cwd}/b.txt`, "changed");
    const hashes = new Map(
      ["a", "b", "c"].map((name) =>
        [`${name}.txt`, hashBytes(new TextEncoder().encode(name))] as const
      ),
    );
    assertEquals(whys({ cwd, expect: [], hashes }), {
      "b.txt": "it has another content than declared (SHA-256)",
      "c.txt": "it is absent",
    });
  }));

Deno.test("checkEvidence takes no link that leads out of the folder or nowhere", () =>
  inFolder((dir) => {
    const cwd = `${dir}/job`;
    write(`${dir}/elsewhere.md`, "text");
    write(`${cwd}/own.md`, "text");
    Deno.symlinkSync("../elsewhere.md", `${cwd}/out.md`);
    Deno.symlinkSync("nothing", `${cwd}/dangling.md`);
    Deno.symlinkSync("own.md", `${cwd}/inside.md`);
    assertEquals(whys({ cwd, expect: [{ glob: "*.md", count: 4 }] }), {
      "dangling.md": "it is a link that leads nowhere",
      "out.md": `it is a link that leads out of the folder, to "${dir}/elsewhere.md"`,
    });
  }));

/** A clock that is so far ahead of the real one. */
function aheadBy(ms: number): Clock {
  return { ...systemClock, wallMs: () => systemClock.wallMs() + ms };
}

Deno.test("checkEvidence calls a file fresh only when this run wrote it", () =>
  inFolder((cwd) => {
    const rules = { cwd, expect: [{ glob: "*.md" }], fresh: true };
    write(`${cwd}/old.md`, "old");
    const start = noteStart(rules, aheadBy(60_000));
    assertEquals(checkEvidence(rules, start).missing[0]?.why, "it is older than this run");
    // A time in the future does not make an old file new.
    Deno.utimeSync(`${cwd}/old.md`, new Date("2099-01-01"), new Date("2099-01-01"));
    const again = noteStart(rules);
    assertEquals(checkEvidence(rules, again).missing[0]?.why, "it was not written by this run");
    write(`${cwd}/old.md`, "old");
    assertEquals(checkEvidence(rules, again).isProven, true);
    assertStringIncludes(checkEvidence(rules).missing[0]?.why ?? "", "nothing is known");
  }));

Deno.test("checkEvidence tells a touched file from one with new content, when asked to", () =>
  inFolder((cwd) => {
    const rules = { cwd, expect: [{ glob: "*.md" }], fresh: true, newContent: true };
    write(`${cwd}/a.md`, "same");
    const start = noteStart(rules);
    write(`${cwd}/a.md`, "same");
    Deno.utimeSync(`${cwd}/a.md`, new Date("2099-01-01"), new Date("2099-01-01"));
    assertEquals(
      checkEvidence(rules, start).missing[0]?.why,
      "it has the same content as before the job",
    );
    write(`${cwd}/a.md`, "other");
    assertEquals(checkEvidence(rules, start).isProven, true);
  }));

Deno.test("proveOrRedo is content with the first attempt when the files are there", () =>
  inFolder(async (cwd) => {
    const result = await proveOrRedo({
      rules: { cwd, expect: [{ glob: "a.md" }] },
      retries: 3,
      run: () => (write(`${cwd}/a.md`, "text"), Promise.resolve(true)),
    });
    assertEquals([result.isProven, result.attempts], [true, 1]);
  }));

Deno.test("proveOrRedo asks again for what is missing only, and keeps the siblings as they were", () =>
  inFolder(async (cwd) => {
    const asked: string[][] = [];
    const said: string[] = [];
    const result = await proveOrRedo({
      rules: { cwd, expect: [{ glob: "out/*.md", count: 2 }, { glob: "SUMMARY.md" }] },
      retries: 1,
      say: (text) => said.push(text),
      async run({ number, missing }) {
        asked.push([...missing]);
        if (number === 1) {
          write(`${cwd}/out/a.md`, "a");
          write(`${cwd}/out/b.md`, "b");
          write(`${cwd}/SUMMARY.md`, "");
          await Deno.utime(`${cwd}/out/a.md`, 1000, 1000);
        } else {
          // A job that skips what is there, and a careless one with the rest.
          if (!isThere(`${cwd}/SUMMARY.md`)) write(`${cwd}/SUMMARY.md`, "all");
          write(`${cwd}/out/a.md`, "a, done again");
          await Deno.remove(`${cwd}/out/b.md`);
        }
        return true;
      },
    });
    assertEquals(asked, [[], ["SUMMARY.md"]]);
    assertEquals([result.isProven, result.attempts], [true, 2]);
    assertEquals(result.putBack.sort(), ["out/a.md", "out/b.md"]);
    assertEquals(read(`${cwd}/out/a.md`), "a");
    assertEquals((await Deno.stat(`${cwd}/out/a.md`)).mtime?.getTime(), 1_000_000);
    assertEquals(read(`${cwd}/out/b.md`), "b");
    assertEquals(result.setAside, [`${cwd}/.failure-lab-aside/SUMMARY.md-1`]);
    assertStringIncludes(said[0] ?? "", "SUMMARY.md: it is empty");
  }));

Deno.test("proveOrRedo gives up after its attempts and says what is missing", () =>
  inFolder(async (cwd) => {
    let runs = 0;
    const result = await proveOrRedo({
      rules: { cwd, expect: [{ glob: "a.md" }] },
      retries: 2,
      run: () => (runs++, Promise.resolve(true)),
    });
    assertEquals([result.isProven, result.attempts, runs], [false, 3, 3]);
    assertEquals(result.missing, [{ path: "a.md", why: "it is absent" }]);
  }));

Deno.test("proveOrRedo does not run again what failed by its own account", () =>
  inFolder(async (cwd) => {
    const result = await proveOrRedo({
      rules: { cwd, expect: [{ glob: "a.md" }] },
      retries: 2,
      run: () => Promise.resolve(false),
    });
    assertEquals([result.hasFailed, result.attempts], [true, 1]);
  }));

Deno.test("parseHashList reads what sha256sum prints and refuses anything else", () => {
  const hash = "AB".repeat(32);
  assertEquals(
    [...parseHashList(`${hash}  ./out/a b.md\n${hash} *c.bin\n\n`)],
    [["out/a b.md", hash.toLowerCase()], ["c.bin", hash.toLowerCase()]],
  );
  assertThrows(() => parseHashList(`${hash}  a\nnonsense\n`), SyntaxError, "line 2");
});
