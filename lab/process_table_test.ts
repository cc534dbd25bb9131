import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import {
  cleanUpAfterEach,
  isPidAlive,
  newMarker,
  startStranger,
} from "../tests/support/processes.ts";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { waitUntil } from "./clock.ts";
import {
  identify,
  isAlive,
  isSameProcess,
  isStopped,
  MARKER_NAME,
  parseProcessTable,
  processTableArguments,
  ProcessTableError,
  readProcessTable,
  START_TOLERANCE_SECONDS,
} from "./process_table.ts";
import { sendSignal } from "./signals.ts";
import { rememberSystemTools, systemTool } from "./system_tools.ts";

cleanUpAfterEach();

const MARKER = "0123456789abcdef0123456789abcdef";
const OTHER_MARKER = "ffffffffffffffffffffffffffffffff";
const STARTED = Date.UTC(2026, 10, 30, 3, 56, 7) / 1000;

const LINUX = `
    1     0     1 Ss   Mon Nov 30 03:50:56 2026 /sbin/init splash HOME=/ TERM=linux
    2     0     0 S    Mon Nov 30 03:50:56 2026 [kthreadd]
   77     2     0 I<   Mon Nov 30 03:50:56 2026 [kworker/R-ext4-rsv-conversion]
 2968  2967  2968 Sl+  Mon Nov 30 03:56:07 2026 node /home/a b/agent.js --model x PATH=/usr/bin ${MARKER_NAME}=${MARKER} HOME=/root
 3008  2968  2968 T    Mon Nov 30 03:56:07 2026 sh -c sleep 60 ${MARKER_NAME}=${MARKER}
 3009  2968  2968 Z    Mon Nov 30 03:56:08 2026 [sleep] <defunct>
4194304 2968 4194304 Ssl Tue Dec  1 23:59:59 2026 /usr/lib/x y/helper
`;

// macOS pads the day with a blank, shows stopped and foreground states of its own, and prints a
// newline in a command as \012.
const MACOS = `
    1     0     1 Ss   Sat Nov 28 20:11:03 2026     /sbin/launchd
  341     1   341 S    Sat Nov 28 20:12:44 2026     /System/Library/PrivateFrameworks/CoreServices Internal.framework/Versions/A/Support/agent -d
 9211  9200  9211 S+   Tue Dec  1 09:05:03 2026     /opt/homebrew/bin/node /Users/ann/My Jobs/run.js TERM=xterm-256color ${MARKER_NAME}=${MARKER} SHELL=/bin/zsh
 9212  9211  9211 R+   Tue Dec  1 09:05:04 2026     sh -c echo a\\012echo b ${MARKER_NAME}=${MARKER}
 9213  9211  9211 U    Tue Dec  1 09:05:04 2026     (sleep)
 9214  9211  9211 Z    Tue Dec  1 09:05:04 2026     <defunct>
 9215  9211  9211 T    Tue Dec  1 09:05:04 2026     /bin/sleep 60
`;

Deno.test("parseProcessTable() reads what procps prints", () => {
  const rows = parseProcessTable(LINUX);
  assertEquals(rows.length, 7);
  assertEquals(rows[3], {
    pid: 2968,
    ppid: 2967,
    pgid: 2968,
    state: "Sl+",
    startedSeconds: STARTED,
    name: "node",
    marker: MARKER,
  });
  assertEquals(rows.map((row) => row.pid), [1, 2, 77, 2968, 3008, 3009, 4194304]);
  assertEquals(rows.map((row) => row.name).slice(0, 3), [
    "init",
    "[kthreadd]",
    "[kworker/R-ext4-rsv-conversion]",
  ]);
  assertEquals(rows[6]?.startedSeconds, Date.UTC(2026, 11, 1, 23, 59, 59) / 1000);
  assertEquals(rows.map(isAlive), [true, true, true, true, true, false, true]);
  assertEquals(rows.map(isStopped), [false, false, false, false, true, false, false]);
});

Deno.test("parseProcessTable() reads what the ps of macOS prints", () => {
  const rows = parseProcessTable(MACOS);
  assertEquals(rows.map((row) => row.pid), [1, 341, 9211, 9212, 9213, 9214, 9215]);
  assertEquals(rows.map((row) => row.marker), [null, null, MARKER, MARKER, null, null, null]);
  assertEquals(rows[2]?.startedSeconds, Date.UTC(2026, 11, 1, 9, 5, 3) / 1000);
  assertEquals(rows.map(isAlive), [true, true, true, true, true, false, true]);
  assertEquals(isStopped(rows[6]!), true);
});

