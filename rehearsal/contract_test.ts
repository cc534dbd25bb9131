// Every rule of the contract, with what it says.

import { assertEquals, assertInstanceOf, assertStringIncludes, assertThrows } from "@std/assert";
import {
  argvOf,
  contentChecksOf,
  type Contract,
  ContractError,
  killPointOf,
  parseConfigText,
  parseContract,
} from "./contract.ts";

const LEAST = {
  start: "./run.sh",
  resume: ["./run.sh", "--resume"],
  artifacts: { paths: ["out/*.md"], count: 6 },
};

/** The lines of the message, without the first one, which names the source. */
function problems(value: unknown): string[] {
  const error = assertThrows(() => parseContract(value, '"failure-lab.json"'), ContractError);
  const [head, ...lines] = error.message.split("\n");
  assertEquals(head, 'Cannot use "failure-lab.json":');
  assertEquals(error.exitCode, 2);
  return lines.map((line) => line.replace(/^ {2}/, ""));
}

function accepts(change: Record<string, unknown>): Contract {
  return parseContract({ ...LEAST, ...change }, "test");
}

Deno.test("parseContract() fills in what is not said", () => {
  assertEquals<unknown>(parseContract(LEAST, "test"), {
    ...LEAST,
    limits: { runSeconds: 600, idleSeconds: 60, graceSeconds: 2 },
    watch: [],
    env: {},
    leaveBehind: [],
    control: true,
  });
  assertEquals(accepts({ limits: { idleSeconds: 5 } }).limits, {
    runSeconds: 600,
    idleSeconds: 5,
    graceSeconds: 2,
  });
  assertEquals(accepts({ monitor: { start: "./watch.sh" } }).monitor?.intervalSeconds, 1);
});

Deno.test("parseContract() takes a contract in which everything is said", () => {
  const full = {
    $schema: "https://example.invalid/contract.json",
    start: ["./run.sh"],
    resume: "./run.sh --resume",
    artifacts: {
      paths: ["out/*.md", "./deep/**/x.txt", "a/../b"],
      count: 6,
      minBytes: 10,
      endsWith: "END",
      sameAsControl: true,
      check: ["./check.sh", ""],
      emptyAllowed: true,
    },
    checkpoint: { path: "state.json", doneAt: "/done" },
    lock: { path: "run.lock" },
    effects: { path: "sent.log", keyAt: 2 },
    monitor: { start: "./watch.sh", sign: "alive", intervalSeconds: 0.5 },
    scope: { allow: ["out/**"] },
    limits: { runSeconds: 60, idleSeconds: 5, graceSeconds: 0 },
    killAfterArtifacts: 0,
    watch: ["/etc/hosts", "../beside"],
    env: { LANG: "C", _X1: "" },
    leaveBehind: ["node_modules/**"],
    control: true,
  };
  assertEquals<unknown>(parseContract(full, "test"), full);
  assertEquals(accepts({ effects: { path: "x", keyAt: "/id" } }).effects?.keyAt, "/id");
  assertEquals(accepts({ effects: { path: "x", keyAt: "" } }).effects?.keyAt, "");
});

Deno.test("an unknown key is refused with the nearest known one, at the top and inside", () => {
  assertEquals(problems({ ...LEAST, resum: "x" }), ['unknown key "resum"; did you mean "resume"?']);
  assertEquals(problems({ ...LEAST, Start: "x", killAfterArtifact: 1 }), [
    'unknown key "Start"; did you mean "start"?',
    'unknown key "killAfterArtifact"; did you mean "killAfterArtifacts"?',
  ]);
  assertEquals(problems({ ...LEAST, artifacts: { ...LEAST.artifacts, cuont: 6 } }), [
    'artifacts: unknown key "cuont"; did you mean "count"?',
  ]);
  assertEquals(problems({ ...LEAST, limits: { idleSecond: 1 } }), [
    'limits: unknown key "idleSecond"; did you mean "idleSeconds"?',
  ]);
  assertEquals(problems({ ...LEAST, checkpoint: { path: "s", doneat: "/x" } }), [
    'checkpoint: unknown key "doneat"; did you mean "doneAt"?',
  ]);
  assertEquals(problems({ ...LEAST, monitor: { start: "x", interval: 1 } }), [
    'monitor: unknown key "interval"; did you mean "intervalSeconds"?',
  ]);
  assertEquals(problems({ ...LEAST, limits: { zzzzzz: 1 } }), [
    'limits: unknown key "zzzzzz"; known are runSeconds, idleSeconds, graceSeconds',
  ]);
  assertStringIncludes(problems({ ...LEAST, zzzzzz: 1 })[0] ?? "", "known are $schema, start, ");
  assertStringIncludes(problems(JSON.parse('{"__proto__": 1}'))[0] ?? "", "start: ");
});

