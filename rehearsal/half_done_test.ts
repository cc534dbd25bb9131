// Jobs whose half work looks whole: what the verdict on a careless resume must not be, and what it
// must be on a careful one.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { inShort, SessionBench } from "../tests/support/session.ts";
import { cleanUpAfterEach } from "../tests/support/processes.ts";

cleanUpAfterEach();

interface Case {
  /** The job; `$1` is `resume` for the resume command. */
  job: string;
  artifacts: Record<string, unknown>;
  more?: Record<string, unknown>;
  verdict: string;
}

async function assertVerdicts(cases: Record<string, Case>): Promise<void> {
  for (const [name, { job, artifacts, more, verdict }] of Object.entries(cases)) {
    await using bench = await SessionBench.make("half");
    await bench.write("run.sh", job);
    const graded = await bench.one({
      start: ["sh", "run.sh", "start"],
      resume: ["sh", "run.sh", "resume"],
      artifacts,
      limits: { runSeconds: 30, idleSeconds: 5, graceSeconds: 1 },
      ...more,
    }, { subject: more?.startFails === true ? "own-failure" : "rehearsal", resumeTwice: false });
    assertEquals(inShort(graded), verdict, `${name}: ${graded.grade.reason}`);
  }
}

/** Six pages, and an index that is written anew after each; every page has its time in it. */
const SITE = `
mkdir -p site
for i in 1 2 3 4 5 6; do
  [ -e site/$i.html ] || {
    sleep 0.08; echo "<p>$i $$ $(date +%s%N)</p></html>" >site/.new; mv site/.new site/$i.html
  }
  INDEX
done
`;
const WRITE_INDEX = `{
    for p in site/[1-6].html; do echo "<a href=$p>$p</a>"; done; echo "</html>"
  } >site/.new; mv site/.new site/index.html`;

Deno.test("an index that grows with the work is neither finished nor whole before its end", async () => {
  const artifacts = { paths: ["site/*.html"], count: 7, endsWith: "</html>" };
  await assertVerdicts({
    "written again each time": {
      job: SITE.replace("INDEX", WRITE_INDEX),
      artifacts,
      verdict: "pass",
    },
    "written by the first run only": {
      job: SITE.replace("INDEX", `if [ $1 = start ]; then ${WRITE_INDEX}; fi`),
      artifacts,
      verdict: "unproven artifacts-not-torn",
    },
  });
});

/** Takes the room first, and fills it later. */
const FILL = `
mkdir -p out
for i in 1 2 3 4; do
  if [ -e out/$i ]; then CHECK; fi
  printf 'unit 0: .......... end\\n' >out/$i; sleep 0.08
  printf "unit $i: all done.. end\\n" >out/$i
done
`;

Deno.test("an output of full length and other content is not whole where all others are alike", async () => {
  const artifacts = { paths: ["out/*"], count: 4, endsWith: "end", minBytes: 10 };
  await assertVerdicts({
    "a resume that goes by existence": {
      job: FILL.replace("CHECK", "continue"),
      artifacts,
      verdict: "unproven artifacts-not-torn",
    },
    "a resume that looks into the files": {
      job: FILL.replace("CHECK", 'grep -q "unit $i" out/$i && continue'),
      artifacts,
      verdict: "pass",
    },
  });
});

/** One table that grows row by row. */
const TABLE = `
BEGIN
n=$(grep -c row table.csv 2>/dev/null); n=\${n:-0}
FIRST
while [ $n -lt 8 ]; do n=$((n + 1)); echo "row $n" >>table.csv; sleep 0.06; done
`;

Deno.test("a single output that grows is struck while it grows, and a second one behind it is seen", async () => {
  const again = TABLE.replace("BEGIN", "sleep 0.1").replace("FIRST", "n=0; echo head >>table.csv");
  const on = TABLE.replace("BEGIN", "sleep 0.1").replace(
    "FIRST",
    "[ -e table.csv ] || echo head >table.csv",
  );
  const artifacts = { paths: ["table.csv"], count: 1 };
  await assertVerdicts({
    "begins anew behind the half one": {
      job: again,
      artifacts,
      verdict: "unproven artifacts-not-appended",
    },
    "the same, and outputs must be alike": {
      job: again,
      artifacts: { ...artifacts, sameAsControl: true },
      verdict: "fail artifacts-whole",
    },
    "goes on where it was": { job: on, artifacts, verdict: "pass" },
  });
});

