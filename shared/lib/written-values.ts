import { parsedJson } from "./text.ts";

/** The part of a JSON Schema that decides how a value is read. */
export interface ValueSchema {
  readonly type?: string | readonly string[] | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly const?: unknown;
  readonly anyOf?: readonly ValueSchema[] | undefined;
  readonly properties?: Readonly<Record<string, ValueSchema>> | undefined;
  readonly required?: readonly string[] | undefined;
  readonly items?: ValueSchema | undefined;
  readonly additionalProperties?: ValueSchema | boolean | undefined;
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)$/;
const TRUTH: Readonly<Record<string, boolean>> = { true: true, false: false };

/**
 * Reads a value that a language model or its host has written for a schema. An optional field may be null or an empty
 * text, which is no value. A number, true, false, an object and a list may be written as text, and a listed word in any
 * case. Any other value is returned unchanged, and the schema accepts or rejects it.
 */
export function readWritten(schema: ValueSchema, value: unknown): unknown {
  const forms = schema.anyOf ?? [schema];
  if (typeof value === "string") return forms.some((form) => acceptsText(form, value)) ? value : fromText(forms, value);
  const kind = Array.isArray(value) ? "array" : "object";
  const form = typeof value === "object" && value !== null ? forms.find((one) => hasType(one, kind)) : undefined;
  if (form === undefined) return value;
  const { items } = form;
  if (Array.isArray(value)) return items ? value.map((entry) => readWritten(items, entry)) : value;
  const fields = Object.entries(value as object).filter(([name, field]) => !isOmitted(form, name, field));
  return Object.fromEntries(fields.map(([name, field]) => [name, readWritten(schemaOf(form, name), field)]));
}

const hasType = ({ type }: ValueSchema, name: string): boolean =>
  typeof type === "string" ? type === name : (type?.includes(name) ?? false);

/** Whether a schema may accept a text as it is. A schema without a type accepts every value. */
function acceptsText({ type, enum: listed, const: only }: ValueSchema, text: string): boolean {
  if (only !== undefined || listed !== undefined) return only === text || (listed?.includes(text) ?? false);
  return type === undefined || hasType({ type }, "string");
}

function fromText(forms: readonly ValueSchema[], text: string): unknown {
  const accept = (...types: readonly string[]): ValueSchema | undefined =>
    forms.find((form) => types.some((type) => hasType(form, type)));
  const word = text.trim();
  const listed = forms.flatMap((form) => form.enum ?? [form.const]);
  const same = listed.find((one) => typeof one === "string" && one.toLowerCase() === word.toLowerCase());
  if (same !== undefined) return same;
  if (NUMBER.test(word) && accept("number", "integer")) return Number(word);
  if (Object.hasOwn(TRUTH, word.toLowerCase()) && accept("boolean")) return TRUTH[word.toLowerCase()];
  const json = /^[{[]/.test(word) ? parsedJson(word) : undefined;
  const form = json === undefined ? undefined : accept(Array.isArray(json) ? "array" : "object");
  return form ? readWritten(form, json) : text;
}

/** Whether a field is optional and has no value. */
const isOmitted = ({ properties = {}, required = [] }: ValueSchema, name: string, value: unknown): boolean =>
  (value === null || value === "") && Object.hasOwn(properties, name) && !required.includes(name);

function schemaOf({ properties = {}, additionalProperties }: ValueSchema, name: string): ValueSchema {
  if (Object.hasOwn(properties, name)) return properties[name] ?? {};
  return typeof additionalProperties === "object" ? additionalProperties : {};
}
