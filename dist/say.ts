// The only place in dist/ that writes to the terminal.

const ENCODER = new TextEncoder();

function writeAll(stream: { writeSync(bytes: Uint8Array): number }, text: string): void {
  let rest = ENCODER.encode(text);
  while (rest.length > 0) rest = rest.subarray(stream.writeSync(rest));
}

/** Prints a result line on stdout. */
export function say(line: string): void {
  writeAll(Deno.stdout, line + "\n");
}

/** Prints a progress or problem line on stderr, so that stdout stays the result. */
export function note(line: string): void {
  writeAll(Deno.stderr, line + "\n");
}
