import { assertEquals } from "@std/assert";
import { countTests } from "./test_task.ts";

const REPORT = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="deno test" tests="6" failures="1" errors="0" time="0.087">
    <testsuite name="./a_test.ts" tests="5" disabled="1" errors="0" failures="2">
        <testcase name="passes &gt; also with this name" classname="./a_test.ts" time="0.001">
        </testcase>
        <testcase name="fails in a step" classname="./a_test.ts" time="0.001">
            <failure message="1 test step failed."></failure>
        </testcase>
        <testcase name="is skipped" classname="./a_test.ts" time="0.000">
            <skipped/>
        </testcase>
        <testcase name="fails in a step &gt; the step" classname="./a_test.ts" time="0.000">
            <failure message="Uncaught Error: &lt;testcase name=&quot;x&quot;&gt;">at line 1</failure>
        </testcase>
    </testsuite>
    <testsuite name="./b_test.ts" tests="1" disabled="0" errors="0" failures="0">
        <testcase name="passes" classname="./b_test.ts" time="0.001">
        </testcase>
    </testsuite>
</testsuites>
`;

Deno.test("countTests() counts tests and not their steps, and skipped ones as neither", () => {
  assertEquals(countTests(REPORT), { passed: 2, failed: 1 });
});

Deno.test("countTests() finds nothing in an empty report", () => {
  assertEquals(countTests(""), { passed: 0, failed: 0 });
});
