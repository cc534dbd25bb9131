/**
 * The keeper: a tiny shell process that holds a pipe to the lab. When the lab dies, even by
 * SIGKILL, the pipe gives end-of-file and the keeper ends what the lab had started.
 *
 * @module
 */
import { MARKER_NAME, processTableArguments } from "./process_table.ts";
import { SYSTEM_PATH, systemTool } from "./system_tools.ts";
import type { ProcessIdentity } from "./record.ts";

/** A running keeper. */
export interface Keeper extends AsyncDisposable {
  readonly pid: number;
  /** Tells it of a group leader, for processes that drop our marker from their environment. */
  addLeader(leader: ProcessIdentity): Promise<void>;
  /** Ends it; it leaves every process alone. Safe to call twice. */
  stop(): Promise<void>;
}

// The marker comes in through the pipe and not as an argument, so that the keeper never looks like
// a process of the run. Groups come as "group PGID Mon Nov 30 03:56:07 2026": the leader's start
// time as ps prints it, compared to the second and to its neighbours (ps can differ by one).
const KEEPER_SCRIPT = `
trap '' INT TERM HUP PIPE
marker=none; groups=
while IFS=' ' read -r word value; do
  case $word in
    marker) marker=$value ;;
    group) groups="$groups $value" ;;
    bye) exit 0 ;;
  esac
done
ours() {
  ps "$@" 2>/dev/null | {
    found=
    while read -r pid ppid pgid stat _week _month day time _year rest; do
      case $pid$pgid in *[!0-9]*) continue ;; esac
      case $stat in Z*) continue ;; esac
      [ "$pid" = $$ ] && continue
      case " $rest " in *" ${MARKER_NAME}=$marker "*) found="$found $pid"; continue ;; esac
      case " $groups " in *" $pgid,$pid,"*) ;; *) continue ;; esac
      case " $groups " in *" $pgid,$pid,$day/$time "*) found="$found $pid -$pgid" ;; esac
    done
    echo "$found"
  }
}
tries=0
while [ $tries -lt 40 ]; do
  left=$(ours "$@")
  case $left in *[0-9]*) kill -s KILL -- $left 2>/dev/null ;; *) [ $tries -gt 2 ] && exit 0 ;; esac
  tries=$((tries + 1))
  sleep 0.05 2>/dev/null || sleep 1
done
`;

/**
 * Starts a keeper for one run.
 *
 * @param marker The run's marker (32 hexadecimal digits).
 */
export async function startKeeper(marker: string): Promise<Keeper> {
  systemTool("kill");
  const child = new Deno.Command(systemTool("sh"), {
    args: ["-c", KEEPER_SCRIPT, "failure-lab-keeper", ...processTableArguments(Deno.build.os)],
    env: { PATH: SYSTEM_PATH, LC_ALL: "C", TZ: "UTC0" },
    clearEnv: true,
    cwd: "/",
    stdin: "piped",
    stdout: "null",
    stderr: "null",
    detached: true,
  }).spawn();
  const pipe = child.stdin.getWriter();
  const say = (line: string) => pipe.write(new TextEncoder().encode(`${line}\n`)).catch(() => {});
  await say(`marker ${marker}`);
  let stopped = false;
  const stop = async () => {
    if (stopped) return;
    stopped = true;
    await say("bye");
    await pipe.close().catch(() => {});
    await child.status;
  };
  return {
    pid: child.pid,
    addLeader: (leader) => say(`group ${leader.pid},${leader.pid},${psTimeOf(leader)}`),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Day and time the way the keeper reads them from ps: "30/03:56:07". */
function psTimeOf(leader: ProcessIdentity): string {
  const at = new Date(leader.startedSeconds * 1000);
  return `${at.getUTCDate()}/${at.toISOString().slice(11, 19)}`;
}