Deno.test("a known key in the wrong place is told where it belongs", () => {
  assertEquals(problems({ ...LEAST, count: 6, runSeconds: 5 }), [
    'unknown key "count"; it belongs into "artifacts"',
    'unknown key "runSeconds"; it belongs into "limits"',
  ]);
});

Deno.test("what is missing is named", () => {
  assertEquals(problems({}), [
    "start: must be a text for sh -c, or a list of words (it is missing)",
    "resume: must be a text for sh -c, or a list of words (it is missing)",
    "artifacts: must be an object, { … } (it is missing)",
  ]);
  assertEquals(problems({ ...LEAST, artifacts: {} }), [
    "artifacts.paths: must be a list (it is missing)",
  ]);
  assertEquals(problems({ ...LEAST, checkpoint: {} }), [
    "checkpoint.path: must be a text (it is missing)",
  ]);
  assertEquals(problems(null), ["the contract: must be an object, { … } (it is null)"]);
  assertEquals(problems([1]), ["the contract: must be an object, { … } (it is [1])"]);
});

Deno.test("each value must be of its kind and within its bounds", () => {
  const artifacts = (part: Record<string, unknown>) => ({
    artifacts: { ...LEAST.artifacts, ...part },
  });
  const table: [Record<string, unknown>, string][] = [
    [
      artifacts({ count: 0 }),
      "artifacts.count: must be at least 1: a run that leaves nothing cannot show recovery (it is 0)",
    ],
    [
      artifacts({ count: -1 }),
      "artifacts.count: must be at least 1: a run that leaves nothing cannot show recovery (it is -1)",
    ],
    [artifacts({ count: 2.5 }), "artifacts.count: must be a whole number (it is 2.5)"],
    [artifacts({ count: "6" }), 'artifacts.count: must be a number (it is "6")'],
    [artifacts({ paths: "out/*.md" }), 'artifacts.paths: must be a list (it is "out/*.md")'],
    [artifacts({ paths: [] }), "artifacts.paths: must not be empty (it is [])"],
    [artifacts({ paths: [1] }), "artifacts.paths.0: must be a text (it is 1)"],
    [artifacts({ paths: [""] }), 'artifacts.paths.0: must not be empty (it is "")'],
    [artifacts({ minBytes: 0 }), "artifacts.minBytes: must be more than 0 (it is 0)"],
    [artifacts({ endsWith: "" }), 'artifacts.endsWith: must not be empty (it is "")'],
    [artifacts({ sameAsControl: 1 }), "artifacts.sameAsControl: must be true or false (it is 1)"],
    [
      artifacts({ check: 7 }),
      "artifacts.check: must be a text for sh -c, or a list of words (it is 7)",
    ],
    [{ start: "" }, 'start: must not be empty (it is "")'],
    [{ start: " \n" }, 'start: must not be empty (it is " \\n")'],
    [{ start: [] }, "start: must not be empty (it is [])"],
    [{ start: [""] }, 'start: must begin with the name of a program (it is [""])'],
    [{ start: "a\0b" }, 'start: must not hold a NUL byte (it is "a\\u0000b")'],
    [
      { resume: { argv: [] } },
      'resume: must be a text for sh -c, or a list of words (it is {"argv":[]})',
    ],
    [{ resume: [1] }, "resume: must be a text for sh -c, or a list of words (it is [1])"],
    [{ lock: "run.lock" }, 'lock: must be an object, { … } (it is "run.lock")'],
    [
      { checkpoint: { path: "s", doneAt: "done" } },
      'checkpoint.doneAt: must be a JSON pointer such as /done (it is "done")',
    ],
    [
      { effects: { path: "s", keyAt: "id" } },
      'effects.keyAt: must be a JSON pointer such as /id, or the number of a word (it is "id")',
    ],
    [
      { effects: { path: "s", keyAt: 0 } },
      "effects.keyAt: must be more than 0 (it is 0)",
    ],
    [
      { effects: { path: "s", keyAt: true } },
      "effects.keyAt: must be a JSON pointer such as /id, or the number of a word (it is true)",
    ],
    [{ scope: { allow: [] } }, "scope.allow: must not be empty (it is [])"],
    [{ limits: { runSeconds: 0 } }, "limits.runSeconds: must be more than 0 (it is 0)"],
    [
      { limits: { idleSeconds: 1e9 } },
      "limits.idleSeconds: must be at most 604800 (it is 1000000000)",
    ],
    [{ limits: { graceSeconds: -1 } }, "limits.graceSeconds: must be at least 0 (it is -1)"],
    [{ limits: null }, "limits: must be an object, { … } (it is null)"],
    [{ killAfterArtifacts: -1 }, "killAfterArtifacts: must be at least 0 (it is -1)"],
    [{ watch: "/etc" }, 'watch: must be a list (it is "/etc")'],
    [
      { watch: ["~/.ssh"] },
      'watch.0: must be written in full: only a shell knows "~" (--watch ~/… works on the command ' +
      'line) (it is "~/.ssh")',
    ],
    [{ env: { A: 1 } }, "env.A: must be a text (it is 1)"],
    [
      { env: { "1A": "x" } },
      'env.1A: must be a variable\'s name: letters, digits and _, no digit first (it is "x")',
    ],
    [{ env: ["A=1"] }, 'env: must be an object, { … } (it is ["A=1"])'],
    [{ control: "no" }, 'control: must be true or false (it is "no")'],
  ];
  for (const [part, line] of table) assertEquals(problems({ ...LEAST, ...part }), [line]);
});

