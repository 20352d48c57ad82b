import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { z } from "zod";
import { err, messageOf, ok, type Result } from "#shared/lib/result.ts";
import { pathOf } from "#shared/lib/schema-messages.ts";
import { parsedJson, withoutByteOrderMark } from "#shared/lib/text.ts";
import { DEFAULT_CONFIG } from "#shared/runtime/defaults.ts";
import { isGameFile, loadGame } from "#shared/runtime/game-files.ts";
import { fileReason } from "#shared/runtime/process/exit.ts";
import { isInstalled } from "#shared/runtime/program.ts";
import { Config } from "./config.ts";
import { loadConfigOpenings } from "./openings.ts";

/** A config with the folder to which its paths are relative. */
interface LoadedConfig {
  readonly config: Config;
  readonly folder: string;
  /** Lines for people about parts that are left out. */
  readonly notices: readonly string[];
  /** Returns the position and the name of a field, `file:line:column field`, or `environment VARIABLE field`. */
  nameOf(path: readonly PropertyKey[]): string;
}

/**
 * Reads and validates a config file (JSON with comments), and registers the games of the files that it names. The environment variable `LEAGUE__A__B` overrides the field
 * `a.b`. Returns the config, or its faults as lines for people: `file:line:column field: message`.
 */
export async function loadConfig(
  file: string,
  environment: NodeJS.ProcessEnv,
): Promise<Result<LoadedConfig, readonly string[]>> {
  let text: string;
  try {
    text = withoutByteOrderMark(readFileSync(file, "utf8"));
  } catch (thrown) {
    const isMissing = (thrown as NodeJS.ErrnoException).code === "ENOENT";
    return err([`${file}: ${isMissing ? "no such file" : `cannot be read: ${fileReason(thrown as Error)}`}`]);
  }
  try {
    return await parseConfig(file, text, environment);
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    return err([`${file}: ${messageOf(thrown)}`]);
  }
}

/**
 * Returns the folder to which the paths of a config are relative. The default config of an installed package counts as config/league.json of the
 * present folder, so that its data folder is not in node_modules.
 */
const folderOf = (file: string): string =>
  isInstalled && file === DEFAULT_CONFIG ? resolve("config") : dirname(resolve(file));

/** Parses and validates the text of a config. Throws a RangeError if the text is nested too deeply. */
async function parseConfig(
  file: string,
  text: string,
  environment: NodeJS.ProcessEnv,
): Promise<Result<LoadedConfig, readonly string[]>> {
  const parseErrors: ParseError[] = [];
  const tree = parseTree(text, parseErrors, { allowTrailingComma: true });
  if (!tree || parseErrors.length > 0) {
    return err(parseErrors.map(({ offset, error }) => `${positionAt(file, text, offset)} ${syntaxFault(error)}`));
  }
  const overridden = new Set<string>();
  const folder = folderOf(file);
  const withGames = await loadConfigGames(override(getNodeValue(tree), environment, overridden), folder);
  const nameOf = (path: readonly PropertyKey[]): string => {
    const variable = variableOf(path.map(String).join("."), overridden);
    const position = variable ? `environment ${variable}` : positionAt(file, text, offsetOf(tree, path));
    return `${position} ${pathOf(path) || "config"}`;
  };
  if (!withGames.ok) return err(withGames.error.map(({ path, message }) => `${nameOf(path)}: ${message}`));
  const withOpenings = loadConfigOpenings(withGames.value, folder);
  if (!withOpenings.ok) return err(withOpenings.error.map(({ path, message }) => `${nameOf(path)}: ${message}`));
  const { config, notices } = withOpenings.value;
  const parsed = Config.safeParse(config);
  if (parsed.success) return ok({ config: parsed.data, folder, notices, nameOf });
  return err(parsed.error.issues.map((issue) => describe(issue, nameOf)));
}

function describe(issue: z.core.$ZodIssue, nameOf: LoadedConfig["nameOf"]): string {
  const unknown = issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  return `${nameOf([...issue.path, ...unknown])}: ${issue.message}`;
}

const SYNTAX: Readonly<Record<string, string>> = {
  InvalidSymbol: "this is not a JSON value: text is written in double quotes",
  InvalidNumberFormat: "this is not a number",
  PropertyNameExpected: "the name of a field in double quotes is missing",
  ValueExpected: "a value is missing",
  ColonExpected: 'a ":" is missing',
  CommaExpected: 'a "," is missing',
  CloseBraceExpected: 'a "}" is missing',
  CloseBracketExpected: 'a "]" is missing',
  EndOfFileExpected: "the config ends before this",
  InvalidCommentToken: 'a comment begins with "//" or "/*"',
  UnexpectedEndOfComment: 'the comment is not closed with "*/"',
  UnexpectedEndOfString: "the text is not closed with a double quote",
  UnexpectedEndOfNumber: "the number is not complete",
  InvalidUnicode: 'a "\\u" needs four hexadecimal digits',
  InvalidEscapeCharacter: "this is not a JSON escape sequence",
  InvalidCharacter: "control characters and line breaks in text are written as escape sequences",
};

