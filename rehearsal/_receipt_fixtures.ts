// Receipts for tests: a made one, and ways to change it.

import { goodRecord } from "../lab/_grader_fixtures.ts";
import { endHash, type Json, sealSections } from "./_receipt_chain.ts";
import { makeReceipt, type Receipt, receiptText } from "./receipt.ts";
import type { RedactionContext } from "./_receipt_redact.ts";
import type { RunRecord } from "../lab/mod.ts";

/** A machine about which nothing private is known. */
export const NO_MACHINE: RedactionContext = {
  home: null,
  users: [],
  host: null,
  tempDirs: [],
  reportDir: null,
  env: {},
  omitOutput: false,
};

/** Makes a receipt of these records. */
export function receiptOf(
  records: readonly RunRecord[] = [goodRecord()],
  context: Partial<RedactionContext> = {},
): Receipt {
  return makeReceipt({
    command: "replay",
    startedAt: "2026-06-01T10:00:00.000Z",
    endedAt: "2026-06-01T10:00:06.000Z",
    interrupted: null,
    records,
  }, { ...NO_MACHINE, ...context }).receipt;
}

/** A changed copy of a receipt, all hashes made anew: what a forger would do. */
export function forged(receipt: Receipt, change: (bodies: Bodies) => void): string {
  const bodies: Bodies = structuredClone(receipt.sections).map(({ name, body }) => ({
    name,
    body,
  }));
  change(bodies);
  const sections = sealSections(bodies);
  return receiptText({ ...receipt, sections, end: endHash(sections) });
}

/** Names and bodies of sections. */
export type Bodies = { name: string; body: { [key: string]: Json } }[];
