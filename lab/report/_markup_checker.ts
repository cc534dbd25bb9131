/**
 * A small strict parser for the tests: it reads the XML and HTML that we write and throws at the
 * first thing that is not well-formed.
 *
 * @module
 */

/** One element, with its text and its children in order. */
export interface Element {
  name: string;
  attributes: Map<string, string>;
  children: (Element | string)[];
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"' };

/** HTML elements without an end. */
const VOID = new Set(["meta", "br", "hr", "img", "link", "input"]);

/** HTML elements whose content is not parsed. */
const RAW = new Set(["style", "script"]);

function decode(text: string): string {
  const withoutGood = text.replace(/&(?:amp|lt|gt|quot|#\d+);/g, "");
  if (/[&<>]/.test(withoutGood)) throw new Error(`Not escaped: ${text.slice(0, 80)}`);
  return text.replace(
    /&(\w+|#\d+);/g,
    (_, name: string) =>
      name.startsWith("#") ? String.fromCodePoint(Number(name.slice(1))) : ENTITIES[name] ?? "?",
  );
}

function readAttributes(text: string): Map<string, string> {
  const attributes = new Map<string, string>();
  let left = text;
  while (left.trim() !== "") {
    const match = /^\s+([a-zA-Z][a-zA-Z:-]*)="([^"<]*)"/.exec(left);
    if (match === null) throw new Error(`Bad attributes: ${left.slice(0, 80)}`);
    const [whole, name = "", value = ""] = match;
    if (attributes.has(name)) throw new Error(`Attribute ${name} twice`);
    attributes.set(name, decode(value));
    left = left.slice(whole.length);
  }
  return attributes;
}

/**
 * Parses a document.
 *
 * @param kind In `html`, void elements and raw text are known; in `xml` nothing is forgiven.
 */
export function parseMarkup(text: string, kind: "xml" | "html"): Element {
  // What XML 1.0 forbids is no better in our HTML. A lone surrogate cannot be encoded at all.
  // deno-lint-ignore no-control-regex
  const forbidden = /[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff\u202a-\u202e\u2066-\u2069]/.exec(
    text,
  );
  if (forbidden || !text.isWellFormed()) throw new Error(`Forbidden at ${forbidden?.index}`);
  const root: Element = { name: "", attributes: new Map(), children: [] };
  const stack = [root];
  const prolog = kind === "xml" ? /^<\?xml [^?]*\?>\n/ : /^<!DOCTYPE html>\n/;
  let at = prolog.exec(text)?.[0].length ?? 0;
  while (at < text.length) {
    const top = stack.at(-1);
    if (top === undefined) throw new Error("Closed once too often");
    const tag = /<(\/?)([a-zA-Z][\w-]*)((?:"[^"]*"|[^"<>])*?)(\/?)>/y;
    tag.lastIndex = at;
    const match = tag.exec(text);
    if (match === null) {
      const next = text.indexOf("<", at + 1);
      const end = next === -1 ? text.length : next;
      const isRaw = kind === "html" && RAW.has(top.name);
      const piece = text.slice(at, end);
      top.children.push(isRaw ? piece : decode(piece));
      at = end;
      continue;
    }
    const [whole, isEnd, name = "", attributes = "", isEmpty] = match;
    at += whole.length;
    if (isEnd) {
      if (top.name !== name) throw new Error(`</${name}> closes <${top.name}>`);
      stack.pop();
      continue;
    }
    const element = { name, attributes: readAttributes(attributes), children: [] };
    top.children.push(element);
    if (!isEmpty && !(kind === "html" && VOID.has(name))) stack.push(element);
  }
  if (stack.length !== 1) throw new Error(`<${stack.at(-1)?.name}> is never closed`);
  return root;
}

/** All elements of a name below an element. */
export function findAll(element: Element, name: string): Element[] {
  return element.children.flatMap((child) =>
    typeof child === "string"
      ? []
      : [...(child.name === name ? [child] : []), ...findAll(child, name)]
  );
}

/** All elements below an element. */
export function allElements(element: Element): Element[] {
  return element.children.flatMap((child) =>
    typeof child === "string" ? [] : [child, ...allElements(child)]
  );
}

/** The text in an element and below. */
export function textOf(element: Element): string {
  return element.children.map((child) => typeof child === "string" ? child : textOf(child)).join(
    "",
  );
}