/** Returns the message about a syntax error of the JSON text. */
const syntaxFault = (code: ParseError["error"]): string => SYNTAX[printParseErrorCode(code)] ?? "this is not JSON";

/**
 * Returns the environment variable that has set a field, one of its parents or one of its children; null if there is
 * none.
 */
function variableOf(field: string, overridden: ReadonlySet<string>): string | null {
  const set = [...overridden].find((path) => `${field}.`.startsWith(`${path}.`) || path.startsWith(`${field}.`));
  return set === undefined ? null : `LEAGUE__${set.toUpperCase().replaceAll(".", "__")}`;
}

/** Returns the offset of a path in the text, or the offset of its nearest parent if the field is missing. */
function offsetOf(tree: Node, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length--) {
    const node = findNodeAtLocation(tree, path.slice(0, length) as (string | number)[]);
    if (node) return node.parent?.type === "property" ? node.parent.offset : node.offset;
  }
  return tree.offset;
}

/** Returns `file:line:column` of an offset in the text. */
function positionAt(file: string, text: string, offset: number): string {
  const before = text.slice(0, offset).split("\n");
  return `${file}:${before.length}:${(before.at(-1) ?? "").length + 1}`;
}

/**
 * Returns the config with the overrides of `LEAGUE__…` variables, and adds their paths to `overridden`. Names are
 * matched without regard to case.
 */
function override(config: unknown, environment: NodeJS.ProcessEnv, overridden: Set<string>): unknown {
  const root = structuredClone(config);
  for (const [variable, text] of Object.entries(environment)) {
    if (!variable.startsWith("LEAGUE__") || text === undefined) continue;
    const path = variable
      .slice(8)
      .split("__")
      .map((part) => fieldNames.get(part.toLowerCase()) ?? part.toLowerCase());
    // A value that is valid JSON is parsed. Any other value is text.
    const value = parsedJson(text);
    if (setAt(root, path, value === undefined ? text : value)) overridden.add(path.join("."));
  }
  return root;
}

/** Sets a field and creates its missing parents. Returns false if a parent is not an object. */
function setAt(root: unknown, path: readonly string[], value: unknown): boolean {
  let node = root as Record<string, unknown>;
  for (const part of path.slice(0, -1)) {
    if (typeof node !== "object" || node === null) return false;
    if (!Object.hasOwn(node, part)) node[part] = {}; // never changes a property of Object.prototype
    node[part] ??= {};
    node = node[part] as Record<string, unknown>;
  }
  if (typeof node !== "object" || node === null) return false;
  node[path.at(-1) ?? ""] = value;
  return true;
}

/** The field names of the schema, by their lower-case form. */
const fieldNames = new Map<string, string>();
collectNames(z.toJSONSchema(Config, { io: "input" }));

function collectNames(schema: unknown): void {
  if (typeof schema !== "object" || schema === null) return;
  for (const [key, value] of Object.entries(schema)) {
    if (key === "properties") for (const name of Object.keys(value)) fieldNames.set(name.toLowerCase(), name);
    collectNames(value);
  }
}

interface GameFault {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/**
 * Loads and registers the games of the files that a config names in `games` and in `leagues[].game`, relative to its
 * folder. Returns the config with the absolute paths of all files in `games` and with the ids of the games in `leagues`,
 * or the fault of each file that does not load. Values of another form are left to the schema.
 */
async function loadConfigGames(config: unknown, folder: string): Promise<Result<unknown, readonly GameFault[]>> {
  const { games, leagues } = (config ?? {}) as { readonly games?: unknown; readonly leagues?: unknown };
  const named = [
    ...listOf(games).map((file, index) => ({ file, path: ["games", index] })),
    ...listOf(leagues).map((league, index) => ({ file: gameOf(league), path: ["leagues", index, "game"] })),
  ];
  const faults: GameFault[] = [];
  /** The id of the game of each file. */
  const ids = new Map<string, string>();
  for (const { file, path } of named) {
    if (typeof file !== "string" || (path[0] === "leagues" && !isGameFile(file))) continue;
    const loaded = await loadGame(resolve(folder, file));
    if (loaded.ok) ids.set(resolve(folder, file), loaded.value.id);
    else faults.push({ path, message: loaded.error });
  }
  if (faults.length > 0) return err(faults);
  if (ids.size === 0) return ok(config);
  const idOf = (game: unknown): unknown => (typeof game === "string" && ids.get(resolve(folder, game))) || game;
  const withIds = listOf(leagues).map((league) =>
    gameOf(league) === undefined ? league : { ...(league as object), game: idOf(gameOf(league)) },
  );
  return ok({ ...(config as object), games: [...ids.keys()], ...(Array.isArray(leagues) && { leagues: withIds }) });
}

const gameOf = (league: unknown): unknown => (league as { readonly game?: unknown } | null)?.game;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
