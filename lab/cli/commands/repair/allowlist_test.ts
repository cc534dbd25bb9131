import { assertEquals, assertStringIncludes } from "@std/assert";
import { inFolder, isThere, read, runWrapper, write } from "../../../../repairs/_test_tools.ts";

Deno.test("repair allowlist keeps the work inside, puts the rest back, and says what it was", () =>
  inFolder(async (dir) => {
    write(`${dir}/ws/src/a.txt`, "a\n");
    const { code, stderr } = await runWrapper(
      dir,
      ["allowlist", "--root", "ws", "--allow", "out/", "--result", "r.json", "--keep", "kept", "--"]
        .concat(["sh", "-c", "cd ws; mkdir out; echo ok >out/1; echo x >src/a.txt; exit 3"]),
    );
    assertEquals([code, read(`${dir}/ws/src/a.txt`), read(`${dir}/ws/out/1`)], [3, "a\n", "ok\n"]);
    assertStringIncludes(
      stderr,
      `failure-lab repair allowlist: Outside the scope: ${dir}/ws/src/a.txt`,
    );
    assertEquals(JSON.parse(read(`${dir}/r.json`)).outcome, "reverted");
    assertEquals(read(`${dir}/kept${dir}/ws/src/a.txt`), "x\n");
  }));

Deno.test("repair allowlist tells of a write through a link with exit 5, and undoes it with --protect", () =>
  inFolder(async (dir) => {
    await Deno.mkdir(`${dir}/ws`);
    await Deno.mkdir(`${dir}/outside`);
    await Deno.symlink("../outside", `${dir}/ws/outbox`);
    const job = ["--", "sh", "-c", "echo x >ws/outbox/escaped.txt"];
    const scope = ["allowlist", "--root", "ws", "--allow", "outgoing"];
    assertEquals((await runWrapper(dir, [...scope, ...job])).code, 5);
    await Deno.remove(`${dir}/outside/escaped.txt`);
    assertEquals((await runWrapper(dir, [...scope, "--protect", "outside", ...job])).code, 0);
    assertEquals(isThere(`${dir}/outside/escaped.txt`), false);
  }));

Deno.test("repair allowlist refuses scopes that lead out before it runs anything", () =>
  inFolder(async (dir) => {
    for (
      const [flags, code] of [[[], 2], [["--allow", "../x"], 2], [["--allow", "/x"], 2]]
        .concat([[["--allow", "x", "--root", "none"], 2], [
          ["--allow", "x", "--protect", "none"],
          1,
        ]]) as [
          string[],
          number,
        ][]
    ) {
      const result = await runWrapper(dir, ["allowlist", ...flags, "--", "touch", "ran"]);
      assertEquals(result.code, code, result.stderr);
    }
    assertEquals(isThere(`${dir}/ran`), false);
  }));