Deno.test("parseProcessTable() reads a day that stands before the month", () => {
  const [row] = parseProcessTable("  9  1  9 S  Mon 30 Nov 03:56:07 2026  sh");
  assertEquals(row?.startedSeconds, STARTED);
});

const row = (command: string) => `  9  1  9 S  Mon Nov 30 03:56:07 2026 ${command}`;

Deno.test("parseProcessTable() keeps nothing of arguments and environment but name and marker", () => {
  const rows = parseProcessTable(
    row(`/usr/bin/curl -H token:s3cret API_KEY=sk-1 ${MARKER_NAME}=${MARKER}`),
  );
  assertEquals(JSON.stringify(rows).includes("s3cret"), false);
  assertEquals(JSON.stringify(rows).includes("sk-1"), false);
  assertEquals(rows[0]?.name, "curl");
});

Deno.test.each([
  ["in the environment", `sh x ${MARKER_NAME}=${MARKER} HOME=/`, MARKER],
  [
    "of another run in the arguments before ours",
    `sh ${MARKER_NAME}=${OTHER_MARKER} ${MARKER_NAME}=${MARKER}`,
    MARKER,
  ],
  ["at the very end", `sh ${MARKER_NAME}=${MARKER}`, MARKER],
  ["with a longer value", `sh ${MARKER_NAME}=${MARKER}0`, null],
  ["with a shorter value", `sh ${MARKER_NAME}=${MARKER.slice(1)}`, null],
  ["in another variable's value", `sh X=${MARKER_NAME}=${MARKER}`, null],
  ["as the end of another name", `sh MY_${MARKER_NAME}=${MARKER}`, null],
  ["in capitals", `sh ${MARKER_NAME}=${MARKER.toUpperCase()}`, null],
])(
  "parseProcessTable() finds the marker %s",
  (_name: string, command: string, marker: string | null) => {
    assertEquals(parseProcessTable(row(command))[0]?.marker, marker);
  },
);

Deno.test("parseProcessTable() adds a line that is no process to the one before it", () => {
  const rows = parseProcessTable(
    [row("sh -c a"), "second line of the command", `third ${MARKER_NAME}=${MARKER} HOME=/`, ""]
      .join("\n"),
  );
  assertEquals(rows.length, 1);
  assertEquals(rows[0]?.marker, MARKER);
});

Deno.test("parseProcessTable() takes a second line with the same pid for text", () => {
  const rows = parseProcessTable(
    [row("sh"), row(`forged`), row("x").replace("  9", " 10")].join("\n"),
  );
  assertEquals(rows.map((each) => [each.pid, each.name]), [[9, "sh"], [10, "x"]]);
});

Deno.test("parseProcessTable() reads lines with odd separators and enormous environments", () => {
  const environment = Array.from({ length: 20_000 }, (_, i) => `VARIABLE_${i}=${"x".repeat(40)}`);
  const startedMs = performance.now();
  const rows = parseProcessTable(
    row(`sh a\u2028b\r ${environment.join(" ")} ${MARKER_NAME}=${MARKER}`),
  );
  assertEquals(rows[0]?.marker, MARKER);
  assert(performance.now() - startedMs < 500, "a megabyte of environment must not take long");
});

Deno.test.each([
  ["nothing", ""],
  ["an error text", "error: unsupported option (BSD syntax)\n\nUsage:\n ps [options]\n"],
  ["headings", "  PID  PPID  PGID STAT STARTED COMMAND\n"],
  ["one column", "    1\n    2\n 3008\n"],
  ["busybox", "PID   USER     TIME  COMMAND\n    1 root      0:01 init\n    9 root      0:00 sh\n"],
  ["a month that is none", row("sh").replace("Nov", "Nix")],
])("parseProcessTable() throws on %s", (_name: string, text: string) => {
  const error = assertThrows(() => parseProcessTable(text), ProcessTableError);
  assertStringIncludes(error.message, "no line of ps looks like a process");
  assertStringIncludes(error.message, "busybox");
});

