/**
 * The monitor: a small shell process that watches a worker's outputs, as people write it. It writes an
 * alert when nothing new has come for some looks, and touches a beat file at each look.
 *
 * What is wrong with it is the point: when it dies there are no alerts, and when it only beats it
 * looks alive.
 *
 * @module
 */

/** File that the monitor touches at each look. */
export const MONITOR_BEAT_NAME = "monitor.beat";

/** File into which the monitor writes its alerts. */
export const MONITOR_ALERTS_NAME = "alerts.log";

/** What a monitor does at each look: look and beat, or beat and not look. */
export type MonitorMode = "look" | "beat";

const MONITOR_SCRIPT = `# A monitor: sh monitor.sh MODE LOOKS
set -u
LC_ALL=C; export LC_ALL
last=; still=0
while :; do
  touch ${MONITOR_BEAT_NAME} || exit
  if [ "$1" = look ]; then
    now=$(ls out 2>/dev/null)
    if [ "$now" = "$last" ]; then still=$((still + 1)); else still=0; last=$now; fi
    if [ $still -ge "$2" ]; then echo "no new output for $still looks" >>${MONITOR_ALERTS_NAME}; still=0; fi
  fi
  sleep 0.03 2>/dev/null || sleep 1
done
`;

/** Writes the script. */
export function writeMonitor(path: string): void {
  Deno.writeTextFileSync(path, MONITOR_SCRIPT, { createNew: true, mode: 0o700 });
}

/** Arguments of the script. */
export function monitorArguments(mode: MonitorMode, looks: number): string[] {
  return [mode, String(looks)];
}
