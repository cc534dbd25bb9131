// Running one command with our terminal, and passing on the signals that are meant for it.

/** Where and with what to run a command. */
export interface RunOptions {
  /** The working directory. */
  cwd: string;
  /** Added to our own environment. */
  env: Record<string, string>;
  /** Removed from our own environment. */
  without?: readonly string[];
}

function environment({ env, without = [] }: RunOptions): Record<string, string> {
  const own = Object.entries(Deno.env.toObject()).filter(([name]) => !without.includes(name));
  return { ...Object.fromEntries(own), ...env };
}

/** Runs a command with our stdin, stdout and stderr, and returns its exit code. */
export async function run(program: string, args: string[], options: RunOptions): Promise<number> {
  const child = new Deno.Command(program, {
    args,
    cwd: options.cwd,
    clearEnv: true,
    env: environment(options),
    stdin: "inherit",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn();
  // Ctrl-C reaches the child from the terminal: we only have to outlive it. TERM and HUP reach
  // only us, so they are passed on.
  const pass = (signal: Deno.Signal) => () => {
    try {
      child.kill(signal);
    } catch {
      // it has ended meanwhile
    }
  };
  const listeners: [Deno.Signal, () => void][] = [
    ["SIGINT", () => {}],
    ["SIGTERM", pass("SIGTERM")],
    ["SIGHUP", pass("SIGHUP")],
  ];
  for (const [signal, listener] of listeners) Deno.addSignalListener(signal, listener);
  try {
    return (await child.status).code;
  } finally {
    for (const [signal, listener] of listeners) Deno.removeSignalListener(signal, listener);
  }
}

/** What a finished command wrote, as text. */
export interface Captured {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a short command without a terminal and returns what it wrote. */
export async function capture(
  program: string,
  args: string[],
  options: RunOptions,
): Promise<Captured> {
  const output = await new Deno.Command(program, {
    args,
    cwd: options.cwd,
    clearEnv: true,
    env: environment(options),
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  return {
    code: output.code,
    stdout: decoder.decode(output.stdout),
    stderr: decoder.decode(output.stderr),
  };
}
