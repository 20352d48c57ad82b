/** Finds dependencies of code in the pure folders that are not arguments. */

import { posix } from "node:path";
import { codeOf, isTestCode, valueImports } from "./capabilities.ts";

/** Folders whose functions depend only on their arguments: games, sessions, messages, and the decisions of the manager. */
export const PURE_FOLDERS = [
  "shared/lib",
  "shared/statistics",
  "shared/games",
  "shared/session",
  "shared/formats",
  "shared/standings",
  "shared/protocol",
  "league-manager/league",
  "league-manager/agents",
  "league-manager/commands",
] as const;

/** Libraries without effects. */
const PURE_LIBRARIES = new Set([
  "zod",
  "chess.js",
  "openskill",
  "edmonds-blossom-fixed",
  "eventsource-parser",
  "node:util",
]);

/** Globals and methods whose results differ between machines or processes. capabilities.ts checks time and randomness. */
const AMBIENT =
  /\b(process|globalThis|console|import\.meta|Intl|localeCompare|toLocale\w+)\b|\.(get|set)(FullYear|Month|Date|Day|Hours|Minutes|TimezoneOffset)\b/g;

/** Returns true if a file must be pure. The path is relative to the root. */
export const mustBePure = (path: string): boolean => isIn(PURE_FOLDERS, path) && !isTestCode(path);

/** Removes module specifiers, because a folder may have the name of a global, such as `process`. */
const withoutSpecifiers = (code: string): string => code.replace(/\bfrom\s+"[^"]*"/g, "");

const isIn = (folders: readonly string[], path: string): boolean =>
  folders.some((folder) => path.startsWith(`${folder}/`));

/** Returns one sentence for each dependency of a file that is not allowed in a pure folder. Type imports are allowed. */
export function impurities(path: string, text: string): readonly string[] {
  const code = codeOf(text);
  const impureImports = valueImports(code).filter((from) => !isPureImport(path, from));
  const random = [...code.matchAll(/\{([^}]*)\}\s*from\s+"[^"]*\/ids\.ts"/g)].flatMap(
    ([, names = ""]) => names.match(/\b(systemIds|new[A-Z]\w*)/g) ?? [],
  );
  return [
    ...impureImports.map((from) => `${path} imports ${from}`),
    ...random.map((name) => `${path} draws random values by ${name}`),
    ...[...new Set(withoutSpecifiers(code).match(AMBIENT) ?? [])].map((name) => `${path} uses ${name}`),
  ];
}

function isPureImport(path: string, from: string): boolean {
  if (from.startsWith("#shared/")) return isIn(PURE_FOLDERS, from.slice(1));
  if (from.startsWith(".")) return isIn(PURE_FOLDERS, posix.join(posix.dirname(path), from));
  return PURE_LIBRARIES.has(from) || (from === "node:crypto" && isIn(["shared/lib"], path));
}
