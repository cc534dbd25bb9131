/**
 * Reads HTTP/1.1 requests from a connection.
 *
 * @module
 */

import type { Wire } from "./_wire.ts";

/** Limit of the request line and all headers. */
const HEAD_MAX_BYTES = 64 * 1024;

/** Limit of a body; the largest first request of a real agent that was measured has 115 kB. */
export const BODY_MAX_BYTES = 32 * 1024 * 1024;

/** Limit of a line between two chunks. */
const LINE_MAX_BYTES = 4096;

const METHOD_REGEXP = /^[A-Za-z]{1,20}$/;

const CRLF = "\r\n";

/** A request that cannot be answered as asked; `status` is the answer. */
export class BadRequestError extends Error {
  /** Always "BadRequestError". */
  override readonly name = "BadRequestError";
  /** HTTP status of the refusal. */
  readonly status: number;

  /** @param status HTTP status of the refusal. */
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Request line and headers. */
export interface RequestHead {
  /** HTTP method, in capitals. */
  method: string;
  /** Path and query. */
  url: URL;
  /** Whether the client speaks HTTP/1.1, so that chunks and reuse of the connection are allowed. */
  modern: boolean;
  /** The headers. */
  headers: Headers;
}

/** Reads one request after the other; what a client sends ahead is kept for the next one. */
export class RequestReader {
  readonly #wire: Wire;
  #rest: Uint8Array = new Uint8Array();

  /** @param wire The connection; it is never closed here. */
  constructor(wire: Wire) {
    this.#wire = wire;
  }

  /**
   * Reads the next request head.
   *
   * @returns `null` when the client ended the connection instead.
   * @throws {BadRequestError} If it is not HTTP/1, not whole, or too long.
   */
  async readHead(): Promise<RequestHead | null> {
    const bytes = await this.#readThrough(CRLF + CRLF, HEAD_MAX_BYTES);
    if (bytes === null) {
      if (this.#rest.length === 0) return null;
      throw new BadRequestError(400, "The request head is not whole");
    }
    return parseHead(latin1(bytes));
  }

  /**
   * Reads the body that belongs to a head.
   *
   * @param confirm Called before reading when the client waits for "100 Continue".
   * @throws {BadRequestError} If the body is too long, not whole, or not framed as HTTP demands.
   */
  async readBody(head: RequestHead, confirm: () => Promise<void>): Promise<Uint8Array> {
    const chunked = head.headers.get("transfer-encoding")?.toLowerCase() === "chunked";
    const lengthText = head.headers.get("content-length") ?? "0";
    if (!chunked && !/^\d+$/.test(lengthText)) {
      throw new BadRequestError(400, "The content length is not a number");
    }
    const length = Number(lengthText);
    if (!chunked && length === 0) return new Uint8Array();
    if (length > BODY_MAX_BYTES) throw new BadRequestError(413, "The request body is too long");
    if (head.headers.get("expect")?.toLowerCase() === "100-continue") await confirm();
    return chunked ? await this.#readChunks() : await this.#readExactly(length);
  }

  async #readChunks(): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    let total = 0;
    while (true) {
      const size = parseInt(await this.#readLine(), 16);
      if (!(size >= 0)) throw new BadRequestError(400, "The chunk size is not a number");
      if (size === 0) break;
      total += size;
      if (total > BODY_MAX_BYTES) throw new BadRequestError(413, "The request body is too long");
      parts.push(await this.#readExactly(size));
      await this.#readExactly(CRLF.length);
    }
    while (await this.#readLine() !== ""); // trailers
    return concatBytes(parts);
  }

  async #readLine(): Promise<string> {
    const bytes = await this.#readThrough(CRLF, LINE_MAX_BYTES);
    if (bytes === null) throw new BadRequestError(400, "The request body is not whole");
    return latin1(bytes).slice(0, -CRLF.length);
  }

  /** @returns Everything up to and with `mark`, or `null` when the client ended before it. */
  async #readThrough(mark: string, maxBytes: number): Promise<Uint8Array | null> {
    let searched = 0;
    while (true) {
      const at = latin1(this.#rest.subarray(searched)).indexOf(mark);
      if (at !== -1) return this.#take(searched + at + mark.length);
      searched = Math.max(0, this.#rest.length - mark.length + 1);
      if (this.#rest.length > maxBytes) {
        throw new BadRequestError(431, "The request head is too long");
      }
      const more = await this.#wire.read();
      if (more === null) return null;
      this.#rest = concatBytes([this.#rest, more]);
    }
  }

  async #readExactly(length: number): Promise<Uint8Array> {
    const parts = [this.#take(Math.min(length, this.#rest.length))];
    let missing = length - (parts[0]?.length ?? 0);
    while (missing > 0) {
      const more = await this.#wire.read();
      if (more === null) throw new BadRequestError(400, "The request body is not whole");
      parts.push(more.subarray(0, missing));
      this.#rest = more.subarray(missing);
      missing = Math.max(0, missing - more.length);
    }
    return concatBytes(parts);
  }

  #take(length: number): Uint8Array {
    const taken = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return taken;
  }
}

function latin1(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes);
}

function parseHead(text: string): RequestHead {
  const [requestLine = "", ...lines] = text.trimEnd().split(CRLF);
  const [method = "", target = "", version = ""] = requestLine.split(" ");
  if (!METHOD_REGEXP.test(method) || !version.startsWith("HTTP/1.")) {
    throw new BadRequestError(400, "The request is not HTTP/1");
  }
  const headers = new Headers();
  try {
    for (const line of lines) {
      const colon = line.indexOf(":");
      headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
    }
    const url = new URL(target, "http://127.0.0.1");
    return { method: method.toUpperCase(), url, modern: version !== "HTTP/1.0", headers };
  } catch {
    throw new BadRequestError(400, "The request head cannot be read");
  }
}

/** Several byte arrays as one. */
function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
