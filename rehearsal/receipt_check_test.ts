import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { damaged, goodRecord, outputs } from "../lab/_grader_fixtures.ts";
import { leavesOf, marksOf, sectionHash } from "./_receipt_chain.ts";
import { forged, receiptOf } from "./_receipt_fixtures.ts";
import { type Receipt, receiptText } from "./receipt.ts";
import { checkReceipt } from "./receipt_check.ts";

const RECEIPT = receiptOf();
const TEXT = receiptText(RECEIPT);

/** A changed copy, hashes left as they were. */
function changed(change: (receipt: Receipt) => void): string {
  const copy = structuredClone(RECEIPT);
  change(copy);
  return receiptText(copy);
}

/** Problems in short: section and path. */
function placesIn(text: string): string[] {
  const { holds, problems } = checkReceipt(text);
  assertEquals(holds, problems.length === 0);
  return problems.map(({ section, path }) => `${section ?? "-"} ${path ?? "-"}`);
}

Deno.test("checkReceipt() holds a receipt as it was made, and grades it again", () => {
  const { holds, problems, notes, runs, verdict, sections } = checkReceipt(TEXT);
  assertEquals([holds, problems, notes], [true, [], []]);
  assertEquals([verdict, runs.length, runs[0]?.claimed, sections], ["pass", 1, "pass", 9]);
  assertEquals(runs[0]?.record.artifacts, outputs());
});

Deno.test("checkReceipt() names every single value that was changed, by section and path", () => {
  for (const [index, { name, body }] of RECEIPT.sections.entries()) {
    for (const [path, value] of leavesOf(body, "")) {
      const text = changed(({ sections }) => {
        setAt(sections[index]!.body, path, typeof value === "number" ? value + 1 : `${value}x`);
      });
      const places = placesIn(text);
      assert(places.includes(`${name} ${path}`), `${name} ${path} gave ${places}`);
      const others = places.filter((place) => !place.startsWith(`${name} `));
      // A changed verdict or record is seen by the grader as well.
      assert(others.every((place) => /^(run-1\/grade|set) /.test(place)), `${path}: ${others}`);
    }
  }
});

Deno.test("checkReceipt() names a value that was taken out or put in", () => {
  const out = changed(({ sections }) => delete sections[3]!.body.controlSkipped);
  assert(placesIn(out).includes("run-1/control /controlSkipped"));
  const put = changed(({ sections }) => sections[3]!.body.extra = 1);
  assert(placesIn(put).includes("run-1/control /extra"));
  assertStringIncludes(checkReceipt(put).problems[0]?.text ?? "", "was added");
  const moved = changed(({ sections }) => {
    const { command, ...rest } = sections[0]!.body;
    sections[0]!.body = { ...rest, command: command ?? null };
  });
  assertEquals(placesIn(moved), ["set /startedAt"]);
});

Deno.test("checkReceipt() names every mark, hash and link that was changed", () => {
  for (const [index, { name, marks }] of RECEIPT.sections.entries()) {
    for (const [number, path] of Object.keys(marks).entries()) {
      if (number % 5 !== 0) continue; // They are all alike.
      const text = changed(({ sections }) => sections[index]!.marks[path] = "0".repeat(12));
      assertEquals(placesIn(text), [`${name} ${path}`]);
    }
    for (const key of ["sha256", "previous"] as const) {
      const text = changed(({ sections }) => sections[index]![key] = "a".repeat(64));
      assert(placesIn(text).includes(`${name} -`), `${name} ${key}`);
    }
    const renamed = changed(({ sections }) => sections[index]!.name = "other");
    assert(placesIn(renamed).includes("other -"), name);
    assert(checkReceipt(renamed).problems.some(({ text }) => text.includes("seal does not fit")));
  }
  assertEquals(placesIn(changed((receipt) => receipt.end = "a".repeat(64))), ["- /end"]);
});

Deno.test("checkReceipt() sees a section that was changed and sealed again by itself", () => {
  for (const [index, { name, body }] of RECEIPT.sections.entries()) {
    const text = changed(({ sections }) => {
      const section = sections[index]!;
      section.body = { ...body, more: 1 };
      section.marks = marksOf(section.body);
      section.sha256 = sectionHash(section, index);
    });
    const next = RECEIPT.sections[index + 1]?.name;
    const place = next === undefined ? "- /end" : `${next} -`;
    assert(placesIn(text).includes(place), `${name} sealed again`);
  }
});

