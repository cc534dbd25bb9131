/**
 * The first watcher of `heartbeat`: a small shell process that looks at the declared files again
 * and again and writes what it saw into the beat file. It cannot beat without looking, and it stops
 * beating when the second watcher, which holds a pipe to it, has died or fallen silent.
 *
 * @module
 */
import { isAbsolute, isGlob } from "@std/path";
import { sendSignal, SYSTEM_PATH, systemTool } from "../lab/mod.ts";
import { removeIfThere } from "./_durable.ts";

// Arguments: beat file, seconds between looks, limit in seconds, looks until the second watcher
// counts as silent, then pairs of a folder and a pattern for find. Content counts, not times: a
// touched file is no progress. Files over a mebibyte count by size.
const WATCHER_SCRIPT = `
beat=$1 every=$2 limit=$3 patience=$4; shift 4
exec 3<&0 </dev/null
( while read -r _ <&3; do : >"$beat.second"; done; kill -s TERM $$; kill -s CONT $$ ) 2>/dev/null &
reader=$!
trap 'kill $reader 2>/dev/null; rm -f "$beat.new" "$beat.second"; exit 0' TERM
look() {
  while [ $# -gt 1 ]; do
    find -L "$1" -path "$2" -type f -size -2048 -exec cksum {} + 2>/dev/null
    find -L "$1" -path "$2" -type f -size +2047 -exec ls -ln {} + 2>/dev/null |
      while read -r _ _ _ _ bytes _ _ _ name; do echo "big $bytes $name"; done
    shift 2
  done | sort
}
sequence=0 changes=0 last= progress=$(date +%s) silent=0
: >"$beat.second"
while :; do
  seen=$(look "$@")
  state=$(echo "$seen" | cksum)
  at=$(date +%s)
  if [ "$state" != "$last" ]; then
    [ $sequence -gt 0 ] && changes=$((changes + 1))
    progress=$at last=$state
  fi
  files=0 bytes=0
  while read -r _ size _; do
    [ -n "$size" ] && files=$((files + 1)) bytes=$((bytes + size))
  done <<SEEN
$seen
SEEN
  if [ -e "$beat.second" ]; then silent=0; rm -f "$beat.second"; else silent=$((silent + 1)); fi
  if [ $silent -le $patience ]; then
    sequence=$((sequence + 1))
    printf '{"schema":"failure-lab/beat","version":1,"state":"watching","pid":%s,"sequence":%s,"changes":%s,"files":%s,"bytes":%s,"atSeconds":%s,"progressAtSeconds":%s,"everySeconds":%s,"limitSeconds":%s,"exitCode":null}\\n' \\
      $$ $sequence $changes $files $bytes $at $progress $every $limit >"$beat.new" &&
      mv -f "$beat.new" "$beat"
  fi
  sleep "$every" 2>/dev/null || sleep 1
done
`;

/** How often the second watcher may miss its sign before the first stops beating. */
const PATIENCE_LOOKS = 5;

/** What the first watcher watches. */
export interface WatcherOptions {
  beatFile: string;
  globs: readonly string[];
  cwd: string;
  everyMs: number;
  limitMs: number;
}

/** A running first watcher. */
export interface Watcher {
  readonly pid: number;
  /** Whether its process has ended. */
  readonly hasEnded: boolean;
  /** Tells it that the second watcher lives. */
  sign(): void;
  /** Ends it, also when it is stopped. Safe to call twice. */
  stop(): Promise<void>;
}

/** A folder and a pattern for `find -path`; wider than the glob where find cannot be as exact. */
export function findPattern(glob: string): [string, string] {
  const path = isAbsolute(glob) ? glob : `./${glob.replace(/^(\.\/)+/, "")}`;
  const parts = path.split("/");
  const first = parts.findIndex((part) => isGlob(part));
  if (first < 0) return [path, path];
  const folder = parts.slice(0, first).join("/") || "/";
  const isPlain = parts.every((part) => !/[{}()!+@|\\]/.test(part));
  return [folder, isPlain ? path.replaceAll(/\*+\/?\*+/g, "*") : `${folder}/*`];
}

/** Starts a first watcher. Requires `sh`, and the usual tools that every system has. */
export function startWatcher(options: WatcherOptions): Watcher {
  const { beatFile, everyMs, limitMs } = options;
  const child = new Deno.Command(systemTool("sh"), {
    args: [
      "-c",
      WATCHER_SCRIPT,
      "failure-lab-watcher",
      beatFile,
      String(everyMs / 1000),
      String(limitMs / 1000),
      String(PATIENCE_LOOKS),
      ...options.globs.flatMap(findPattern),
    ],
    cwd: options.cwd,
    env: { PATH: SYSTEM_PATH, LC_ALL: "C" },
    clearEnv: true,
    stdin: "piped",
    stdout: "null",
    stderr: "null",
    detached: true,
  }).spawn();
  const pipe = child.stdin.getWriter();
  let hasEnded = false;
  const status = child.status.then(() => void (hasEnded = true));
  const write = (text: string) => pipe.write(new TextEncoder().encode(text)).catch(() => {});
  let stopping: Promise<void> | null = null;
  return {
    pid: child.pid,
    get hasEnded() {
      return hasEnded;
    },
    sign: () => void write("alive\n"),
    stop() {
      stopping ??= (async () => {
        // KILL and not TERM: it may be stopped, and it has nothing to finish. Its reader, in the
        // same group, ends with the pipe when the watcher itself is gone already.
        if (!hasEnded) await sendSignal("KILL", [-child.pid]);
        await pipe.close().catch(() => {});
        await status;
        for (const end of [".new", ".second"]) removeIfThere(`${beatFile}${end}`);
      })();
      return stopping;
    },
  };
}
