/**
 * The part of the HTML report that tells one run.
 *
 * @module
 */
import type { Artifact, KillRecord, PhaseRecord, RunRecord } from "../record.ts";
import {
  evidenceText,
  factsOf,
  phaseEnding,
  type Run,
  VERDICT_MEANINGS,
  VERDICT_WORDS,
} from "./facts.ts";
import { htmlTable, Markup, markup, multiline, type Piece } from "./markup.ts";
import { formatBytes, formatDuration, plural } from "./text.ts";
import { timelineSvg } from "./timeline.ts";

/** Longest list that is shown; everything is in report.json. */
const ROWS_MAX = 200;

/** In which order states of checks are listed: what decided comes first. */
const STATE_ORDER = ["bad", "unknown", "ok", "skipped"];

const STATE_WORDS: Record<string, string> = {
  ok: "ok",
  bad: "not ok",
  unknown: "not known",
  skipped: "does not apply",
};

const PURPOSES: Record<string, string> = {
  "resume": "Resume",
  "resume-killed": "Resume that was killed half-way",
  "resume-again": "Second resume, with nothing left to do",
  "stand-down": "Resume against a living owner of the lock",
  "beside": "Resume beside a living run, which stood down",
};

function code(text: string): Markup {
  return markup`<code>${text}</code>`;
}

function yesNo(value: boolean | null): string {
  return value === null ? "not known" : value ? "yes" : "no";
}

function moreNote(total: number): Markup | null {
  return total > ROWS_MAX ? markup`<p>${total - ROWS_MAX} more are in report.json.</p>` : null;
}

function facts(pairs: readonly (readonly [string, Piece])[]): Markup {
  return markup`<dl>${
    pairs.map(([name, value]) =>
      markup`<dt>${name}</dt><dd>${value}</dd>
`
    )
  }</dl>`;
}

function checks({ grade }: Run): Markup {
  const sorted = [...grade.checks].sort((a, b) =>
    STATE_ORDER.indexOf(a.state) - STATE_ORDER.indexOf(b.state)
  );
  const rows = sorted.map((
    check,
  ) => [code(check.id), STATE_WORDS[check.state] ?? check.state, check.text]);
  return htmlTable("What was checked", ["check", "result", "what was seen"], rows);
}

function evidence({ fault }: RunRecord): Markup {
  const state = !fault.armed
    ? "The failure was switched off in this run."
    : fault.delivered
    ? `The failure was proven${
      fault.provenAtMs === null ? "" : ` ${formatDuration(fault.provenAtMs)} after the start`
    }.`
    : "The failure was not shown to have happened.";
  const rows = fault.evidence.slice(0, ROWS_MAX).map(({ what, value }) => [
    what,
    code(evidenceText(value)),
  ]);
  return markup`<h3>The failure: ${fault.name}${fault.variant ? `, ${fault.variant}` : null}</h3>
<p>${state}</p>
${rows.length > 0 ? htmlTable("Evidence", ["what", "seen"], rows) : null}`;
}

function artifactState(before: Artifact | undefined, after: Artifact | undefined): string {
  if (after === undefined) return "gone";
  if (before === undefined) return "made after the failure";
  if (before.sha256 !== after.sha256) return "changed after the failure";
  const isSame = before.inode === after.inode && before.mtimeMs === after.mtimeMs;
  return isSame ? "untouched" : "written again, same content";
}

function artifacts(record: RunRecord): Markup {
  const before = new Map(record.artifactsAtFault.map((artifact) => [artifact.path, artifact]));
  const after = new Map(record.artifacts.map((artifact) => [artifact.path, artifact]));
  const finished = new Set(record.finishedAtFault);
  const paths = [...new Set([...after.keys(), ...before.keys()])];
  if (paths.length === 0) return markup`<h3>Outputs</h3><p>No output was found at the end.</p>`;
  const rows = paths.slice(0, ROWS_MAX).map((path) => {
    const is = after.get(path);
    const shown = is ?? before.get(path);
    return [
      code(path),
      `${formatBytes(shown?.bytes ?? null)}`,
      finished.has(path) ? "finished" : before.has(path) ? "begun" : "not there",
      artifactState(before.get(path), is),
      is === undefined ? "" : is.problems.join("; ") || "none found",
      code((shown?.sha256 ?? "").slice(0, 16)),
    ];
  });
  const headings = ["output", "size", "at the failure", "at the end", "problems", "SHA-256 begins"];
  return markup`${
    htmlTable(
      `Outputs: ${record.artifacts.length} of ${record.contract.count ?? "?"}`,
      headings,
      rows,
    )
  }${moreNote(paths.length)}`;
}

