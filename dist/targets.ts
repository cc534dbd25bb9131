// The machines that a binary can be built for, and the arguments of `deno task compile`.

import { EXIT_ENVIRONMENT, EXIT_USAGE, nearest, TaskError } from "./task_error.ts";

/** Our name of each target, and the compiler's. */
export const TARGETS = {
  "linux-x64": "x86_64-unknown-linux-gnu",
  "linux-arm64": "aarch64-unknown-linux-gnu",
  "macos-x64": "x86_64-apple-darwin",
  "macos-arm64": "aarch64-apple-darwin",
} as const;

/** A machine that a binary can be built for. */
export type Target = keyof typeof TARGETS;

/** One binary to build. */
export interface Build {
  target: Target;
  /** The file name in dist/. */
  output: string;
}

const NAMES = Object.keys(TARGETS) as Target[];

/** The target of the machine that we run on. */
export function hostTarget(build: { os: string; arch: string } = Deno.build): Target {
  const name = NAMES.find((target) => {
    const triple = TARGETS[target];
    return triple.startsWith(`${build.arch}-`) && triple.includes(`-${build.os}`);
  });
  if (name === undefined) {
    throw new TaskError(
      `Cannot build for this machine: it is ${build.os} on ${build.arch}, and the targets are ` +
        `${NAMES.join(", ")}. Choose one with --target`,
      EXIT_ENVIRONMENT,
    );
  }
  return name;
}

/** Reads the arguments: none builds dist/failure-lab for this machine. */
export function parseBuilds(args: readonly string[], host: () => Target = hostTarget): Build[] {
  const wanted: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? "";
    if (arg === "--target") {
      const value = args[++i];
      if (value === undefined) throw usage("--target needs a value", undefined);
      wanted.push(value);
    } else if (arg.startsWith("--target=")) wanted.push(arg.slice("--target=".length));
    else throw usage(`the argument "${arg}" is unknown`, "--target");
  }
  if (wanted.length === 0) return [{ target: host(), output: "failure-lab" }];
  const targets = wanted.flatMap((name) => name === "all" ? NAMES : [known(name)]);
  return [...new Set(targets)].map((target) => ({ target, output: `failure-lab-${target}` }));
}

function known(name: string): Target {
  const target = NAMES.find((one) => one === name);
  if (target === undefined) {
    throw usage(`the target "${name}" is unknown`, nearest(name, [...NAMES, "all"]));
  }
  return target;
}

function usage(problem: string, guess: string | undefined): TaskError {
  return new TaskError(
    `Cannot compile: ${problem}. Usage: deno task compile [--target ${NAMES.join("|")}|all]` +
      (guess === undefined ? "" : `. Did you mean "${guess}"?`),
    EXIT_USAGE,
  );
}
