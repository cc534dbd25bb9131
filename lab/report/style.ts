/**
 * Colour for terminals, as functions, so that a report does not know whether there is any.
 *
 * @module
 */

/** Colours; every function gives its text back unchanged where colour is off. */
export interface Style {
  /** Heavier. */
  bold(text: string): string;
  /** Paler. */
  dim(text: string): string;
  /** For what is wrong. */
  red(text: string): string;
  /** For what is right. */
  green(text: string): string;
  /** For what is not known. */
  yellow(text: string): string;
}

/** The style with colour switched on or off. */
export function createStyle(isOn: boolean): Style {
  const paint = (open: number, close: number) => (text: string) =>
    isOn && text !== "" ? `\x1b[${open}m${text}\x1b[${close}m` : text;
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
  };
}
