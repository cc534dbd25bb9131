import { assertEquals } from "@std/assert";
import { findKernelLock, findOpeners } from "./_openers.ts";
import { inFolder, isThere, textOf, write } from "./_test_tools.ts";

/** A shell that has the file open, and locks it when asked to, until its stdin ends. */
function holder(path: string, lock: string) {
  return new Deno.Command("sh", {
    args: ["-c", `exec 9<"$1"; ${lock}; echo ready >"$1.ready"; read _`, "sh", path],
    stdin: "piped",
  }).spawn();
}

for (
  const [lock, expected] of [["true", "no"], ["flock 9", "yes"], ["flock -s 9", "yes"]] as const
) {
  Deno.test(`findOpeners and findKernelLock, while a process has the file open (${lock})`, () =>
    inFolder(async (dir) => {
      const path = `${dir}/-a lock`;
      write(path, "");
      assertEquals([await findOpeners(path), await findKernelLock(path)], [{
        pids: [],
        isOpen: "no",
      }, "no"]);
      const child = holder(path, lock);
      try {
        await textOf(`${path}.ready`);
        assertEquals(await findOpeners(path), { pids: [child.pid], isOpen: "yes" });
        assertEquals(await findKernelLock(path), expected);
      } finally {
        await child.stdin.close();
        await child.status;
      }
    }));
}

Deno.test("findKernelLock never makes the file that it is asked about", () =>
  inFolder(async (dir) => {
    assertEquals(await findKernelLock(`${dir}/none`), "unknown");
    assertEquals(isThere(`${dir}/none`), false);
  }));

Deno.test("findOpeners does not count this process", () =>
  inFolder(async (dir) => {
    write(`${dir}/a`, "");
    using _file = await Deno.open(`${dir}/a`);
    assertEquals((await findOpeners(`${dir}/a`)).pids, []);
  }));
