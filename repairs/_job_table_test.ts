import { assertEquals, assertNotEquals } from "@std/assert";
import { MARKER_NAME, parseProcessTable } from "../lab/mod.ts";
import { jobVariable, readJobTable, showJobMark } from "./_job_table.ts";

const [ONE, TWO] = ["ab".repeat(16), "cd".repeat(16)];
const ROW = "  70   1  70 S    Mon Nov 30 03:56:07 2026 sh -c x";

Deno.test("showJobMark shows the mark of one job and hides every other", () => {
  const text = `${ROW} ${jobVariable(ONE)}=${ONE} ${jobVariable(TWO)}=${TWO} ${MARKER_NAME}=${
    "0".repeat(32)
  }\n`;
  for (const token of [ONE, TWO]) {
    assertEquals(parseProcessTable(showJobMark(text, token))[0]?.marker, token);
  }
  assertEquals(parseProcessTable(showJobMark(text, "ef".repeat(16)))[0]?.marker, null);
});

Deno.test("each job has a variable of its own name", () => {
  assertNotEquals(jobVariable(ONE), jobVariable(TWO));
});

Deno.test("readJobTable finds this process, which carries no mark of a job", async () => {
  const row = (await readJobTable(ONE)).find((each) => each.pid === Deno.pid);
  assertEquals([row?.pid, row?.marker], [Deno.pid, null]);
});