function killTable(caption: string, kill: KillRecord | null): Markup {
  if (kill === null) return markup`<p>${caption}: nobody looked.</p>`;
  const { groupEmpty, markerEmpty, pipesClosed } = kill.witnesses;
  const signals = kill.signals.map(({ signal, targets, atMs }) =>
    `${signal} to ${plural(targets, "process", "processes")} at ${formatDuration(atMs)}`
  );
  const list = (all: KillRecord["processes"]) =>
    all.slice(0, ROWS_MAX).map((each) => `${each.name} (pid ${each.pid})`).join(", ");
  return htmlTable(caption, ["question", "answer"], [
    ["Processes that were seen", `${kill.processes.length}: ${list(kill.processes)}`],
    ["Signals", signals.join("; ") || "none was needed"],
    ["Are its process groups empty?", yesNo(groupEmpty)],
    ["Is nobody left who carries the mark of this run?", yesNo(markerEmpty)],
    ["Is its output closed on both ends?", yesNo(pipesClosed)],
    ["Still alive", kill.survivors.length === 0 ? "nobody" : list(kill.survivors)],
    ["Time until it was proven", formatDuration(kill.elapsedMs)],
  ]);
}

function outputOf(phase: PhaseRecord): Markup {
  const part = (name: string, tail: string, bytes: number) =>
    tail === ""
      ? markup`<p>${name}: ${bytes === 0 ? "nothing" : `${formatBytes(bytes)}, not kept`}</p>`
      : markup`<p>${name}, its end (${formatBytes(bytes)} in all):</p><pre>${
        multiline(tail)
      }</pre>`;
  return markup`<details><summary>What it printed</summary>
${part("Standard output", phase.stdoutTail, phase.stdoutBytes)}
${part("Standard error", phase.stderrTail, phase.stderrBytes)}
</details>`;
}

function phase(name: string, { argv, ...rest }: PhaseRecord): Markup {
  const time = rest.endedMs === null
    ? "its end was not seen"
    : formatDuration(rest.endedMs - rest.startedMs);
  const ending = phaseEnding({ argv, ...rest }) + (rest.endedByLab ? " (ended by the lab)" : "");
  return markup`<h3>${name}</h3>
${
    facts([
      ["Command", code(argv.join(" "))],
      ["Ended", rest.startError === null ? ending : `${ending}: ${rest.startError}`],
      ["Time", time],
    ])
  }${outputOf({ argv, ...rest })}`;
}

function phases(record: RunRecord): Markup {
  return markup`${
    record.control === null
      ? (record.controlSkipped === null
        ? null
        : markup`<p>No control run: ${record.controlSkipped}</p>`)
      : phase("Control run, without the failure", record.control.phase)
  }
${record.start === null ? null : phase("First run, with the failure", record.start)}
${killTable("Was everything of the failed run gone?", record.kill)}
${
    record.attempts.map((attempt) =>
      markup`${phase(PURPOSES[attempt.purpose] ?? attempt.purpose, attempt.phase)}
${killTable("Was everything of it gone?", attempt.kill)}`
    )
  }`;
}

function state(record: RunRecord): Markup {
  const { checkpoint, effects, quiet } = record;
  const pairs: [string, Piece][] = [];
  if (checkpoint !== null) {
    const claims = checkpoint.claims === null ? "" : `, claims ${checkpoint.claims} done`;
    pairs.push([
      "Checkpoint",
      markup`${code(checkpoint.path)}: ${
        checkpoint.present ? `there, readable: ${yesNo(checkpoint.parses)}${claims}` : "not there"
      }${checkpoint.problem === null ? null : `; ${checkpoint.problem}`}`,
    ]);
    if (checkpoint.claimedAbsent.length > 0) {
      pairs.push([
        "It claims, but the disk lacks",
        checkpoint.claimedAbsent.slice(0, 20).join(", "),
      ]);
    }
    if (checkpoint.unclaimedPresent.length > 0) {
      pairs.push([
        "The disk holds, but it does not claim",
        checkpoint.unclaimedPresent.slice(0, 20).join(", "),
      ]);
    }
  }
  if (effects === null) {
    pairs.push([
      "Effects",
      'doubled sends cannot be seen: the contract declares no "effects" file',
    ]);
  } else {
    const doubled = effects.doubled.slice(0, 20).map(({ key, count }) => `${key} (${count} times)`);
    pairs.push(["Effects", `${effects.total} seen, with ${effects.keys} different keys`]);
    pairs.push(["Doubled", doubled.join(", ") || "none"]);
    pairs.push(["Missing", effects.missing.slice(0, 20).join(", ") || "none"]);
    pairs.push(["Not known", effects.unknown.slice(0, 20).join(", ") || "none"]);
  }
  if (quiet !== null) {
    const changed = quiet.changed.map(({ path, by }) => by === null ? path : `${path} (by ${by})`);
    pairs.push([
      `Changed in the ${formatDuration(quiet.observedMs)} after the end`,
      changed.slice(0, 20).join(", ") || "nothing",
    ]);
  }
  return markup`<h3>State at the end</h3>${facts(pairs)}`;
}

