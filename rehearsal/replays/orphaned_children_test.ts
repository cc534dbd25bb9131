// A job whose leader dies while its children live on.

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  badChecks,
  evidence,
  finding,
  inShort,
  SessionBench,
} from "../../tests/support/session.ts";
import { cleanUpAfterEach } from "../../tests/support/processes.ts";
import { CAREFUL, contractOf } from "./_test_jobs.ts";

cleanUpAfterEach();

/** A leader whose child does the work, and goes on when the leader is dead. */
const LEAVES_WRITER = `
if [ "$1" != work ]; then sh run.sh work & wait; exit 0; fi
${CAREFUL}`;

/** As above, but a new run waits until the old worker has ended by itself. */
const WAITS_FOR_WRITER = `
if [ "$1" != work ]; then
  while [ -e worker ] && kill -0 "$(cat worker)" 2>/dev/null; do sleep 0.05; done
  sh run.sh work & echo $! >worker; wait; rm -f worker; exit 0
fi
${CAREFUL}`;

/** A recovery that does not look whether the old worker lives; that one goes on after its end. */
const APPENDS = `
case $1 in
  work) leader=$2 ;;
  resume) leader=$$ ;;
  *) sh run.sh work $$ & wait; exit 0 ;;
esac
mkdir -p out
for i in 1 2 3 4; do
  grep -q end out/$i.txt 2>/dev/null && continue
  echo "unit $i" >out/$i.txt; sleep 0.08
  if ! kill -0 $leader 2>/dev/null; then
    until [ -e done ]; do sleep 0.02; done
    sleep 0.5
  fi
  echo end >>out/$i.txt
done
: >done
`;

Deno.test("orphaned-children kills the leader only, shows who lives on and what it wrote, and reaps all", async () => {
  await using bench = await SessionBench.make("orphan");
  await bench.write("run.sh", LEAVES_WRITER);
  const graded = await bench.one(contractOf({}), { subject: "orphaned-children" });
  assertEquals(inShort(graded), "pass", graded.grade.reason);
  const proof = evidence(graded);
  assertStringIncludes(String(proof["alive after the death of their leader"]), "sh (pid");
  assertEquals(proof["the leader was ended by"], "SIGKILL");
  assertStringIncludes(String(proof["an output that changed after its death"]), "out/");
  assertEquals(graded.record.start?.signal, "SIGKILL");
  assert(graded.record.start?.endedByLab);
  assertEquals(graded.record.kill?.survivors, []);
});

Deno.test("overlap passes a recovery that waits for the orphan", async () => {
  await using bench = await SessionBench.make("overlap");
  await bench.write("run.sh", WAITS_FOR_WRITER);
  const graded = await bench.one(contractOf({}), {
    subject: "orphaned-children",
    variant: "overlap",
  });
  assertEquals(inShort(graded), "pass", graded.grade.reason);
  const names = Object.keys(evidence(graded)).join("; ");
  assertStringIncludes(names, "an orphan of the killed run");
  // The orphan ended by itself: nobody had to be signalled.
  assertEquals(graded.record.kill?.signals, []);
});

Deno.test("overlap passes a recovery that stands down, when the next one does the work", async () => {
  await using bench = await SessionBench.make("overlap-down");
  await bench.write(
    "run.sh",
    WAITS_FOR_WRITER.replace("sleep 0.05; done", "exit 75; done"),
  );
  const graded = await bench.one(contractOf({}), {
    subject: "orphaned-children",
    variant: "overlap",
  });
  assertEquals(inShort(graded), "pass", graded.grade.reason);
  assertEquals(graded.record.attempts.map((each) => [each.purpose, each.phase.exitCode]), [
    ["beside", 75],
    ["resume", 0],
    ["resume-again", 0],
  ]);
});

Deno.test("overlap fails a recovery after whose success the orphan goes on writing, and names it", async () => {
  await using bench = await SessionBench.make("overlap-bad");
  await bench.write("run.sh", APPENDS);
  const graded = await bench.one(
    contractOf({
      resume: ["sh", "run.sh", "resume"],
      artifacts: { paths: ["out/*.txt"], count: 4, sameAsControl: true },
    }),
    { subject: "orphaned-children", variant: "overlap", resumeTwice: false },
  );
  assertEquals(graded.grade.verdict, "fail", graded.grade.reason);
  assert(badChecks(graded).includes("quiet-after-success"), badChecks(graded).join());
  const text = graded.grade.checks.find((check) => check.id === "quiet-after-success")?.text ?? "";
  assertStringIncludes(
    text,
    "changed after the recovery had reported success; the writer is sh (pid",
  );
});

Deno.test("orphaned-children does not apply to a job that is one process, and says so", async () => {
  await using bench = await SessionBench.make("single");
  await bench.write(
    "run.sh",
    // It waits inside the shell itself, so that there is never a child.
    `for i in 1 2 3 4; do
  [ -e out/$i.txt ] && continue
  n=0; while [ $n -lt 60000 ]; do n=$((n + 1)); done
  printf 'unit %s\\nend\\n' $i >out/$i.txt
done
`,
  );
  await bench.write("out/.keep", "");
  const graded = await bench.one(contractOf({}), { subject: "orphaned-children" });
  assertEquals(inShort(graded), "not-applicable not-applicable", graded.grade.reason);
  assertStringIncludes(graded.grade.reason, "single process");
  assertEquals(graded.record.start, null);
});

Deno.test("orphaned-children with a child that is not there at that moment proves nothing", async () => {
  await using bench = await SessionBench.make("no-child-now");
  await bench.write(
    "run.sh",
    `[ -e once ] || { : >once; command -p sleep 0.05; }
for i in 1 2 3 4; do
  [ -e out/$i.txt ] && continue
  n=0; while [ $n -lt 60000 ]; do n=$((n + 1)); done
  printf 'unit %s\\nend\\n' $i >out/$i.txt
done
`,
  );
  await bench.write("out/.keep", "");
  const graded = await bench.one(contractOf({}), { subject: "orphaned-children" });
  assertEquals(inShort(graded), "unproven fault-delivered", graded.grade.reason);
  assertStringIncludes(finding(graded, "orphan-caught") ?? "", "--kill-after");
});
