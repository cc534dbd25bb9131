import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { makeTestDir } from "../../tests/support/temp_dir.ts";
import { parseContract } from "../contract.ts";
import { PRESETS } from "../presets/mod.ts";
import { contractOf, missingParts, type Proposal, propose, readProject } from "./mod.ts";
import type { ProjectFacts } from "./project_facts.ts";

/** A project that is only told; names that end with `*` are executable. */
function project(files: Record<string, string>): ProjectFacts {
  const texts = new Map(Object.entries(files).map(([name, text]) => [name.replace("*", ""), text]));
  return {
    dir: "/srv/app",
    files: [...texts.keys()].sort(),
    text: (path) => texts.get(path) ?? null,
    isExecutable: (path) => Object.hasOwn(files, `${path}*`),
  };
}

function proposed(files: Record<string, string>): Proposal {
  return propose(project(files));
}

const LOOP =
  "for i in 1 2 3 4; do\n  ./make-one $i > out/$i.md.tmp && mv out/$i.md.tmp out/$i.md\ndone\n";

Deno.test("propose() finds how a job is started, the likeliest way first", () => {
  const cases: [start: string, resume: string, files: Record<string, string>][] = [
    ["sh run.sh", "sh run.sh", { "run.sh": LOOP }],
    ["./run.sh", "./run.sh", { "run.sh*": "#!/bin/sh\n" }],
    ["bash start.sh", "bash start.sh", { "start.sh": "#!/usr/bin/env bash\n" }],
    ["./run", "./run", { "run*": "#!/bin/sh\n" }],
    ["./bin/job.sh", "./bin/job.sh", { "bin/job.sh*": "" }],
    ["sh run.sh", "sh resume.sh", { "run.sh": "", "resume.sh": "" }],
    ["sh run.sh", "sh run.sh --resume", { "run.sh": 'case "$1" in --resume) x=1 ;; esac\n' }],
    ["sh run.sh", "sh run.sh resume", { "run.sh": 'case "$1" in\n  resume) go ;;\nesac\n' }],
    ["sh odd-name.sh", "sh odd-name.sh", { "odd-name.sh": "", "README.md": "" }],
    ["make -s job", "make -s resume", { Makefile: "help:\njob: out/a\nresume:\nX := 1\n" }],
    ["make -s first", "make -s first", { Makefile: "first: dep\n\tx\n.PHONY: first\n" }],
    ["npm run --silent start", "npm run --silent resume", {
      "package.json": '{"scripts":{"test":"x","start":"node a.js","resume":"node b.js"}}',
    }],
    ["pnpm run batch", "pnpm run batch", {
      "package.json": '{"scripts":{"start":"vite dev","batch":"node a.js"}}',
      "pnpm-lock.yaml": "",
    }],
    ["deno task run", "deno task run", { "deno.json": '{"tasks":{"run":{"command":"x"}}}' }],
    ["python3 main.py", "python3 main.py --resume", {
      "main.py": 'parser.add_argument("--resume")\n',
    }],
    ["python3 -m pkg", "python3 -m pkg", { "pkg/__main__.py": "" }],
    ["PYTHONPATH=src python3 -m pkg", "PYTHONPATH=src python3 -m pkg", {
      "src/pkg/__main__.py": "",
    }],
    [
      "python3 -c 'import sys; from pkg.cli import main; sys.exit(main())'",
      "python3 -c 'import sys; from pkg.cli import main; sys.exit(main())'",
      {
        "pyproject.toml": '[project.scripts]\njob = "pkg.cli:main"\n\n[tool.x]\ny = "a.b:c"\n',
        "pkg/cli.py": "",
      },
    ],
    ["uv run job", "uv run job", {
      "pyproject.toml": '[project.scripts]\njob = "pkg.cli:main"\n',
      "uv.lock": "",
    }],
    ["job", "job", {
      "setup.cfg": "[options.entry_points]\nconsole_scripts =\n    job = p.c:main\n",
    }],
  ];
  for (const [start, resume, files] of cases) {
    const { answers } = proposed(files);
    assertEquals([answers.start, answers.resume], [start, resume], JSON.stringify(files));
  }
});

