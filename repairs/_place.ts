/**
 * Where a process lives: host, boot, and process space (containers on one machine can share a name
 * and a kernel and still not see each other's processes). A pid means nothing without these.
 *
 * @module
 */
import { SYSTEM_PATH, systemTool } from "../lab/mod.ts";

/** One place in which pids mean something. `null` is "cannot be told on this system". */
export interface Place {
  /** Name of the machine. */
  host: string;
  /** Changes with each boot of the kernel, and not with the clock. */
  boot: string | null;
  /** The pid namespace (Linux). */
  pidSpace: string | null;
}

// The shell reads these, because a program with scoped rights may not look into /proc itself.
const SCRIPT = "b=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null || " +
  "sysctl -n kern.bootsessionuuid 2>/dev/null || sysctl -n kern.boottime 2>/dev/null); " +
  'echo "$b"; readlink /proc/self/ns/pid 2>/dev/null';

/** The place of this process. Requires `--allow-sys=hostname` and `sh`. */
export async function readPlace(): Promise<Place> {
  const { stdout } = await new Deno.Command(systemTool("sh"), {
    args: ["-c", SCRIPT],
    env: { PATH: SYSTEM_PATH, LC_ALL: "C" },
    clearEnv: true,
    stdin: "null",
    stderr: "null",
  }).output();
  const [boot = "", pidSpace = ""] = new TextDecoder().decode(stdout).split("\n");
  return { host: Deno.hostname(), boot: boot.trim() || null, pidSpace: pidSpace.trim() || null };
}
