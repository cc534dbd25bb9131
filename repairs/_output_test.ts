import { assertEquals, assertRejects } from "@std/assert";
import { systemTempDir } from "../lab/mod.ts";
import { HoldingSink, PassingSink } from "./_output.ts";
import { namesIn } from "./_test_tools.ts";

/** A writer that takes three bytes at a time and follows a script of errors. */
function writer(...errors: (Error | null)[]) {
  const taken: number[] = [];
  return {
    get text() {
      return new TextDecoder().decode(new Uint8Array(taken));
    },
    write(chunk: Uint8Array) {
      const error = errors.shift() ?? null;
      if (error !== null) return Promise.reject(error);
      taken.push(...chunk.subarray(0, 3));
      return Promise.resolve(Math.min(3, chunk.length));
    },
  };
}

const bytes = (text: string) => new TextEncoder().encode(text);
const noPause = () => Promise.resolve();

Deno.test("PassingSink writes everything, also through a pipe that is full or interrupted", async () => {
  const out = writer(null, new Deno.errors.WouldBlock(), null, new Deno.errors.Interrupted());
  assertEquals(await new PassingSink(out, noPause).write(bytes("0123456789")), true);
  assertEquals(out.text, "0123456789");
});

Deno.test("PassingSink says when nobody reads any more, and throws for a full disk", async () => {
  assertEquals(
    await new PassingSink(writer(new Deno.errors.BrokenPipe()), noPause).write(bytes("a")),
    false,
  );
  const full = new PassingSink(writer(new Error("No space left on device")), noPause);
  await assertRejects(() => full.write(bytes("a")), Error, "No space left");
});

Deno.test("HoldingSink gives on all or nothing", async () => {
  const out = writer();
  {
    using dropped = new HoldingSink(new PassingSink(out, noPause));
    await dropped.write(bytes("of a first attempt"));
  }
  assertEquals(out.text, "");
  using held = new HoldingSink(new PassingSink(out, noPause));
  await held.write(bytes("one "));
  await held.write(bytes("two "));
  assertEquals(out.text, "");
  await held.commit();
  await held.commit();
  await held.write(bytes("three"));
  assertEquals([out.text, held.isCommitted], ["one two three", true]);
});

Deno.test("HoldingSink gives on what it holds when it would become too much", async () => {
  const out = writer();
  using held = new HoldingSink(new PassingSink(out, noPause), 5);
  await held.write(bytes("1234"));
  assertEquals(out.text, "");
  await held.write(bytes("5678"));
  assertEquals([out.text, held.isCommitted], ["12345678", true]);
});

Deno.test("HoldingSink leaves no file in the temp dir, not even while it holds", async () => {
  const held = () =>
    namesIn(systemTempDir()).filter((name) => name.startsWith("failure-lab-held-"));
  const before = held();
  using sink = new HoldingSink(new PassingSink(writer(), noPause));
  await sink.write(bytes("text"));
  assertEquals(held().filter((name) => !before.includes(name)), []);
});