Deno.test("isSameProcess() allows for one second of jitter and not for three", () => {
  const at = (startedSeconds: number, pid = 9) => ({ pid, startedSeconds, name: "sh" });
  for (const offset of [-2, -1, 0, 1, 2]) {
    assert(isSameProcess(at(100 + offset), at(100)), `${offset}`);
  }
  for (const offset of [-3, 3, 3600]) {
    assert(!isSameProcess(at(100 + offset), at(100)), `${offset}`);
  }
  assert(!isSameProcess(at(100, 10), at(100)));
  assertEquals(START_TOLERANCE_SECONDS, 2);
});

Deno.test("processTableArguments() gives each column an option of its own", () => {
  for (const os of ["linux", "darwin"] as const) {
    const args = processTableArguments(os);
    assertEquals(args.filter((arg) => arg === "-o").length, 6);
    assertEquals(args.some((arg) => arg.includes(",")), false);
  }
});

Deno.test("readProcessTable() shows this process and its parent", async () => {
  const own = (await readProcessTable()).find((each) => each.pid === Deno.pid);
  assertEquals(own?.ppid, Deno.ppid);
});

Deno.test("readProcessTable() and the clock agree about the start of a process", async () => {
  for (let i = 0; i < 5; i++) {
    const wallSeconds = Math.floor(Date.now() / 1000);
    await using stranger = await startStranger();
    const aheadSeconds = stranger.row.startedSeconds - wallSeconds;
    assert(Math.abs(aheadSeconds) <= START_TOLERANCE_SECONDS, `ps is ${aheadSeconds} s ahead`);
  }
});

Deno.test("readProcessTable() does not depend on time zone and language of the environment", async () => {
  const code = `import { identify } from ${
    JSON.stringify(import.meta.resolve("./process_table.ts"))
  };
    console.log(JSON.stringify(await identify(${Deno.pid})));`;
  const own = await identify(Deno.pid);
  for (
    const env of [{ TZ: "Asia/Kolkata", LC_ALL: "de_DE.UTF-8" }, {
      TZ: "America/New_York",
      LC_TIME: "tr_TR",
      PS_FORMAT: "pid",
    }]
  ) {
    const output = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-lock", "--no-config", "-A", "-"],
      env,
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    const writer = output.stdin.getWriter();
    await writer.write(new TextEncoder().encode(code));
    await writer.close();
    const { stdout } = await output.output();
    assert(isSameProcess(JSON.parse(new TextDecoder().decode(stdout)), own!));
  }
});

Deno.test("readProcessTable() tells a marker in the environment from one in the arguments", async () => {
  const marker = newMarker();
  const word = `${MARKER_NAME}=${marker}`;
  await using quoting = await startStranger(["sh", "-c", "sleep 60; :", word]);
  await using marked = await startStranger(["sh", "-c", "sleep 60; :"], { [MARKER_NAME]: marker });
  await using both = await startStranger(["sh", "-c", "sleep 60; :", word], {
    [MARKER_NAME]: marker,
  });
  const byPid = new Map((await readProcessTable()).map((each) => [each.pid, each.marker]));
  assertEquals(byPid.get(quoting.pid), null);
  assertEquals(byPid.get(marked.pid), marker);
  assertEquals(byPid.get(both.pid), marker);
});