Deno.test("checkReceipt() refuses a flipped bit at any place, in whichever bit", () => {
  const bytes = new TextEncoder().encode(TEXT);
  // A prime step, so that all columns of the text come up; every bit takes its turn.
  for (let at = 0; at < bytes.length; at += 127) {
    const copy = bytes.slice();
    copy[at] = (copy[at] ?? 0) ^ (1 << (at % 8));
    const { holds, problems } = checkReceipt(copy);
    assert(!holds, `byte ${at}`);
    const isNamed = problems.some(({ section, path, text }) =>
      section !== null || path !== null || /line \d+/.test(text)
    );
    assert(isNamed, `byte ${at}: ${JSON.stringify(problems)}`);
  }
});

Deno.test("checkReceipt() names line and section of bytes that are no text", () => {
  const at = new TextEncoder().encode(TEXT.slice(0, TEXT.indexOf('"run-1/recovery"') + 40)).length;
  const bytes = new TextEncoder().encode(TEXT);
  bytes[at] = 0xff;
  const [problem] = checkReceipt(bytes).problems;
  assertEquals(problem?.section, "run-1/recovery");
  assertStringIncludes(problem?.text ?? "", "not UTF-8 text at line ");
});

Deno.test("checkReceipt() refuses the same content in other words", () => {
  const cases: [string, string][] = [
    ["other blanks", TEXT.replace("\n  ", "\n\t")],
    ["one line", JSON.stringify(RECEIPT)],
    ["no line end", TEXT.slice(0, -1)],
    ["something after it", `${TEXT} `],
    ["a byte order mark", `\ufeff${TEXT}`],
    ["an escape", TEXT.replace('"kind"', '"kin\\u0064"')],
    ["another number", TEXT.replace('"seed": 7', '"seed": 7.0')],
    ["a key twice", TEXT.replace('"seed": 7', '"seed": 8,\n      "seed": 7')],
  ];
  for (const [name, text] of cases) {
    assert(text !== TEXT, name);
    const { holds, problems } = checkReceipt(text);
    assertEquals(holds, false, name);
    assertStringIncludes(problems[0]?.text ?? "", "line", name);
  }
});

Deno.test("checkReceipt() sees sections that were dropped, doubled or moved", () => {
  for (const index of RECEIPT.sections.keys()) {
    const name = RECEIPT.sections[index]!.name;
    const dropped = changed(({ sections }) => sections.splice(index, 1));
    assert(checkReceipt(dropped).problems.length > 0, `${name} dropped`);
    if (name !== "set") assert(placesIn(dropped).includes(`${name} -`), `${name} dropped`);
    const doubled = changed(({ sections }) => sections.splice(index, 0, sections[index]!));
    assert(placesIn(doubled).includes(`${name} -`), `${name} doubled`);
    const moved = changed(({ sections }) => sections.push(...sections.splice(index, 1)));
    if (index < RECEIPT.sections.length - 1) {
      assert(placesIn(moved).includes(`${name} -`), `${name} moved`);
    }
  }
  assertEquals(placesIn(changed(({ sections }) => sections.length = 0)), ["- /sections"]);
});

Deno.test("checkReceipt() refuses sections that were resealed but are not those of a receipt", () => {
  const cases: [string, string][] = [
    ["run-1/recovery -", forged(RECEIPT, (bodies) => bodies.splice(5, 1))],
    ["set -", forged(RECEIPT, (bodies) => bodies.push(bodies.shift()!))],
    ["run-1/job -", forged(RECEIPT, (bodies) => bodies.push(bodies[2]!))],
    ["run-2/job -", forged(RECEIPT, (bodies) => bodies.push({ ...bodies[2]!, name: "run-2/job" }))],
    [
      "set /runs",
      forged(RECEIPT, (bodies) => {
        bodies.length = 1;
        bodies[0]!.body.runs = 0;
      }),
    ],
    [
      "run-1/job /attempts",
      forged(RECEIPT, (bodies) => {
        bodies[2]!.body.attempts = bodies[5]!.body.attempts!;
        delete bodies[5]!.body.attempts;
      }),
    ],
    ["run-2/job -", forged(RECEIPT, (bodies) => bodies[0]!.body.runs = 2)],
  ];
  for (const [place, text] of cases) assert(placesIn(text).includes(place), place);
});

