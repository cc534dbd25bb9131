/**
 * Makes sense of a request body.
 *
 * @module
 */

import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import { BadRequestError, BODY_MAX_BYTES } from "./_request_reader.ts";

const DECODERS = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
} as const;

function isKnown(encoding: string): encoding is keyof typeof DECODERS {
  return Object.hasOwn(DECODERS, encoding);
}

/**
 * Reads a body as a JSON object.
 *
 * @throws {BadRequestError} With 415 if the encoding is unknown, with 400 if it is no JSON object.
 */
export async function readJson(bytes: Uint8Array, encoding: string | null): Promise<unknown> {
  let plain = bytes;
  if (encoding !== null && encoding !== "identity") {
    if (!isKnown(encoding)) {
      throw new BadRequestError(415, "The content encoding must be gzip, deflate or br");
    }
    try {
      plain = await DECODERS[encoding](bytes, { maxOutputLength: BODY_MAX_BYTES });
    } catch {
      throw new BadRequestError(400, "The request body cannot be decompressed");
    }
  }
  const value = parseJson(new TextDecoder().decode(plain));
  if (value === undefined) throw new BadRequestError(400, "The request body is not a JSON object");
  return value;
}

function parseJson(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
