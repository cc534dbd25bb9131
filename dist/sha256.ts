// SHA-256 without reading a file into memory.

import { createHash } from "node:crypto";

/** The SHA-256 of a file, in hex. */
export async function sha256File(path: string): Promise<string> {
  const hash = createHash("sha256");
  const file = await Deno.open(path);
  for await (const chunk of file.readable) hash.update(chunk); // the end of the stream closes it
  return hash.digest("hex");
}

/** The SHA-256 of a text in UTF-8, in hex. */
export function sha256Text(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
