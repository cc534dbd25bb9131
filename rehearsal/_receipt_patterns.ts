/**
 * What private text looks like: paths, secrets, and names that tell something.
 *
 * @module
 */
import { LAB_PREFIX } from "../lab/mod.ts";

/** Values that are names of the record's own language, or hashes and times: never touched. */
export const OWN_WORDS: ReadonlySet<string> = new Set([
  "schema",
  "kind",
  "subject",
  "half",
  "purpose",
  "change",
  "limitHit",
  "comparedBy",
  "sha256",
  "startedAt",
  "endedAt",
  "signal",
  "os",
  "arch",
  "deno",
  "id",
  "variant",
  "contentChecks",
  "doneAt",
  "keyAt",
  "paths",
]);
/** Lists whose `path` names an output; verify looks for that very file. */
export const OUTPUT_LISTS: ReadonlySet<string> = new Set([
  "artifacts",
  "artifactsAtFault",
  "artifactsBefore",
  "artifactsAfter",
]);

/** Names that are the same on many machines tell nothing, and stand in other words. */
const COMMON_NAMES: ReadonlySet<string> = new Set(
  ("root user users admin administrator ubuntu debian fedora centos alpine arch runner node nobody " +
    "test tester guest local localhost localdomain build builder ci docker vagrant app work job " +
    "linux darwin mac macbook server host home tmp lab main dev").split(" "),
);
const NAME_LENGTH_MIN = 3;
/** Shorter values of secret-looking variables are words like "auto". */
export const SECRET_LENGTH_MIN = 6;
/** Shorter values of the contract's environment are replaced only where they are declared. */
export const ENV_VALUE_LENGTH_MIN = 3;

/** Names of variables whose values are nobody's business. */
export const SECRET_NAME_REGEXP =
  /(KEY|TOKEN|SECRET|PASSW(OR)?D|PASSPHRASE|CREDENTIAL|AUTH|COOKIE)/i;
/** Keys of providers and hosts, by their shape. */
export const SECRET_SHAPE_REGEXP =
  /\b(?:sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|AKIA[0-9A-Z]{16}|xox[abprs]-[\w-]{10,}|AIza[\w-]{30,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{5,})/g;
/** Somebody's home. */
export const HOME_REGEXP =
  /(?<![\w>.~-])(?:(?:\/home|\/Users)\/[^\s/:,;"'`<>|&()[\]{}\\]+|\/root(?![\w-]|\.\w))/g;
/** The folder of a lab, wherever its temp dir was. */
export const LAB_REGEXP = new RegExp(
  `(?:<temp>|(?:/[^\\s/:,"'<>]+)+)/${LAB_PREFIX}[0-9a-f]{8,}`,
  "g",
);
/** Any other absolute path of two parts or more, not inside a relative one, an address or a stand-in. */
export const ABSOLUTE_REGEXP =
  /(?<![\w>.~$})\]*/-])(?:\/[^\s/"'`:,;|&<>()[\]{}*?$\\=]+){2,}\/?|(?<=(?:^|\s)-[A-Za-z])(?:\/[^\s/"'`:,;|&<>()[\]{}*?$\\=]+){2,}\/?/g;
/** Places that every machine has. */
export const SYSTEM_REGEXP =
  /^\/(?:usr|bin|sbin|lib|lib64|etc|dev|proc|sys|nix|System|Library|opt\/homebrew|run\/current-system)(?:\/|$)/;
/** What must not follow when the whole path is meant, and not a longer name. */
export const PATH_END = String.raw`(?![\w-]|\.\w)`;

/** The text, to be found as it is. */
export function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
}

/** A path as it can stand in a shell line, a URL, a JSON text or a permission flag. */
export function spellings(path: string): string[] {
  return [
    ...new Set([
      path,
      path.replaceAll(",", ",,"),
      path.replaceAll("'", "'\\''"),
      path.replaceAll(" ", "\\ "),
      // Half of a character pair cannot be encoded.
      encodeURI(path.toWellFormed()),
      JSON.stringify(path).slice(1, -1),
    ]),
  ];
}

/** Finds a word that is not part of a longer one. */
export function wordRegExp(word: string): RegExp {
  return new RegExp(`(?<![A-Za-z0-9])${escapeRegExp(word)}(?![A-Za-z0-9])`, "g");
}

/** Whether a name says something about this machine or its user. */
export function isTelling(name: string): boolean {
  return name.length >= NAME_LENGTH_MIN && !COMMON_NAMES.has(name.toLowerCase());
}