Deno.test("propose() takes the line of a crontab, and leaves out what the schedule adds", () => {
  const lines: [line: string, start: string | null][] = [
    ["0 3 * * * cd /srv/app && ./nightly-job >> /var/log/x.log 2>&1", "./nightly-job"],
    ["*/5 1-5 * * mon-fri /srv/app/nightly-job --all > /dev/null 2>&1", "./nightly-job --all"],
    ["@daily cd /srv/app; sh nightly-job | logger -t job", "sh nightly-job"],
    ["0 3 * * * /opt/else/tool", null],
    ["# 0 3 * * * ./nightly-job", null],
    ["MAILTO=me@example.org", null],
    ["0 3 * * * ./nightly-job \\%d", "./nightly-job %d"],
  ];
  for (const [line, start] of lines) {
    const { answers } = proposed({
      "deploy/crontab": `${line}\n`,
      "nightly-job*": "x",
      "b.sh": "",
      "c.sh": "",
    });
    assertEquals(answers.start, start, line);
  }
});

Deno.test("propose() lists the other ways, and takes one that the user names", () => {
  const files = { "run.sh": LOOP, Makefile: "all:\n", "package.json": '{"scripts":{"job":"x"}}' };
  const { alternatives } = proposed(files);
  assertEquals(alternatives.map((entry) => entry.start), ["make -s all", "npm run --silent job"]);
  const own = propose(project({ ...files, "other.sh": "seq 1 9\necho >out/$i.txt\n" }), {
    start: "bash ./other.sh --fast",
  });
  assertEquals([own.answers.resume, own.answers.artifacts, own.answers.count], [
    "bash ./other.sh --fast",
    ["out/*.txt"],
    9,
  ]);
});

Deno.test("propose() reads where outputs are, and how many, out of scripts", () => {
  const cases: [script: string, globs: string[] | null, count: number | null][] = [
    [LOOP, ["out/*.md"], 4],
    ["OUT=results\nseq 3\necho x > $OUT/$i.txt", ["results/*.txt"], 3],
    [
      'OUT="out/pages"\nfor i in {1..5}; do echo > "${OUT}/${i}.html"; done',
      ["out/pages/*.html"],
      5,
    ],
    ["echo a > out/a.md\necho b > out/b.md", ["out/a.md", "out/b.md"], 2],
    ["UNITS=7\necho > ./output/unit-$i", ["output/unit-*"], 7],
    ["# out/x.md\necho nothing", null, null],
    ["cp $f out/$(basename $f .src).txt", ["out/*.txt"], null],
    ["echo > about/x.md; cat log/out/x", null, null],
  ];
  for (const [script, globs, count] of cases) {
    const { answers } = proposed({ "run.sh": script });
    assertEquals([answers.artifacts, answers.count], [globs, count], script);
  }
  const python = 'OUT = Path("out")\nfor i in range(6):\n    (OUT / f"{i}.json").write_text("x")\n';
  const { answers } = proposed({ "main.py": python });
  assertEquals([answers.artifacts, answers.count], [["out/*.json"], 6]);
  const joined = proposed({ "main.py": 'open(os.path.join("out", f"{i}.csv"), "w")\n' });
  assertEquals(joined.answers.artifacts, ["out/*.csv"]);
});

Deno.test("propose() counts inputs and outputs that are there", () => {
  const inputs = proposed({
    "run.sh": "for f in in/*.src; do echo >out/$f.txt; done",
    "in/a.src": "",
    "in/b.src": "",
    "in/.keep": "",
  });
  assertEquals([inputs.answers.count, inputs.why.count], [2, "there are 2 files in in/"]);
  const left = proposed({ "run.sh": "x", "out/1.md": "", "out/2.md": "", "out/log.txt": "" });
  assertEquals([left.answers.artifacts, left.answers.count], [["out/*.md"], 2]);
});

