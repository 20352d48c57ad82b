import { z } from "zod";
import { didYouMean } from "./text.ts";

/**
 * Sets the messages of all schema faults for the whole process when this module is loaded. zod's own messages ("Invalid
 * input: expected string, received undefined") name types and do not say what to write. A message that a schema defines
 * is kept. `issue.message` is written after the path of the value: "port: must be a number, not text".
 */
z.config({ customError: messageFor });

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

const joinWithOr = (items: readonly string[]): string =>
  items.length < 2 ? items.join() : `${items.slice(0, -1).join(", ")} or ${items.at(-1)}`;

const quoted = (value: unknown): string => {
  const text = typeof value === "bigint" ? String(value) : (JSON.stringify(value) ?? String(value));
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
};

function messageFor(issue: Issue): string {
  if (issue.input === undefined && issue.code !== "custom" && issue.code !== "unrecognized_keys") return "is missing";
  switch (issue.code) {
    case "invalid_type":
      return `must be ${typeName(issue.expected)}, not ${describeInput(issue)}`;
    case "invalid_value":
      return `must be ${joinWithOr(issue.values.map(quoted))}, not ${quoted(issue.input)}${didYouMean(issue.input, issue.values.map(String))}`;
    case "too_small":
      return boundMessage(issue.origin, Number(issue.minimum), issue.inclusive === false ? "more than" : "at least");
    case "too_big":
      return boundMessage(issue.origin, Number(issue.maximum), issue.inclusive === false ? "less than" : "at most");
    case "invalid_format":
      return formatMessage(issue);
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    case "unrecognized_keys":
      return unknownFieldsMessage(issue.keys, issue.inst);
    case "invalid_union":
      return "options" in issue && Array.isArray(issue.options) && issue.options.length > 0
        ? `must be ${joinWithOr(issue.options.map(quoted))}`
        : unionMessage(issue.errors as readonly (readonly Finished[])[], issue.input);
    case "invalid_key":
      return "has a field whose name is not allowed";
    case "invalid_element":
      return "has an entry that is not allowed";
    default:
      return "is not allowed";
  }
}

/** Returns a rejected number itself, e.g. 1.5 or NaN, and the type of any other value. */
const describeInput = ({ input }: Issue): string => (typeof input === "number" ? String(input) : typeOf(input));

function boundMessage(origin: string, bound: number, comparison: string): string {
  const unit = UNITS[origin];
  if (!unit) return `must be ${comparison} ${bound}`;
  if (comparison === "at least" && bound === 1) return "must not be empty";
  return `must have ${comparison} ${bound} ${unit[bound === 1 ? 0 : 1]}`;
}

function formatMessage(issue: Extract<Issue, { code: "invalid_format" }>): string {
  const { format, pattern, prefix, suffix, includes } = issue as { format: string } & Record<string, unknown>;
  if (format === "starts_with") return `must begin with ${quoted(prefix)}`;
  if (format === "ends_with") return `must end with ${quoted(suffix)}`;
  if (format === "includes") return `must contain ${quoted(includes)}`;
  if (format === "regex") return `must have the form ${pattern}`;
  return `must be ${FORMATS[format] ?? format}`;
}

function unknownFieldsMessage(keys: readonly string[], schema: unknown): string {
  const shape = (schema as { _zod?: { def?: { shape?: object } } } | undefined)?._zod?.def?.shape ?? {};
  const hint = keys.length === 1 ? didYouMean(keys[0], Object.keys(shape)) : "";
  return `unknown ${keys.length === 1 ? "field" : "fields"} ${keys.map(quoted).join(", ")}${hint}`;
}

/**
 * Returns the message about a value that matches none of several forms. If exactly one form has the type of the value,
 * the message lists the faults of this form. Otherwise it lists the expected types, or the faults of each form that has
 * the type of the value.
 */
function unionMessage(forms: readonly (readonly Finished[])[], input: unknown): string {
  const candidates = forms.filter(
    (issues) => !issues.some(({ code, path }) => code === "invalid_type" && path.length === 0),
  );
  if (candidates.length === 1) return joinFaults(candidates[0] ?? []);
  const types = forms.flatMap((issues) =>
    issues.flatMap((issue) => (issue.code === "invalid_type" ? [issue.expected] : [])),
  );
  if (candidates.length === 0 && types.length > 0) {
    return `must be ${joinWithOr([...new Set(types.map(typeName))])}, not ${typeOf(input)}`;
  }
  return [...new Set(candidates.map(joinFaults))].join(", or ");
}

const joinFaults = (issues: readonly Finished[]): string => issues.map(faultLine).join("; ");

/** Returns a fault with the path of its value: "seats[0].role: must not be empty". */
export const faultLine = ({ path, message }: Pick<Finished, "path" | "message">): string =>
  path.length === 0 ? message : `${pathOf(path)}: ${message}`;

/** Returns a path in the notation of code: `leagues[0].game`. */
export const pathOf = (path: readonly PropertyKey[]): string =>
  path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
    .join("")
    .replace(/^\./, "");
