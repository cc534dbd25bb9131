/**
 * The version of this program. It stands alone in this file so that `--version` needs nothing else.
 *
 * @module
 */

/** Version of this program; a test holds it equal to the one in `deno.json`. */
export const VERSION = "0.1.0";