Deno.test("readProcessTable() asks no second time about a process in a marked group", async () => {
  const marker = newMarker();
  const dir = await Deno.makeTempDir({ prefix: "process-table-group-" });
  try {
    const wait = `while [ ! -e ${dir}/go ]; do sleep 0.01; done; : >${dir}/gone-on; `;
    const child = `env -i sh -c 'sleep 60; :' quoting ${MARKER_NAME}=${marker}; :`;
    await using leader = await startStranger(["sh", "-c", wait + child], { [MARKER_NAME]: marker });
    assertEquals(await markerOf(leader.pid), marker);
    await Deno.writeTextFile(`${dir}/go`, "");
    const inGroup = await waitUntil(
      async () =>
        (await readProcessTable()).find((row) => row.ppid === leader.pid && row.marker !== null) ??
          null,
      { limitMs: 10_000 },
    );
    // It has no marker in its environment, and is ours all the same: by its group.
    assertEquals(inGroup?.pgid, leader.pid);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

async function markerOf(pid: number): Promise<string | null | undefined> {
  return (await readProcessTable()).find((row) => row.pid === pid)?.marker;
}

Deno.test("readProcessTable() reads a newline and a forged line in a command", async () => {
  const marker = newMarker();
  const forged = `x\n  99999 1 99999 S Mon Nov 30 03:56:07 2026 evil ${MARKER_NAME}=${marker}`;
  await using stranger = await startStranger(["sh", "-c", "sleep 60; :", forged], { NL: "a\nb" });
  const table = await readProcessTable();
  assertEquals(table.find((each) => each.pid === stranger.pid)?.marker ?? null, null);
  assertEquals(table.some((each) => each.name === "evil"), false);
});

Deno.test("readProcessTable() shows a dead process that nobody collected as dead", async () => {
  // The shell starts a child, then becomes a program that never collects it.
  await using parent = await startStranger(["sh", "-c", "true & exec sleep 60"]);
  const zombie = await waitUntil(
    async () =>
      (await readProcessTable()).find((each) =>
        each.ppid === parent.pid && each.state.startsWith("Z")
      ),
    {
      limitMs: 5000,
    },
  );
  assertEquals(isAlive(zombie!), false);
  assertEquals(await identify(zombie!.pid), null);
});

Deno.test("readProcessTable() shows a stopped process as stopped", async () => {
  await using stranger = await startStranger();
  await sendSignal("STOP", [stranger.pid]);
  const stopped = await waitUntil(
    async () =>
      (await readProcessTable()).find((each) => each.pid === stranger.pid && isStopped(each)),
    { limitMs: 5000 },
  );
  assert(stopped);
});

Deno.test("identify() gives null for a pid that nobody has", async () => {
  let pid: number;
  {
    await using stranger = await startStranger();
    pid = stranger.pid;
  }
  assertEquals(await isPidAlive(pid), false);
  assertEquals(await identify(pid), null);
});

/** Puts a shell script in the place of `ps` while `test` runs. $PS is the real one. */
async function withFakePs(script: string, test: (dir: string) => Promise<void>): Promise<void> {
  const real = systemTool("ps");
  await using dir = await makeTestDir("ps");
  const fake = `${dir.path}/ps`;
  await Deno.writeTextFile(fake, `#!/bin/sh\nPS=${real}; DIR=${dir.path}\n${script}\n`);
  await Deno.chmod(fake, 0o755);
  try {
    rememberSystemTools({ ps: fake });
    await test(dir.path);
  } finally {
    rememberSystemTools({ ps: real });
  }
}

Deno.test("readProcessTable() asks for times in UTC and text in C, whatever this machine speaks", async () => {
  await withFakePs(`env > $DIR/env; exec $PS "$@"`, async (dir) => {
    await readProcessTable();
    const env = (await Deno.readTextFile(`${dir}/env`)).split("\n");
    assertEquals(["TZ=UTC0", "LC_ALL=C"].every((each) => env.includes(each)), true);
  });
});

const BAD_PS: [string, string, string][] = [
  ["fails", "echo 'bad option' >&2; exit 1", "ps ended with 1: bad option"],
  ["fails after half of its work", `$PS "$@" | head -n 3; exit 2`, "ps ended with 2"],
  ["is killed", "kill -s KILL $$", "ps ended with SIGKILL"],
  ["does not show this process", `$PS "$@" | head -n 3`, "but not this one"],
  ["says nothing", "exit 0", "no line of ps looks like a process"],
  ["is that of busybox", "echo 'PID USER COMMAND'; echo '1 root init'", "busybox"],
];

for (const [name, script, message] of BAD_PS) {
  Deno.test(`readProcessTable() throws where ps ${name}`, async () => {
    await withFakePs(script, async () => {
      await assertRejects(() => readProcessTable(), ProcessTableError, message);
    });
  });
}

Deno.test("readProcessTable() does not wait for a ps that hangs", async () => {
  await withFakePs("exec sleep 60", async () => {
    const startMs = performance.now();
    await assertRejects(() => readProcessTable(200), ProcessTableError, "SIGKILL");
    assert(performance.now() - startMs < 5000);
  });
});

Deno.test({
  name: "readProcessTable() throws without the permission to run ps",
  permissions: { run: ["sleep"], read: true },
  fn: () =>
    assertRejects(() => readProcessTable(), ProcessTableError, "could not be started").then(
      () => {},
    ),
});
