// Finding what leads to the real project.

import { assertEquals } from "@std/assert";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { findMentions, mentionInWord, movePaths } from "./project_mentions.ts";

/** A project with everything that can lead to it. */
async function withProject(
  test: (places: { dir: string; project: string }) => void | Promise<void>,
): Promise<void> {
  await using made = await makeTestDir("mentions");
  const dir = made.path;
  const project = `${dir}/home/my job`;
  await Deno.mkdir(`${project}/out`, { recursive: true });
  await Deno.mkdir(`${dir}/home/my job2`);
  await Deno.mkdir(`${dir}/mnt${project}`, { recursive: true });
  await Deno.writeTextFile(`${project}/run.sh`, "");
  await Deno.symlink(project, `${dir}/link`);
  await Deno.symlink("home", `${dir}/users`);
  await Deno.symlink(`${project}/out`, `${dir}/results`);
  await Deno.symlink(`${dir}/home/my job2`, `${dir}/other`);
  await test({ dir, project });
}

const COPY = "/tmp/lab/work/my job";

Deno.test("movePaths() leads every path into the project to the copy", async () => {
  await withProject(({ dir, project }) => {
    const table: [string, string][] = [
      [project, COPY],
      [`${project}/`, `${COPY}/`],
      [`${project}/out/1.md`, `${COPY}/out/1.md`],
      [`/usr/bin:${project}/bin:${project}`, `/usr/bin:${COPY}/bin:${COPY}`],
      [`${project}:${project}`, `${COPY}:${COPY}`],
      [`"${project}"`, `"${COPY}"`],
      [`'${project}/x y' ${project}`, `'${COPY}/x y' ${COPY}`],
      [`A=${project};B=${project}`, `A=${COPY};B=${COPY}`],
      [`-I${project}/include -L${project}`, `-I${COPY}/include -L${COPY}`],
      [`--dir=${project}`, `--dir=${COPY}`],
      [`file://${project}/x`, `file://${COPY}/x`],
      [`/${project}/x`, `/${COPY}/x`],
      [`@${project}/args`, `@${COPY}/args`],
      [`{"dir":"${project}"}`, `{"dir":"${COPY}"}`],
      // Links, links above it, links into it, and other ways to write it.
      [`${dir}/link/x`, `${COPY}/x`],
      [`${dir}/link`, COPY],
      [`${dir}/link && ls`, `${COPY} && ls`],
      [`${dir}/users/my job/x`, `${COPY}/x`],
      [`${dir}/results/1.md`, `${COPY}/out/1.md`],
      [`${dir}//home/./my job/../my job/x`, `${COPY}/../my job/x`],
      [`${dir}/home/my job2/../my job/x`, `${COPY}/x`],
    ];
    for (const [text, moved] of table) assertEquals(movePaths(text, project, COPY), moved, text);
  });
});

Deno.test("movePaths() leaves alone what only looks like it", async () => {
  await withProject(({ dir, project }) => {
    for (
      const text of [
        "",
        "no path at all",
        "/",
        "/usr/bin:/bin",
        `${project}2`,
        `${project}-old/x`,
        `${project}.bak`,
        `/mnt${project}`,
        `${dir}/mnt${project}/x`,
        `https://example.invalid${project}`,
        `x${project}`,
        `${dir}/home`,
        `${dir}/other/x`,
        dir,
        "/nothing/here/at/all",
        "my job/out",
        "../my job",
        "a".repeat(10_000),
        "/".repeat(1000),
      ]
    ) assertEquals(movePaths(text, project, COPY), text, text);
    assertEquals(movePaths("/usr/bin", "/", COPY), "/usr/bin");
    // A project in /app and a service called app, as in many containers.
    for (const text of ["http://app:80/app", "git+ssh://app/x", "https://host.invalid/app/x"]) {
      assertEquals(movePaths(text, "/app", COPY), text, text);
    }
    assertEquals(movePaths("/usr/app:/app:/apps:/app", "/app", "/c"), "/usr/app:/c:/apps:/c");
  });
});

Deno.test("findMentions() says where and to what", async () => {
  await withProject(({ dir, project }) => {
    const text = `cd ${dir}/results; ls ${project}`;
    const mentions = findMentions(text, project);
    assertEquals(mentions.map(({ start, end }) => text.slice(start, end)), [
      `${dir}/results`,
      project,
    ]);
    assertEquals(mentions.map(({ inside }) => inside), ["out", ""]);
  });
});

Deno.test("findMentions() needs no such folder to know its name", () => {
  const mentions = findMentions("cd /not/there/job && make", "/not/there/job");
  assertEquals(mentions, [{ start: 3, end: 17, inside: "" }]);
});

Deno.test("mentionInWord() looks behind quotes, backslashes, ~ and variables", async () => {
  await withProject(({ dir, project }) => {
    const env = {
      HOME: `${dir}/home`,
      JOBS: `${dir}/users`,
      LINK: `${dir}/link`,
      PWD: project,
      TEXT: "no path",
    };
    const found: [string, string][] = [
      [project, project],
      [`cd '${project}' && make`, project],
      [`cd "${dir}/home"/'my job'`, project],
      [`cd ${project.replace(" ", "\\ ")} && make`, project],
      ["cd ~/'my job' && make", project],
      ["cd ~/my\\ job", project],
      ['cd "$HOME/my job"', project],
      ['cd "${HOME}/my job"', project],
      ['cd "$JOBS/my job"/out', `${dir}/users/my job`],
      ["$LINK/run.sh", `${dir}/link`],
      [`rm -rf ${dir}/link/`, `${dir}/link`],
      [`cp x ${dir}/results`, `${dir}/results`],
    ];
    for (const [word, path] of found) {
      assertEquals(mentionInWord(word, project, env), path, word);
    }
    const clean = [
      "make all",
      "cd out && ls",
      "cd ~ && ls",
      "cd ~/other",
      'cd "$PWD" && make',
      "echo $TEXT $UNKNOWN ${NOT_SET}",
      "ls /usr/bin",
      "~user/my job",
      "a~/my job",
      `cd ${project}2`,
    ];
    for (const word of clean) assertEquals(mentionInWord(word, project, env), null, word);
    assertEquals(mentionInWord("cd ~/'my job'", project), null, "nothing says what ~ is");
    assertEquals(mentionInWord("$constructor $toString", project), null);
  });
});
