/**
 * Where a text stops being JSON, and what would have to stand there. The runtime's own messages
 * differ between its versions, and for many mistakes they do not say the place.
 *
 * @module
 */

/** A mistake in a text that should be JSON. */
export interface JsonMistake {
  /** Counts from 1. */
  line: number;
  /** Counts from 1, in UTF-16 units, as most editors count. */
  column: number;
  /** What stands there and what is wrong with it, for a sentence. */
  problem: string;
}

/** Finds the first mistake; `null` when the text is JSON. */
export function findJsonMistake(text: string): JsonMistake | null {
  try {
    new Scanner(text).document();
    return null;
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    const before = text.slice(0, error.at).split("\n");
    return {
      line: before.length,
      column: (before.at(-1)?.length ?? 0) + 1,
      problem: error.message,
    };
  }
}

class Stop extends Error {
  constructor(readonly at: number, problem: string) {
    super(problem);
  }
}

const DEPTH_MAX = 500;
const NUMBER_REGEXP = /-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const WORD_REGEXP = /[\w$]+/y;

class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): void {
    this.#value(0);
    this.#space();
    if (this.#at < this.#text.length) this.#stop("nothing may follow the end of the document");
  }

  /** Says what stands here, and the rule. */
  #stop(rule: string, at = this.#at): never {
    throw new Stop(at, `${this.#here(at)}: ${rule}`);
  }

  #here(at: number): string {
    if (at >= this.#text.length) return "the text ends here";
    WORD_REGEXP.lastIndex = at;
    const word = WORD_REGEXP.exec(this.#text)?.[0].slice(0, 20) ??
      String.fromCodePoint(this.#text.codePointAt(at) ?? 0);
    return `here is ${JSON.stringify(word)}`;
  }

  #space(): void {
    while (" \t\r\n".includes(this.#text[this.#at] ?? "x")) this.#at++;
    const two = this.#text.slice(this.#at, this.#at + 2);
    if (two === "//" || two === "/*") this.#stop("JSON knows no comments");
    if (two.startsWith("#")) this.#stop("JSON knows no comments");
  }

  #value(depth: number): void {
    this.#space();
    if (depth > DEPTH_MAX) this.#stop(`more than ${DEPTH_MAX} levels are too deep`);
    const sign = this.#text[this.#at];
    if (sign === "{") return this.#list("}", "an object", () => this.#member(depth));
    if (sign === "[") return this.#list("]", "a list", () => this.#value(depth + 1));
    if (sign === '"') return this.#string();
    if (sign === "'") this.#stop('text must stand in double quotes (")');
    if (sign !== undefined && /[-\d]/.test(sign)) return this.#number();
    const word = ["true", "false", "null"].find((each) => this.#text.startsWith(each, this.#at));
    if (word === undefined) {
      this.#stop(
        'a value must stand here: text in double quotes, a number, true, false, null, "{" or "["',
      );
    }
    this.#at += word.length;
  }

  #list(close: string, what: string, element: () => void): void {
    const open = this.#at++;
    this.#space();
    if (this.#text[this.#at] === close) {
      this.#at++;
      return;
    }
    while (true) {
      element();
      this.#space();
      const sign = this.#text[this.#at];
      if (sign === close) break;
      if (sign !== ",") {
        const { line } = this.#placeOf(open);
        this.#stop(`"," or "${close}" must follow in ${what} (it begins at line ${line})`);
      }
      const comma = this.#at++;
      this.#space();
      if (this.#text[this.#at] === close) {
        this.#stop(`no comma may stand before the "${close}" that ends ${what}`, comma);
      }
    }
    this.#at++;
  }

  #placeOf(at: number): { line: number } {
    return { line: this.#text.slice(0, at).split("\n").length };
  }

  #member(depth: number): void {
    this.#space();
    if (this.#text[this.#at] !== '"') this.#stop('a key in double quotes (") must stand here');
    this.#string();
    this.#space();
    if (this.#text[this.#at] !== ":") this.#stop('":" must follow the key');
    this.#at++;
    this.#value(depth + 1);
  }

  #number(): void {
    NUMBER_REGEXP.lastIndex = this.#at;
    const match = NUMBER_REGEXP.exec(this.#text)?.[0];
    const next = this.#text[this.#at + (match?.length ?? 0)] ?? "";
    if (match === undefined || /[\w.+-]/.test(next)) {
      this.#stop("this is no number of JSON (no leading 0 or +, no unit, a digit around the dot)");
    }
    this.#at += match.length;
  }

  #string(): void {
    const open = this.#at++;
    while (true) {
      const sign = this.#text[this.#at];
      if (sign === undefined || sign === "\n") {
        this.#stop('the closing double quote (") of this text is missing', open);
      }
      if (sign < " ") this.#stop("a control character in a text must be written as \\t or \\u00XX");
      this.#at++;
      if (sign === '"') return;
      if (sign === "\\") this.#escape();
    }
  }

  #escape(): void {
    const escape = /^(["\\/bfnrt]|u[\da-fA-F]{4})/.exec(this.#text.slice(this.#at, this.#at + 5));
    if (escape === null) {
      this.#stop('a backslash in a text must be written twice ("\\\\")', this.#at - 1);
    }
    this.#at += escape[0].length;
  }
}
