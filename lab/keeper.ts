/**
 * The keeper: a tiny shell process that holds a pipe to the lab. When the lab dies, even by
 * SIGKILL, the pipe gives end-of-file and the keeper ends what the lab had started.
 *
 * It knows by itself who carries the run's marker and who descends from those. The lab tells it of
 * the groups that it made, when such a group is over, and of processes that show no marker; each
 * with its start time, so that a stranger who got the same number is left alone.
 *
 * @module
 */
import { MARKER_NAME, processTableArguments, START_TOLERANCE_SECONDS } from "./process_table.ts";
import type { ProcessIdentity } from "./record.ts";
import { killQuietly, SYSTEM_PATH, systemTool } from "./system_tools.ts";

/** A running keeper. */
export interface Keeper extends AsyncDisposable {
  /** Process id of its shell. */
  readonly pid: number;
  /** Tells it of a group leader: the whole group is to be ended. */
  addLeader(leader: ProcessIdentity): Promise<void>;
  /** Tells it that the group of this leader is over; its number may be given to a stranger. */
  dropLeader(leader: ProcessIdentity): Promise<void>;
  /** Tells it of one process that shows no marker; see `LedgerListener`. */
  addKnown(unmarked: ProcessIdentity): Promise<void>;
  /** Ends it; it leaves every process alone. Safe to call twice. */
  stop(): Promise<void>;
}

/** How to run the keeper; tests try other shells and tools. */
export interface KeeperOptions {
  /** The shell and its arguments before `-c`. @default {["sh"] of the system} */
  shell?: readonly [string, ...string[]];
  /** Where it finds `ps`, `awk` and `sleep`. @default {SYSTEM_PATH} */
  path?: string;
}

/** Processes that one keeper is told of; its list is held in a shell variable. */
const TOLD_MAX = 2000;
/** A keeper that does not end when told so, for example because it is stopped, is killed. */
const STOP_LIMIT_MS = 2000;

// Reads three parts: what the lab told ("group KEY KEY…", "over PID", "known KEY KEY…"), then after a
// line "args" the arguments of every process, then after a line "table" the process table with the
// environment. A KEY is pid:Mon:day:time:year. Prints what to kill: pids, and groups as negative
// numbers. A group of which the table shows nobody gets a "maybe" in front: it may be empty, or hold
// a chain of forks that ps cannot catch. While it has a member its number is not given away.
// The line is never split as a whole: some awks give up on a line of many thousand words.
const KEEPER_AWK = `
BEGIN { FS = "\\n"; part = "told"; sign = "${MARKER_NAME}=" marker " " }
$0 == "args" || $0 == "table" { part = $0; next }
part == "told" {
  words = split($0, word, " ")
  if (word[1] == "over") { delete started[word[2]]; next }
  for (i = 2; i <= words; i++) {
    if (word[1] == "known") { known[word[i]] = 1; continue }
    leader[word[i]] = 1
    split(word[i], key, ":")
    started[key[1]] = 1
  }
  next
}
{ words = split(substr($0, 1, 120), word, " ") }
words < 1 || word[1] !~ /^[0-9]+$/ { next }
part == "args" { if (index($0 " ", sign)) quotes[word[1]] = 1; next }
words < 9 || word[1] + 0 <= 1 || word[1] == self { next }
{
  pid = word[1]
  id = pid ":" word[6] ":" word[7] ":" word[8] ":" word[9]
  if ((pid in started) && !(id in leader)) delete started[pid]
}
word[4] ~ /^[ZX]/ { next }
{
  pids[++count] = pid; parent[pid] = word[2]; group[pid] = word[3]
  if (id in known) ours[pid] = 1
  if (!(pid in quotes) && index($0 " ", " " sign)) ours[pid] = 1
}
END {
  for (i = 1; i <= count; i++) if (group[pids[i]] in started) ours[pids[i]] = 1
  do {
    added = 0
    for (i = 1; i <= count; i++) {
      pid = pids[i]
      if (!(pid in ours) && (parent[pid] in ours)) { ours[pid] = 1; added = 1 }
    }
  } while (added)
  for (pid in ours) printf "%s%s ", (group[pid] == pid ? "-" : ""), pid
  for (pid in started) if (!(pid in ours)) printf "maybe-%s ", pid
}
`;