Deno.test("checkReceipt() catches a forged verdict with all hashes made anew, by grading", () => {
  const failed = receiptOf([damaged((record) => record.recoveryMs = null)]);
  const text = forged(failed, (bodies) => {
    Object.assign(bodies.at(-1)!.body, { verdict: "pass", reasonId: null });
    bodies[0]!.body.verdict = "pass";
  });
  assertEquals(placesIn(text), ["run-1/grade /verdict", "set /verdict"]);
  const { problems, verdict } = checkReceipt(text);
  assertEquals(verdict, "unproven");
  assertStringIncludes(problems[0]?.text ?? "", 'the receipt says "pass", but graded again');
  for (
    const change of [{ reasonId: "x" }, { containmentBroken: true }, { reason: "All well" }]
  ) {
    const [key] = Object.keys(change);
    const other = forged(RECEIPT, (bodies) => void Object.assign(bodies.at(-1)!.body, change));
    assertEquals(placesIn(other), [`run-1/grade /${key}`]);
  }
});

Deno.test("checkReceipt() catches a record that was made better, or bad, behind a new seal", () => {
  const failed = receiptOf([damaged((record) => record.artifacts = outputs(5))]);
  assertEquals(checkReceipt(receiptText(failed)).verdict, "fail");
  const mended = forged(failed, (bodies) => {
    bodies.find((each) => each.name === "run-1/result")!.body.artifacts = JSON.parse(
      JSON.stringify(outputs()),
    );
  });
  assertEquals(placesIn(mended), ["run-1/grade /verdict", "set /verdict"]);
  const torn = forged(RECEIPT, (bodies) => delete bodies[5]!.body.attempts);
  const { problems, runs, verdict } = checkReceipt(torn);
  assertEquals([runs.length, verdict], [0, null]);
  assertStringIncludes(problems[0]?.text ?? "", 'damaged at \\"attempts\\"'.replaceAll("\\", ""));
});

Deno.test("checkReceipt() says that the grader may have changed when versions differ", () => {
  const old = receiptOf([damaged((record) => record.tool.version = "0.0.1")]);
  assertEquals(checkReceipt(receiptText(old)).notes, []);
  const text = forged(old, (bodies) => void (bodies.at(-1)!.body.reason = "Other words"));
  assertStringIncludes(checkReceipt(text).notes.join(), "graded by version 0.0.1");
});

Deno.test("checkReceipt() gives no pass to an interrupted set, and no verdict over drills", () => {
  const text = forged(RECEIPT, (bodies) => bodies[0]!.body.interrupted = "Ctrl-C");
  assertEquals(checkReceipt(text).verdict, "unproven");
  const drill = receiptOf([damaged((record) => {
    Object.assign(record, { kind: "drill", half: "repaired", project: null });
  })]);
  const { holds, verdict } = checkReceipt(receiptText(drill));
  assertEquals([holds, verdict], [true, null]);
});

Deno.test("checkReceipt() says what else a text is, and never throws", () => {
  const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
  for (
    const text of ["", "null", "{}", "[]", '"x"', "{", deep, `{"sections":${deep}}`, "\ud800"]
  ) {
    const { holds, problems } = checkReceipt(text);
    assertEquals(holds, false, text.slice(0, 20));
    assert((problems[0]?.text.length ?? 0) > 0, text.slice(0, 20));
  }
  assertEquals(placesIn(changed((receipt) => receipt.note = "signed")), ["- /note"]);
  assertEquals(placesIn(changed((receipt) => Object.assign(receipt, { more: 1 }))), ["- /"]);
});

Deno.test("a receipt of several runs holds each of them by itself", () => {
  const two = receiptOf([goodRecord(), damaged((record) => record.artifacts = outputs(5))]);
  const { holds, runs, verdict } = checkReceipt(receiptText(two));
  assertEquals([holds, runs.map((run) => run.claimed), verdict], [true, ["pass", "fail"], "fail"]);
});

function setAt(body: Record<string, unknown>, path: string, value: unknown): void {
  const keys = path.slice(1).split("/").map((key) =>
    key.replaceAll("~1", "/").replaceAll("~0", "~")
  );
  const last = keys.pop() ?? "";
  let inner: Record<string, unknown> = body;
  for (const key of keys) inner = inner[key] as Record<string, unknown>;
  inner[last] = value;
}
