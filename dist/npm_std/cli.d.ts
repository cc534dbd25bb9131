// What this project uses of @std/cli/parse-args. The real function infers a type per option; this
// one promises less (every flag is unknown), so that code narrows with typeof and fits both.

export interface ParseOptions {
  "--"?: boolean;
  alias?: Record<string, string | readonly string[]>;
  boolean?: boolean | string | readonly string[];
  collect?: string | readonly string[];
  default?: Record<string, unknown>;
  negatable?: string | readonly string[];
  stopEarly?: boolean;
  string?: string | readonly string[];
  unknown?: (arg: string, key?: string, value?: unknown) => unknown;
}

export function parseArgs(
  args: string[],
  options?: ParseOptions,
): Record<string, unknown> & { _: Array<string | number> };
