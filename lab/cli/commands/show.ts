/**
 * `failure-lab show ID`.
 *
 * @module
 */
import { type Drill, findDrill, loadDrills } from "../../../drills/mod.ts";
import { paragraph } from "../../report/mod.ts";
import { EXIT_CODES } from "../../verdict.ts";
import type { Command } from "../command.ts";
import type { Output } from "../output.ts";

const WIDTH_MAX = 88;

/** Shows one drill as a page. */
export const command: Command = {
  name: "show",
  summary: "Explain one drill: what you see, where it shows, what the repair does, the trap",
  usage: "show ID [flags]",
  description: "Prints the page of one drill.",
  flags: [{ kind: "boolean", name: "json", summary: "Print its definition as JSON" }],
  positionals: [{
    name: "ID",
    summary: "01, hung-process or 01-hung-process",
    required: true,
  }],
  examples: [
    { line: "failure-lab show 05", does: "The drill about a stale lock" },
    { line: "failure-lab show hung-process", does: "The same by name" },
  ],
  run({ flags, positionals, out }) {
    const drill = findDrill(loadDrills(), positionals[0] ?? "");
    out.out(flags.boolean("json") ? JSON.stringify(drill, null, 2) : page(drill, out));
    return Promise.resolve(EXIT_CODES.pass);
  },
};

function page(drill: Drill, out: Output): string {
  const width = Math.min(out.width, WIDTH_MAX);
  const { bold } = out.style;
  const text = (body: string) => paragraph(body, width, "");
  const listed = (items: readonly string[], mark: (index: number) => string) =>
    items.map((item, index) => {
      const head = mark(index);
      return head + paragraph(item, width, " ".repeat(head.length));
    });
  const naive = drill.naive.flatMap(({ variants, text: why, script }) => [
    text((variants === undefined ? "" : `(${variants.join(", ")}) `) + why),
    "",
    ...script.map((line) => `    ${line}`),
    "",
  ]);
  return [
    bold(`${drill.id}: ${drill.title}`),
    "",
    bold("What happens"),
    text(drill.incidentShape),
    "",
    bold("What you see in the morning"),
    text(drill.page.seen),
    "",
    bold("Where it becomes visible"),
    text(drill.detectionPoint),
    "",
    bold(`What the repair does (${drill.repair})`),
    ...listed(drill.page.repairSteps, (index) => `${index + 1}. `),
    "",
    bold("The trap in the obvious fix"),
    text(drill.trap),
    "",
    ...naive,
    text(drill.page.trapShown),
    "",
    bold("Shapes of the failure"),
    ...listed(
      drill.fault.variants.map((variant) => `${variant.id}: ${variant.text}`),
      () => "- ",
    ),
    "",
    bold("What to look for in your own job"),
    ...listed(drill.page.lookFor, () => "- "),
    "",
    `Run it: failure-lab drills ${drill.id.slice(0, 2)}`,
  ].join("\n");
}
