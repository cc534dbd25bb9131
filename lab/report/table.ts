/**
 * Tables for a terminal: columns that shrink to the width there is and, where even that is not
 * enough, one line per value.
 *
 * @module
 */
import { displayWidth, padded, wrapped } from "./text.ts";

/** A column of a table. */
export interface Column {
  heading: string;
  /** Narrowest width that still reads well. @default {6} */
  minWidth?: number;
  /** Numbers stand at the right. @default {"left"} */
  align?: "left" | "right";
}

/** A row: one cell per column, and lines that stand under it over the whole width. */
export interface Row {
  cells: readonly string[];
  notes?: readonly string[];
  /** Colours one line of a cell. */
  paint?: (text: string, column: number) => string;
}

const GAP = "  ";

function fitWidths(columns: readonly Column[], rows: readonly Row[], width: number): number[] {
  const widths = columns.map((column, index) =>
    Math.max(
      displayWidth(column.heading),
      ...rows.map((row) => displayWidth(row.cells[index] ?? "")),
    )
  );
  const minimum = columns.map((column, index) =>
    Math.min(widths[index] ?? 0, Math.max(column.minWidth ?? 6, longestWord(column.heading)))
  );
  let excess = widths.reduce((sum, each) => sum + each, 0) + GAP.length * (columns.length - 1) -
    width;
  while (excess > 0) {
    const widest = widths.reduce(
      (best, each, index) =>
        each - (minimum[index] ?? 0) > (widths[best] ?? 0) - (minimum[best] ?? 0) ? index : best,
      0,
    );
    const room = (widths[widest] ?? 0) - (minimum[widest] ?? 0);
    if (room <= 0) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
    excess -= 1;
  }
  return excess > 0 ? [] : widths;
}

function longestWord(text: string): number {
  return Math.max(...text.split(" ").map(displayWidth));
}

function layOut(
  cells: readonly string[],
  columns: readonly Column[],
  widths: readonly number[],
  paint: (text: string, column: number) => string,
): string[] {
  const wrappedCells = cells.map((cell, index) => wrapped(cell, widths[index] ?? 1));
  const height = Math.max(1, ...wrappedCells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, line) =>
    columns.map((column, index) => {
      const side = column.align === "right" ? "left" : "right";
      const text = wrappedCells[index]?.[line] ?? "";
      return padded(paint(text, index), widths[index] ?? 0, side);
    }).join(GAP).trimEnd());
}

function asList(columns: readonly Column[], rows: readonly Row[], width: number): string[] {
  const labelWidth = Math.max(...columns.map((column) => displayWidth(column.heading)));
  return rows.flatMap((row, index) => [
    ...(index > 0 ? [""] : []),
    ...columns.flatMap((column, columnIndex) => {
      const lines = wrapped(row.cells[columnIndex] ?? "", Math.max(10, width - labelWidth - 2));
      return lines.map((line, at) => {
        const text = row.paint ? row.paint(line, columnIndex) : line;
        return padded(at === 0 ? column.heading : "", labelWidth) + GAP + text;
      });
    }),
    ...notesOf(row, width),
  ]);
}

function notesOf(row: Row, width: number): string[] {
  return (row.notes ?? []).flatMap((note) => wrapped(note, width - 4).map((line) => `    ${line}`));
}

/**
 * A table as lines of at most `width` columns. Where it does not fit, every value gets a line of
 * its own behind the heading of its column. Cells must be visible text (see `visible`).
 */
export function table(columns: readonly Column[], rows: readonly Row[], width: number): string[] {
  const widths = fitWidths(columns, rows, width);
  if (widths.length === 0) return asList(columns, rows, width);
  const plain = (text: string) => text;
  const headings = layOut(columns.map((column) => column.heading), columns, widths, plain);
  const rule = widths.map((each) => "-".repeat(each)).join(GAP);
  return [
    ...headings,
    rule,
    ...rows.flatMap((row) => [
      ...layOut(row.cells, columns, widths, row.paint ?? plain),
      ...notesOf(row, width),
    ]),
  ];
}
