import { assertEquals } from "@std/assert";
import { findRoute } from "./routes.ts";
import { startProvider } from "./server.ts";
import { post } from "./_testing.ts";

function describe(method: string, path: string): string {
  const { kind, dialect } = findRoute(method, path);
  return `${kind} ${dialect.name}`;
}

Deno.test("findRoute() knows each protocol by its path, with and without the version", () => {
  assertEquals(describe("POST", "/v1/messages"), "model anthropic-messages");
  assertEquals(describe("POST", "/messages"), "model anthropic-messages");
  assertEquals(describe("POST", "/v1/chat/completions"), "model openai-chat");
  assertEquals(describe("POST", "/v1/responses"), "model openai-responses");
  assertEquals(describe("POST", "/v1beta/models/m-1.5:generateContent"), "model gemini");
  assertEquals(describe("POST", "/v1beta/models/m:streamGenerateContent"), "model gemini");
  assertEquals(describe("POST", "/lab/unit/a"), "unit lab-unit");
});

Deno.test("findRoute() answers what is not work from fixed texts", () => {
  assertEquals(describe("HEAD", "/"), "fixed anthropic-messages");
  assertEquals(describe("GET", "/v1/models"), "fixed openai-chat");
  assertEquals(describe("POST", "/v1beta/models/m:countTokens"), "fixed gemini");
});

Deno.test("findRoute() knows no other path, and no other method", () => {
  for (
    const [method, path] of [
      ["GET", "/v1/messages"],
      ["POST", "/v1/models"],
      ["POST", "/v1beta/models/m:embedContent"],
      ["GET", "/v1beta/models/m:generateContent"],
      ["GET", "/lab/unit/a"],
      ["POST", "/lab/unit/a/b"],
      ["POST", "/v1/constructor"],
    ] as const
  ) assertEquals(findRoute(method, path).kind, "unknown", `${method} ${path}`);
});

Deno.test("findRoute() takes a unit as it was before the URL encoding", () => {
  const route = findRoute("POST", "/lab/unit/unit%2F1");
  assertEquals(route.kind === "unit" && route.unit, "unit/1");
  const broken = findRoute("POST", "/lab/unit/100%");
  assertEquals(broken.kind === "unit" && broken.unit, "100%");
});

Deno.test("GET /v1/models lists one model in the form of every protocol", async () => {
  await using provider = await startProvider();
  const list = await (await fetch(`${provider.url}/v1/models`)).json();
  assertEquals([list.object, list.data[0].id, list.models[0].name], [
    "list",
    "lab-model",
    "models/lab-model",
  ]);
});

Deno.test("an unknown path is answered 404, and its text is not kept", async () => {
  await using provider = await startProvider();
  const response = await post(provider, "/v2/secret-path", {});
  await response.text();
  assertEquals(response.status, 404);
  assertEquals(provider.log().entries[0]?.path, "(unknown path)");
});
