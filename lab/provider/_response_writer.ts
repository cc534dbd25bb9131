/**
 * Writes one HTTP/1.1 response to a connection, frame by frame.
 *
 * @module
 */

import type { Wire } from "./_wire.ts";

const REASONS: Readonly<Record<number, string>> = {
  200: "OK",
  400: "Bad Request",
  401: "Unauthorized",
  404: "Not Found",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  503: "Service Unavailable",
  529: "Site Overloaded",
};

/** How a response has to be framed. */
export interface ResponseForm {
  /** Whether the client speaks HTTP/1.1; without it there are no chunks. */
  modern: boolean;
  /** Whether the body is left out, as for HEAD. */
  headOnly: boolean;
  /** Whether the connection is closed after the response. */
  close: boolean;
}

/** Sends one response. Every member throws WireClosedError when the connection has ended. */
export class ResponseWriter {
  readonly #wire: Wire;
  readonly #form: ResponseForm;
  #chunked = false;
  #bytesSent = 0;

  /** @param wire The connection; it is never closed here. */
  constructor(wire: Wire, form: ResponseForm) {
    this.#wire = wire;
    this.#form = form;
  }

  /** Bytes sent so far, headers and chunk marks included. */
  get bytesSent(): number {
    return this.#bytesSent;
  }

  /** Sends "100 Continue". */
  async confirm(): Promise<void> {
    await this.#write("HTTP/1.1 100 Continue\r\n\r\n");
  }

  /** Sends the status line and the headers; `bodyBytes` is null for a body of unknown length. */
  async head(
    status: number,
    headers: Readonly<Record<string, string>>,
    bodyBytes: number | null,
  ): Promise<void> {
    this.#chunked = bodyBytes === null && this.#form.modern;
    const lines = [`HTTP/1.1 ${status} ${REASONS[status] ?? "Status"}`];
    for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
    if (bodyBytes !== null) lines.push(`content-length: ${bodyBytes}`);
    else if (this.#chunked) lines.push("transfer-encoding: chunked");
    if (this.#form.close) lines.push("connection: close");
    await this.#write(lines.join("\r\n") + "\r\n\r\n");
  }

  /**
   * Sends a piece of the body.
   *
   * @returns False when there was nothing to send, as in the answer to HEAD.
   */
  async body(text: string): Promise<boolean> {
    if (this.#form.headOnly || text === "") return false;
    const length = new TextEncoder().encode(text).length;
    await this.#write(this.#chunked ? `${length.toString(16)}\r\n${text}\r\n` : text);
    return true;
  }

  /** Ends the body. */
  async end(): Promise<void> {
    if (this.#chunked && !this.#form.headOnly) await this.#write("0\r\n\r\n");
  }

  async #write(text: string): Promise<void> {
    const bytes = new TextEncoder().encode(text);
    await this.#wire.write(bytes);
    this.#bytesSent += bytes.length;
  }
}
