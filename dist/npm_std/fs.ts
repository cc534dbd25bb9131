// 1.3.0 is the last version of deno-std that carries fs.
// @ts-types="./fs.d.ts"
export {
  copy,
  emptyDir,
  ensureDir,
  ensureFile,
  exists,
  expandGlob,
  move,
  walk,
} from "npm:deno-std@1.3.0/fs/mod.js";
