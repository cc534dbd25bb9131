import { assertEquals, assertRejects } from "@std/assert";
import { createServer } from "node:net";
import { inTime, readText } from "./_testing.ts";
import { Wire, WireClosedError } from "./_wire.ts";

/** Runs `use` with both ends of one connection. */
async function withWire(use: (wire: Wire, conn: Deno.TcpConn) => Promise<void>): Promise<void> {
  const accepted = Promise.withResolvers<Wire>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    accepted.resolve(new Wire(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  using conn = await Deno.connect({ hostname: "127.0.0.1", port });
  const wire = await inTime(accepted.promise, "the connection");
  try {
    await use(wire, conn);
  } finally {
    wire.close();
    server.close();
    await wire.closed;
  }
}

const BYTES = new TextEncoder().encode("abc");

Deno.test("Wire reads what arrives, and null after the client's last byte", async () => {
  await withWire(async (wire, conn) => {
    await conn.write(BYTES);
    assertEquals([...await inTime(wire.read(), "bytes") ?? []], [...BYTES]);
    await conn.closeWrite();
    assertEquals(await inTime(wire.read(), "the end"), null);
    await inTime(wire.gone, "gone");
    await wire.write(BYTES);
    wire.finish();
    assertEquals(await readText(conn), "abc");
  });
});

Deno.test("Wire does not lose what a client sent faster than it was read", async () => {
  await withWire(async (wire, conn) => {
    const sizeBytes = 8 * 1024 * 1024;
    const sending = (async () => {
      let rest = new Uint8Array(sizeBytes).fill(7);
      while (rest.length > 0) rest = rest.subarray(await conn.write(rest));
      await conn.closeWrite();
    })();
    let total = 0;
    while (true) {
      const bytes = await inTime(wire.read(), "bytes");
      if (bytes === null) break;
      total += bytes.length;
    }
    await sending;
    assertEquals(total, sizeBytes);
  });
});

Deno.test("Wire ends a write that waits for a client that does not read", async () => {
  await withWire(async (wire) => {
    const block = new Uint8Array(1024 * 1024);
    const writing = (async () => {
      while (true) await wire.write(block);
    })();
    const ended = assertRejects(() => writing, WireClosedError);
    wire.close();
    await inTime(ended, "the end of the write");
    await assertRejects(() => wire.write(BYTES), WireClosedError);
  });
});
