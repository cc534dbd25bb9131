import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { damaged, goodRecord, sha } from "../lab/_grader_fixtures.ts";
import { type RunRecord, runRecordSchema } from "../lab/mod.ts";
import { leavesOf } from "./_receipt_chain.ts";
import { NO_MACHINE, receiptOf } from "./_receipt_fixtures.ts";
import type { RedactionContext } from "./_receipt_redact.ts";
import { makeReceipt, ReceiptError, receiptText, RUN_SECTIONS } from "./receipt.ts";
import { checkReceipt } from "./receipt_check.ts";

const MACHINE: RedactionContext = {
  home: "/home/alice",
  users: ["alice"],
  host: "workhorse.example",
  tempDirs: ["/tmp", "/private/tmp"],
  reportDir: "/srv/reports/one",
  env: { DEPLOY_TOKEN: "hunter2hunter2", LANG: "C.UTF-8", SHELL: "/bin/zsh" },
  omitOutput: false,
};
const PROJECT = "/home/alice/my job";
const LAB = "/tmp/failure-lab-0123456789abcdef";
const CLIENT = "/srv/client data";

/** Ways in which what is private can stand in a text. */
const NEEDLES = [
  PROJECT,
  `${PROJECT}/out/1.md`,
  `'${PROJECT}/run.sh'`,
  "/home/alice/my\\ job/run.sh",
  "file:///home/alice/my%20job/run.sh",
  "/home/alice/.bashrc",
  "--allow-read=/home/alice/.claude,/home/alice",
  `${LAB}/work/my job/out`,
  `/private${LAB}/logs`,
  "/tmp/other.sock",
  "/srv/reports/one/journal.jsonl",
  "PATH=/opt/acme/bin:/usr/bin",
  "-I/opt/acme/include",
  `${CLIENT}/x.db`,
  "alice@workhorse",
  "-home-alice-project",
  "workhorse.example",
  "hunter2hunter2",
  "sk-lab-fake-0000000000000000",
  "/Users/bob/Library/x",
];
const PRIVATE =
  /alice|bob\b|workhorse|hunter2|sk-lab|acme|client data|my job|my\\+ job|my%20job|failure-lab-0123|\/tmp|\/srv|\/opt\b|\/home/;

/** A record with private text wherever the schema lets a text stand, and the places. */
function ladenRecord(): { record: RunRecord; places: string[] } {
  const places: string[] = [];
  let record = damaged((each) => {
    each.project!.path = PROJECT;
    each.project!.skipped = [{ path: ".env", reason: "it holds credentials" }];
    each.containment!.watched.push({ path: CLIENT, files: 1, bytes: 1, incomplete: null });
    each.containment!.excluded = [LAB];
    each.containment!.changes = [{ path: CLIENT, change: "mode", before: null, after: null }];
    each.contract.declared = {
      ...each.contract.declared as Record<string, never>,
      env: { API: "hunter2hunter2", EMPTY: "" },
      watch: [CLIENT],
    };
    each.quiet!.changed = [{ path: "out/1.md", by: null }];
    each.effects!.unknown = ["k"];
    each.effects!.doubled = [{ key: "k", count: 2 }];
    each.options = { [`${PROJECT}/key`]: ["x", { deep: "y" }] };
    each.fault.evidence = [{ what: "w", value: { [`${PROJECT}/key`]: ["x"] } }];
  });
  for (const [path, value] of leavesOf(JSON.parse(JSON.stringify(record)), "")) {
    if (typeof value === "number" || typeof value === "boolean") continue;
    if (KEPT.test(path) || KNOWN.test(path)) continue;
    const copy: RunRecord = structuredClone(record);
    setAt(copy, path, `${value ?? ""} ${NEEDLES.join(" ")}`.trim());
    if (!runRecordSchema.safeParse(copy).success) continue;
    record = copy;
    places.push(path);
  }
  return { record, places };
}