Deno.test("propose() finds checkpoint, lock and effects, but no lock of a package manager", () => {
  const { answers } = proposed({
    "run.sh": 'echo "$i" >> state.jsonl\n: > .job.lock\necho sent >> sent.log\n',
    "package-lock.json": "",
    "yarn.lock": "",
  });
  assertEquals(answers.checkpoint, { path: "state.jsonl" });
  assertEquals([answers.lock, answers.effects], [".job.lock", { path: "sent.log" }]);
  const none = proposed({ "run.sh": "npm ci # package-lock.json yarn.lock\n", "yarn.lock": "" });
  assertEquals([none.answers.checkpoint, none.answers.lock, none.answers.effects], [
    null,
    null,
    null,
  ]);
  const keyed = proposed({
    "run.sh": "x",
    "state.json": '{"completed":["a"]}',
    "outbox.jsonl": '{"id":"1"}\n{"id":"2"}\n',
    "job.pid": "1",
  });
  assertEquals(keyed.answers.checkpoint, { path: "state.json", doneAt: "/completed" });
  assertEquals(keyed.answers.effects, { path: "outbox.jsonl", keyAt: "/id" });
  assertEquals(keyed.answers.lock, "job.pid");
});

Deno.test("propose() switches the control run off for jobs that would cost money", () => {
  const paid = [
    { "run.sh": 'claude -p "do it" --continue\n' },
    { "run.sh": "codex exec x\n" },
    { "main.py": "import anthropic\n" },
    { "job.py": "client = openai.OpenAI(base_url='https://api.openai.com/v1')\n" },
    { "CLAUDE.md": "x", "PROMPT.md": "write six pages" },
  ];
  for (const files of paid) {
    const { extra, notes } = proposed(files as Record<string, string>);
    assertEquals([extra.control, notes.length], [false, 1], JSON.stringify(files));
  }
  const free = proposed({ "run.sh": LOOP, "CLAUDE.md": "x" });
  assertEquals([free.answers.start, free.extra, free.notes], ["sh run.sh", {}, []]);
});

Deno.test("every preset makes a contract that holds, with its prompt file", () => {
  for (const { id, hints } of PRESETS) {
    const files = { "my prompt.md": "x", "PROMPT.md": "x", "run.sh": LOOP };
    const { answers, extra } = propose(project(files), { preset: id });
    assertStringIncludes(answers.start ?? "", "$(cat PROMPT.md)", id);
    assert(answers.resume !== answers.start, id);
    const contract = parseContract(contractOf({ ...answers, artifacts: ["out/*"] }, extra), id);
    assertEquals(contract.control, false, id);
    const hint = hints[0] ?? "";
    const hinted = proposed({ [hint.endsWith("/") ? `${hint}x.json` : hint]: "", "task.md": "x" });
    assertStringIncludes(hinted.why.start, "the preset for", id);
  }
});

Deno.test("contractOf() and missingParts() leave out what has no answer, and say what to add", () => {
  const { answers } = proposed({ "run.sh": "x" });
  const contract = contractOf({ ...answers, artifacts: ["out/*"] }, {});
  assertEquals(contract, {
    start: "sh run.sh",
    resume: "sh run.sh",
    artifacts: { paths: ["out/*"] },
  });
  const missing = missingParts(answers);
  assertEquals(missing.length, 4);
  for (const text of missing) JSON.parse(text.slice(text.indexOf("{")));
  assertStringIncludes(missing[0] ?? "", "unproven");
});

Deno.test("readProject() is bounded, opens only plain files, and follows no link", async () => {
  await using dir = await makeTestDir("facts");
  const file = async (path: string, text: string) => {
    await Deno.mkdir(`${dir.path}/${path.slice(0, path.lastIndexOf("/") + 1)}`, {
      recursive: true,
    });
    await Deno.writeTextFile(`${dir.path}/${path}`, text);
  };
  await file("run.sh", "x");
  await file("node_modules/a/b.js", "x");
  await file("a/b/c/d/e/deep.txt", "x");
  await file("large.sh", "x".repeat(300_000));
  await file("binary", "a\0b");
  await Deno.symlink("/etc/hostname", `${dir.path}/link`);
  await new Deno.Command("mkfifo", { args: [`${dir.path}/fifo`] }).output();
  const facts = readProject(dir.path);
  assertEquals(facts.files, ["binary", "large.sh", "run.sh"]);
  assertEquals(["run.sh", "large.sh", "binary", "fifo", "link"].map(facts.text), [
    "x",
    null,
    null,
    null,
    null,
  ]);
  assertEquals(readProject(`${dir.path}/nothing`).files, []);
});
