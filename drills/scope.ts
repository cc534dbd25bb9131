/**
 * What this program may do right now, as Deno flags, for the record.
 *
 * @module
 */

/** The permissions that are granted without a limit, and the one network place that the lab uses. */
export function grantedFlags(): string[] {
  const whole = (["read", "write", "run", "env", "sys", "net"] as const).filter((name) =>
    Deno.permissions.querySync({ name }).state === "granted"
  );
  const flags = whole.map((name) => `--allow-${name}`);
  const isLoopback = Deno.permissions.querySync({ name: "net", host: "127.0.0.1" }).state;
  if (!whole.includes("net") && isLoopback === "granted") flags.push("--allow-net=127.0.0.1");
  return flags;
}
