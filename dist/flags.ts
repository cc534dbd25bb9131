// What the program may do. One list, used by `deno task demo`, `deno task run` and `deno compile`,
// so that running from source and running the binary never differ in rights.

/** The permission flags of the program, from source and compiled. Never --allow-all. */
export const PROGRAM_FLAGS: readonly string[] = [
  "--no-prompt",
  "--allow-read",
  "--allow-write",
  "--allow-run",
  "--allow-env",
  "--allow-net=127.0.0.1",
  "--allow-sys",
  "--unstable-worker-options",
];