/** Words of the record's own language, and names of outputs: they stay, and hold no path. */
const KEPT =
  /\/(id|kind|subject|variant|os|arch|deno|signal|schema|fault\/name)$|finishedAtFault|\/paths\/|contentChecks|\/artifacts(AtFault|Before|After)?\/\d+\/path$/;
/** Already private as they stand. */
const KNOWN =
  /^\/(project\/path|containment\/(watched|changes|excluded)\/.*|.*\/watch\/\d+|.*API)$/;

Deno.test("makeReceipt() lets nothing private through, wherever it stands in a record", () => {
  const { record, places } = ladenRecord();
  const wanted = [
    "argv",
    "stdoutTail",
    "stderrTail",
    "startError",
    "rerun",
    "scope",
    "label",
    "by",
  ];
  for (const part of [...wanted, "evidence", "options", "findings", "declared", "lockAfter"]) {
    assert(places.some((path) => path.includes(`/${part}`)), `nothing private in ${part}`);
  }
  assert(places.length > 90, `${places.length} places`);
  const { receipt, redaction } = makeReceipt({
    command: "replay",
    startedAt: record.startedAt,
    endedAt: record.endedAt,
    interrupted: PROJECT,
    records: [record],
  }, MACHINE);
  for (const { name, body } of receipt.sections) {
    for (const [path, value] of leavesOf(body, "")) {
      const found = PRIVATE.exec(`${path} ${value}`);
      assertEquals(found?.[0] ?? null, null, `${name} ${path}: ${value}`);
    }
  }
  assertEquals(redaction.left, []);
  const tokens = ["project", "home", "copy", "lab", "temp", "report", "user", "host", "secret"];
  for (const token of tokens) assert((redaction.replaced[`<${token}>`] ?? 0) > 90, token);
  assertEquals(checkReceipt(receiptText(receipt)).problems, []);
});

function clean(text: string, context: Partial<RedactionContext> = {}, path = PROJECT): string {
  const record = damaged((each) => {
    each.project!.path = path;
    each.rerun = text;
  });
  const receipt = receiptOf([record], { ...MACHINE, ...context });
  return String(receipt.sections[1]!.body.rerun);
}

Deno.test("makeReceipt() puts one stand-in for each kind of place, and leaves the rest alone", () => {
  const cases: [text: string, expected: string][] = [
    [`cd '${PROJECT}' && ./run.sh`, "cd '<project>' && ./run.sh"],
    [`${PROJECT}/out, ${PROJECT}.`, "<project>/out, <project>."],
    [`${PROJECT}-old/x`, "<home>/my job-old/x"],
    [`${LAB}/work/my job/out/1.md`, "<copy>/out/1.md"],
    [`${LAB}/logs/start.stdout`, "<lab>/logs/start.stdout"],
    ["/tmp/failure-lab-reports/x", "<temp>/failure-lab-reports/x"],
    ["/usr/bin/python3 -u /etc/hosts", "/usr/bin/python3 -u /etc/hosts"],
    ["/opt/acme/bin/tool /opt/acme/bin/other", "<path 1>/tool <path 1>/other"],
    ["http://127.0.0.1:8080/v1/messages", "http://127.0.0.1:8080/v1/messages"],
    ["out/a/b.md src/home/page.ts ./a/b ../c/d", "out/a/b.md src/home/page.ts ./a/b ../c/d"],
    ["sed 's/one/two/' file", "sed 's/one/two/' file"],
    ["rm -rf /", "rm -rf /"],
    ["malice and alices stay, alice goes", "malice and alices stay, <user> goes"],
    ["on workhorse and workhorse.example", "on <host> and <host>"],
    ["/root/x and tree/root/x", "<home>/x and tree/root/x"],
  ];
  for (const [text, expected] of cases) assertEquals(clean(text), expected);
});

Deno.test("makeReceipt() names the narrowest place that it knows", () => {
  const context = { reportDir: `${PROJECT}/before`, tempDirs: [`${PROJECT}/tmp`] };
  const text = `${PROJECT}/before/x ${PROJECT}/tmp/y ${PROJECT}/z`;
  assertEquals(clean(text, context), "<report>/x <temp>/y <project>/z");
});

