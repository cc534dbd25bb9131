// Taking one file out of a .tgz as it streams by, so that 180 MB need neither disk nor memory.

const BLOCK_BYTES = 512;
const DECODER = new TextDecoder();

/**
 * Writes the file `entry` of a gzipped tar archive to `dest`.
 *
 * Stops reading as soon as the entry is whole. Returns false when the archive does not have it.
 */
export async function extractEntry(
  archive: ReadableStream<Uint8Array<ArrayBuffer>>,
  entry: string,
  dest: string,
): Promise<boolean> {
  const source = new ByteSource(archive.pipeThrough(new DecompressionStream("gzip")));
  try {
    while (true) {
      const header = await source.take(BLOCK_BYTES);
      const name = field(header, 0, 100);
      if (name === "") return false; // an empty block ends the archive
      const prefix = field(header, 345, 155);
      const path = prefix === "" ? name : `${prefix}/${name}`;
      const sizeBytes = parseInt(field(header, 124, 12).trim() || "0", 8);
      if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0) {
        throw new SyntaxError(`Cannot read the archive: "${path}" has no valid size`);
      }
      const type = field(header, 156, 1);
      if (path === entry && (type === "0" || type === "")) {
        await copyTo(source, sizeBytes, dest);
        return true;
      }
      await source.drop(Math.ceil(sizeBytes / BLOCK_BYTES) * BLOCK_BYTES);
    }
  } finally {
    await source.cancel();
  }
}

function field(header: Uint8Array, start: number, lengthBytes: number): string {
  const bytes = header.subarray(start, start + lengthBytes);
  const end = bytes.indexOf(0);
  return DECODER.decode(end === -1 ? bytes : bytes.subarray(0, end));
}

async function copyTo(source: ByteSource, sizeBytes: number, dest: string): Promise<void> {
  using file = await Deno.open(dest, { write: true, create: true, truncate: true });
  const writer = file.writable.getWriter();
  for await (const chunk of source.pieces(sizeBytes)) await writer.write(chunk);
  await writer.close();
}

/** Reads exact numbers of bytes from a stream of chunks. */
class ByteSource {
  #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
  #rest: Uint8Array<ArrayBuffer> = new Uint8Array(0);

  constructor(stream: ReadableStream<Uint8Array<ArrayBuffer>>) {
    this.#reader = stream.getReader();
  }

  /** The next `sizeBytes` bytes in pieces as they come. */
  async *pieces(sizeBytes: number): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    let missing = sizeBytes;
    while (missing > 0) {
      if (this.#rest.length === 0) {
        const { value, done } = await this.#reader.read();
        if (done) {
          throw new SyntaxError(
            `Cannot read the archive: it ends ${missing} bytes before the end of an entry`,
          );
        }
        this.#rest = value;
      }
      const piece = this.#rest.subarray(0, missing);
      this.#rest = this.#rest.subarray(piece.length);
      missing -= piece.length;
      yield piece;
    }
  }

  async take(sizeBytes: number): Promise<Uint8Array> {
    const whole = new Uint8Array(sizeBytes);
    let at = 0;
    for await (const piece of this.pieces(sizeBytes)) {
      whole.set(piece, at);
      at += piece.length;
    }
    return whole;
  }

  async drop(sizeBytes: number): Promise<void> {
    for await (const _ of this.pieces(sizeBytes));
  }

  async cancel(): Promise<void> {
    await this.#reader.cancel().catch(() => {}); // a broken stream is already closed
  }
}
