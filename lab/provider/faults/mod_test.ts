import { assertEquals } from "@std/assert";
import { anthropicMessages } from "../anthropic_messages.ts";
import { FAULT_KINDS } from "../fault_schedule.ts";
import { CALL_TURN } from "../_testing.ts";
import { faultSteps, healthy, type Step } from "./mod.ts";

const ANSWER = anthropicMessages.stream(CALL_TURN, { serial: 1, model: "m" });

function textOfSteps(steps: readonly Step[]): string {
  return steps.map((step) => step.do === "frame" ? step.frame.text : `[${step.do}]`).join("");
}

Deno.test("every kind of fault gives steps that differ from the healthy answer", () => {
  const healthyText = textOfSteps(healthy(ANSWER));
  for (const kind of FAULT_KINDS) {
    const input = { fault: { kind }, dialect: anthropicMessages, answer: ANSWER, wallMs: 0 };
    const steps = faultSteps(input);
    assertEquals(textOfSteps(steps) === healthyText, false, kind);
    const last = steps.at(-1)?.do;
    assertEquals(last === "end" || last === "reset" || last === "stall", true, kind);
  }
});

Deno.test("the healthy answer of one document has its length, a stream has none", () => {
  const [stream] = healthy(ANSWER);
  const whole = anthropicMessages.whole({ text: "ü", call: null }, { serial: 1, model: "m" });
  const [document, ...rest] = healthy(whole);
  assertEquals(stream?.do === "head" && stream.bodyBytes, null);
  const text = textOfSteps(rest).replace("[end]", "");
  assertEquals(
    document?.do === "head" && document.bodyBytes,
    new TextEncoder().encode(text).length,
  );
});
