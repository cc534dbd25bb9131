// @ts-types="./path.d.ts"
export {
  basename,
  common,
  dirname,
  extname,
  fromFileUrl,
  globToRegExp,
  isAbsolute,
  isGlob,
  join,
  joinGlobs,
  normalize,
  parse,
  relative,
  resolve,
  SEPARATOR,
  toFileUrl,
} from "npm:deno-std@1.4.0/path/mod.js";
