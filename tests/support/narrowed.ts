// Running a piece of code with narrowed rights, as the driver of a rehearsal runs.

import { ROOT } from "../../dist/paths.ts";

/** Paths that the code may read and write, and programs that it may run. */
export interface Narrowed {
  read: string[];
  write?: string[];
  run?: string[];
}

/**
 * Runs an async function's body in a worker. The source of this repository can be read as well.
 *
 * @param imports Modules by the name under which the code knows what they export.
 * @returns What the code returned, as structured cloning hands it over.
 */
export async function runNarrowed(
  rights: Narrowed,
  imports: Readonly<Record<string, string>>,
  code: string,
): Promise<unknown> {
  const lines = Object.entries(imports).map(([name, module]) =>
    `import * as ${name} from ${JSON.stringify(module)};`
  );
  const source = `${lines.join("\n")}
    self.onmessage = async () => {
      try { self.postMessage({ value: await (async () => { ${code} })() }); }
      catch (error) { self.postMessage({ error: String(error) }); }
    };`;
  const worker = new Worker(`data:text/javascript,${encodeURIComponent(source)}`, {
    type: "module",
    deno: {
      permissions: {
        read: [ROOT, ...rights.read],
        write: rights.write ?? false,
        run: rights.run ?? false,
        net: false,
        env: false,
        sys: false,
        ffi: false,
        import: false,
      },
    },
  } as WorkerOptions);
  try {
    const answer = await new Promise<{ value?: unknown; error?: string }>((resolve) => {
      worker.onmessage = (event) => resolve(event.data);
      worker.onerror = (event) => {
        event.preventDefault();
        resolve({ error: event.message });
      };
      worker.postMessage("go");
    });
    if (answer.error !== undefined) throw new Error(answer.error);
    return answer.value;
  } finally {
    worker.terminate();
  }
}
