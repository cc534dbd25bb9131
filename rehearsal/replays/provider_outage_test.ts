// A job whose model provider goes down.

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
import { providerOutage } from "./provider_outage.ts";

cleanUpAfterEach();

const ASK = `${new URL("../runners/good/ask.bash", import.meta.url).pathname}`;

/** One request for each unit. `onError` is what is done when no answer comes. */
function job(onError: string): string {
  return `
mkdir -p out
for i in 1 2 3 4; do
  [ -e out/$i.txt ] && continue
  answer=$(bash ask.bash unit-$i) || { ${onError}; }
  { echo "$answer"; sleep 0.08; echo end; } >out/.$i.tmp; mv out/.$i.tmp out/$i.txt
done
`;
}

async function bench(name: string, script: string): Promise<SessionBench> {
  const made = await SessionBench.make(name);
  await made.write("run.sh", script);
  await Deno.copyFile(ASK, `${made.project}/ask.bash`);
  return made;
}

const CONTRACT = contractOf({
  artifacts: { paths: ["out/*.txt"], count: 4, sameAsControl: true },
});
const ALL = providerOutage.variants.map((variant) => ({ subject: "provider-outage", variant }));

Deno.test("provider-outage passes a job that gives up and goes on later, in every shape", async () => {
  await using made = await bench("outage", job("exit 69"));
  const all = await made.run(CONTRACT, ALL);
  assertEquals(
    all.map(inShort),
    ALL.map(() => "pass"),
    all.map((each) => each.grade.reason).join(),
  );
  const [overloaded, , , stalled] = all.map(evidence);
  assertEquals(overloaded?.["requests during the outage"], 1);
  assertEquals(overloaded?.["answered each with"], "529");
  assertEquals(overloaded?.["the job"], "gave up by itself (exit 69)");
  assertEquals(stalled?.["answered each with"], "stall-before-first-byte");
  for (const { record } of all) assertEquals(record.artifactsAtFault.length, 2);
});

Deno.test("provider-outage ends a job that waits for long, and its recovery passes", async () => {
  await using made = await bench(
    "outage-waits",
    job("sleep 1; until answer=$(bash ask.bash unit-$i); do sleep 1; done"),
  );
  const graded = await made.one(CONTRACT, ALL[0] ?? { subject: "" });
  assertEquals(inShort(graded), "pass", graded.grade.reason);
  assertEquals(evidence(graded)["the job"], "was ended while it waited");
  assert(graded.record.kill?.signals.some((each) => each.signal === "KILL"));
});

Deno.test("provider-outage fails a job that takes an error for an answer, or asks without waiting", async () => {
  await using made = await bench("outage-bad", job("answer=none"));
  const graded = await made.one(CONTRACT, ALL[0] ?? { subject: "" });
  assertEquals(graded.grade.verdict, "fail");
  assert(badChecks(graded).includes("artifacts-whole"), badChecks(graded).join());
  await made.write(
    "run.sh",
    job(
      "n=0; until answer=$(bash ask.bash unit-$i); do n=$((n + 1)); [ $n -lt 60 ] || exit 1; done",
    ),
  );
  const hammers = await made.one(CONTRACT, ALL[0] ?? { subject: "" });
  assertEquals(inShort(hammers), "fail provider-not-hammered", hammers.grade.reason);
});

Deno.test("provider-outage never passes a job that calls no provider, and says how it would be called", async () => {
  await using made = await SessionBench.make("outage-none");
  await made.write("run.sh", CAREFUL);
  const graded = await made.one(contractOf({}), { subject: "provider-outage" });
  assertEquals(inShort(graded), "not-applicable not-applicable");
  assertStringIncludes(graded.grade.reason, "ANTHROPIC_BASE_URL or OPENAI_BASE_URL");
  // Without a control run nobody knows; then it is not shown, and not more.
  const blind = await made.one(contractOf({ control: false }), { subject: "provider-outage" });
  assertEquals(inShort(blind), "unproven fault-delivered", blind.grade.reason);
  assertStringIncludes(finding(blind, "provider-asked") ?? "", "no request came");
});

Deno.test("a job gets a fake key and our address in every run, and what its contract says wins", async () => {
  await using made = await SessionBench.make("outage-env");
  await made.write(
    "run.sh",
    `case $ANTHROPIC_API_KEY in sk-lab-fake*) ;; *) exit 3 ;; esac
case "$ANTHROPIC_BASE_URL $OPENAI_BASE_URL" in "http://127.0.0.1:"*" http://127.0.0.1:"*/v1) ;; *) exit 4 ;; esac
[ "$OPENAI_API_KEY" = own ] || exit 5
${CAREFUL}`,
  );
  const contract = contractOf({ env: { OPENAI_API_KEY: "own" } });
  const graded = await made.one(contract, { subject: "rehearsal", resumeTwice: false });
  assertEquals(inShort(graded), "pass", graded.grade.reason);
  const journal = await Deno.readTextFile(`${made.path}/report/journal-control.jsonl`);
  assert(!journal.includes("sk-lab-fake"), "keys have no business in a journal");
});
