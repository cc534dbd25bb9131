// Third-party modules for the binary as plain files.
//
// An npm package inside a binary is carried whole (zod: 840 files, of which 90 are loaded) and each
// file costs start-up time. Copied here, its modules are like our own: only what main.ts reaches
// is carried. The versions and hashes are those of the committed lock file.

import { run } from "./child.ts";
import { isThere, listFiles } from "./files.ts";
import type { ImportSource } from "./import_source.ts";
import { CACHE_DIR, CONFIG, ROOT } from "./paths.ts";
import { sha256Text } from "./sha256.ts";
import { TaskError } from "./task_error.ts";
import type { Toolchain } from "./toolchain.ts";

/** The npm part of a lock file: "name@version" to its entry. */
type LockedPackages = Record<string, { integrity: string }>;

interface Lock {
  version: string;
  specifiers: Record<string, string>;
  npm: LockedPackages;
  jsr?: Record<string, unknown>;
}

/** What the compiler is given instead of the usual map and lock; nothing here leads to npm. */
export interface Vendored {
  /** The folder with the copied packages. */
  dir: string;
  /** The import map, for a tree that has the copied packages in `vendor/`. */
  imports: Record<string, string>;
  /** The lock file, with what comes from JSR. */
  lock: string;
  /** The exact versions, for the manifest; those from JSR are known once it has compiled. */
  versions: () => Promise<string[]>;
}

/** Copies the locked packages (once per lock) and prepares the compiler's import map and lock. */
export async function vendorModules(tools: Toolchain): Promise<Vendored> {
  const committed = tools.source === "jsr" ? `${ROOT}/deno.lock` : `${ROOT}/dist/npm.lock`;
  const { npm } = await readLock(committed);
  const names = Object.keys(npm);
  const dir = `${CACHE_DIR}/vendor-${sha256Text(JSON.stringify(npm)).slice(0, 12)}`;
  if (!await isThere(dir)) await copyPackages(tools, npm, dir);
  // The copy that the other tasks use: the binary gets the very JSR versions that were tested.
  const inUse = await readLock(`${CACHE_DIR}/${tools.source}.lock`);
  const lock = `${CACHE_DIR}/compile_${tools.source}.lock`;
  await Deno.writeTextFile(lock, JSON.stringify(withoutNpm(inUse), null, 2) + "\n");
  return {
    dir,
    imports: compileImports(await sourceImports(tools.source), names, "./vendor"),
    lock,
    versions: async () => {
      const { jsr = {} } = await readLock(lock);
      return [
        ...names.map((name) => `npm:${name}`),
        ...Object.keys(jsr).map((name) => `jsr:${name}`),
      ];
    },
  };
}

async function readLock(path: string): Promise<Lock> {
  return JSON.parse(await Deno.readTextFile(path)) as Lock;
}

/** Deno embeds every npm package of the lock file, imported or not: the compiler sees none. */
function withoutNpm({ version, specifiers, jsr }: Lock): Omit<Lock, "npm"> {
  const kept = Object.entries(specifiers).filter(([name]) => !name.startsWith("npm:"));
  return { version, specifiers: Object.fromEntries(kept), ...(jsr === undefined ? {} : { jsr }) };
}

/** What the sources import, by name, as addresses relative to the root of the checkout. */
async function sourceImports(source: ImportSource): Promise<Record<string, string>> {
  const file = source === "jsr" ? CONFIG : `${ROOT}/dist/import_map.npm.json`;
  const { imports } = JSON.parse(await Deno.readTextFile(file)) as {
    imports: Record<string, string>;
  };
  const result: Record<string, string> = {};
  for (const [name, address] of Object.entries(imports)) {
    result[name] = address.replace("./npm_std/", "./dist/npm_std/");
    if (!address.startsWith("./npm_std/")) continue;
    // The shims name exact modules of deno-std: those specifiers are mapped as well.
    const shim = await Deno.readTextFile(`${ROOT}/dist/${address}`);
    for (const [, specifier = ""] of shim.matchAll(/from "(npm:[^"]+)"/g)) {
      result[specifier] = specifier;
    }
  }
  return result;
}

/**
 * Turns each npm address into the copied file.
 *
 * `packages` are the locked "name@version"; an address without a path is the package's index.js.
 */
export function compileImports(
  imports: Readonly<Record<string, string>>,
  packages: readonly string[],
  dir: string,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(imports).map(([name, address]) => {
      const parts = /^npm:([^@/]+)@([^/]+)(?:\/(.+))?$/.exec(address);
      if (parts === null) return [name, address];
      const [, packageName = "", range = "", path = "index.js"] = parts;
      const exact = `${packageName}@${range}`;
      const locked = packages.filter((one) => one.startsWith(`${packageName}@`));
      const found = packages.includes(exact) ? exact : locked[0];
      if (found === undefined || (found !== exact && locked.length > 1)) {
        throw new TaskError(
          `Cannot compile: "${address}" must stand in the lock file with one version, but there ` +
            `are ${locked.length}: ${
              locked.join(", ") || "none"
            }. Run "deno task check" and commit ` +
            "the lock file that it names",
          1,
        );
      }
      return [name, `${dir}/${found}/${path}`];
    }),
  );
}

/** Installs the exact versions in a scratch folder, compares their hashes, keeps the modules. */
async function copyPackages(tools: Toolchain, npm: LockedPackages, dir: string): Promise<void> {
  const scratch = `${dir}-${Deno.pid}`;
  const kept = `${scratch}/kept`;
  await Deno.mkdir(kept, { recursive: true });
  try {
    const names = Object.keys(npm);
    const dependencies = Object.fromEntries(names.map((name, i) => [`p${i}`, `npm:${name}`]));
    await Deno.writeTextFile(`${scratch}/package.json`, JSON.stringify({ dependencies }));
    await Deno.writeTextFile(`${scratch}/deno.json`, `{"nodeModulesDir":"manual"}`);
    const code = await run(tools.deno, ["install", "--quiet"], { cwd: scratch, env: tools.env });
    if (code !== 0) {
      throw new TaskError(`Cannot fetch ${names.join(", ")}: exit code ${code} (see above)`, 1);
    }
    const got = await readLock(`${scratch}/deno.lock`);
    for (const [i, name] of names.entries()) {
      const [want, have] = [npm[name]?.integrity, got.npm[name]?.integrity];
      if (want !== have) {
        throw new TaskError(
          `Cannot compile with ${name}: the lock file says ${want}, the registry gave ${have}. ` +
            "Do not build; find out who changed the package",
          1,
        );
      }
      await copyModules(await Deno.realPath(`${scratch}/node_modules/p${i}`), `${kept}/${name}`);
    }
    // Another run may have made the same folder meanwhile; it holds the same files.
    await Deno.rename(kept, dir).catch(async (error) => {
      if (!await isThere(dir)) throw error;
    });
  } finally {
    await Deno.remove(scratch, { recursive: true });
  }
}

async function copyModules(from: string, to: string): Promise<void> {
  for (const path of await listFiles(from)) {
    if (!/\.js$|(^|\/)LICEN[CS]E[^/]*$/i.test(path)) continue;
    await Deno.mkdir(`${to}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.copyFile(`${from}/${path}`, `${to}/${path}`);
  }
}
