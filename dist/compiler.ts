// Which Deno and which runtime build a binary for a target on this machine.

import { capture } from "./child.ts";
import { isThere } from "./files.ts";
import { ROOT } from "./paths.ts";
import {
  MATCHING_DENO,
  pinnedFile,
  RECOVERED_DENO_VERSION,
  RECOVERED_DENORT,
  runtimeCacheDir,
} from "./runtime.ts";
import { hostTarget, type Target, TARGETS } from "./targets.ts";

/** A Deno that can compile for one target. */
export interface Compiler {
  deno: string;
  denoVersion: string;
  /** Where the runtime comes from, in words. */
  origin: string;
  /** The file whose hash stands for the runtime. */
  runtimeFile: string;
  env: Record<string, string>;
  without: readonly string[];
}

/** What a choice depends on; tests put their own in. */
export interface CompilerOptions {
  deno: string;
  denoVersion: string;
  /** The value of DENORT_BIN, if set. */
  denortBin: string | undefined;
  host: Target;
  /** Whether the official runtime is in Deno's cache, or can be downloaded now. */
  official: (target: Target) => Promise<string | undefined>;
  /** Fetches the pinned runtime and its Deno. */
  recovered: () => Promise<{ deno: string; denort: string }>;
}

/**
 * A named runtime first, then the official one, then (linux-x64 only) the recovered one.
 *
 * Returns undefined when no runtime for the target can be had here.
 */
export async function chooseCompiler(
  target: Target,
  options: CompilerOptions,
): Promise<Compiler | undefined> {
  const { deno, denoVersion, denortBin, host } = options;
  if (denortBin !== undefined && denortBin !== "" && target === host) {
    return {
      deno,
      denoVersion,
      origin: "DENORT_BIN",
      runtimeFile: denortBin,
      env: {},
      without: [],
    };
  }
  const official = await options.official(target);
  if (official !== undefined) {
    // DENORT_BIN is for this machine and must not end up in a binary for another one.
    return {
      deno,
      denoVersion,
      origin: "official (dl.deno.land)",
      runtimeFile: official,
      env: {},
      without: ["DENORT_BIN"],
    };
  }
  if (target !== "linux-x64" || host !== "linux-x64") return undefined;
  const found = await options.recovered();
  return {
    deno: found.deno,
    denoVersion: RECOVERED_DENO_VERSION,
    origin:
      `recovered from npm ${RECOVERED_DENORT.origin.name}@${RECOVERED_DENORT.origin.version}` +
      " (local and CI builds only)",
    runtimeFile: found.denort,
    env: {
      DENORT_BIN: found.denort,
      // This older Deno trusts only its own list of authorities by default.
      DENO_TLS_CA_STORE: Deno.env.get("DENO_TLS_CA_STORE") ?? "mozilla,system",
    },
    without: [],
  };
}

/** The options for the Deno that runs this task. */
export function compilerOptions(deno: string): CompilerOptions {
  return {
    deno,
    denoVersion: Deno.version.deno,
    denortBin: Deno.env.get("DENORT_BIN"),
    host: hostTarget(),
    official: (target) => officialRuntime(deno, Deno.version.deno, target),
    recovered: async () => {
      const dir = runtimeCacheDir((name) => Deno.env.get(name));
      return {
        deno: await pinnedFile(MATCHING_DENO, dir),
        denort: await pinnedFile(RECOVERED_DENORT, dir),
      };
    },
  };
}

const REACH_LIMIT_MS = 5_000;

/** The place in Deno's cache of the official runtime, when it is there or can be downloaded. */
async function officialRuntime(
  deno: string,
  version: string,
  target: Target,
): Promise<string | undefined> {
  const archive = `release/v${version}/denort-${TARGETS[target]}.zip`;
  const info = await capture(deno, ["info", "--json"], { cwd: ROOT, env: {} });
  const { denoDir } = JSON.parse(info.stdout) as { denoDir: string };
  const cached = `${denoDir}/dl/${archive}`;
  if (await isThere(cached)) return cached;
  try {
    const response = await fetch(`https://dl.deno.land/${archive}`, {
      method: "HEAD",
      signal: AbortSignal.timeout(REACH_LIMIT_MS),
    });
    await response.body?.cancel();
    return response.ok ? cached : undefined;
  } catch {
    return undefined;
  }
}
