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
import { err, messageOf, ok, type Result } from "../../lib/result.ts";
import { pathOf } from "../../lib/schema-messages.ts";
import { parsedJson } from "../../lib/text.ts";
import { fileReason } from "../process/exit.ts";
import { Config } from "./config.ts";

/** A config that was read, with the folder that its paths are relative to. */
interface LoadedConfig {
  readonly config: Config;
  readonly folder: string;
  /** `file:line:column: field` of a path, or the environment variable that it comes from. */
  nameOf(path: readonly PropertyKey[]): string;
}

/**
 * Reads and validates a config file (JSON with comments). `LEAGUE__A__B` in the environment overrides `a.b`.
 * Errors are lines for people: `file:line:column: field: what is wrong`.
 */
export function loadConfig(file: string, environment: NodeJS.ProcessEnv): Result<LoadedConfig, readonly string[]> {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (thrown) {
    const isMissing = (thrown as NodeJS.ErrnoException).code === "ENOENT";
    return err([`${file}: ${isMissing ? "no such file" : `cannot be read: ${fileReason(thrown as Error)}`}`]);
  }
  try {
    return parseConfig(file, text, environment);
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    return err([`${file}: ${messageOf(thrown)}`]);
  }
}

/** Throws a RangeError for a text that is nested too deeply. */
function parseConfig(
  file: string,
  text: string,
  environment: NodeJS.ProcessEnv,
): Result<LoadedConfig, readonly string[]> {
  const parseErrors: ParseError[] = [];
  const tree = parseTree(text, parseErrors, { allowTrailingComma: true });
  if (!tree || parseErrors.length > 0) {
    return err(parseErrors.map((one) => `${at(file, text, one.offset)} ${syntaxFault(one.error)}`));
  }
  const overridden = new Set<string>();
  const value = override(getNodeValue(tree), environment, overridden);
  const parsed = Config.safeParse(value);
  const nameOf = (path: readonly PropertyKey[]): string => {
    const variable = variableOf(path.map(String).join("."), overridden);
    const place = variable ? `environment ${variable}` : at(file, text, offsetOf(tree, path));
    return `${place} ${pathOf(path) || "config"}`;
  };
  if (parsed.success) return ok({ config: parsed.data, folder: dirname(resolve(file)), nameOf });
  return err(parsed.error.issues.map((issue) => describe(issue, nameOf)));
}

function describe(issue: z.core.$ZodIssue, nameOf: LoadedConfig["nameOf"]): string {
  const unknown = issue.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  return `${nameOf([...issue.path, ...unknown])}: ${issue.message}`;
}

const SYNTAX: Readonly<Record<string, string>> = {
  InvalidSymbol: "this is no JSON value: text is written in double quotes",
  InvalidNumberFormat: "this is no number",
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
  InvalidEscapeCharacter: "this is no escape sequence of JSON",
  InvalidCharacter: "control characters and line breaks in text are written as escape sequences",
};

/** A fault of the JSON itself, in words. */
const syntaxFault = (code: ParseError["error"]): string => SYNTAX[printParseErrorCode(code)] ?? "this is no JSON";

/** The variable that has set a field, something around it or something in it. */
function variableOf(field: string, overridden: ReadonlySet<string>): string | null {
  const set = [...overridden].find((one) => `${field}.`.startsWith(`${one}.`) || one.startsWith(`${field}.`));
  return set === undefined ? null : `LEAGUE__${set.toUpperCase().replaceAll(".", "__")}`;
}

/** Where a path stands in the text; its nearest existing parent when the field is missing. */
function offsetOf(tree: Node, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length--) {
    const node = findNodeAtLocation(tree, path.slice(0, length) as (string | number)[]);
    if (node) return node.parent?.type === "property" ? node.parent.offset : node.offset;
  }
  return tree.offset;
}

function at(file: string, text: string, offset: number): string {
  const before = text.slice(0, offset).split("\n");
  return `${file}:${before.length}:${(before.at(-1) ?? "").length + 1}`;
}

/** The config with `LEAGUE__…` laid over it; names are matched without regard to case. */
function override(config: unknown, environment: NodeJS.ProcessEnv, overridden: Set<string>): unknown {
  const root = structuredClone(config);
  for (const [variable, text] of Object.entries(environment)) {
    if (!variable.startsWith("LEAGUE__") || text === undefined) continue;
    const path = variable
      .slice(8)
      .split("__")
      .map((part) => fieldNames.get(part.toLowerCase()) ?? part.toLowerCase());
    // Numbers, booleans and JSON as such, anything else as text.
    const value = parsedJson(text);
    if (setAt(root, path, value === undefined ? text : value)) overridden.add(path.join("."));
  }
  return root;
}

function setAt(root: unknown, path: readonly string[], value: unknown): boolean {
  let node = root as Record<string, unknown>;
  for (const part of path.slice(0, -1)) {
    if (typeof node !== "object" || node === null) return false;
    if (!Object.hasOwn(node, part)) node[part] = {}; // so that nothing is set on what all objects share
    node[part] ??= {};
    node = node[part] as Record<string, unknown>;
  }
  if (typeof node !== "object" || node === null) return false;
  node[path.at(-1) ?? ""] = value;
  return true;
}

/** Every field name of the schema by its lower-case form. */
const fieldNames = new Map<string, string>();
collectNames(z.toJSONSchema(Config, { io: "input" }));

function collectNames(schema: unknown): void {
  if (typeof schema !== "object" || schema === null) return;
  for (const [key, value] of Object.entries(schema)) {
    if (key === "properties") for (const name of Object.keys(value)) fieldNames.set(name.toLowerCase(), name);
    collectNames(value);
  }
}
