import { assertEquals } from "@std/assert";
import { rawConnection, readText } from "./_testing.ts";
import { startProvider } from "./server.ts";

/** More than the backlog that the runtime chooses by itself, which Deno 2.4.2 takes for a limit. */
const CONNECTIONS = 600;

Deno.test("connections one after the other never come to an end", async () => {
  await using provider = await startProvider();
  const request = "POST /lab/unit/a HTTP/1.1\r\nhost: lab\r\nconnection: close\r\n" +
    "content-length: 2\r\n\r\n{}";
  for (let i = 0; i < CONNECTIONS; i++) {
    using connection = await rawConnection(provider, request);
    await readText(connection, "ok a\n");
  }
  assertEquals(provider.log().counters.work, CONNECTIONS);
});
