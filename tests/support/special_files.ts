// Making files that must never be opened.

/** Makes a fifo; opening it would wait for the other end for ever. */
export async function makeFifo(path: string): Promise<void> {
  const { success } = await new Deno.Command("mkfifo", { args: [path] }).output();
  if (!success) throw new Error(`Cannot make the fifo "${path}"`);
}

/**
 * Makes a socket on which nobody listens. Deno itself would need the right to listen for it.
 *
 * @returns Whether this machine has a program that can.
 */
export async function makeSocket(path: string): Promise<boolean> {
  const programs: [string, ...string[]][] = [
    ["perl", "-MSocket", "-e", "socket(S,1,1,0);bind(S,sockaddr_un($ARGV[0]))||die", path],
    ["python3", "-c", "import socket,sys;socket.socket(1).bind(sys.argv[1])", path],
  ];
  for (const [program, ...args] of programs) {
    try {
      if ((await new Deno.Command(program, { args, stderr: "null" }).output()).success) return true;
    } catch {
      // Not there: the next one.
    }
  }
  return false;
}
