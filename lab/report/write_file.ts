/**
 * Replaces a file in one step: readers see the old one or the new one, whole, never a mixture.
 *
 * @module
 */
import { dirname, join } from "@std/path";
import { drawToken } from "../clock.ts";

const encoder = new TextEncoder();

async function writeTemp(path: string, text: string): Promise<void> {
  const file = await Deno.open(path, { write: true, createNew: true });
  try {
    let bytes = encoder.encode(text);
    while (bytes.length > 0) bytes = bytes.subarray(await file.write(bytes));
    await file.sync();
  } finally {
    file.close();
  }
}

/** Makes a rename last through a power cut, where the system can do that for a folder. */
async function syncDir(dir: string): Promise<void> {
  try {
    using handle = await Deno.open(dir);
    await handle.sync();
  } catch {
    // Some file systems cannot sync a folder; the file itself is safe by then.
  }
}

/**
 * Writes a file by a temporary one beside it, synced and renamed.
 *
 * On any error the old file stays as it was and the temporary one is gone.
 *
 * @param options `isNew`: refuse to replace a file that is there already.
 * @throws {Deno.errors.AlreadyExists} With `isNew`, when something has that name.
 * @throws Whatever the system says: no space, no permission.
 */
export async function replaceFile(
  path: string,
  text: string,
  options: { isNew?: boolean } = {},
): Promise<void> {
  const dir = dirname(path);
  const temp = join(dir, `.failure-lab-report-${drawToken().slice(0, 12)}.tmp`);
  try {
    await writeTemp(temp, text);
    if (options.isNew) await claimName(temp, path);
    else await Deno.rename(temp, path);
  } catch (error) {
    await Deno.remove(temp).catch(() => {});
    throw error;
  }
  await syncDir(dir);
}

/** Gives the file its name only if the name is free: a link fails where a rename would replace. */
async function claimName(temp: string, path: string): Promise<void> {
  try {
    await Deno.link(temp, path);
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) throw error;
    // No hard links here (a FAT disk, some network folders): then without the guard.
    await Deno.rename(temp, path);
    return;
  }
  await Deno.remove(temp);
}
