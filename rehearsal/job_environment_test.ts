// What the job sees: its environment and its programs.

import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { type Contract, ContractError, parseContract } from "./contract.ts";
import { jobEnvironment, resolveCommand } from "./job_environment.ts";

function contractWith(env: Record<string, string> = {}): Contract {
  return parseContract({
    start: "true",
    resume: "true",
    artifacts: { paths: ["out/*"], count: 1 },
    env,
  }, "test");
}

const COPY = "/lab/work/job";

Deno.test("jobEnvironment() is the user's own, without access to real providers", () => {
  const own = {
    LANG: "C",
    SSH_AUTH_SOCK: "/run/ssh",
    TOKENIZERS_PARALLELISM: "false",
    ANTHROPIC_API_KEY: "sk-real",
    OPENAI_BASE_URL: "https://example.invalid",
    HF_TOKEN: "hf",
  };
  const job = jobEnvironment(own, contractWith(), "/not/there/job", COPY);
  assertEquals(job.env, {
    LANG: "C",
    SSH_AUTH_SOCK: "/run/ssh",
    TOKENIZERS_PARALLELISM: "false",
    PWD: COPY,
  });
  assertEquals(job.removed, ["ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "HF_TOKEN"]);
  assertEquals(job.moved, []);
});

Deno.test("jobEnvironment() leads to the copy wherever the project was named", () => {
  const own = {
    PATH: "/not/there/job/bin:/usr/bin",
    ROOT: "/not/there/job",
    NEAR: "/not/there/job2:/not/there/jobs",
    PWD: "/not/there/job/deep",
    OLDPWD: "/not/there/job",
  };
  const job = jobEnvironment(own, contractWith(), "/not/there/job", COPY);
  assertEquals(job.env, {
    PATH: `${COPY}/bin:/usr/bin`,
    ROOT: COPY,
    NEAR: "/not/there/job2:/not/there/jobs",
    PWD: COPY,
  });
  assertEquals(job.moved, ["PATH", "ROOT", "PWD", "OLDPWD"]);
});

Deno.test("jobEnvironment() follows links to the project, as $PWD in a linked folder has them", async () => {
  await using dir = await makeTestDir("environment");
  await Deno.mkdir(`${dir.path}/real/job`, { recursive: true });
  await Deno.symlink("real", `${dir.path}/link`);
  const own = { INIT_CWD: `${dir.path}/link/job`, DATA: `${dir.path}/link/data` };
  const job = jobEnvironment(own, contractWith(), `${dir.path}/real/job`, COPY);
  assertEquals(job.env, { INIT_CWD: COPY, DATA: `${dir.path}/link/data`, PWD: COPY });
});

Deno.test("jobEnvironment() puts the contract's variables on top, moved as well", () => {
  const env = { LANG: "de", ANTHROPIC_API_KEY: "sk-lab-fake", CACHE: "/not/there/job/cache" };
  const own = { LANG: "C", ANTHROPIC_API_KEY: "sk-real" };
  const job = jobEnvironment(own, contractWith(env), "/not/there/job", COPY);
  assertEquals(job.env, {
    LANG: "de",
    ANTHROPIC_API_KEY: "sk-lab-fake",
    CACHE: `${COPY}/cache`,
    PWD: COPY,
  });
  assertEquals(job.removed, ["ANTHROPIC_API_KEY"]);
});

/** A project with programs in it, beside it, and links in all directions. */
async function withPrograms(
  test: (places: { dir: string; projectDir: string; path: string }) => void | Promise<void>,
): Promise<void> {
  await using made = await makeTestDir("commands");
  const dir = made.path;
  const projectDir = `${dir}/real/job`;
  for (const folder of ["real/job/bin", "tools"]) {
    await Deno.mkdir(`${dir}/${folder}`, { recursive: true });
  }
  const program = async (path: string, mode = 0o755) => {
    await Deno.writeTextFile(`${dir}/${path}`, "#!/bin/sh\n");
    await Deno.chmod(`${dir}/${path}`, mode);
  };
  await program("real/job/run.sh");
  await program("real/job/notes.txt", 0o644);
  await program("real/job/bin/tool");
  await program("real/outside.sh");
  await program("tools/tool2");
  await Deno.symlink("real", `${dir}/link`);
  await Deno.symlink("../bin/tool", `${projectDir}/bin/inside-link`);
  await Deno.symlink(`${dir}/tools/tool2`, `${projectDir}/bin/python`);
  await Deno.symlink(`${projectDir}/run.sh`, `${dir}/tools/into-project`);
  await test({ dir, projectDir, path: `${dir}/tools:/usr/bin:/bin` });
}

Deno.test("resolveCommand() finds programs as a shell does, and those of the project in the copy", async () => {
  await withPrograms(({ dir, projectDir, path }) => {
    const places = { projectDir, workspace: COPY, path };
    const resolve = (command: string | string[], more = {}) =>
      resolveCommand("start", command, { ...places, ...more });
    assertEquals(resolve(["tool2", "x", ""]), [`${dir}/tools/tool2`, "x", ""]);
    assertEquals(resolve([`${dir}/tools/tool2`]), [`${dir}/tools/tool2`]);
    assertEquals(resolve(["./run.sh", "--resume"]), [`${COPY}/run.sh`, "--resume"]);
    assertEquals(resolve(["bin/../run.sh"]), [`${COPY}/run.sh`]);
    assertEquals(resolve(["bin/inside-link"]), [`${COPY}/bin/inside-link`]);
    assertEquals(resolve(["../outside.sh"]), [`${dir}/real/outside.sh`]);
    const [sh = "", ...rest] = resolve("make all && ./run.sh");
    assertEquals([sh.endsWith("/sh"), ...rest], [true, "-c", "make all && ./run.sh"]);
    // Folders of PATH that are in the project: as they are, relative, moved already, behind a link.
    for (
      const inProject of [
        `${projectDir}/bin`,
        "bin",
        "./bin",
        `${COPY}/bin`,
        `${dir}/link/job/bin`,
      ]
    ) {
      assertEquals(resolve(["tool"], { path: `${inProject}:/usr/bin` }), [`${COPY}/bin/tool`]);
    }
    assertEquals(resolve(["run.sh"], { path: COPY }), [`${COPY}/run.sh`]);
    // A link from elsewhere into the project would run the real one.
    assertEquals(resolve(["into-project"]), [`${COPY}/run.sh`]);
  });
});

Deno.test("resolveCommand() names what it did not find, and where it looked", async () => {
  await withPrograms(({ projectDir, path }) => {
    const message = (command: string[], more = {}) =>
      assertThrows(
        () => resolveCommand("resume", command, { projectDir, workspace: COPY, path, ...more }),
        ContractError,
      ).message;
    const head = 'Cannot rehearse "resume": the command';
    assertEquals(
      message(["no-such-program"]),
      `${head} "no-such-program" was not found or may not be run. PATH is ${path}`,
    );
    assertEquals(
      message(["tool2"], { path: "" }),
      `${head} "tool2" was not found or may not be run. PATH is empty`,
    );
    for (const name of ["./nothing.sh", "./notes.txt", "./bin"]) {
      assertEquals(
        message([name]),
        `${head} "${name}" was not found or may not be run. It is looked for relative to ` +
          projectDir,
      );
    }
  });
});

Deno.test("resolveCommand() refuses a program that will not be in the copy, and names the real one", async () => {
  await withPrograms(({ dir, projectDir, path }) => {
    const error = assertThrows(
      () => resolveCommand("start", ["bin/python", "x.py"], { projectDir, workspace: COPY, path }),
      ContractError,
    );
    assertEquals(
      error.message,
      'Cannot rehearse "start": the command "bin/python" is a link that leads out of the project, ' +
        `and such links are not in the copy. Name the program that it leads to ("${dir}/tools/tool2")`,
    );
  });
});

Deno.test("resolveCommand() refuses a command that names the real project", async () => {
  await withPrograms(({ dir, projectDir, path }) => {
    const env = { HOME: `${dir}/real`, WHERE: COPY };
    const refuse = (command: string | string[], named: string) => {
      const error = assertThrows(
        () => resolveCommand("start", command, { projectDir, workspace: COPY, path, env }),
        ContractError,
      );
      assertStringIncludes(
        error.message,
        `Cannot rehearse "start": it names the real project by its full path ("${named}"), so it ` +
          "would work on the real one and not on the copy. Write the path relative to the",
      );
    };
    refuse(["tool2", projectDir], projectDir);
    refuse([`${projectDir}/run.sh`], projectDir);
    refuse(["tool2", `--dir=${projectDir}/out`], projectDir);
    refuse(`cd ${projectDir} && make`, projectDir);
    refuse(`cd "${projectDir}" && make`, projectDir);
    refuse(`cd '${dir}/link/job' && make`, `${dir}/link/job`);
    refuse(["bash", "-c", `exec ${dir}/link/job/run.sh`], `${dir}/link/job`);
    refuse("cd ~/job && make", projectDir);
    refuse('cd "$HOME/job" && make', projectDir);
    for (const command of [`cd ${projectDir}2; ls`, "cd $WHERE && ls", "cd ~ && ls"]) {
      const argv = resolveCommand("start", command, { projectDir, workspace: COPY, path, env });
      assertEquals(argv[2], command);
    }
  });
});
