// What is inside each binary: kept as one record per binary, written as MANIFEST.txt for people and
// SHA256SUMS for `sha256sum -c`.

/** A file inside a binary. */
export interface ManifestFile {
  path: string;
  sizeBytes: number;
  sha256: string;
}

/** Everything known about one binary. */
export interface BuildRecord {
  /** The file name in dist/. */
  output: string;
  /** Hash of all that went in; equal stamps need no new build. */
  stamp: string;
  version: string;
  gitHead: string;
  target: string;
  sizeBytes: number;
  sha256: string;
  denoVersion: string;
  runtimeOrigin: string;
  runtimeSha256: string;
  importSource: string;
  /** Third-party modules with their exact versions. */
  modules: readonly string[];
  flags: readonly string[];
  files: readonly ManifestFile[];
}

/** MANIFEST.txt. */
export function manifestText(records: readonly BuildRecord[]): string {
  return records.map((record) =>
    [
      record.output,
      `  version         ${record.version}`,
      `  git head        ${record.gitHead}`,
      `  target          ${record.target}`,
      `  size            ${record.sizeBytes} bytes`,
      `  sha256          ${record.sha256}`,
      `  deno            ${record.denoVersion}`,
      `  runtime from    ${record.runtimeOrigin}`,
      `  runtime sha256  ${record.runtimeSha256}`,
      `  imports from    ${record.importSource}`,
      `  modules         ${record.modules.join(" ")}`,
      `  permissions     ${record.flags.join(" ")}`,
      `  embedded files  ${record.files.length} (besides the modules that main.ts imports)`,
      ...record.files.map((file) => `    ${file.sha256}  ${file.sizeBytes}  ${file.path}`),
      "",
    ].join("\n")
  ).join("\n");
}

/** SHA256SUMS, in the form that `sha256sum -c` reads in dist/. */
export function checksumText(records: readonly BuildRecord[]): string {
  return records.map((record) => `${record.sha256}  ${record.output}\n`).join("");
}
