/**
 * The list of commands. A new command is a file in `commands/` and a line here.
 *
 * Each is loaded only when it is wanted: the import must stand here as a literal, so that a
 * compiled program carries the file.
 *
 * @module
 */
import type { CommandEntry } from "./command.ts";

/** Every command, in the order in which the help text lists them. */
export const REGISTRY: readonly CommandEntry[] = [
  { name: "demo", load: () => import("./commands/demo.ts") },
  { name: "drills", load: () => import("./commands/drills.ts") },
  { name: "list", load: () => import("./commands/list.ts") },
  { name: "show", load: () => import("./commands/show.ts") },
  { name: "self-test", load: () => import("./commands/self_testing.ts") },
  { name: "help", load: () => import("./commands/help.ts") },
  { name: "init", load: () => import("./commands/init.ts") },
  { name: "doctor", load: () => import("./commands/doctor.ts") },
  { name: "rehearse", load: () => import("./commands/rehearse.ts") },
  { name: "replay", load: () => import("./commands/replay.ts") },
  { name: "sweep", load: () => import("./commands/sweep.ts") },
  { name: "repair", load: () => import("./commands/repair.ts") },
  { name: "permissions", load: () => import("./commands/permissions.ts") },
  { name: "compare", load: () => import("./commands/compare.ts") },
  { name: "regrade", load: () => import("./commands/regrade.ts") },
  { name: "receipt", load: () => import("./commands/receipt.ts") },
  { name: "verify", load: () => import("./commands/verify.ts") },
];
