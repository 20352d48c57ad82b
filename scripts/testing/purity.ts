/** Finds what code of the pure folders depends on besides its arguments. */

import { posix } from "node:path";
import { codeOf, isTestCode, valueImports } from "./capabilities.ts";

/** Folders whose functions depend on their arguments alone: games, sessions, messages, and the decisions of the manager. */
export const PURE_FOLDERS = [
  ...["shared/lib", "shared/games", "shared/session", "shared/protocol"],
  ...["league-manager/league", "league-manager/agents", "league-manager/commands"],
] as const;

/** Libraries without effects. */
const PURE_LIBRARIES = new Set(["zod", "chess.js", "eventsource-parser", "node:util"]);

/** Globals that differ between machines or processes. Time and randomness are in capabilities.ts, for all folders. */
const AMBIENT =
  /\b(process|globalThis|console|import\.meta|Intl|localeCompare|toLocale\w+)\b|\.(get|set)(FullYear|Month|Date|Day|Hours|Minutes|TimezoneOffset)\b/g;

/** Whether a file, by its path from the root, must be pure. */
export const mustBePure = (path: string): boolean => isIn(PURE_FOLDERS, path) && !isTestCode(path);

/** Code without the names of the modules that it imports, in which folders are called as anything. */
const withoutSpecifiers = (code: string): string => code.replace(/\bfrom\s+"[^"]*"/g, "");

const isIn = (folders: readonly string[], path: string): boolean =>
  folders.some((folder) => path.startsWith(`${folder}/`));

/** What a file of a pure folder depends on. Imports of types are no dependency at run time. */
export function impurities(path: string, text: string): readonly string[] {
  const code = codeOf(text);
  const foreign = valueImports(code).filter((from) => !isPureImport(path, from));
  const random = [...code.matchAll(/\{([^}]*)\}\s*from\s+"[^"]*\/ids\.ts"/g)].flatMap(
    ([, names = ""]) => names.match(/\b(systemIds|new[A-Z]\w*)/g) ?? [],
  );
  return [
    ...foreign.map((from) => `${path} imports ${from}`),
    ...random.map((name) => `${path} draws random values by ${name}`),
    ...[...new Set(withoutSpecifiers(code).match(AMBIENT) ?? [])].map((name) => `${path} uses ${name}`),
  ];
}

function isPureImport(path: string, from: string): boolean {
  if (from.startsWith("#shared/")) return isIn(PURE_FOLDERS, from.slice(1));
  if (from.startsWith(".")) return isIn(PURE_FOLDERS, posix.join(posix.dirname(path), from));
  return PURE_LIBRARIES.has(from) || (from === "node:crypto" && isIn(["shared/lib"], path));
}