const UNITS = `
mkdir -p out
for i in 1 2 3 4 5 6; do
  [ -e out/$i.txt ] && continue
  sleep 0.08; echo "unit $i WHERE" >out/.new; mv out/.new out/$i.txt
done
`;

Deno.test("a job that throws its finished work away when it is asked to end fails", async () => {
  const artifacts = { paths: ["out/*.txt"], count: 6 };
  await assertVerdicts({
    "everything": {
      job: `trap 'rm -rf out; exit 1' TERM\n${UNITS}`,
      artifacts,
      verdict: "fail kept-at-end",
    },
    "what is half only": {
      job: `trap 'rm -f out/.new; exit 1' TERM\n${UNITS}`,
      artifacts,
      verdict: "pass",
    },
  });
});

Deno.test("a resume that makes other outputs than the start is not passed unasked", async () => {
  const job = UNITS.replace("WHERE", "for $REGION");
  const start = { start: ["env", "REGION=eu", "sh", "run.sh"] };
  const artifacts = { paths: ["out/*.txt"], count: 6 };
  await assertVerdicts({
    "not said whether they may differ": {
      job,
      artifacts,
      more: start,
      verdict: "unproven artifacts-repeatable",
    },
    "they may": {
      job,
      artifacts: { ...artifacts, sameAsControl: false },
      more: start,
      verdict: "pass",
    },
    "they may not": {
      job,
      artifacts: { ...artifacts, sameAsControl: true },
      more: start,
      verdict: "fail artifacts-whole",
    },
  });
});

/** Six messages; a new run puts the old log away. */
const MAIL = `
[ -e sent.log ] && mv sent.log sent.log.1
for i in 1 2 3 4 5 6; do
  LOOK
  sleep 0.08; echo "msg-$i" >>sent.log
done
echo sent >summary.txt
`;

Deno.test("effects before a log was moved away are counted where all parts of it are named", async () => {
  const artifacts = { paths: ["summary.txt"], count: 1, endsWith: "sent" };
  const careful = MAIL.replace("LOOK", 'grep -qx "msg-$i" sent.log* && continue');
  const careless = MAIL.replace("LOOK", "");
  const all = { effects: { path: "sent.log*" }, killAfterArtifacts: 0 };
  await assertVerdicts({
    "one part named, sent again": {
      job: careless,
      artifacts,
      more: { ...all, effects: { path: "sent.log" } },
      verdict: "unproven effects-complete",
    },
    "all parts named, sent again": {
      job: careless,
      artifacts,
      more: all,
      verdict: "fail effects-once",
    },
    "all parts named, looked first": { job: careful, artifacts, more: all, verdict: "pass" },
  });
});

Deno.test("what a failed start left whole by its check, and alone, was not finished", async () => {
  await using bench = await SessionBench.make("half");
  await bench.write(
    "run.sh",
    `n=$(cat table 2>/dev/null | wc -l)
while [ $n -lt 6 ]; do
  n=$((n + 1)); echo "row $n" >>table
  [ $n -eq 3 ] && [ $1 = start ] && exit 7
done
exit 0
`,
  );
  const graded = await bench.one({
    start: ["sh", "run.sh", "start"],
    resume: ["sh", "run.sh", "resume"],
    artifacts: { paths: ["table"], count: 1, check: ["grep", "-q", "row"] },
    startFails: true,
  }, { subject: "own-failure", resumeTwice: false });
  assertEquals(inShort(graded), "pass", graded.grade.reason);
  assertEquals(graded.record.finishedAtFault, []);
});

Deno.test("an output that may have been finished and is made again is not held against a recovery", async () => {
  await using bench = await SessionBench.make("half");
  await bench.write(
    "run.sh",
    `mkdir -p out
for i in 1 2 3 4; do
  grep -q whole out/$i 2>/dev/null && continue
  sleep 0.05; echo "unit $i" >out/$i
  # The second one breaks off, and nobody looks.
  [ $i$1 = 2start ] || echo whole >>out/$i
  [ $i$1 = 3start ] && exit 7
done
exit 0
`,
  );
  const graded = await bench.one({
    start: ["sh", "run.sh", "start"],
    resume: ["sh", "run.sh", "resume"],
    artifacts: { paths: ["out/*"], count: 4 },
    startFails: true,
  }, { subject: "own-failure", resumeTwice: false });
  assertEquals(inShort(graded), "unproven finished-untouched", graded.grade.reason);
  assertStringIncludes(graded.grade.reason, '"out/2" was made again or removed');
  assert(graded.record.finishedAtFault.length === 0);
  assertEquals(graded.record.likelyAtFault, ["out/1", "out/2"]);
});
