import { assert, assertEquals, assertRejects } from "@std/assert";
import { systemClock, waitUntil } from "../lab/mod.ts";
import { Courier, type CourierHandler } from "./courier.ts";

const LIMIT_MS = 10_000;

/** Runs `act` with a courier; `ask` lays a letter down and gives the answer. */
async function withCourier(
  handler: CourierHandler,
  act: (ask: (unit: string, name?: string) => Promise<string>, dir: string) => Promise<void>,
): Promise<void> {
  const dir = await Deno.makeTempDir({ prefix: "courier-test-" });
  const courier = new Courier(dir, systemClock, handler);
  courier.start();
  let letters = 0;
  const ask = async (unit: string, name = `letter-${++letters}`) => {
    await Deno.writeTextFile(`${dir}/${name}.draft`, `${unit}\n`);
    await Deno.rename(`${dir}/${name}.draft`, `${dir}/${name}.ask`);
    const answer = await waitUntil(
      () => Deno.readTextFile(`${dir}/${name}.answer`).catch(() => null),
      { limitMs: LIMIT_MS },
    );
    return answer ?? "no answer";
  };
  try {
    await act(ask, dir);
  } finally {
    await courier.stop().finally(() => Deno.remove(dir, { recursive: true }));
  }
}

Deno.test("Courier brings each letter once and lays the answer beside it, whole", async () => {
  const brought: string[] = [];
  await withCourier((unit) => {
    brought.push(unit);
    return Promise.resolve(brought.length === 1 ? "sent" : "already");
  }, async (ask) => {
    assertEquals(await ask("unit-01"), "sent\n");
    assertEquals(await ask("unit-01"), "already\n");
    assertEquals(await ask("unit-02"), "already\n");
  });
  assertEquals(brought, ["unit-01", "unit-01", "unit-02"]);
});

Deno.test("Courier brings several letters at once", async () => {
  const quick = Promise.withResolvers<void>();
  const slow = Promise.withResolvers<void>();
  await withCourier(async (unit) => {
    if (unit === "slow") {
      slow.resolve();
      await quick.promise;
    } else quick.resolve();
    return "sent";
  }, async (ask) => {
    const answer = ask("slow");
    await slow.promise;
    assertEquals(await ask("quick"), "sent\n");
    assertEquals(await answer, "sent\n");
  });
});

Deno.test("Courier leaves the letters of a dead job alone", async () => {
  const dir = await Deno.makeTempDir({ prefix: "courier-test-" });
  try {
    await Deno.writeTextFile(`${dir}/old.ask`, "unit-01\n");
    const brought: string[] = [];
    const courier = new Courier(dir, systemClock, (unit) => {
      brought.push(unit);
      return Promise.resolve("sent");
    });
    courier.start();
    await Deno.writeTextFile(`${dir}/new.ask`, "unit-02\n");
    await waitUntil(() => brought.length > 0, { limitMs: LIMIT_MS });
    await courier.stop();
    assertEquals(brought, ["unit-02"]);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("Courier tells the job and the caller when its handler breaks", async () => {
  await assertRejects(
    () =>
      withCourier(() => Promise.reject(new Error("the road is closed")), async (ask) => {
        assertEquals(await ask("unit-01"), "not: the road is closed\n");
      }),
    Error,
    "the road is closed",
  );
});

Deno.test("Courier gives up what it has in hand when it is stopped", async () => {
  let wasGivenUp = false;
  let isInHand = false;
  await withCourier((_unit, signal) => {
    isInHand = true;
    return new Promise((resolve) => {
      signal.addEventListener("abort", () => {
        wasGivenUp = true;
        resolve("not: given up");
      });
    });
  }, async (_ask, dir) => {
    await Deno.writeTextFile(`${dir}/letter.ask`, "unit-01\n");
    assert(await waitUntil(() => isInHand, { limitMs: LIMIT_MS }));
  });
  assertEquals(wasGivenUp, true);
});
