// Where a text stops being JSON: the same answer in every version of the runtime.

import { assert, assertEquals } from "@std/assert";
import { createRandom } from "../lab/clock.ts";
import { findJsonMistake } from "./json_place.ts";

Deno.test("findJsonMistake() names line, column, and what is wrong there", () => {
  const value = "a value must stand here: text in double quotes, a number, true, false, null, " +
    '"{" or "["';
  const number = "this is no number of JSON (no leading 0 or +, no unit, a digit around the dot)";
  const table: [string, number, number, string][] = [
    ["", 1, 1, `the text ends here: ${value}`],
    ["\n\n", 3, 1, `the text ends here: ${value}`],
    ["nope", 1, 1, `here is "nope": ${value}`],
    ['{\n  "a": 1,\n  "b": nope,\n  "c": 2\n}', 3, 8, `here is "nope": ${value}`],
    ['{"a": undefined}', 1, 7, `here is "undefined": ${value}`],
    ['{"a": }', 1, 7, `here is "}": ${value}`],
    ["[1,,2]", 1, 4, `here is ",": ${value}`],
    ['{"a": tru}', 1, 7, `here is "tru": ${value}`],
    ['{\n  "a": 1,\n}', 2, 9, 'here is ",": no comma may stand before the "}" that ends an object'],
    ["[1, 2, ]", 1, 6, 'here is ",": no comma may stand before the "]" that ends a list'],
    ['{"a" 1}', 1, 6, 'here is "1": ":" must follow the key'],
    ['{"a"', 1, 5, 'the text ends here: ":" must follow the key'],
    ["{a: 1}", 1, 2, 'here is "a": a key in double quotes (") must stand here'],
    ["{'a': 1}", 1, 2, 'here is "\'": a key in double quotes (") must stand here'],
    ["['a']", 1, 2, `here is "'": text must stand in double quotes (")`],
    [
      '{\n"a": 1\n"b": 2}',
      3,
      1,
      'here is "\\"": "," or "}" must follow in an object (it begins at line 1)',
    ],
    ["[1 2]", 1, 4, 'here is "2": "," or "]" must follow in a list (it begins at line 1)'],
    [
      '{"x": [\n1,\n2',
      3,
      2,
      'the text ends here: "," or "]" must follow in a list (it begins at line 1)',
    ],
    ['{"a": 1}}', 1, 9, 'here is "}": nothing may follow the end of the document'],
    ['{"a": 1} x', 1, 10, 'here is "x": nothing may follow the end of the document'],
    ["// why\n{}", 1, 1, 'here is "/": JSON knows no comments'],
    ['{"a": 1 /* why */}', 1, 9, 'here is "/": JSON knows no comments'],
    ["# why\n{}", 1, 1, 'here is "#": JSON knows no comments'],
    ['{"a": "no end', 1, 7, 'here is "\\"": the closing double quote (") of this text is missing'],
    ['{"a": "x\n"}', 1, 7, 'here is "\\"": the closing double quote (") of this text is missing'],
    [
      '"a\tb"',
      1,
      3,
      'here is "\\t": a control character in a text must be written as \\t or \\u00XX',
    ],
    ['"C:\\dir"', 1, 4, 'here is "\\\\": a backslash in a text must be written twice ("\\\\")'],
    ['"\\u12"', 1, 2, 'here is "\\\\": a backslash in a text must be written twice ("\\\\")'],
    ["007", 1, 1, `here is "007": ${number}`],
    ["1.", 1, 1, `here is "1": ${number}`],
    ["-", 1, 1, `here is "-": ${number}`],
    ['{"idle": 60s}', 1, 10, `here is "60s": ${number}`],
    ['{"ü🎈": 1, "b" 2}', 1, 16, 'here is "2": ":" must follow the key'],
    ['{"a":\r\n 1,\r\n "b" 2}', 3, 6, 'here is "2": ":" must follow the key'],
  ];
  for (const [text, line, column, problem] of table) {
    assertEquals(findJsonMistake(text), { line, column, problem }, JSON.stringify(text));
  }
});

Deno.test("findJsonMistake() finds nothing in what is JSON", () => {
  for (
    const text of [
      "0",
      "-0.5e+10",
      " [ ] ",
      "{}",
      '{"a": [1, -2.5E3, {"b": null}], "c": "\\u00e4\\n\\"", "": true}\n',
      '"//"',
      '{"a": "# no comment"}',
      "false",
    ]
  ) assertEquals(findJsonMistake(text), null, text);
});

Deno.test("findJsonMistake() agrees with JSON.parse about texts that were damaged by chance", () => {
  const random = createRandom(20_260_601);
  const whole = '{"start": ["./run.sh", "-x"], "n": [1, 2.5e3, true, null], "t": "a\\n\\u00e4"}';
  const signs = [..."{}[],:\"\\ \n0129.eE+-tfn/#'\u0001ü"];
  let mistakes = 0;
  for (let i = 0; i < 3000; i++) {
    const at = random.integer(0, whole.length - 1);
    const sign = random.pick([...signs, ""]);
    const text = whole.slice(0, at) + sign + whole.slice(at + random.integer(0, 2));
    let isJson = true;
    try {
      JSON.parse(text);
    } catch {
      isJson = false;
    }
    const mistake = findJsonMistake(text);
    assertEquals(mistake === null, isJson, JSON.stringify(text));
    if (mistake !== null) mistakes++;
  }
  assert(mistakes > 1000, `${mistakes}`);
});

Deno.test("findJsonMistake() does not fall over what is very deep", () => {
  const mistake = findJsonMistake("[".repeat(100_000));
  assertEquals(mistake?.problem, 'here is "[": more than 500 levels are too deep');
  const inObjects = findJsonMistake('{"a":'.repeat(100_000));
  assertEquals(inObjects?.problem, 'here is "{": more than 500 levels are too deep');
});
