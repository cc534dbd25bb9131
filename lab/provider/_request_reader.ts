/**
 * Reads HTTP/1.1 requests from a socket and never reads more than it must.
 *
 * Why not `Deno.serve`: a fault has to reset the connection. No Deno API sends a TCP reset, but the
 * kernel sends one when a socket is closed whose receive buffer is not empty. So the last byte of
 * each request is held back in the kernel until it is known that no reset is due.
 *
 * @module
 */

/** Limit of the request line and all headers. */
const HEAD_MAX_BYTES = 64 * 1024;

/** Limit of a body; the largest first request of a real agent that was measured has 115 kB. */
export const BODY_MAX_BYTES = 32 * 1024 * 1024;

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

/** Reads one request after the other. Between two, call {@linkcode RequestReader.release}. */
export class RequestReader {
  readonly #conn: Deno.Conn;
  #early: number | null = null;
  #held: "head" | "body" | "chunks" | null = null;

  /** @param conn The socket to read from; it is never closed here. */
  constructor(conn: Deno.Conn) {
    this.#conn = conn;
  }

  /** Whether a byte of the request is still unread, so that closing the socket resets it. */
  get holds(): boolean {
    return this.#held !== null;
  }

  /**
   * Reads the next request head, all but its last byte.
   *
   * @returns `null` when the client closed the connection instead.
   * @throws {BadRequestError} If it is not HTTP/1, or too long.
   */
  async readHead(): Promise<RequestHead | null> {
    const buffer = new Uint8Array(HEAD_MAX_BYTES);
    let length = 0;
    if (this.#early !== null) {
      buffer[length++] = this.#early;
      this.#early = null;
    }
    while (true) {
      // While the blank line is not complete, at least this many bytes of it are to come.
      const missing = missingEndBytes(buffer, length);
      if (missing === 1) break;
      if (length + missing > HEAD_MAX_BYTES) {
        throw new BadRequestError(431, "The request head is too long");
      }
      const count = await this.#conn.read(buffer.subarray(length, length + missing - 1));
      if (count === null) {
        if (length === 0) return null;
        throw new BadRequestError(400, "The request head is not whole");
      }
      length += count;
    }
    this.#held = "head";
    return parseHead(new TextDecoder("latin1").decode(buffer.subarray(0, length)));
  }

  /**
   * Reads the body, all but the last byte of the request; {@linkcode release} returns that byte when
   * it belongs to the body.
   *
   * @param confirm Called before reading when the client waits for "100 Continue".
   * @throws {BadRequestError} If the body is too long, not whole, or not framed as HTTP demands.
   */
  async readBody(head: RequestHead, confirm: () => Promise<void>): Promise<Uint8Array> {
    const chunked = head.headers.get("transfer-encoding")?.toLowerCase() === "chunked";
    const lengthText = head.headers.get("content-length") ?? "0";
    const length = Number(lengthText);
    if (!chunked && !/^\d+$/.test(lengthText)) {
      throw new BadRequestError(400, "The content length is not a number");
    }
    if (!chunked && length === 0) return new Uint8Array();
    if (length > BODY_MAX_BYTES) throw new BadRequestError(413, "The request body is too long");
    await this.#readExactly(1);
    this.#held = null;
    if (head.headers.get("expect")?.toLowerCase() === "100-continue") await confirm();
    if (chunked) return await this.#readChunks();
    const body = await this.#readExactly(length - 1);
    this.#held = "body";
    return body;
  }

  /**
   * Reads the byte that was held back.
   *
   * @returns It, when it belongs to the body, else nothing.
   */
  async release(): Promise<Uint8Array> {
    const held = this.#held;
    if (held === null) return new Uint8Array();
    const byte = await this.#readExactly(1);
    this.#held = null;
    return held === "body" ? byte : new Uint8Array();
  }

  /**
   * Resolves when the client has closed the connection, or when the socket was closed here; also when
   * the client sends its next request early, with `false`.
   */
  async waitForClose(): Promise<boolean> {
    if (this.#early !== null) return false;
    const byte = new Uint8Array(1);
    try {
      if (await this.#conn.read(byte) === null) return true;
    } catch {
      return true; // reset by the client, or closed by stop()
    }
    this.#early = byte[0] ?? 0;
    return false;
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
      await this.#readExactly(2);
    }
    while (true) {
      const byte = await this.#readExactly(1);
      if (byte[0] === CR) break;
      await this.#readLine(); // a trailer
    }
    this.#held = "chunks";
    return concatBytes(parts);
  }

  async #readLine(): Promise<string> {
    let line = "";
    while (!line.endsWith("\n")) {
      if (line.length > 1024) throw new BadRequestError(400, "A chunk line is too long");
      line += String.fromCharCode((await this.#readExactly(1))[0] ?? 0);
    }
    return line.trim();
  }

  async #readExactly(length: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(length);
    let done = 0;
    while (done < length) {
      const count = await this.#conn.read(bytes.subarray(done));
      if (count === null) throw new BadRequestError(400, "The request body is not whole");
      done += count;
    }
    return bytes;
  }
}

const CR = 13;
const LF = 10;

/** Bytes of "\r\n\r\n" that must still come, judged by the end of what is there. */
function missingEndBytes(buffer: Uint8Array, length: number): number {
  const at = (back: number) => length >= back ? buffer[length - back] : undefined;
  if (at(1) === LF) return at(2) === CR ? 2 : 4;
  if (at(1) !== CR) return 4;
  return at(2) === LF && at(3) === CR ? 1 : 3;
}

function parseHead(text: string): RequestHead {
  const [requestLine = "", ...lines] = text.trimEnd().split("\r\n");
  const [method = "", target = "", version = ""] = requestLine.split(" ");
  if (!version.startsWith("HTTP/1.")) throw new BadRequestError(400, "The request is not HTTP/1");
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
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((total, part) => total + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
