// Running a piece of code in a Deno of its own, for what cannot be tried in the test's own process:
// being killed, running out of disk.

import { ROOT } from "../../dist/paths.ts";

/** The arguments of a Deno that resolves the same imports as this one. */
export function denoRunArgs(script: string): string[] {
  const self = Deno.env.get("FAILURE_LAB_SELF_ARGS");
  if (self !== undefined) return [...(JSON.parse(self) as string[]).slice(0, -1), script];
  return [
    "run",
    "-A",
    "--no-lock",
    `--config=${ROOT}/deno.json`,
    `--import-map=${ROOT}/dist/import_map.npm.json`,
    script,
  ];
}

/**
 * Runs code with further flags, for example fewer permissions.
 *
 * @param dir Folder where the code is written.
 * @returns What it wrote to stdout.
 */
export async function runWithFlags(dir: string, flags: string[], code: string): Promise<string> {
  await Deno.writeTextFile(`${dir}/code.ts`, code);
  const [run = "run", ...rest] = denoRunArgs(`${dir}/code.ts`);
  const args = [run, ...flags, ...rest];
  const output = await new Deno.Command(Deno.execPath(), { args, stderr: "inherit" }).output();
  return new TextDecoder().decode(output.stdout);
}

/**
 * Runs code where a file can have 4 KiB at most: every write beyond fails, as on a full disk.
 *
 * @param dir Working folder; the code is written there.
 * @param code A module. It must not need more than what it imports by URL.
 * @returns What it wrote to stdout.
 */
export async function runFileSizeLimited(dir: string, code: string): Promise<string> {
  await Deno.writeTextFile(`${dir}/limited.ts`, code);
  // Deno itself writes its caches into DENO_DIR, so that those come first and without a limit.
  const warm = ["cache", "--no-lock", "--no-config", `${dir}/limited.ts`];
  await new Deno.Command(Deno.execPath(), { args: warm, stderr: "null" }).output();
  const output = await new Deno.Command("sh", {
    args: [
      "-c",
      `trap '' XFSZ; ulimit -f 8; exec "$@"`,
      "sh",
      Deno.execPath(),
      "run",
      "-A",
      "--no-lock",
      "--no-config",
      "limited.ts",
    ],
    cwd: dir,
    stderr: "inherit",
  }).output();
  return new TextDecoder().decode(output.stdout);
}
