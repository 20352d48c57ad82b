import { styleText } from "node:util";
import stringWidth from "string-width";
import type { Ask, FormField, Said } from "#shared/rpc/jsonrpc/input.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { fitted, rowsOf } from "./board-layout.ts";
import { readLines } from "./terminal-lines.ts";

type Form = Extract<Ask, { kind: "form" }>;
type Value = string | number | boolean;

/** The people at this terminal, who fill in forms one after the other. */
export interface People {
  /** Asks a form; `onlyFor` names whom it is secret to, when others sit at the same terminal. Rejects when no answers are left. */
  fillIn(form: Form, onlyFor: string | null): Promise<Said>;
  close(): void;
}

const OTHER_SCREEN = "\x1b[?1049h\x1b[H";
const FIRST_SCREEN = "\x1b[?1049l";
/** The screen and all that has scrolled off it. */
const CLEAR = "\x1b[2J\x1b[3J\x1b[H";
/** Rows that are kept for what is typed, and for one field that is asked again. */
const SPARE_ROWS = 4;
const HOW_TO_LEAVE = "(Type stop, or press Ctrl-D, to leave a form.)";
/** Whatever a message may hold that a terminal would obey. */
const CONTROL = /[^\P{Cc}\n]/gu;
const CANCEL: Said = { kind: "form", action: "cancel", content: {} };

export function peopleAt(input: NodeJS.ReadStream, stream: NodeJS.WriteStream, onInterrupt: () => void): People {
  const lines = readLines(input, stream, onInterrupt);
  const write = (text: string): void => void stream.write(`${text}\n`);
  let wasTold = false;
  /** What takes the secret off the screen, while one is on it. */
  let hide = "";
  const uncover = (): void => {
    stream.write(hide);
    hide = "";
  };
  process.once("exit", uncover);

  const next = async (prompt: string): Promise<string | null> => {
    if (!lines.isTerminal) write(prompt);
    const line = await lines.next(prompt);
    if (line === null && !lines.isTerminal) throw new StartError("no more answers come on stdin", EXIT.failed);
    return line?.trim() ?? null;
  };

  /** The value of one field; null when the form is left. `given` is what was typed already. */
  const fieldOf = async (name: string, field: FormField, given: string | undefined): Promise<Value | null> => {
    const hint = hintOf(field);
    const prompt = styleText("bold", promptOf(name, field), { stream });
    let line: string | null | undefined = given;
    for (;;) {
      line ??= await next(prompt);
      if (line === null) return null;
      const value = meant(field, line);
      if (value !== null) return value;
      if (line.toLowerCase() === "stop") return null;
      write(`"${line}" will not do: ${hint || "say something"}.`);
      line = undefined;
    }
  };

  const columns = (): number => stream.columns || 80;
  const shown = ({ message }: Form, boardLast: boolean): string =>
    fitted(message.replace(CONTROL, ""), columns(), boardLast);
  /** Whether a form with its prompts is on the screen at once. */
  const fits = (form: Form): boolean => {
    const prompts = Object.entries(form.fields).map(([name, field]) => promptOf(name, field));
    const text = ["", shown(form, false), "", HOW_TO_LEAVE, "", ...prompts].join("\n");
    return rowsOf(text, columns()) + SPARE_ROWS <= (stream.rows || 24);
  };

  const ask = async (form: Form): Promise<Said> => {
    const { fields } = form;
    write(`\n${shown(form, lines.isTerminal && !fits(form))}\n`);
    if (!wasTold) write(`${HOW_TO_LEAVE}\n`);
    wasTold = true;
    const content: Record<string, Value> = {};
    const open = Object.entries(fields);
    for (const [, field] of open) {
      const { enum: choices = [] } = field as { enum?: readonly string[] };
      if (isNumbered(choices)) write(`${listed(choices, columns())}\n`);
    }
    let given: string[] = [];
    for (const [index, [name, field]] of open.entries()) {
      const value = await fieldOf(name, field, given.shift());
      if (value === null) return CANCEL;
      content[name] = value;
      // "OCEAN 2" fills in both fields of a clue.
      const words = index === 0 && typeof value === "string" ? value.split(/\s+/) : [];
      const rest = open.slice(1).map(([, one], place) => meant(one, words[place + 1] ?? ""));
      if (words.length === open.length && words.length > 1 && rest.every((one) => one !== null)) {
        content[name] = words[0] ?? "";
        given = words.slice(1);
      }
    }
    return { kind: "form", action: "accept", content };
  };

  return {
    async fillIn(form, onlyFor) {
      lines.forget();
      if (onlyFor === null || !lines.isTerminal) return ask(form);
      const come = await next(`\nThe next form is for ${onlyFor} alone. Press Enter when nobody else looks. `);
      if (come === null) return CANCEL;
      // What stands on the other screen leaves no trace, but cannot be scrolled.
      const onOther = fits(form);
      stream.write(onOther ? OTHER_SCREEN : CLEAR);
      hide = onOther ? FIRST_SCREEN : CLEAR;
      try {
        return await ask(form);
      } finally {
        uncover();
      }
    },
    close() {
      lines.close();
      uncover();
      process.off("exit", uncover);
    },
  };
}

const alike = (text: string): string => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/** Choices may be answered by their place, unless they are numbers themselves. */
const isNumbered = (choices: readonly string[]): boolean =>
  choices.length > 0 && !choices.some((one) => /^\d+$/.test(one));

function promptOf(name: string, field: FormField): string {
  const hint = hintOf(field);
  return `${field.title ?? name}${hint && ` (${hint})`}: `;
}

function hintOf(field: FormField): string {
  if (field.type === "boolean") return [`yes or no`, field.description].filter(Boolean).join("; ");
  if (field.type === "integer") return `a number from ${field.minimum ?? 0} to ${field.maximum ?? 9}`;
  const { enum: choices = [] } = field;
  if (choices.length === 0) return "";
  return isNumbered(choices) ? `a word or its number, 1 to ${choices.length}` : `one of ${choices.join(", ")}`;
}

/** What a line means as a field's value; null when it means nothing. */
function meant(field: FormField, line: string): Value | null {
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
function listed(choices: readonly string[], columns: number): string {
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
