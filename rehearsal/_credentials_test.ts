import { assert, assertEquals } from "@std/assert";
import { makeTestDir } from "../tests/support/temp_dir.ts";
import { CREDENTIAL_GROUPS, credentialGroupOf, credentialLines } from "./_credentials.ts";

/** Whether a file of this name and content would stay behind. */
async function staysBehind(relative: string, content = "x"): Promise<boolean> {
  await using dir = await makeTestDir("credential");
  const path = `${dir.path}/${relative}`;
  await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  if (relative.endsWith("/")) return credentialGroupOf(relative.slice(0, -1), path) !== null;
  await Deno.writeTextFile(path, content);
  return credentialGroupOf(relative, path) !== null;
}

Deno.test("credential files stay behind, at any depth and in any case", async () => {
  const names = [".env", ".env.local", ".env.production", "app/.env", ".ENV", ".envrc"]
    .concat(["server.key", "config/master.key", "cert.p12", "id_rsa", "id_rsa.pub", "id_ed25519"])
    .concat([".npmrc", "web/.npmrc", ".netrc", "_netrc", ".pypirc", ".git-credentials"])
    .concat(["credentials.json", "service-account.json", "service-account-prod.json"])
    .concat(["home/.kube/config", "home/.docker/config.json", ".claude/.credentials.json"])
    .concat(["terraform.tfstate", "secrets.yaml", "client_secret_123.json", ".cargo/credentials"])
    .concat([".aws/", "home/.ssh/", ".gnupg/", ".config/gcloud/"]);
  for (const name of names) assert(await staysBehind(name), name);
});

Deno.test("files that only look like credentials stay in", async () => {
  const names = [".env.example", ".env.sample", ".env.template", ".env.dist", "env", "environment"]
    .concat(["keys.txt", "monkey", "id_rsa/", "config", "docker/config.json", "kube/config"])
    .concat(["package.json", "credentials.md", "my-credentials.json.txt", ".envoy", "token.json"])
    // A Python environment has these names, and nothing works without it.
    .concat([".env/", "app.key/", "aws/", ".env/bin/python", "a.env"]);
  for (const name of names) assertEquals(await staysBehind(name), false, name);
});

Deno.test("what a file holds decides where its name does not", async () => {
  const pem = (kind: string) => `-----BEGIN ${kind}-----\nMIIB\n-----END ${kind}-----\n`;
  const certificate = pem("CERTIFICATE");
  assertEquals(await staysBehind("cacert.pem", certificate), false);
  assert(await staysBehind("site.pem", certificate + pem("RSA PRIVATE KEY")));
  assert(await staysBehind("site.crt", pem("ENCRYPTED PRIVATE KEY")));
  assertEquals(await staysBehind("auth.json", '{"theme":"dark"}'), false);
  assert(await staysBehind("auth.json", '{"http-basic":{"x":{"username":"u","password":"p"}}}'));
  assertEquals(await staysBehind(".yarnrc.yml", "yarnPath: .yarn/releases/yarn.cjs\n"), false);
  assert(await staysBehind(".yarnrc.yml", "npmAuthToken: abc\n"));
  assert(await staysBehind("pip.conf", "index-url = https://user:word@example.com/simple\n"));
  // Too big to be read for this, so it is taken for one.
  assert(await staysBehind("huge.pem", "x".repeat(1024 * 1024 + 1)));
});

Deno.test("the list can be printed, a line for each group, and is all lower case", () => {
  assertEquals(credentialLines().length, CREDENTIAL_GROUPS.length);
  for (const { what, patterns } of CREDENTIAL_GROUPS) {
    assert(what.length > 0 && patterns.length > 0);
    assertEquals(patterns.filter((pattern) => pattern !== pattern.toLowerCase()), []);
  }
});
