import { assert, assertEquals, assertThrows } from "@std/assert";
import { findDrill, findDrills, planRuns, UnknownDrillError } from "./catalog.ts";
import { loadDrills } from "./definition.ts";

const DRILLS = loadDrills();

Deno.test("findDrill() knows a drill by its number, its name and its id", () => {
  for (const name of ["3", "03", "torn-checkpoint", "03-torn-checkpoint", "03-Torn-Checkpoint"]) {
    assertEquals(findDrill(DRILLS, name).id, "03-torn-checkpoint", name);
  }
});

Deno.test("findDrill() suggests the nearest name for one that is none", () => {
  const error = assertThrows(() => findDrill(DRILLS, "torn-checkpont"), UnknownDrillError);
  assertEquals(error.exitCode, 2);
  assertEquals(
    error.message,
    'There is no drill "torn-checkpont". Did you mean torn-checkpoint? ' +
      "failure-lab list shows all of them.",
  );
  assertThrows(() => findDrill(DRILLS, ""), UnknownDrillError);
  assertThrows(() => findDrill(DRILLS, "0"), UnknownDrillError);
});

Deno.test("findDrills() gives all without a name, and each once however often it is named", () => {
  assertEquals(findDrills(DRILLS, []).length, DRILLS.length);
  assertEquals(findDrills(DRILLS, ["03", "01", "torn-checkpoint"]).map((drill) => drill.id), [
    "03-torn-checkpoint",
    "01-hung-process",
  ]);
});

Deno.test("planRuns() plays both halves of a drill with one variant, the same for one seed", () => {
  for (let seed = 0; seed < 50; seed++) {
    const runs = planRuns(DRILLS, { modes: ["broken", "repaired"], variants: seed });
    assertEquals(runs.length, DRILLS.length * 2);
    for (let i = 0; i < runs.length; i += 2) {
      assertEquals(runs[i]?.variant, runs[i + 1]?.variant);
      assertEquals([runs[i]?.mode, runs[i + 1]?.mode], ["broken", "repaired"]);
    }
    assertEquals(planRuns(DRILLS, { modes: ["broken", "repaired"], variants: seed }), runs);
  }
});

Deno.test("planRuns() draws every variant of a drill sooner or later", () => {
  const drills = findDrills(DRILLS, ["03"]);
  const drawn = new Set(
    Array.from(
      { length: 300 },
      (_, seed) => planRuns(drills, { modes: ["broken"], variants: seed }),
    )
      .flatMap((runs) => runs.map((run) => run.variant)),
  );
  assertEquals(drawn.size, drills[0]?.fault.variants.length);
});

Deno.test("planRuns() runs every variant when asked, and nothing-wrong once per drill", () => {
  const drills = findDrills(DRILLS, ["01", "03"]);
  const all = planRuns(drills, { modes: ["broken"], variants: "all" });
  assertEquals(all.length, drills.reduce((sum, drill) => sum + drill.fault.variants.length, 0));
  assertEquals(planRuns(drills, { modes: ["control"], variants: "all" }).length, 2);
});

Deno.test("planRuns() repeats everything and counts", () => {
  const runs = planRuns(findDrills(DRILLS, ["01"]), {
    modes: ["broken"],
    variants: "first",
    repeat: 3,
  });
  assertEquals(runs.map((run) => run.repeat), [1, 2, 3]);
  assert(runs.every((run) => run.variant === DRILLS[0]?.fault.variants[0]?.id));
});
