/**
 * Which files of a project hold credentials and therefore stay out of every copy: a copy lies in the
 * temp dir, is given to a job that is made to fail, and may be kept for a report.
 *
 * @module
 */

/** Files of one kind that stay behind. */
export interface CredentialGroup {
  /** What they are, for a person. */
  what: string;
  /**
   * Lower case, `*` for any text without `/`. A name at any depth; with a `/` in the middle, the end
   * of a path; with a `/` at the end, a folder with everything in it.
   */
  patterns: readonly string[];
  /** Only those whose text matches; of a file of more than 1 MiB it is taken for granted. */
  holding?: RegExp;
}

/** The list, in the order in which it is printed. */
export const CREDENTIAL_GROUPS: readonly CredentialGroup[] = [
  {
    what: "environment files (those for show, such as .env.example, stay in)",
    patterns: [".env", ".env.*", ".envrc", ".dev.vars", ".dev.vars.*"],
  },
  {
    what: "PEM files with a private key (certificates alone stay in)",
    patterns: ["*.pem", "*.crt", "*.cer", "*.asc"],
    holding: /PRIVATE KEY/,
  },
  {
    what: "private keys and key stores",
    patterns: [
      "*.key",
      "*.p12",
      "*.pfx",
      "*.jks",
      "*.keystore",
      "*.kdbx",
      "*.ppk",
      "id_rsa*",
      "id_dsa*",
      "id_ecdsa*",
      "id_ed25519*",
      ".ssh/",
      ".gnupg/",
    ],
  },
  {
    what: "logins of package managers",
    patterns: [
      ".npmrc",
      ".pypirc",
      ".cargo/credentials",
      ".cargo/credentials.toml",
      ".gem/credentials",
      ".m2/settings.xml",
    ],
  },
  {
    what: "settings that hold a token or a password",
    patterns: ["auth.json", ".yarnrc.yml", "nuget.config", "pip.conf"],
    holding: /token|passw|secret|oauth|api[-_]?key|npmauth|http-basic|:\/\/[^/\s@]+:[^/\s@]+@/i,
  },
  {
    what: "logins of network tools, databases and version control",
    patterns: [
      ".netrc",
      "_netrc",
      ".git-credentials",
      ".config/gh/hosts.yml",
      ".htpasswd",
      ".pgpass",
      ".my.cnf",
      ".dockercfg",
      ".docker/config.json",
      "rclone.conf",
      ".s3cfg",
      ".boto",
    ],
  },
  {
    what: "logins of clouds, clusters and coding agents",
    patterns: [
      ".aws/",
      ".azure/",
      ".config/gcloud/",
      ".kube/config",
      ".vault-token",
      "credentials.json",
      ".credentials.json",
      "credentials.tfrc.json",
      "application_default_credentials.json",
      "client_secret*.json",
      "service-account*.json",
      "service_account*.json",
      "serviceaccount*.json",
      "*firebase-adminsdk*.json",
      "oauth_creds.json",
      "*.tfstate",
      "*.tfstate.backup",
    ],
  },
  {
    what: "files named after their secrets",
    patterns: [".secrets", "secrets.json", "secrets.toml", "secrets.yaml", "secrets.yml"],
  },
];

/** Ends of names of which a pattern is only an example: these hold no secret and stay in. */
export const CREDENTIAL_SAMPLES: readonly string[] = [
  ".default",
  ".defaults",
  ".dist",
  ".example",
  ".sample",
  ".template",
];

const SAMPLE_NAMES_REGEXP = new RegExp(
  `(${CREDENTIAL_SAMPLES.map((end) => end.replace(".", "\\.")).join("|")})$`,
);

/** Files of more than this are not read to find out what they hold. */
const READ_BYTES_MAX = 1024 * 1024;

interface Rule {
  group: CredentialGroup;
  files: RegExp;
  folders: RegExp;
}

const RULES: readonly Rule[] = CREDENTIAL_GROUPS.map((group) => ({
  group,
  files: regexpOf(group.patterns.filter((pattern) => !pattern.endsWith("/"))),
  folders: regexpOf(group.patterns.filter((pattern) => pattern.endsWith("/"))),
}));

// One look decides for nearly all names; only then the disk and the groups are asked.
const ANY_REGEXP = regexpOf(CREDENTIAL_GROUPS.flatMap((group) => group.patterns));

function regexpOf(patterns: readonly string[]): RegExp {
  const sources = patterns.map((pattern) =>
    pattern.replace(/\/$/, "").replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", "[^/]*")
  );
  return sources.length === 0 ? /(?!)/ : new RegExp(`(^|/)(${sources.join("|")})$`);
}

/**
 * The group of a path that must stay behind, or `null`. Looks at the file only when its name fits,
 * and reads it only for a group that says what it must hold. A folder that has the name of a file
 * (a Python environment in `.env`) is none.
 *
 * @param relative Relative to the project.
 * @param path Where it can be read.
 */
export function credentialGroupOf(relative: string, path: string): CredentialGroup | null {
  const lower = relative.toLowerCase();
  if (!ANY_REGEXP.test(lower) || SAMPLE_NAMES_REGEXP.test(lower)) return null;
  let info: Deno.FileInfo;
  try {
    info = Deno.lstatSync(path);
  } catch {
    return null; // It cannot be copied either.
  }
  const found = RULES.find(({ group, files, folders }) =>
    info.isDirectory ? folders.test(lower) : files.test(lower) && holds(path, info, group.holding)
  );
  return found?.group ?? null;
}

function holds(path: string, info: Deno.FileInfo, words: RegExp | undefined): boolean {
  if (words === undefined) return true;
  // A link is judged by what it leads to, where that is copied.
  if (!info.isFile) return false;
  try {
    return info.size > READ_BYTES_MAX || words.test(Deno.readTextFileSync(path));
  } catch {
    return false; // It cannot be copied either.
  }
}

/** The list as lines for a person. */
export function credentialLines(): string[] {
  return CREDENTIAL_GROUPS.map(({ what, patterns }) => `${what}: ${patterns.join(" ")}`);
}
