/**
 * provider-outage: the model provider is down for longer than the job's patience.
 *
 * The job's environment leads to the lab's loopback provider (ANTHROPIC_BASE_URL, OPENAI_BASE_URL, a
 * key that begins with sk-lab-fake). After as many requests as k outputs took in the control run it
 * goes down and stays down, until the job gives up by itself or has waited for a good while; then the
 * job is ended. The requests that came during
 * the outage are the proof. The provider is well again before the resume command runs.
 *
 * @module
 */
import { isKillProven } from "../../lab/mod.ts";
import { type Fault, outageSchedule, type Provider } from "../../lab/provider/mod.ts";
import type { Stage } from "../stage.ts";
import type { StartResult } from "../stage_types.ts";
import { noteNothingLeft } from "./_freeze.ts";
import type { Replay } from "./replay.ts";

const OUTAGES: Record<string, Fault> = {
  "overloaded": { kind: "529" },
  "rate-limited": { kind: "429", retryAfterSeconds: 60 },
  "cut": { kind: "reset-before-headers" },
  "stalled": { kind: "stall-before-first-byte" },
};

/** A job that still waits this long after its first request of the outage is ended. */
const PATIENCE_MS_MAX = 2000;
/** This many requests a second, and as many at least, keep an overload going. */
const HAMMER_PER_SECOND = 20;

/** Let the provider go down while the job works. */
export const providerOutage: Replay = {
  id: "provider-outage",
  summary: "the model provider is down for longer than the job is patient",
  variants: Object.keys(OUTAGES),
  needs: () => null,
  async run(stage, variant) {
    const { provider, control } = stage.options;
    if (provider === null) throw new TypeError("Cannot replay an outage without a provider");
    if (control?.providerRequests === 0) {
      stage.record.notApplicable = NO_REQUEST;
      return;
    }
    const { start, ...outage } = await goDown(stage, provider, OUTAGES[variant] ?? { kind: "529" });
    const kill = await stage.killStart(start, { graceMs: 0 });
    provider.setSchedule([]);
    await stage.noteFaultState();
    if (outage.requests === 0) return noteNoRequest(stage);
    if (!stage.isWorkLeft) return noteNothingLeft(stage);
    if (isKillProven(kill) !== true) return;
    stage.deliver([
      { what: "requests during the outage", value: outage.requests },
      { what: "answered each with", value: OUTAGES[variant]?.kind ?? "529" },
      { what: "length of the outage, in ms", value: Math.round(outage.elapsedMs) },
      { what: "the job", value: outage.ending },
    ]);
    noteHammering(stage, outage);
    await stage.resume();
  },
};

const NO_REQUEST = "No request reached the loopback provider in a whole run of the job. For this " +
  "failure the job must call its provider through ANTHROPIC_BASE_URL or OPENAI_BASE_URL, which the " +
  "lab sets for it";

/** What an outage was like. */
interface Outage {
  start: StartResult;
  requests: number;
  elapsedMs: number;
  /** How the job took it. */
  ending: string;
}

/** Runs the job into the outage, and waits until it has given up, or its patience is over. */
async function goDown(stage: Stage, provider: Provider, fault: Fault): Promise<Outage> {
  const { clock, commands } = stage.options;
  const { work, faulted } = provider.log().counters;
  const fromRequest = work + 1 + requestsUntilKillPoint(stage);
  provider.setSchedule(outageSchedule({ fault, fromRequest }));
  const spawned = await stage.begin("start", commands.start);
  if (!("pid" in spawned)) {
    stage.record.start = spawned;
    const start: StartResult = { spawned: null, ending: "not-started", frozen: [] };
    return { start, requests: 0, elapsedMs: 0, ending: "could not be started" };
  }
  let firstMs: number | null = null;
  const ending = await stage.watch(spawned, () => {
    if (provider.log().counters.faulted > faulted) firstMs ??= clock.nowMs();
    return firstMs !== null && clock.nowMs() - firstMs >= PATIENCE_MS_MAX;
  });
  return {
    start: { spawned, ending, frozen: [] },
    requests: provider.log().counters.faulted - faulted,
    elapsedMs: firstMs === null ? 0 : clock.nowMs() - firstMs,
    ending: spawned.ended === null
      ? "was ended while it waited"
      : `gave up by itself (${spawned.ended.signal ?? `exit ${spawned.ended.exitCode}`})`,
  };
}

/** How many requests it takes to get to the kill point, going by the control run. */
function requestsUntilKillPoint(stage: Stage): number {
  const { control } = stage.options;
  const { count } = stage.contract.artifacts;
  if (control === null || count === undefined) return stage.killPoint;
  return Math.floor(control.providerRequests * stage.killPoint / count);
}

function noteNoRequest(stage: Stage): void {
  stage.record.findings.push({
    id: "provider-asked",
    ok: null,
    text:
      "The provider was down, but no request came during that time, so the job did not notice. " +
      "Try another moment with --kill-after",
  });
}

/** Asking again without waiting keeps an overload going. */
function noteHammering(
  stage: Stage,
  { requests, elapsedMs }: Pick<Outage, "requests" | "elapsedMs">,
): void {
  const perSecond = requests / Math.max(elapsedMs / 1000, 0.001);
  if (requests < HAMMER_PER_SECOND || perSecond < HAMMER_PER_SECOND) return;
  stage.record.findings.push({
    id: "provider-not-hammered",
    ok: false,
    text: `The job asked ${requests} times in ${(elapsedMs / 1000).toFixed(1)} s while the ` +
      "provider was down, without waiting in between; such retries keep an outage going",
  });
}
