/**
 * One run as a picture: when the job ran, when the failure was proven, when it was killed, when it
 * was resumed, when each output became whole.
 *
 * @module
 */
import type { AttemptRecord, PhaseRecord, RunRecord } from "../record.ts";
import { type Markup, markup } from "./markup.ts";
import { formatDuration } from "./text.ts";

/** A stretch of time or, without an end, a moment; milliseconds since the start of the run. */
interface Mark {
  fromMs: number;
  toMs: number | null;
  text: string;
}

interface Lane {
  name: string;
  kind: "run" | "fault" | "kill" | "resume" | "whole" | "quiet";
  marks: Mark[];
}

const WIDTH = 760;
const LABEL_WIDTH = 132;
const RIGHT_MARGIN = 116;

/** Average width of a character of a label; an estimate is enough to keep it in the picture. */
const CHARACTER_WIDTH = 6.7;
const LANE_HEIGHT = 26;
const AXIS_HEIGHT = 24;

/** More moments than this in one lane would only be a black bar. */
const MARKS_MAX = 300;

/** Colours with a fallback; a page may set the variables for dark mode. */
const COLOURS: Record<Lane["kind"], string> = {
  run: "var(--run, #4a6fa5)",
  fault: "var(--fault, #b3261e)",
  kill: "var(--kill, #7a4a00)",
  resume: "var(--resume, #2e6f40)",
  whole: "var(--whole, #2e6f40)",
  quiet: "var(--still, #8a8a8a)",
};

const ATTEMPT_NAMES: Record<AttemptRecord["purpose"], string> = {
  "resume": "resume",
  "resume-killed": "resume, killed",
  "resume-again": "second resume",
  "stand-down": "stand-down",
  "beside": "resume beside a run",
};

function phaseMark(phase: PhaseRecord, endMs: number): Mark {
  const toMs = phase.endedMs ?? endMs;
  const how = phase.startError !== null ? "did not start" : formatDuration(toMs - phase.startedMs);
  return { fromMs: phase.startedMs, toMs, text: how };
}

/** Moments at which outputs were last written, as far as they lie within the run. */
function wholeMarks(record: RunRecord, endMs: number): Mark[] {
  const startMs = Date.parse(record.startedAt);
  const marks = record.artifacts.filter((artifact) => artifact.problems.length === 0)
    .map((artifact) => ({ fromMs: artifact.mtimeMs - startMs, toMs: null, text: "" }))
    .filter((mark) => mark.fromMs >= 0 && mark.fromMs <= endMs)
    .sort((a, b) => a.fromMs - b.fromMs);
  return marks.slice(-MARKS_MAX);
}

function endOf(record: RunRecord): number {
  const phases = [
    ...(record.control ? [record.control.phase] : []),
    ...(record.start ? [record.start] : []),
    ...record.attempts.map((attempt) => attempt.phase),
  ];
  const times = [
    ...phases.flatMap((phase) => [phase.startedMs, phase.endedMs ?? 0]),
    record.fault.provenAtMs ?? 0,
    (record.fault.provenAtMs ?? 0) + (record.recoveryMs ?? 0),
    ...(record.kill?.signals.map((signal) => signal.atMs) ?? []),
  ];
  const lastMs = Math.max(1, ...times);
  return lastMs + (record.quiet?.observedMs ?? 0);
}

function lanesOf(record: RunRecord, endMs: number): Lane[] {
  const lanes: Lane[] = [];
  if (record.control) {
    lanes.push({
      name: "control run",
      kind: "run",
      marks: [phaseMark(record.control.phase, endMs)],
    });
  }
  if (record.start) {
    lanes.push({ name: "first run", kind: "run", marks: [phaseMark(record.start, endMs)] });
  }
  if (record.fault.provenAtMs !== null) {
    const at = record.fault.provenAtMs;
    const text = `proven at ${formatDuration(at)}`;
    lanes.push({ name: "failure", kind: "fault", marks: [{ fromMs: at, toMs: null, text }] });
  }
  if (record.kill && record.kill.signals.length > 0) {
    const marks = record.kill.signals.slice(-MARKS_MAX).map(({ signal, atMs }, index, all) => ({
      fromMs: atMs,
      toMs: null,
      text: index === all.length - 1 ? signal : "",
    }));
    lanes.push({ name: "kill", kind: "kill", marks });
  }
  for (const { purpose, phase } of record.attempts.slice(0, 20)) {
    lanes.push({ name: ATTEMPT_NAMES[purpose], kind: "resume", marks: [phaseMark(phase, endMs)] });
  }
  if (record.fault.provenAtMs !== null && record.recoveryMs !== null) {
    const fromMs = record.fault.provenAtMs;
    const toMs = fromMs + record.recoveryMs;
    const text = formatDuration(record.recoveryMs);
    lanes.push({ name: "recovery time", kind: "whole", marks: [{ fromMs, toMs, text }] });
  }
  const whole = wholeMarks(record, endMs);
  if (whole.length > 0) lanes.push({ name: "outputs whole", kind: "whole", marks: whole });
  const { quiet } = record;
  if (quiet !== null) {
    const fromMs = endMs - quiet.observedMs;
    const text = quiet.changed.length === 0 ? "nothing changed" : `${quiet.changed.length} changed`;
    lanes.push({ name: "quiet period", kind: "quiet", marks: [{ fromMs, toMs: endMs, text }] });
  }
  return lanes;
}

