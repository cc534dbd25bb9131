/**
 * The worker: a job of small units that the lab starts, watches and lets fail on cue. It is a POSIX
 * shell script, because `sh` is there on every machine, starts in two milliseconds, and fails the
 * way that real runners fail.
 *
 * One unit is one file, `out/unit-03.txt`, made under a temporary name and renamed when it is
 * whole, with a last line that says so; then one line in the checkpoint `state.jsonl`. Both are what
 * a careful job does: what goes wrong in a drill is the failure's doing and not the worker's.
 *
 * @module
 */
import { SYSTEM_PATH } from "./system_tools.ts";

/** Last line of every whole output of the worker. */
export const END_MARK = "-- end of unit --";

/** Where the worker keeps what it has done. */
export const CHECKPOINT_NAME = "state.jsonl";

/** Where the receiver of the worker's messages notes each one. */
export const EFFECTS_NAME = "sent.log";

/** Glob of the worker's outputs. */
export const OUTPUTS_GLOB = "out/unit-*.txt";

/**
 * What goes wrong, and when: before the unit with the cue's number is begun.
 *
 * - `ask`: reads an answer from stdin. A pipe that nobody writes to blocks it for ever; at
 *   end-of-file it takes the default answer and goes on. `ask-beating` touches `heartbeat` all the
 *   while, `ask-chatty` prints a line again and again.
 * - `hold`: waits, so that the lab can end it at exactly this point.
 * - `child`: notes its pid in `leader.pid`, starts a helper that writes a draft over the next output
 *   again and again, and waits. `child-deaf` has a helper that ignores TERM, `child-session` one in a
 *   session of its own, `child-fork` one whose parent is gone at once, `child-stopped` one that is
 *   stopped before its first write; `child-brief` one that soon ends by itself, and goes on working.
 * - `hollow`: says SUCCESS and exits 0 without doing anything; `hollow-empty` makes empty outputs,
 *   `hollow-last` does everything but leaves the last output empty.
 */
export type WorkerCue =
  | "none"
  | "ask"
  | "ask-beating"
  | "ask-chatty"
  | "hold"
  | "child"
  | "child-deaf"
  | "child-session"
  | "child-fork"
  | "child-stopped"
  | "child-brief"
  | "hollow"
  | "hollow-empty"
  | "hollow-last";

/**
 * How the worker finds out what is done already.
 *
 * - `strict`: by the checkpoint, and it refuses to work (exit 65) when a line of it is damaged.
 * - `skip-bad`: by the checkpoint; damaged lines are skipped, as many runners do.
 * - `disk`: by the outputs that end as a whole one does.
 */
export type WorkerLoad = "strict" | "skip-bad" | "disk";

/** What a worker is to do. */
export interface WorkerPlan {
  /** How many units there are. */
  units: number;
  /** What goes wrong. @default {"none"} */
  cue?: WorkerCue;
  /** Number of the unit before which the cue comes; 1 is the first. */
  cueAt?: number;
  /** A name, relative to its folder: the cue comes only while nothing has it, and takes it. */
  cueOnce?: string;
  /** How it finds out what is done. @default {"strict"} */
  load?: WorkerLoad;
  /** Whether it keeps a checkpoint. @default {true} */
  checkpoint?: boolean;
  /** Whether each unit sends one message. @default {false} */
  effects?: boolean;
  /** Pause inside each unit. @default {4} */
  pauseMs?: number;
  /** File for everything that it prints, relative to its folder. @default {"worker.log"} */
  log?: string;
}

/** Exit code of a worker that finds its checkpoint damaged (EX_DATAERR). */
export const WORKER_DAMAGED_EXIT = 65;

/** The content of a whole output of the worker. */
export function unitText(name: string): string {
  const lines = Array.from({ length: 6 }, (_, i) => `${name}: line ${i + 1} of its work`);
  return [...lines, END_MARK, ""].join("\n");
}

/** Name of a unit: `unit-03`. */
export function unitName(number: number): string {
  return `unit-${String(number).padStart(2, "0")}`;
}

