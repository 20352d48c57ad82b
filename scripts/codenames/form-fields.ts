/** The fields of a form at a terminal: their prompts, and the values of the lines that are typed. */
import stringWidth from "string-width";
import type { FormField } from "#shared/rpc/jsonrpc/input.ts";

export type Value = string | number | boolean;

const alike = (text: string): string => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/** Choices may be answered by their place, unless they are numbers themselves. */
export const isNumbered = (choices: readonly string[]): boolean =>
  choices.length > 0 && !choices.some((one) => /^\d+$/.test(one));

export function promptOf(name: string, field: FormField): string {
  const hint = hintOf(field);
  return `${field.title ?? name}${hint && ` (${hint})`}: `;
}

export function hintOf(field: FormField): string {
  if (field.type === "boolean") return [`yes or no`, field.description].filter(Boolean).join("; ");
  if (field.type === "integer") return `a number from ${field.minimum ?? 0} to ${field.maximum ?? 9}`;
  const { enum: choices = [] } = field;
  if (choices.length === 0) return "";
  return isNumbered(choices) ? `a word or its number, 1 to ${choices.length}` : `one of ${choices.join(", ")}`;
}

/** The value of a field that a line stands for; null for none. */
export function valueIn(field: FormField, line: string): Value | null {
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
  const named = choices.find((one) => alike(one) === alike(line));
  if (named !== undefined) return named;
  if (isNumbered(choices) && /^\d+$/.test(line)) return choices[Number(line) - 1] ?? null;
  const begun = line === "" ? [] : choices.filter((one) => alike(one).startsWith(alike(line)));
  return begun.length === 1 && alike(line) !== "stop" ? (begun[0] ?? null) : null;
}

/** Numbered choices in as many columns as fit. */
export function listed(choices: readonly string[], columns: number): string {
  const cells = choices.map((one, index) => `${String(index + 1).padStart(2)} ${one}`);
  const width = Math.max(...cells.map((cell) => stringWidth(cell))) + 2;
  const across = Math.max(1, Math.floor(columns / width));
  const rows = Array.from({ length: Math.ceil(cells.length / across) }, (_, row) =>
    cells
      .slice(row * across, (row + 1) * across)
      .map((cell) => cell + " ".repeat(width - stringWidth(cell)))
      .join("")
      .trimEnd(),
  );
  return rows.join("\n");
}
