import { z } from "zod";
import { didYouMean } from "./suggestion.ts";

/**
 * The wording of every schema fault, set once for the whole process by loading this file: zod's own wording ("Invalid input: expected string,
 * received undefined") names types, not what to write. A schema's own messages stay as they are. `issue.message` follows the path: "port: must be a number, not text".
 */
z.config({ customError: wordsFor });

type Issue = z.core.$ZodRawIssue;
type Finished = z.core.$ZodIssue;

const TYPES: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "an object",
  record: "an object",
  array: "a list",
  tuple: "a list",
  null: "null",
  nan: "a number",
  never: "absent",
};
const UNITS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ["character", "characters"],
  array: ["entry", "entries"],
};
const FORMATS: Readonly<Record<string, string>> = {
  uuid: "a UUID",
  url: "a URL",
  datetime: "a date and time such as 2026-01-31T12:00:00Z",
  email: "an email address",
};
const MAX_SHOWN = 60;

const typeName = (type: string): string => TYPES[type] ?? type;

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return typeName(typeof value);
}

const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join() : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;

const quoted = (value: unknown): string => {
  const text = typeof value === "bigint" ? String(value) : (JSON.stringify(value) ?? String(value));
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
};

function wordsFor(issue: Issue): string {
  if (issue.input === undefined && issue.code !== "custom" && issue.code !== "unrecognized_keys") return "is missing";
  switch (issue.code) {
    case "invalid_type":
      return `must be ${typeName(issue.expected)}, not ${notThat(issue)}`;
    case "invalid_value":
      return `must be ${listed(issue.values.map(quoted))}, not ${quoted(issue.input)}${didYouMean(issue.input, issue.values.map(String))}`;
    case "too_small":
      return boundOf(issue.origin, Number(issue.minimum), issue.inclusive === false ? "more than" : "at least");
    case "too_big":
      return boundOf(issue.origin, Number(issue.maximum), issue.inclusive === false ? "less than" : "at most");
    case "invalid_format":
      return formatOf(issue);
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    case "unrecognized_keys":
      return unknownFields(issue.keys, issue.inst);
    case "invalid_union":
      return "options" in issue && Array.isArray(issue.options) && issue.options.length > 0
        ? `must be ${listed(issue.options.map(quoted))}`
        : unionWords(issue.errors as readonly (readonly Finished[])[], issue.input);
    case "invalid_key":
      return "has a field whose name is not allowed";
    case "invalid_element":
      return "has an entry that is not allowed";
    default:
      return "is not allowed";
  }
}

/** A rejected number is shown itself, e.g. 1.5 or NaN; of other values the type. */
const notThat = ({ input }: Issue): string => (typeof input === "number" ? String(input) : typeOf(input));

function boundOf(origin: string, bound: number, how: string): string {
  const unit = UNITS[origin];
  if (!unit) return `must be ${how} ${bound}`;
  if (how === "at least" && bound === 1) return "must not be empty";
  return `must have ${how} ${bound} ${unit[bound === 1 ? 0 : 1]}`;
}

function formatOf(issue: Extract<Issue, { code: "invalid_format" }>): string {
  const { format, pattern, prefix, suffix, includes } = issue as { format: string } & Record<string, unknown>;
  if (format === "starts_with") return `must begin with ${quoted(prefix)}`;
  if (format === "ends_with") return `must end with ${quoted(suffix)}`;
  if (format === "includes") return `must contain ${quoted(includes)}`;
  if (format === "regex") return `must have the form ${pattern}`;
  return `must be ${FORMATS[format] ?? format}`;
}

function unknownFields(keys: readonly string[], schema: unknown): string {
  const shape = (schema as { _zod?: { def?: { shape?: object } } } | undefined)?._zod?.def?.shape ?? {};
  const hint = keys.length === 1 ? didYouMean(keys[0], Object.keys(shape)) : "";
  return `unknown ${keys.length === 1 ? "field" : "fields"} ${keys.map(quoted).join(", ")}${hint}`;
}

/**
 * The faults of a value that fits none of several forms. If exactly one form has the type of the value, its faults are returned; else the
 * types that are expected, or the faults of each form of this type.
 */
function unionWords(forms: readonly (readonly Finished[])[], input: unknown): string {
  const meant = forms.filter(
    (issues) => !issues.some(({ code, path }) => code === "invalid_type" && path.length === 0),
  );
  if (meant.length === 1) return listedFaults(meant[0] ?? []);
  const types = forms.flatMap((issues) => issues.flatMap((one) => (one.code === "invalid_type" ? [one.expected] : [])));
  if (meant.length === 0 && types.length > 0) {
    return `must be ${listed([...new Set(types.map(typeName))])}, not ${typeOf(input)}`;
  }
  return [...new Set(meant.map(listedFaults))].join(", or ");
}

const listedFaults = (issues: readonly Finished[]): string => issues.map(faultLine).join("; ");

/** A fault with its place: "seats[0].role: must not be empty". */
export const faultLine = ({ path, message }: Pick<Finished, "path" | "message">): string =>
  path.length === 0 ? message : `${pathOf(path)}: ${message}`;

/** A path as it is written in code: `leagues[0].game`. */
export const pathOf = (path: readonly PropertyKey[]): string =>
  path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
    .join("")
    .replace(/^\./, "");