Deno.test("paths must stay inside the project", () => {
  const rule = "must be a path inside the project, relative to its folder and without '..'";
  for (const path of ["/etc/passwd", "../x", "a/../../x", "out/../../*.md", "..", "./../x"]) {
    const shown = `(it is ${JSON.stringify(path)})`;
    assertEquals(problems({ ...LEAST, artifacts: { paths: [path] } }), [
      `artifacts.paths.0: ${rule} ${shown}`,
    ]);
    assertEquals(problems({ ...LEAST, checkpoint: { path } }), [
      `checkpoint.path: ${rule} ${shown}`,
    ]);
    assertEquals(problems({ ...LEAST, leaveBehind: [path] }), [`leaveBehind.0: ${rule} ${shown}`]);
  }
  assertEquals(problems({ ...LEAST, lock: { path: "a\0b" } }), [
    'lock.path: must not hold a NUL byte (it is "a\\u0000b")',
  ]);
  assertEquals(accepts({ lock: { path: "..hidden/..x" } }).lock?.path, "..hidden/..x");
});

Deno.test("parts must not contradict each other", () => {
  const rule = "must be less than artifacts.count (6), or nothing is left to recover";
  assertEquals(problems({ ...LEAST, killAfterArtifacts: 6 }), [
    `killAfterArtifacts: ${rule} (it is 6)`,
  ]);
  assertEquals(problems({ ...LEAST, killAfterArtifacts: 7 }), [
    `killAfterArtifacts: ${rule} (it is 7)`,
  ]);
  assertEquals(accepts({ killAfterArtifacts: 5 }).killAfterArtifacts, 5);
  const open = { paths: ["out/*"] };
  assertEquals(accepts({ killAfterArtifacts: 9, artifacts: open }).killAfterArtifacts, 9);
  const same = { ...LEAST.artifacts, sameAsControl: true };
  const noControl =
    "artifacts.sameAsControl: needs the control run, which is switched off (control is false)";
  assertEquals(problems({ ...LEAST, artifacts: same, control: false }), [noControl]);
  assertEquals(problems({ ...LEAST, artifacts: same, startFails: true }), [noControl]);
  assertEquals(accepts({ startFails: true }).control, false);
  assertEquals(accepts({ startFails: false }).control, true);
  assertEquals(accepts({ artifacts: same }).control, true);
});