/** The script. Written for `dash`, `bash` in POSIX mode and the `sh` of macOS alike. */
export const WORKER_SCRIPT = `# The worker of failure-lab: units of work, one after another.
set -u
LC_ALL=C; export LC_ALL
exec >>"$WORKER_LOG" 2>&1

# A helper that the worker starts: sh worker.sh helper KIND UNIT
if [ "\${1-}" = helper ]; then
  case $2 in
    brief) sleep 0.03; exit 0 ;;
    deaf) trap '' TERM HUP INT ;;
    stopped) kill -STOP $$ ;;
  esac
  n=0
  while :; do
    n=$((n + 1))
    printf '%s: draft %d\\n' "$3" $n >"out/$3.txt"
    sleep 0.015 2>/dev/null || sleep 1
  done
fi

nap() { sleep "$WORKER_PAUSE" 2>/dev/null || sleep 1; }
if command -v sha256sum >/dev/null 2>&1; then hasher=sha256sum; else hasher='shasum -a 256'; fi

content_of() {
  content=
  for i in 1 2 3 4 5 6; do content="$content$1: line $i of its work
"; done
  content="$content${END_MARK}
"
}

# Which units are done already: their names between blanks, in $finished.
load() {
  finished=' '; damaged=0
  if [ "$WORKER_LOAD" = disk ]; then
    for file in out/unit-*.txt; do
      [ -s "$file" ] && [ "$(tail -n 1 "$file")" = '${END_MARK}' ] || continue
      name=\${file#out/}; finished="$finished\${name%.txt} "
    done
    return
  fi
  [ -e ${CHECKPOINT_NAME} ] || return
  while line=; IFS= read -r line || { [ -n "$line" ] && damaged=$((damaged + 1)); }; do
    case $line in
      ?*'{'*) [ "$WORKER_LOAD" = skip-bad ] || { damaged=$((damaged + 1)); continue; } ;;
    esac
    case $line in
      '{"unit":"unit-'[0-9][0-9]'","path":"out/'*',"sha256":"'*'"}')
        name=\${line#'{"unit":"'}; finished="$finished\${name%%'"'*} " ;;
      *) damaged=$((damaged + 1)) ;;
    esac
  done <${CHECKPOINT_NAME}
}

do_unit() {
  content_of "$1"
  printf %s "$content" >"out/.$1.tmp"
  sum=$(printf %s "$content" | $hasher)
  nap
  mv "out/.$1.tmp" "out/$1.txt"
  [ "$WORKER_EFFECTS" = no ] || printf '%s\\n' "$1" >>${EFFECTS_NAME}
  [ "$WORKER_CHECKPOINT" = no ] || printf '{"unit":"%s","path":"out/%s.txt","bytes":%s,"by":"wörker","sha256":"%s"}\\n' \\
    "$1" "$1" "\${#content}" "\${sum%% *}" >>${CHECKPOINT_NAME}
  echo "$1 done"
}

repeat() { while :; do "$@"; sleep 0.02 2>/dev/null || sleep 1; done; }
beat() { : >heartbeat; }
ask() {
  echo "$1: the output exists elsewhere. Overwrite it? [y/N]"
  read -r answer || answer=N
  [ -z "\${helper-}" ] || kill "$helper"
  echo "$1: answer is $answer"
}

cue() {
  [ -z "$WORKER_CUE_ONCE" ] || mkdir "$WORKER_CUE_ONCE" 2>/dev/null || return 0
  case $WORKER_CUE in
    ask) ask "$1" ;;
    ask-beating) repeat beat & helper=$!; ask "$1" ;;
    ask-chatty) repeat echo "$1: still working" & helper=$!; ask "$1" ;;
    hold) echo "$1: holding"; sleep 60 ;;
    child-brief) sh "$0" helper brief "$1" & ;;
    child*)
      echo $$ >leader.pid
      kind=\${WORKER_CUE#child}; kind=\${kind#-}
      case $kind in
        session) if command -v setsid >/dev/null 2>&1; then setsid sh "$0" helper plain "$1" &
          else (set -m; sh "$0" helper plain "$1" &); fi ;;
        fork) (sh "$0" helper plain "$1" &) ;;
        *) sh "$0" helper "\${kind:-plain}" "$1" & ;;
      esac
      echo "$1: holding"; sleep 60 ;;
    hollow) echo SUCCESS; exit 0 ;;
    hollow-empty)
      n=1
      while [ $n -le "$WORKER_UNITS" ]; do
        : >"out/$(printf 'unit-%02d' $n).txt"; n=$((n + 1))
      done
      echo SUCCESS; exit 0 ;;
    hollow-last) : >"out/$1.txt"; echo SUCCESS; exit 0 ;;
  esac
}

mkdir -p out
load
if [ $damaged -gt 0 ] && [ "$WORKER_LOAD" = strict ]; then
  echo "${CHECKPOINT_NAME}: $damaged damaged line(s); not working on a checkpoint that lies" >&2
  exit ${WORKER_DAMAGED_EXIT}
fi
number=1
while [ $number -le "$WORKER_UNITS" ]; do
  if [ $number -lt 10 ]; then unit=unit-0$number; else unit=unit-$number; fi
  case $finished in
    *" $unit "*) ;;
    *) [ $number -ne "$WORKER_CUE_AT" ] || cue "$unit"; do_unit "$unit" ;;
  esac
  number=$((number + 1))
done
echo SUCCESS
`;

/** Writes the script. */
export function writeWorker(path: string): void {
  Deno.writeTextFileSync(path, WORKER_SCRIPT, { createNew: true, mode: 0o700 });
}

/** The environment in which the worker does its plan; nothing else is needed. */
export function workerEnvironment(plan: WorkerPlan): Record<string, string> {
  const yes = (value: boolean | undefined, otherwise: boolean) =>
    (value ?? otherwise) ? "yes" : "no";
  return {
    PATH: SYSTEM_PATH,
    LC_ALL: "C",
    WORKER_UNITS: String(plan.units),
    WORKER_CUE: plan.cue ?? "none",
    WORKER_CUE_AT: String(plan.cueAt ?? 0),
    WORKER_CUE_ONCE: plan.cueOnce ?? "",
    WORKER_LOAD: plan.load ?? "strict",
    WORKER_CHECKPOINT: yes(plan.checkpoint, true),
    WORKER_EFFECTS: yes(plan.effects, false),
    WORKER_PAUSE: ((plan.pauseMs ?? 4) / 1000).toFixed(3),
    WORKER_LOG: plan.log ?? "worker.log",
  };
}