// The marker comes in through the pipe and not as an argument or in the environment, so that the
// keeper never looks like a process of the run. $1 is the awk program; the rest is for ps.
const KEEPER_SCRIPT = `
trap '' INT TERM HUP PIPE
marker=none
told=
while IFS=' ' read -r word value; do
  case $word in
    marker) marker=$value ;;
    group | over | known) told="$told$word $value
" ;;
    bye) exit 0 ;;
  esac
done
program=$1
shift
ours() {
  {
    printf '%s\\nargs\\n' "$told"
    ps -A -ww -o pid= -o args=
    echo table
    ps "$@"
  } 2>/dev/null | awk -v marker="$marker" -v self="$$" "$program"
}
tries=0
while [ "$tries" -lt 40 ]; do
  left=
  for word in $(ours "$@"); do
    case $word in
      maybe*)
        word=\${word#maybe}
        kill -s 0 -- "$word" 2>/dev/null || continue
        ;;
    esac
    left="$left $word"
  done
  if [ -n "$left" ]; then
    # shellcheck disable=SC2086 # one word for each process
    kill -s KILL -- $left 2>/dev/null
  elif [ "$tries" -gt 2 ]; then
    exit 0
  fi
  tries=$((tries + 1))
  sleep 0.05 2>/dev/null || sleep 1
done
`;

/**
 * Starts a keeper for one run. Requires `--allow-run` for `sh`; `ps`, `awk` and `sleep` must be
 * where {@linkcode SYSTEM_PATH} says.
 *
 * @param marker The run's marker (32 hexadecimal digits).
 * @throws {EnvironmentError} When the machine lacks one of those programs.
 */
export async function startKeeper(marker: string, options: KeeperOptions = {}): Promise<Keeper> {
  if (options.path === undefined) { for (const tool of ["ps", "awk", "sleep"]) systemTool(tool); }
  const [shell, ...shellArgs] = options.shell ?? [systemTool("sh")];
  const table = processTableArguments(Deno.build.os);
  const child = new Deno.Command(shell, {
    args: [...shellArgs, "-c", KEEPER_SCRIPT, "failure-lab-keeper", KEEPER_AWK, ...table],
    env: { PATH: options.path ?? SYSTEM_PATH, LC_ALL: "C", TZ: "UTC0" },
    clearEnv: true,
    cwd: "/",
    stdin: "piped",
    stdout: "null",
    stderr: "null",
    // A session of its own: Ctrl-C and the end of the terminal go past it.
    detached: true,
  }).spawn();
  const keeper = new RealKeeper(child);
  await keeper.say(`marker ${marker}`);
  return keeper;
}

class RealKeeper implements Keeper {
  readonly pid: number;
  readonly #child: Deno.ChildProcess;
  readonly #pipe: WritableStreamDefaultWriter<Uint8Array>;
  #toldCount = 0;
  #stopping: Promise<void> | null = null;

  constructor(child: Deno.ChildProcess) {
    this.pid = child.pid;
    this.#child = child;
    this.#pipe = child.stdin.getWriter();
  }

  async say(line: string): Promise<void> {
    // A keeper that somebody killed must not end the run: the lab still reaps by itself.
    await this.#pipe.write(new TextEncoder().encode(`${line}\n`)).catch(() => {});
  }

  async #tell(words: readonly string[]): Promise<void> {
    if (this.#stopping !== null || this.#toldCount >= TOLD_MAX) return;
    this.#toldCount++;
    await this.say(words.join(" "));
  }

  addLeader(leader: ProcessIdentity): Promise<void> {
    return this.#tell(["group", ...keysOf(leader)]);
  }

  async dropLeader(leader: ProcessIdentity): Promise<void> {
    if (this.#stopping === null) await this.say(`over ${leader.pid}`);
  }

  addKnown(unmarked: ProcessIdentity): Promise<void> {
    return this.#tell(["known", ...keysOf(unmarked)]);
  }

  stop(): Promise<void> {
    return this.#stopping ??= this.#stop();
  }

  async #stop(): Promise<void> {
    const timer = setTimeout(() => killQuietly(this.#child), STOP_LIMIT_MS);
    await this.say("bye");
    await this.#pipe.close().catch(() => {});
    await this.#child.status;
    clearTimeout(timer);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

/** The start time the way `ps` prints it, and its neighbours, because two readings can differ. */
function keysOf(told: ProcessIdentity): string[] {
  const keys: string[] = [];
  for (let off = -START_TOLERANCE_SECONDS; off <= START_TOLERANCE_SECONDS; off++) {
    // "Mon, 30 Nov 2026 03:56:07 GMT"
    const [, day, month, year, time] = new Date((told.startedSeconds + off) * 1000)
      .toUTCString().split(" ");
    keys.push(`${told.pid}:${month}:${Number(day)}:${time}:${year}`);
  }
  return keys;
}