Deno.test("all problems are told at once, and long values are cut", () => {
  assertEquals(problems({ ...LEAST, start: 1, control: 2, watch: 3 }).length, 3);
  const [line = ""] = problems({ ...LEAST, control: "x".repeat(10_000) });
  assertEquals(line, `control: must be true or false (it is "${"x".repeat(79)}…)`);
});

Deno.test("parseConfigText() reads JSON, with or without a byte order mark", () => {
  assertEquals(parseConfigText('\uFEFF{"a": 1}', "x"), { a: 1 });
  assertEquals(parseConfigText(" [] ", "x"), []);
});

Deno.test("parseConfigText() says line and column, also where the runtime does not", () => {
  const message = (text: string) => {
    const error = assertThrows(() => parseConfigText(text, '"failure-lab.json"'), ContractError);
    assertInstanceOf(error.cause, SyntaxError);
    return error.message;
  };
  const head = 'Cannot read "failure-lab.json": it is not JSON at line';
  assertEquals(
    message('{\n  "start": "./run.sh",\n}'),
    `${head} 2, column 22: here is ",": no comma may stand before the "}" that ends an object`,
  );
  // The runtime's own message has a position for this one and none for the next.
  assertStringIncludes(message('{"a" 1}'), `${head} 1, column 6: `);
  assertStringIncludes(message('{\n "a": nope\n}'), `${head} 2, column 7: here is "nope"`);
  assertStringIncludes(message(""), `${head} 1, column 1: the text ends here`);
  assertStringIncludes(message('{"a": 1\n'), `${head} 2, column 1: the text ends here`);
  assertStringIncludes(message('\uFEFF{"a" 1}'), `${head} 1, column 6: `);
});

Deno.test("argvOf() gives the words, or sh -c and the text", () => {
  assertEquals(argvOf("make all"), ["sh", "-c", "make all"]);
  assertEquals(argvOf(["make", "all", ""]), ["make", "all", ""]);
});

Deno.test("contentChecksOf() names what is switched on", () => {
  assertEquals(contentChecksOf(accepts({})), []);
  assertEquals(
    contentChecksOf(accepts({
      artifacts: {
        ...LEAST.artifacts,
        minBytes: 1,
        endsWith: "x",
        sameAsControl: true,
        check: "true",
      },
    })),
    ["minBytes", "endsWith", "sameAsControl", "check"],
  );
  const off = { ...LEAST.artifacts, sameAsControl: false };
  assertEquals(contentChecksOf(accepts({ artifacts: off })), []);
});

Deno.test("killPointOf() is as declared, or half of the outputs", () => {
  const artifacts = (count?: number) => ({
    artifacts: { paths: ["out/*"], ...(count === undefined ? {} : { count }) },
  });
  assertEquals(killPointOf(accepts({ killAfterArtifacts: 4 })), 4);
  assertEquals(killPointOf(accepts({ killAfterArtifacts: 0 })), 0);
  assertEquals(killPointOf(accepts(artifacts(6))), 3);
  assertEquals(killPointOf(accepts(artifacts(7))), 3);
  assertEquals(killPointOf(accepts(artifacts(1))), 0);
  assertEquals(killPointOf(accepts(artifacts())), 1);
});
