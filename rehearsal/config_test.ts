// Where the contract comes from: the file, with the flags laid over it.

import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { CONFIG_NAME, type ConfigSource, loadConfig } from "./config.ts";
import { ContractError } from "./contract.ts";

const FILE = {
  start: "./run.sh",
  resume: "./run.sh --resume",
  artifacts: { paths: ["out/*.md"], count: 6, endsWith: "END" },
  checkpoint: { path: "state.json", doneAt: "/done" },
  limits: { idleSeconds: 5 },
  env: { A: "1", B: "2" },
  watch: ["/etc/hosts"],
  leaveBehind: ["node_modules/**"],
};

async function withProject(
  test: (
    dir: string,
    source: (more?: Partial<ConfigSource>) => ConfigSource,
  ) => void | Promise<void>,
): Promise<void> {
  await using dir = await makeTestDir("config");
  await Deno.mkdir(`${dir.path}/job`);
  await Deno.writeTextFile(`${dir.path}/job/${CONFIG_NAME}`, JSON.stringify(FILE));
  await test(dir.path, (more = {}) => ({
    cwd: `${dir.path}/job`,
    project: null,
    config: null,
    overrides: {},
    ...more,
  }));
}

function message(source: ConfigSource): string {
  const error = assertThrows(() => loadConfig(source), ContractError);
  assertEquals(error.exitCode, 2);
  return error.message;
}

Deno.test("loadConfig() takes the file of the project, from wherever it is named", async () => {
  await withProject((dir, source) => {
    const here = loadConfig(source());
    assertEquals(here.projectDir, `${dir}/job`);
    assertEquals(here.file, `${dir}/job/${CONFIG_NAME}`);
    assertEquals(here.contract.artifacts.count, 6);
    for (const project of ["job", "./job/", `${dir}/job`, "job/../job"]) {
      assertEquals(loadConfig(source({ cwd: dir, project })).projectDir, here.projectDir);
    }
  });
});

Deno.test("loadConfig() resolves a link to the project", async () => {
  await withProject(async (dir, source) => {
    await Deno.symlink("job", `${dir}/link`);
    const { projectDir, file } = loadConfig(source({ cwd: dir, project: "link" }));
    assertEquals([projectDir, file], [`${dir}/job`, `${dir}/job/${CONFIG_NAME}`]);
  });
});

Deno.test("loadConfig() takes another file that is named, relative to where one stands", async () => {
  await withProject(async (dir, source) => {
    await Deno.writeTextFile(`${dir}/other.json`, JSON.stringify({ ...FILE, resume: "other" }));
    for (const config of ["other.json", "./job/../other.json", `${dir}/other.json`]) {
      const loaded = loadConfig(source({ cwd: dir, project: "job", config }));
      assertEquals(loaded.contract.resume, "other");
      assertEquals(loaded.projectDir, `${dir}/job`);
      assertEquals(loaded.file, `${dir}/other.json`);
    }
  });
});

Deno.test("loadConfig() lays the flags over the file, part by part", async () => {
  await withProject((_dir, source) => {
    const { contract } = loadConfig(source({
      overrides: {
        resume: "./again.sh",
        artifacts: { count: 3, sameAsControl: true },
        checkpoint: { path: "other.json" },
        limits: { runSeconds: 9 },
        env: { B: "3", C: "4" },
        leaveBehind: ["dist/**"],
        killAfterArtifacts: 1,
      },
    }));
    assertEquals(contract.start, "./run.sh");
    assertEquals(contract.resume, "./again.sh");
    assertEquals(contract.artifacts, {
      paths: ["out/*.md"],
      count: 3,
      endsWith: "END",
      sameAsControl: true,
    });
    assertEquals(contract.checkpoint, { path: "other.json", doneAt: "/done" });
    assertEquals(contract.limits, { runSeconds: 9, idleSeconds: 5, graceSeconds: 2 });
    assertEquals(contract.env, { A: "1", B: "3", C: "4" });
    assertEquals(contract.leaveBehind, ["dist/**"]);
    assertEquals(contract.killAfterArtifacts, 1);
    const lists = loadConfig(source({ overrides: { artifacts: { paths: ["x/*", "y/*"] } } }));
    assertEquals(lists.contract.artifacts.paths, ["x/*", "y/*"]);
  });
});

Deno.test("loadConfig() lets a flag replace a part of the file that is of another kind", async () => {
  await withProject(async (dir, source) => {
    const file = { ...FILE, resume: { argv: "x" }, limits: 5 };
    await Deno.writeTextFile(`${dir}/job/${CONFIG_NAME}`, JSON.stringify(file));
    const { contract } = loadConfig(source({
      overrides: { resume: "./again.sh", limits: { runSeconds: 9 } },
    }));
    assertEquals([contract.resume, contract.limits.runSeconds], ["./again.sh", 9]);
  });
});

