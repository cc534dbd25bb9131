import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  type Drill,
  drillSchema,
  KitFileError,
  loadDrills,
  naiveOf,
  parseKitFile,
} from "./definition.ts";

function anyDrill(): Drill {
  const [drill] = loadDrills();
  assert(drill !== undefined);
  return structuredClone(drill);
}

function refusalOf(change: (drill: Record<string, unknown>) => void): string {
  const drill = anyDrill() as unknown as Record<string, unknown>;
  change(drill);
  const error = assertThrows(
    () => parseKitFile("drills/x.json", JSON.stringify(drill), drillSchema),
    KitFileError,
  );
  assertEquals(error.exitCode, 4);
  return error.message;
}

Deno.test("loadDrills() reads every drill of the kit, in order, each named like its file", () => {
  const ids = loadDrills().map((drill) => drill.id);
  assertEquals(ids, ids.toSorted());
  assert(ids.includes("01-hung-process"));
});

Deno.test("parseKitFile() names the file, the path in it, the rule and the value", () => {
  assertEquals(
    refusalOf((drill) => drill.units = 1),
    "Cannot use drills/x.json:\n  units: Too small: expected number to be >=2 (it is 1)",
  );
  assert(refusalOf((drill) => delete drill.trap).includes("trap: "));
  assert(refusalOf((drill) => delete drill.trap).includes("(it is missing)"));
  assert(refusalOf((drill) => drill.repair = "prayer").includes("repair: "));
  assert(refusalOf((drill) => drill.extra = 1).includes("extra"));
});

Deno.test("parseKitFile() names every problem, not only the first", () => {
  const message = refusalOf((drill) => {
    drill.units = 0;
    drill.title = "";
  });
  assertEquals(message.split("\n").length, 3);
});

Deno.test("parseKitFile() says where JSON breaks off", () => {
  const error = assertThrows(() => parseKitFile("drills/x.json", "{", drillSchema), KitFileError);
  assert(error.message.startsWith("Cannot use drills/x.json: it is not JSON ("));
});

Deno.test("drillSchema refuses two variants of one id, and a naive recovery of an unknown one", () => {
  const twice = (drill: Record<string, unknown>) => {
    const { fault } = drill as unknown as Drill;
    fault.variants.push(fault.variants[0] ?? { id: "x", text: "x" });
  };
  assert(refusalOf(twice).includes("must not be the id of another variant"));
  const unknown = (drill: Record<string, unknown>) => {
    (drill as unknown as Drill).naive.unshift({ variants: ["no-such"], text: "t", script: ["s"] });
  };
  assert(refusalOf(unknown).includes("naive.0.variants.0: must be a variant of this drill"));
});

Deno.test("drillSchema refuses a variant for which nothing says what people write", () => {
  const message = refusalOf((value) => {
    const drill = value as unknown as Drill;
    const only = drill.fault.variants[0]?.id ?? "";
    drill.naive = [{ variants: [only], text: "t", script: ["s"] }];
  });
  assert(message.includes('must have an entry for every variant; "'), message);
});

Deno.test("naiveOf() takes the first entry that fits", () => {
  const drill = anyDrill();
  const [first, second] = drill.fault.variants.map((variant) => variant.id);
  drill.naive = [
    { variants: [second ?? ""], text: "for the second", script: ["s"] },
    { text: "for all", script: ["s"] },
  ];
  assertEquals(naiveOf(drill, first ?? "").text, "for all");
  assertEquals(naiveOf(drill, second ?? "").text, "for the second");
  assertThrows(() => naiveOf({ ...drill, naive: [] }, "x"), RangeError);
});

Deno.test("loadDrills() refuses an id that is not the file's name, and a folder without drills", async () => {
  const dir = await Deno.makeTempDir({ prefix: "drill-definitions-" });
  try {
    assertThrows(() => loadDrills(dir), KitFileError, "Cannot find any drill");
    await Deno.writeTextFile(`${dir}/77-other.json`, JSON.stringify(anyDrill()));
    assertThrows(() => loadDrills(dir), KitFileError, "id: must be the file's name");
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
