/** The fields of a form at a terminal: prompts, and the values of typed lines. */
import stringWidth from "string-width";
import type { FormField } from "#shared/rpc/jsonrpc/caller-input.ts";

export type Value = string | number | boolean;

/** Returns a text without accents and in lower case, so that typed words need not match exactly. */
const normalized = (text: string): string => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/** Whether choices can be answered with their numbers. They cannot if a choice is a number itself. */
export const isNumbered = (choices: readonly string[]): boolean =>
  choices.length > 0 && !choices.some((choice) => /^\d+$/.test(choice));

/** Returns the prompt of a field: its title and its hint. */
export function promptOf(name: string, field: FormField): string {
  const hint = hintOf(field);
  return `${field.title ?? name}${hint && ` (${hint})`}: `;
}

/** Returns the accepted answers of a field as text; empty for any text. */
export function hintOf(field: FormField): string {
  if (field.type === "boolean") return [`yes or no`, field.description].filter(Boolean).join("; ");
  if (field.type === "integer") return `a number from ${field.minimum ?? 0} to ${field.maximum ?? 9}`;
  const { enum: choices = [] } = field;
  if (choices.length === 0) return "";
  return isNumbered(choices) ? `a word or its number, 1 to ${choices.length}` : `one of ${choices.join(", ")}`;
}

/** Returns the value of a field for a typed line; null if the line is not a valid answer or is ambiguous. */
export function parseValue(field: FormField, line: string): Value | null {
  if (field.type === "boolean") {
    if (/^(y|yes|true)$/i.test(line)) return true;
    return /^(n|no|false|stop)$/i.test(line) ? false : null;
  }
  if (field.type === "integer") {
    const value = Number(line);
    const fits = value >= (field.minimum ?? Number.NEGATIVE_INFINITY) && value <= (field.maximum ?? Infinity);
    return line !== "" && Number.isInteger(value) && fits ? value : null;
  }
  const { enum: choices } = field;
  if (!choices) return line === "" || line.toLowerCase() === "stop" ? null : line;
  const exact = choices.find((choice) => normalized(choice) === normalized(line));
  if (exact !== undefined) return exact;
  if (isNumbered(choices) && /^\d+$/.test(line)) return choices[Number(line) - 1] ?? null;
  const candidates = line === "" ? [] : choices.filter((choice) => normalized(choice).startsWith(normalized(line)));
  return candidates.length === 1 && normalized(line) !== "stop" ? (candidates[0] ?? null) : null;
}

/** Returns a numbered list of choices in as many columns as fit. */
export function numberedList(choices: readonly string[], columns: number): string {
  const cells = choices.map((choice, index) => `${String(index + 1).padStart(2)} ${choice}`);
  const width = Math.max(...cells.map((cell) => stringWidth(cell))) + 2;
  const columnCount = Math.max(1, Math.floor(columns / width));
  const rows = Array.from({ length: Math.ceil(cells.length / columnCount) }, (_, row) =>
    cells
      .slice(row * columnCount, (row + 1) * columnCount)
      .map((cell) => cell + " ".repeat(width - stringWidth(cell)))
      .join("")
      .trimEnd(),
  );
  return rows.join("\n");
}