function containment({ containment }: RunRecord): Markup {
  if (containment === null) return markup`<p>Nobody looked at the watch list in this run.</p>`;
  const changes = containment.changes.slice(0, ROWS_MAX).map((change) => [
    code(change.path),
    change.change,
    code((change.before ?? "-").slice(0, 16)),
    code((change.after ?? "-").slice(0, 16)),
  ]);
  return markup`<h3>Outside the lab</h3>
${
    facts([
      [
        "Looked at before and after",
        yesNo(containment.observedBefore && containment.observedAfter),
      ],
      ["File beside the workspace untouched", yesNo(containment.sentinelIntact)],
      ["Changes", changes.length === 0 ? "none" : String(containment.changes.length)],
    ])
  }${
    changes.length === 0
      ? null
      : htmlTable("What changed outside the lab", ["path", "change", "before", "after"], changes)
  }${moreNote(containment.changes.length)}`;
}

function circumstances(record: RunRecord): Markup {
  const { git, project, tool } = record;
  const options = Object.entries(record.options).map(([name, value]) =>
    `${name} = ${evidenceText(value)}`
  );
  const checksOn = [
    ...(record.contract.emptyAllowed ? [] : ["not empty"]),
    ...record.contract.contentChecks,
  ];
  const skipped = project?.skipped.slice(0, 20).map(({ path, reason }) => `${path} (${reason})`) ??
    [];
  return markup`<h3>Circumstances</h3>
${
    facts([
      ["Started", record.startedAt],
      ["Seed", record.seed],
      ["Options", options.join("; ") || "none"],
      ["Content checks that were on", checksOn.join(", ") || "none"],
      [
        "Project",
        project === null ? "none" : markup`${code(project.path)}, ${plural(project.files, "file")}`,
      ],
      ["Not copied", skipped.join(", ") || "nothing was left out"],
      ["Git", git === null ? "no repository" : `${git.head}${git.dirty ? ", with changes" : ""}`],
      ["Made with", `failure-lab ${tool.version}, Deno ${tool.deno}, ${tool.os} ${tool.arch}`],
    ])
  }<h3>Run it again</h3><pre>${multiline(record.rerun)}</pre>
<details><summary>What the driver of this run was allowed to do</summary><pre>${
    multiline(record.scope.join("\n") || "not recorded")
  }</pre></details>`;
}

/** One run as a section: the verdict first, then what shows it, then the circumstances. */
export function runSection(run: Run, index: number): Markup {
  const { record, grade } = run;
  const summary = factsOf(run);
  const isDone = record.notApplicable === null;
  const expectation = run.expected === null
    ? null
    : summary.unexpected === null
    ? " As the answer key expects."
    : ` ${summary.unexpected}.`;
  return markup`<section id="run-${index + 1}" aria-labelledby="run-${index + 1}-name">
<h2 id="run-${index + 1}-name">${summary.title}</h2>
<p class="reason"><span class="verdict ${grade.verdict}">${
    VERDICT_WORDS[grade.verdict]
  }</span> ${summary.reason}</p>
<p>${VERDICT_MEANINGS[grade.verdict]}${expectation}</p>
${record.interrupted === null ? null : markup`<p>Not complete: ${record.interrupted}</p>`}
${
    isDone
      ? markup`${new Markup(timelineSvg(record, { id: `run-${index + 1}-time` }))}
${
        facts([
          ["Failure delivered", summary.delivered],
          ["Killed", summary.killed],
          ["Resume", summary.resumeExit],
          ["Outputs whole", summary.artifacts],
          ["Finished work touched", summary.rewritten === null ? "-" : String(summary.rewritten)],
          ["Effects doubled", summary.doubled === null ? "not declared" : String(summary.doubled)],
          ["Recovery time", formatDuration(summary.recoveryMs)],
        ])
      }${checks(run)}${evidence(record)}${artifacts(record)}${phases(record)}${state(record)}${
        containment(record)
      }`
      : null
  }${circumstances(record)}
</section>
`;
}