/** A round step that gives four to nine marks on the axis. */
function axisStep(endMs: number): number {
  const rough = endMs / 6;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough) ?? rough;
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}

function drawMark(mark: Mark, kind: Lane["kind"], top: number, x: (ms: number) => number): Markup {
  const from = x(mark.fromMs);
  const colour = COLOURS[kind];
  const middle = top + LANE_HEIGHT / 2;
  const to = mark.toMs === null ? from : Math.max(x(mark.toMs), from + 2);
  const gap = kind === "fault" ? 12 : 7;
  const isLeft = to + gap + mark.text.length * CHARACTER_WIDTH > WIDTH;
  const textAt = rounded(isLeft ? from - gap : to + gap);
  const anchor = isLeft ? "end" : "start";
  const label = mark.text === ""
    ? null
    : markup`<text x="${textAt}" y="${
      middle + 4
    }" text-anchor="${anchor}" style="fill:currentColor">${mark.text}</text>`;
  const shape = mark.toMs !== null
    ? markup`<rect x="${rounded(from)}" y="${top + 6}" width="${rounded(to - from)}" height="${
      LANE_HEIGHT - 12
    }" rx="2" style="fill:${colour}"/>`
    : kind === "fault"
    ? markup`<path d="M${rounded(from)} ${top + 4}l7 9l-7 9l-7 -9z" style="fill:${colour}"/>`
    : markup`<path d="M${rounded(from)} ${top + 5}v${
      LANE_HEIGHT - 10
    }" style="stroke:${colour};stroke-width:2;fill:none"/>`;
  return markup`${shape}${label}`;
}

function drawLane(lane: Lane, index: number, x: (ms: number) => number): Markup {
  const top = index * LANE_HEIGHT;
  return markup`<text x="${LABEL_WIDTH - 10}" y="${
    top + LANE_HEIGHT / 2 + 4
  }" text-anchor="end" style="fill:currentColor">${lane.name}</text>${
    lane.marks.map((mark) => drawMark(mark, lane.kind, top, x))
  }
`;
}

function drawAxis(endMs: number, height: number, x: (ms: number) => number): Markup {
  const step = axisStep(endMs);
  const ticks = Array.from({ length: Math.floor(endMs / step) + 1 }, (_, index) => index * step);
  return markup`<g style="stroke:var(--line, #c8c8c8);stroke-width:1">${
    ticks.map((ms) => markup`<path d="M${rounded(x(ms))} 0V${height}"/>`)
  }</g>${
    ticks.map((ms) =>
      markup`<text x="${rounded(x(ms))}" y="${
        height + 16
      }" text-anchor="middle" style="fill:currentColor">${
        ms === 0 ? "0" : formatDuration(ms)
      }</text>`
    )
  }
`;
}

/** The picture in words, for those who do not see it. */
function description(lanes: readonly Lane[]): string {
  if (lanes.length === 0) return "Nothing was run.";
  return lanes.map((lane) => {
    const [first] = lane.marks;
    if (lane.marks.length > 1 || first === undefined) return `${lane.name}: ${lane.marks.length}`;
    const times = first.toMs === null
      ? `at ${formatDuration(first.fromMs)}`
      : `from ${formatDuration(first.fromMs)} to ${formatDuration(first.toMs)}`;
    return `${lane.name} ${times}`;
  }).join("; ") + ".";
}

/**
 * Draws one record.
 *
 * @param options `id` makes the ids in the picture unique on its page.
 * @returns An `<svg>` element without scripts or outside references.
 */
export function timelineSvg(record: RunRecord, options: { id: string }): string {
  const endMs = endOf(record);
  const lanes = lanesOf(record, endMs);
  const height = lanes.length * LANE_HEIGHT;
  const x = (ms: number) => LABEL_WIDTH + (ms / endMs) * (WIDTH - LABEL_WIDTH - RIGHT_MARGIN);
  const { id } = options;
  return markup`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${
    height + AXIS_HEIGHT
  }" role="img" aria-labelledby="${id}-title ${id}-text" font-family="sans-serif" font-size="12">
<title id="${id}-title">Course of the run ${record.subject}</title>
<desc id="${id}-text">${description(lanes)}</desc>
${drawAxis(endMs, height, x)}${lanes.map((lane, index) => drawLane(lane, index, x))}</svg>`.text;
}
