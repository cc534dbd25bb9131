/**
 * HTML, SVG and XML text in which everything that is put in is escaped, unless it is markup that
 * was made here. So a file name can never become a tag, whoever writes the next report.
 *
 * @module
 */
import { visible } from "./text.ts";

/** Finished markup. */
export class Markup {
  /** @param text Trusted: made by {@linkcode markup}, or written by hand in the program. */
  constructor(readonly text: string) {}

  /** The markup as text. */
  toString(): string {
    return this.text;
  }
}

/** What may be put into markup: text is escaped, lists are joined, `null` gives nothing. */
export type Piece = Markup | string | number | null | readonly Piece[];

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "`": "&#96;",
};

/**
 * Text for content and for quoted attributes of HTML, SVG and XML. Control characters and what XML
 * does not allow at all are written out (see `visible`); line ends stay with `keepNewlines`.
 */
export function escapeMarkup(text: string, options: { keepNewlines?: boolean } = {}): string {
  return visible(text, options).replace(/[&<>"'`]/g, (character) => ENTITIES[character] ?? "");
}

function pieceText(piece: Piece): string {
  if (piece instanceof Markup) return piece.text;
  if (piece === null) return "";
  if (typeof piece === "number") return String(piece);
  return typeof piece === "string" ? escapeMarkup(piece) : piece.map(pieceText).join("");
}

/** Tag for templates: `` markup`<b title="${name}">${name}</b>` `` escapes what is put in. */
export function markup(strings: TemplateStringsArray, ...pieces: Piece[]): Markup {
  let text = strings[0] ?? "";
  pieces.forEach((piece, index) => {
    text += pieceText(piece) + (strings[index + 1] ?? "");
  });
  return new Markup(text);
}

/** Text of several lines: control characters written out, line ends kept. */
export function multiline(text: string): Markup {
  return new Markup(escapeMarkup(text, { keepNewlines: true }));
}

/** A cell with a very long word may break it anywhere; others keep their words whole. */
function breakable(cell: Piece): Piece {
  return typeof cell === "string" && /\S{25}/.test(cell)
    ? markup`<span class="long">${cell}</span>`
    : cell;
}

/** A table with a caption and headings; the first cell of each row is its heading. */
export function htmlTable(
  caption: string,
  headings: readonly string[],
  rows: readonly (readonly Piece[])[],
): Markup {
  return markup`<div class="wide"><table>
<caption>${caption}</caption>
<thead><tr>${headings.map((heading) => markup`<th scope="col">${heading}</th>`)}</tr></thead>
<tbody>
${
    rows.map(([first, ...cells]) =>
      markup`<tr><th scope="row">${breakable(first ?? null)}</th>${
        cells.map((cell) => markup`<td>${breakable(cell)}</td>`)
      }</tr>
`
    )
  }</tbody>
</table></div>
`;
}
