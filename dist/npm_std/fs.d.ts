// What this project uses of @std/fs.

export interface CopyOptions {
  overwrite?: boolean;
  preserveTimestamps?: boolean;
}

export interface ExistsOptions {
  isReadable?: boolean;
  isDirectory?: boolean;
  isFile?: boolean;
}

export interface MoveOptions {
  overwrite?: boolean;
}

export interface WalkEntry extends Deno.DirEntry {
  path: string;
}

export interface WalkOptions {
  maxDepth?: number;
  includeFiles?: boolean;
  includeDirs?: boolean;
  includeSymlinks?: boolean;
  followSymlinks?: boolean;
  canonicalize?: boolean;
  exts?: string[];
  match?: RegExp[];
  skip?: RegExp[];
}

export interface ExpandGlobOptions {
  root?: string;
  exclude?: string[];
  includeDirs?: boolean;
  followSymlinks?: boolean;
  canonicalize?: boolean;
  extended?: boolean;
  globstar?: boolean;
  caseInsensitive?: boolean;
}

export function copy(src: string | URL, dest: string | URL, options?: CopyOptions): Promise<void>;
export function emptyDir(dir: string | URL): Promise<void>;
export function ensureDir(dir: string | URL): Promise<void>;
export function ensureFile(filePath: string | URL): Promise<void>;
export function exists(path: string | URL, options?: ExistsOptions): Promise<boolean>;
export function expandGlob(
  glob: string | URL,
  options?: ExpandGlobOptions,
): AsyncIterableIterator<WalkEntry>;
export function move(src: string | URL, dest: string | URL, options?: MoveOptions): Promise<void>;
export function walk(root: string | URL, options?: WalkOptions): AsyncIterableIterator<WalkEntry>;
