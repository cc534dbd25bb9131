/**
 * Writes arguments so that a shell reads them back as they were.
 *
 * @module
 */

/** One argument, quoted for sh where it needs to be. */
export function shellQuote(argument: string): string {
  if (/^[A-Za-z0-9_@%+=:,./-]+$/.test(argument)) return argument;
  return `'${argument.replaceAll("'", "'\\''")}'`;
}

/** The line that runs this program with these arguments again. */
export function commandLine(args: readonly string[]): string {
  return ["failure-lab", ...args.map(shellQuote)].join(" ");
}
