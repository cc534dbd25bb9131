// All measurements of `deno task bench`, in the order of the table.

import type { Bench } from "./bench.ts";
import { copy } from "./copy.ts";
import { drills } from "./drills.ts";
import { hash } from "./hash.ts";
import { size } from "./size.ts";
import { startup } from "./startup.ts";

/** One line per measurement. */
export const BENCHES: readonly Bench[] = [startup, size, drills, copy, hash];
