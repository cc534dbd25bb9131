// What the driver of a run may do.

import { assertEquals } from "@std/assert";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { scopeFlags, scopeOf, type ScopeParts, workerPermissions } from "./scope.ts";

const PARTS: ScopeParts = {
  projectDir: "/home/me/job",
  watched: ["/home/me/job", "/home/me/.bashrc", "/opt/kit"],
  labRoot: "/tmp/lab",
  reportDir: "/home/me/reports",
  programs: ["/bin/sh", "/tmp/lab/work/job/run.sh"],
  tools: ["/bin/ps", "/bin/kill", "/bin/sh"],
  lookedFor: ["/usr/bin/awk"],
};

Deno.test("scopeOf() allows what a run needs, each once and in order, and nothing else", () => {
  assertEquals(scopeOf(PARTS), {
    // "/bin" and the job's folder are where its programs lie.
    read: [
      "/bin",
      "/bin/kill",
      "/bin/ps",
      "/bin/sh",
      "/home/me/.bashrc",
      "/home/me/job",
      "/home/me/reports",
      "/opt/kit",
      "/tmp/lab",
      "/tmp/lab/work/job",
      "/usr/bin/awk",
    ],
    write: ["/home/me/reports", "/tmp/lab"],
    run: ["/bin/kill", "/bin/ps", "/bin/sh", "/tmp/lab/work/job/run.sh", "/usr/bin/env"],
    net: ["127.0.0.1"],
    denyWrite: ["/home/me/.bashrc", "/home/me/job", "/opt/kit"],
  });
  const twice = scopeOf({ ...PARTS, programs: ["/usr/bin/env", "/bin/sh"] });
  assertEquals(twice.run, ["/bin/kill", "/bin/ps", "/bin/sh", "/usr/bin/env"]);
});

Deno.test("scopeOf() denies no folder in which the lab or the report lies", () => {
  const denied = (part: Partial<ScopeParts>) => scopeOf({ ...PARTS, ...part }).denyWrite;
  assertEquals(denied({ reportDir: "/home/me/job/reports" }), ["/home/me/.bashrc", "/opt/kit"]);
  assertEquals(denied({ reportDir: "/home/me/job" }), ["/home/me/.bashrc", "/opt/kit"]);
  assertEquals(denied({ watched: ["/tmp", "/tmp/lab", "/tmp/lab2", "/"] }), ["/tmp/lab2"]);
  assertEquals(denied({ reportDir: "/home/me/job2" }).includes("/home/me/job"), true);
});

Deno.test("scopeFlags() writes the scope as flags", () => {
  assertEquals(scopeFlags({ ...scopeOf(PARTS), read: ["/a b", "/c,d"] }), [
    "--no-prompt",
    "--allow-read=/a b,/c,,d",
    "--allow-write=/home/me/reports,/tmp/lab",
    "--deny-write=/home/me/.bashrc,/home/me/job,/opt/kit",
    "--allow-run=/bin/kill,/bin/ps,/bin/sh,/tmp/lab/work/job/run.sh,/usr/bin/env",
    "--allow-net=127.0.0.1",
  ]);
  const flags = scopeFlags({ ...scopeOf(PARTS), denyWrite: [] });
  assertEquals(flags.filter((flag) => flag.startsWith("--deny")), []);
});

Deno.test("workerPermissions() lists what is allowed and denies the rest", () => {
  const scope = scopeOf(PARTS);
  assertEquals<unknown>(workerPermissions(scope), {
    read: scope.read,
    write: scope.write,
    run: scope.run,
    net: ["127.0.0.1"],
    env: false,
    sys: false,
    ffi: false,
    import: false,
  });
});

Deno.test("the runtime keeps to the flags, also for paths with a space", async () => {
  await using dir = await makeTestDir("scope");
  const place = (name: string) => `${dir.path}/${name}`;
  for (const name of ["a b", "lab", "watched"]) await Deno.mkdir(place(name));
  const code = `for (const path of Deno.args) {
    try {
      Deno.writeTextFileSync(path, "");
      console.log("written");
    } catch (error) {
      console.log(error.name);
    }
  }`;
  await Deno.writeTextFile(place("lab/try.js"), code);
  const flags = scopeFlags(scopeOf({
    ...PARTS,
    projectDir: place("watched"),
    watched: [place("watched"), dir.path],
    labRoot: place("lab"),
    reportDir: place("a b"),
  }));
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      ...flags,
      place("lab/try.js"),
      place("lab/x"),
      place("a b/x"),
      place("watched/x"),
      place("beside"),
    ],
    env: { NO_COLOR: "1" },
  }).output();
  assertEquals(new TextDecoder().decode(stdout).trim().split("\n"), [
    "written",
    "written",
    "NotCapable",
    "NotCapable",
  ], new TextDecoder().decode(stderr));
});