Deno.test("makeReceipt() does not take common words for names of people or machines", () => {
  const context = { users: ["root", "me"], host: "localhost", home: "/root" };
  const text = "root of me on localhost";
  assertEquals(clean(text, context, "/root/job"), text);
});

Deno.test("makeReceipt() takes out every value of the contract's environment, also short ones", () => {
  const record = damaged((each) => {
    each.contract.declared = {
      ...each.contract.declared as Record<string, never>,
      env: { MODE: "x1", GREETING: "good day" },
    };
    each.rerun = "failure-lab replay --env MODE=x1 --env 'GREETING=good day' --json";
    each.start!.stdoutTail = "good day, x1\n";
  });
  const { sections } = receiptOf([record], MACHINE);
  assertEquals(
    sections[1]!.body.rerun,
    "failure-lab replay --env MODE=<env MODE> --env 'GREETING=<env GREETING>' --json",
  );
  const text = JSON.stringify(sections);
  assertStringIncludes(text, '"env":{"MODE":"<env MODE>","GREETING":"<env GREETING>"}');
  assertStringIncludes(text, "<env GREETING>, x1");
});

Deno.test("makeReceipt() keeps the names of outputs, and says when one holds a name", () => {
  const rename = (each: { path: string }) =>
    each.path = each.path.replace("out/1.md", "out/alice.md");
  const record = damaged((each) => {
    for (const list of [each.artifacts, each.artifactsAtFault, each.control!.artifacts]) {
      list.forEach(rename);
    }
    for (const attempt of each.attempts) {
      attempt.artifactsBefore.forEach(rename);
      attempt.artifactsAfter.forEach(rename);
    }
    each.finishedAtFault[0] = "out/alice.md";
  });
  const { receipt, redaction } = makeReceipt({
    command: "replay",
    startedAt: record.startedAt,
    endedAt: null,
    interrupted: null,
    records: [record],
  }, MACHINE);
  assertStringIncludes(JSON.stringify(receipt), '"path":"out/alice.md"');
  assertEquals(redaction.left.length, 1);
  assertStringIncludes(redaction.left[0] ?? "", '"out/alice.md"');
});

Deno.test("makeReceipt() leaves out what was printed, and the list of the project's files", () => {
  const record = damaged((each) => {
    each.project!.manifest = { "secret-plan.md": sha("x") };
    each.start!.stdoutTail = "loud\n";
  });
  const text = JSON.stringify(receiptOf([record], { omitOutput: true }));
  assert(!text.includes("secret-plan") && !text.includes("loud"));
  assertStringIncludes(JSON.stringify(receiptOf([record])), "loud");
});

Deno.test("makeReceipt() refuses damaged records and an empty report", () => {
  const source = { command: "x", startedAt: "", endedAt: null, interrupted: null };
  const torn = { ...goodRecord(), attempts: undefined };
  const error = assertThrows(
    () => makeReceipt({ ...source, records: [goodRecord(), torn] }, NO_MACHINE),
    ReceiptError,
  );
  assertStringIncludes(error.message, 'run 2 cannot be used. The record is damaged at "attempts"');
  assertThrows(() => makeReceipt({ ...source, records: [] }, NO_MACHINE), ReceiptError, "no run");
});

Deno.test("every part of a record has its section", () => {
  const placed = Object.values(RUN_SECTIONS).flat().map(String);
  assertEquals(placed.toSorted(), Object.keys(runRecordSchema.shape).sort());
});

Deno.test("a receipt is the same text whenever it is made of the same records", () => {
  assertEquals(receiptText(receiptOf()), receiptText(receiptOf()));
});

function setAt(value: unknown, path: string, text: unknown): void {
  const keys = keysOf(path);
  const last = keys.pop() ?? "";
  (valueOf(value, keys) as Record<string, unknown>)[last] = text;
}

function keysOf(path: string): string[] {
  return path.slice(1).split("/").map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function valueOf(value: unknown, keys: readonly string[]): unknown {
  return keys.reduce((inner, key) => (inner as Record<string, unknown>)[key], value);
}
