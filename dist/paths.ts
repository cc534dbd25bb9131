// Where things are in a checkout. dist/ imports nothing remote, so the joins are done by hand.

/** The root of the checkout, without a slash at the end. */
export const ROOT: string = new URL("..", import.meta.url).pathname.replace(/\/$/, "");

/** Scratch files of the tasks: git-ignored, may be deleted at any time. */
export const CACHE_DIR: string = `${ROOT}/dist/.cache`;

/** The binary that `deno task test` builds and tests. */
export const BINARY: string = `${ROOT}/dist/failure-lab`;

/** The file with every name and flag of this project. */
export const CONFIG: string = `${ROOT}/deno.json`;
