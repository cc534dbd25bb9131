import { assert, assertEquals, assertThrows } from "@std/assert";
import { RepairError } from "./errors.ts";
import { effectKey, type EffectRecord, OutboxStore } from "./outbox_store.ts";
import { inFolder, isThere, namesIn, write } from "./_test_tools.ts";

const RECORD: EffectRecord = {
  schema: "failure-lab/effect",
  version: 1,
  key: "unit/1 ü",
  state: "waiting",
  attempts: 2,
  notBeforeMs: 5,
  waitMs: 3,
  changedAt: "",
  note: "429",
};

Deno.test("a key is the same for the same unit and content, and another for other content", () => {
  assertEquals(effectKey("unit-03"), "unit-03");
  assertEquals(
    effectKey("unit-03", "text"),
    effectKey("unit-03", new TextEncoder().encode("text")),
  );
  assert(effectKey("unit-03", "text") !== effectKey("unit-03", "texts"));
});

Deno.test("a store is made with its folder, readable for its owner only", () =>
  inFolder((dir) => {
    new OutboxStore(`${dir}/a/box`);
    assert(isThere(`${dir}/a/box`));
    assertEquals((Deno.statSync(`${dir}/a/box`).mode ?? 0) & 0o77, 0);
  }));

Deno.test("a store gives back what was written, under any key, and lists it by key", () =>
  inFolder((dir) => {
    const store = new OutboxStore(dir);
    assertEquals(store.read(RECORD.key), null);
    store.write(RECORD);
    store.write({ ...RECORD, key: "a" });
    store.write({ ...RECORD, state: "done" });
    assertEquals(store.read(RECORD.key)?.state, "done");
    write(`${dir}/notes.json`, "{}");
    assertEquals(store.list().records.map((each) => each.key), ["a", RECORD.key]);
    assertEquals(namesIn(dir).length, 3);
  }));

Deno.test("a store believes no record that is damaged, of another shape, or of another key", () =>
  inFolder((dir) => {
    const store = new OutboxStore(dir);
    for (
      const text of ["", "{", "[]", JSON.stringify({ ...RECORD, state: "sent" })]
        .concat([
          JSON.stringify({ ...RECORD, version: 2 }),
          JSON.stringify({ ...RECORD, key: "b" }),
        ])
    ) {
      write(store.pathOf(RECORD.key), text);
      const error = assertThrows(() => store.read(RECORD.key), RepairError);
      assertEquals(error.exitCode, 3);
    }
  }));
