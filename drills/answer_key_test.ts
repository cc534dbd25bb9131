import { assert, assertEquals, assertThrows } from "@std/assert";
import type { Check, Grade } from "../lab/mod.ts";
import { type Expectation, expectationFor, isMet, loadAnswerKey, MODES } from "./answer_key.ts";
import { drillsFolder, KitFileError, loadDrills } from "./definition.ts";
import { SCENES } from "./scenes/mod.ts";

function gradeOf(verdict: Grade["verdict"], reasonId: string | null, checks: Check[] = []): Grade {
  return { verdict, reasonId, reason: "", containmentBroken: false, checks };
}

const check = (id: string, state: Check["state"]): Check => ({ id, state, text: "" });

Deno.test("the answer key covers every drill, mode and variant, and no drill that is not there", () => {
  const key = loadAnswerKey();
  const drills = loadDrills();
  assertEquals(Object.keys(key.drills).sort(), drills.map((drill) => drill.id));
  for (const { id, fault } of drills) {
    for (const mode of MODES) {
      const named = Object.keys(key.drills[id]?.[mode] ?? {}).filter((name) => name !== "*");
      const ids = fault.variants.map((variant) => variant.id);
      assertEquals(named.filter((name) => !ids.includes(name)), [], `${id} ${mode}`);
      for (const variant of ids) {
        const { verdict, reasonId } = expectationFor(key, id, mode, variant);
        assertEquals(reasonId === null, verdict === "pass", `${id} ${mode} ${variant}`);
      }
    }
  }
});

Deno.test("the answer key wants a broken half to fail and a repaired one to pass, always", () => {
  for (const [id, byMode] of Object.entries(loadAnswerKey().drills)) {
    for (const { verdict } of Object.values(byMode.broken)) assertEquals(verdict, "fail", id);
    for (const { verdict } of Object.values(byMode.repaired)) assertEquals(verdict, "pass", id);
    for (const { ok } of Object.values(byMode.control)) assert(ok?.includes("left-alone"), id);
  }
});

Deno.test("every drill has a scene, and every scene a drill", () => {
  assertEquals(SCENES.map((scene) => scene.id), loadDrills().map((drill) => drill.id));
});

Deno.test("expectationFor() prefers the variant's own entry and says when there is none", () => {
  const any: Expectation = { verdict: "fail", reasonId: "general" };
  const own: Expectation = { verdict: "fail", reasonId: "own" };
  const drillKey = { broken: { "*": any, special: own }, repaired: {}, disarmed: {}, control: {} };
  const key = {
    schema: "failure-lab/answer-key",
    version: 1,
    drills: { "01-x": drillKey },
  } as const;
  assertEquals(expectationFor(key, "01-x", "broken", "special"), own);
  assertEquals(expectationFor(key, "01-x", "broken", "other"), any);
  assertThrows(
    () => expectationFor(key, "01-x", "repaired", "other"),
    KitFileError,
    'drills.01-x.repaired: must have an entry for "other" or "*" (it has none)',
  );
});

Deno.test("isMet() wants the verdict, the deciding reason and the named checks", () => {
  const fail: Expectation = { verdict: "fail", reasonId: "hung" };
  assert(isMet(fail, gradeOf("fail", "hung")));
  assert(!isMet(fail, gradeOf("fail", "artifacts-complete")));
  assert(!isMet(fail, gradeOf("unproven", "hung")));
  const control: Expectation = { verdict: "unproven", reasonId: "x", ok: ["left-alone"] };
  assert(isMet(control, gradeOf("unproven", "x", [check("left-alone", "ok")])));
  assert(!isMet(control, gradeOf("unproven", "x")));
  assert(!isMet(control, gradeOf("unproven", "x", [check("left-alone", "bad")])));
  const both = [check("left-alone", "ok"), check("left-alone", "bad")];
  assert(!isMet(control, gradeOf("unproven", "x", both)));
});

Deno.test("every drill has a walkthrough that gives the same answers as the key", async () => {
  const key = loadAnswerKey();
  for (const { id, fault, page } of loadDrills()) {
    const text = await Deno.readTextFile(`${drillsFolder()}/answer-keys/${id}.md`);
    const flat = text.replaceAll(/\s+/g, " ");
    for (
      const heading of [
        "What you see",
        "Where it became visible",
        "What the repair does",
        "The trap",
        "What to look for",
      ]
    ) {
      assert(text.includes(`\n## ${heading}`), `${id}: ${heading}`);
    }
    for (const { id: variant } of fault.variants) {
      const broken = expectationFor(key, id, "broken", variant);
      const repaired = expectationFor(key, id, "repaired", variant);
      const row = text.split("\n").find((line) => line.startsWith(`| \`${variant}\` `)) ?? "";
      const cells = row.split("|").map((cell) => cell.trim());
      assertEquals(cells[2], `${broken.verdict}: \`${broken.reasonId}\``, `${id} ${variant}`);
      const ok = (repaired.ok ?? []).map((each) => `, \`${each}\` ok`).join("");
      assertEquals(cells[3], `${repaired.verdict}${ok}`, `${id} ${variant}`);
    }
    for (const question of page.lookFor) {
      assert(flat.includes(question.replaceAll(/\s+/g, " ")), `${id}: ${question}`);
    }
  }
});
