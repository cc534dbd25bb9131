/**
 * The report as one HTML page: no scripts, nothing loaded from outside, everything escaped.
 *
 * @module
 */
import type { RunSet } from "../record.ts";
import { drillRows } from "./drill_rows.ts";
import {
  factsOf,
  NOT_A_SANDBOX,
  type Run,
  RUN_HEADINGS,
  runCells,
  setSentence,
  VERDICT_WORDS,
  watchFactsOf,
} from "./facts.ts";
import { runSection } from "./html_run.ts";
import { STYLE } from "./html_style.ts";
import { htmlTable, Markup, markup } from "./markup.ts";
import { formatBytes } from "./text.ts";

/** Most runs that are told one by one; the tables and report.json hold all. */
const SECTIONS_MAX = 200;

/** Most changes that are listed at the top. */
const CHANGES_MAX = 100;

/** Indexes of the runs that get a section: those that need reading come first, order is kept. */
function sectionIndexes(runs: readonly Run[]): Set<number> {
  const needsReading = (run: Run) =>
    run.expected === null ? run.grade.verdict !== "pass" : !run.expected.met;
  const all = runs.map((_, index) => index);
  const urgent = all.filter((index) => needsReading(runs[index] as Run));
  const chosen = new Set<number>();
  for (const index of [...urgent, ...all]) {
    if (chosen.size < SECTIONS_MAX) chosen.add(index);
  }
  return chosen;
}

function drillTable(runs: readonly Run[]): Markup | null {
  const rows = drillRows(runs).map((row) => [
    row.drill,
    row.broken,
    row.repaired,
    row.units,
    row.repeated,
    row.recovery,
  ]);
  return rows.length === 0 ? null : htmlTable("Drills", [
    "drill",
    "broken result",
    "repaired result",
    "units done",
    "outputs repeated",
    "recovery time",
  ], rows);
}

function runTable(runs: readonly Run[], sections: ReadonlySet<number>): Markup | null {
  if (runs.length === 0) return null;
  const rows = runs.map((run, index) => {
    const facts = factsOf(run);
    const name = sections.has(index)
      ? markup`<a href="#run-${index + 1}">${facts.title}</a>`
      : facts.title;
    const verdict = markup`<strong class="${facts.verdict}">${
      VERDICT_WORDS[facts.verdict]
    }</strong>${
      run.expected === null ? null : run.expected.met ? " as expected" : " NOT as expected"
    }`;
    return [name, verdict, ...runCells(run), facts.reason];
  });
  return htmlTable("Runs", ["run", "verdict", ...RUN_HEADINGS, "reason"], rows);
}

function watchSection(runs: readonly Run[]): Markup | null {
  if (runs.length === 0) return null;
  const facts = watchFactsOf(runs);
  const places = facts.watched.map((place) => [
    markup`<code>${place.path}</code>`,
    place.files.toLocaleString("en-US"),
    formatBytes(place.bytes),
    place.incomplete === null ? "all of it" : `not all of it: ${place.incomplete}`,
  ]);
  const changes = facts.changes.slice(0, CHANGES_MAX).map(({ path, change, run }) => [
    markup`<code>${path}</code>`,
    change,
    run,
  ]);
  return markup`<section aria-labelledby="watch-list">
<h2 id="watch-list">Watch list</h2>
<p class="${facts.isClean ? "pass" : "fail"}">${facts.sentence}</p>
<p>${NOT_A_SANDBOX}</p>
${
    changes.length === 0
      ? null
      : htmlTable("Changes outside the lab", ["path", "change", "in the run"], changes)
  }${
    facts.sentinelBroken.map((run) =>
      markup`<p>Changed beside the workspace: in ${run}</p>
`
    )
  }${
    facts.notObserved.map((run) =>
      markup`<p>Not looked at before and after: ${run}</p>
`
    )
  }${
    places.length === 0
      ? null
      : htmlTable("Places that were watched", ["path", "files", "size", "watched"], places)
  }${
    facts.excluded.length === 0
      ? null
      : markup`<p>Left out: ${facts.excluded.map((path) => markup`<code>${path}</code> `)}</p>`
  }
</section>
`;
}

/** A set of runs as a whole HTML document. */
export function htmlReport(runSet: RunSet): string {
  const { runs, tool, verdict } = runSet;
  const sections = sectionIndexes(runs);
  const left = runs.length - sections.size;
  const heading = `failure-lab ${runSet.command}`;
  return markup`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${VERDICT_WORDS[verdict]}: ${heading}, ${runSet.startedAt}</title>
<style>${new Markup(STYLE)}</style>
</head>
<body>
<header>
<h1>${heading}</h1>
<p class="reason"><span class="verdict ${verdict}">${VERDICT_WORDS[verdict]}</span> ${
    setSentence(runSet)
  }</p>
${runSet.interrupted === null ? null : markup`<p>Not complete: ${runSet.interrupted}</p>`}
<dl><dt>Started</dt><dd>${runSet.startedAt}</dd>
<dt>Ended</dt><dd>${runSet.endedAt ?? "not yet"}</dd>
<dt>Exit code</dt><dd>${runSet.exitCode}</dd>
<dt>Made with</dt><dd>failure-lab ${tool.version}, Deno ${tool.deno}, ${tool.os} ${tool.arch}</dd></dl>
</header>
<main>
${drillTable(runs)}${runTable(runs, sections)}${watchSection(runs)}${
    runs.map((run, index) => sections.has(index) ? runSection(run, index) : null)
  }${left === 0 ? null : markup`<p>${left} more runs are in report.json.</p>`}
</main>
</body>
</html>
`.text;
}