Deno.test("loadConfig() watches what the flags name besides what the file names", async () => {
  await withProject(async (dir, source) => {
    const { contract } = loadConfig(source({
      cwd: dir,
      project: "job",
      overrides: { watch: ["beside", "/etc/passwd"] },
    }));
    assertEquals(contract.watch, ["/etc/hosts", `${dir}/beside`, "/etc/passwd"]);
    await Deno.writeTextFile(`${dir}/none.json`, JSON.stringify({ ...FILE, watch: undefined }));
    const none = loadConfig(source({ config: "../none.json", overrides: { watch: ["x"] } }));
    assertEquals(none.contract.watch, [`${dir}/job/x`]);
    await Deno.writeTextFile(`${dir}/bad.json`, JSON.stringify({ ...FILE, watch: "/etc" }));
    assertStringIncludes(
      message(source({ config: "../bad.json", overrides: { watch: ["x"] } })),
      'watch: must be a list (it is "/etc")',
    );
  });
});

Deno.test("loadConfig() does with flags alone", async () => {
  await withProject(async (dir, source) => {
    await Deno.remove(`${dir}/job/${CONFIG_NAME}`);
    const overrides = { start: "a", resume: "b", artifacts: { paths: ["o/*"], count: 2 } };
    const loaded = loadConfig(source({ overrides }));
    assertEquals([loaded.file, loaded.contract.resume], [null, "b"]);
    assertStringIncludes(
      message(source({ overrides: { start: "a" } })),
      "Cannot use the flags:\n  resume: ",
    );
  });
});

Deno.test("loadConfig() says where it looked when there is no contract", async () => {
  await withProject(async (dir, source) => {
    await Deno.remove(`${dir}/job/${CONFIG_NAME}`);
    assertEquals(
      message(source()),
      `Cannot find a contract: "${dir}/job/${CONFIG_NAME}" is not there and no flags were given. ` +
        "Write one with 'failure-lab init', or give --start, --resume, --artifacts and --count",
    );
    // One that was named must be there, whatever flags were given.
    assertEquals(
      message(source({ config: "my.json", overrides: { start: "a" } })),
      `Cannot read the contract "${dir}/job/my.json": it is not there`,
    );
  });
});

Deno.test("loadConfig() says what is wrong with the project", async () => {
  await withProject(async (dir, source) => {
    assertEquals(
      message(source({ cwd: dir, project: "nothing" })),
      `Cannot find the project "${dir}/nothing". Name its folder with --project DIR`,
    );
    await Deno.writeTextFile(`${dir}/file`, "");
    assertEquals(
      message(source({ cwd: dir, project: "file" })),
      `Cannot use the project "${dir}/file": it is not a folder`,
    );
    await Deno.symlink("nowhere", `${dir}/dangling`);
    assertStringIncludes(message(source({ cwd: dir, project: "dangling" })), "Cannot find the");
    await Deno.symlink("loop", `${dir}/loop`);
    assertStringIncludes(
      message(source({ cwd: dir, project: "loop" })),
      `Cannot use the project "${dir}/loop": `,
    );
  });
});

Deno.test("loadConfig() says what is wrong with the file", async () => {
  await withProject(async (dir, source) => {
    await Deno.mkdir(`${dir}/folder`);
    assertStringIncludes(
      message(source({ config: "../folder" })),
      `Cannot read the contract "${dir}/folder": `,
    );
    const write = (text: string) => Deno.writeTextFile(`${dir}/job/${CONFIG_NAME}`, text);
    await write('{\n  "start": nope\n}');
    assertStringIncludes(
      message(source()),
      `Cannot read "${dir}/job/${CONFIG_NAME}": it is not JSON at line 2, column 12: here is "nope"`,
    );
    for (const text of ["[]", "null", '"text"', "7"]) {
      await write(text);
      assertEquals(
        message(source()),
        `Cannot use "${dir}/job/${CONFIG_NAME}": it must hold a JSON object, { … }`,
      );
    }
    await write(JSON.stringify({ ...FILE, strat: 1 }));
    assertEquals(
      message(source()),
      `Cannot use "${dir}/job/${CONFIG_NAME}":\n  unknown key "strat"; did you mean "start"?`,
    );
    assertStringIncludes(
      message(source({ overrides: { artifacts: { count: 0 } } })),
      `Cannot use "${dir}/job/${CONFIG_NAME}" with the flags:\n  `,
    );
  });
});

Deno.test({
  name: "loadConfig() says that the file may not be read",
  ignore: Deno.uid() === 0, // For root everything can be read.
  async fn() {
    await withProject(async (dir, source) => {
      await Deno.chmod(`${dir}/job/${CONFIG_NAME}`, 0);
      assertStringIncludes(message(source()), "Cannot read the contract");
      assertStringIncludes(message(source()), "PermissionDenied");
    });
  },
});

Deno.test("a key that JavaScript knows is a key like any other", async () => {
  await withProject(async (dir, source) => {
    const text = JSON.stringify(FILE).replace('"A"', '"__proto__": "x", "A"');
    await Deno.writeTextFile(`${dir}/job/${CONFIG_NAME}`, text);
    const { contract } = loadConfig(source({ overrides: { env: { C: "3" } } }));
    assertEquals(Object.getPrototypeOf(contract.env), Object.prototype);
    assertEquals(contract.env.C, "3");
  });
});
