import { createInterface, type Interface } from "node:readline";
import { styleText } from "node:util";
import stringWidth from "string-width";
import type { CallerAnswer, CallerQuestion, FormField } from "#shared/rpc/jsonrpc/caller-input.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";

type Form = Extract<CallerQuestion, { kind: "form" }>;

/** Escape sequence that opens the alternate screen of the terminal. */
const ALTERNATE_SCREEN = "\x1b[?1049h\x1b[H";
/** Escape sequence that returns to the main screen. */
const MAIN_SCREEN = "\x1b[?1049l";
/** Escape sequence that clears the screen and the scrollback. */
const CLEAR = "\x1b[2J\x1b[3J\x1b[H";
/** Rows for the typed line, and for one field that is asked again. */
const SPARE_ROWS = 4;
const CANCEL_HINT = "(To cancel a form, type stop or press Ctrl-D.)";
/** Control characters, which a terminal would interpret. */
const CONTROL = /[^\P{Cc}\n]/gu;
const CANCEL: CallerAnswer = { kind: "form", action: "cancel", content: {} };

/** Shows forms at a terminal, one after the other, and reads the answers. */
export class TerminalForms {
  readonly #lines: Lines;
  readonly #stream: NodeJS.WriteStream;
  #isHintShown = false;
  /** The escape sequence that removes a secret from the screen; empty while no secret is shown. */
  #hideSequence = "";

  constructor(input: NodeJS.ReadStream, stream: NodeJS.WriteStream, onInterrupt: () => void) {
    this.#lines = readLines(input, stream, onInterrupt);
    this.#stream = stream;
    process.once("exit", this.#hideSecret);
  }

  /**
   * Shows a form and resolves with the answer. `onlyFor` names the player that may see the form if several players share the terminal. Rejects with
   * StartError if the input is not a terminal and has ended.
   */
  async fillIn(form: Form, onlyFor: string | null): Promise<CallerAnswer> {
    this.#lines.discardTyped();
    if (onlyFor === null || !this.#lines.isTerminal) return this.#ask(form);
    const prompt = `\nThe next form is only for ${onlyFor}. Press Enter when no other player can see the screen. `;
    if ((await this.#nextLine(prompt)) === null) return CANCEL;
    // The alternate screen leaves no trace, but cannot be scrolled.
    const fitsScreen = this.#fits(form);
    this.#stream.write(fitsScreen ? ALTERNATE_SCREEN : CLEAR);
    this.#hideSequence = fitsScreen ? MAIN_SCREEN : CLEAR;
    try {
      return await this.#ask(form);
    } finally {
      this.#hideSecret();
    }
  }

  close(): void {
    this.#lines.close();
    this.#hideSecret();
    process.off("exit", this.#hideSecret);
  }

  readonly #hideSecret = (): void => {
    this.#stream.write(this.#hideSequence);
    this.#hideSequence = "";
  };

  #write(text: string): void {
    this.#stream.write(`${text}\n`);
  }

  get #columns(): number {
    return this.#stream.columns || 80;
  }

  #messageOf({ message }: Form, boardLast: boolean): string {
    return fitMessage(message.replace(CONTROL, ""), this.#columns, boardLast);
  }

  /** Whether a form and its prompts fit on the screen together. */
  #fits(form: Form): boolean {
    const prompts = Object.entries(form.fields).map(([name, field]) => promptOf(name, field));
    const text = ["", this.#messageOf(form, false), "", CANCEL_HINT, "", ...prompts].join("\n");
    return rowsOf(text, this.#columns) + SPARE_ROWS <= (this.#stream.rows || 24);
  }

  async #ask(form: Form): Promise<CallerAnswer> {
    const { isTerminal } = this.#lines;
    this.#write(`\n${this.#messageOf(form, isTerminal && !this.#fits(form))}\n`);
    if (!this.#isHintShown) this.#write(`${CANCEL_HINT}\n`);
    this.#isHintShown = true;
    const content: Record<string, Value> = {};
    const fields = Object.entries(form.fields);
    for (const [, field] of fields) {
      const { enum: choices = [] } = field as { enum?: readonly string[] };
      if (isNumbered(choices)) this.#write(`${numberedList(choices, this.#columns)}\n`);
    }
    let typedWords: string[] = [];
    for (const [index, [name, field]] of fields.entries()) {
      const value = await this.#readField(name, field, typedWords.shift());
      if (value === null) return CANCEL;
      content[name] = value;
      const words = index === 0 && typeof value === "string" ? wordsForAll(value, fields) : null;
      if (words === null) continue;
      content[name] = words[0] ?? "";
      typedWords = words.slice(1);
    }
    return { kind: "form", action: "accept", content };
  }

  /** Reads the value of one field; null if the form is cancelled. `typedWord` is the word for this field in an earlier line. */
  async #readField(name: string, field: FormField, typedWord: string | undefined): Promise<Value | null> {
    const hint = hintOf(field);
    const prompt = styleText("bold", promptOf(name, field), { stream: this.#stream });
    let line: string | null | undefined = typedWord;
    for (;;) {
      line ??= await this.#nextLine(prompt);
      if (line === null) return null;
      const value = parseValue(field, line);
      if (value !== null) return value;
      if (line.toLowerCase() === "stop") return null;
      this.#write(`"${line}" is not a valid answer: enter ${hint || "a text"}.`);
      line = undefined;
    }
  }

  /** Reads the next line; null if the form is cancelled. Rejects with StartError at the end of an input that is not a terminal. */
  async #nextLine(prompt: string): Promise<string | null> {
    const { isTerminal } = this.#lines;
    if (!isTerminal) this.#write(prompt);
    const line = await this.#lines.next(prompt);
    if (line === null && !isTerminal) throw new StartError("stdin ended before the form was complete", EXIT.failed);
    return line?.trim() ?? null;
  }
}

/** Returns the words of a line that completes all fields of a form, such as "OCEAN 2" for a clue; null for any other line. */
function wordsForAll(line: string, fields: readonly (readonly [string, FormField])[]): string[] | null {
  const words = line.split(/\s+/);
  if (words.length < 2 || words.length !== fields.length) return null;
  const otherValues = fields.slice(1).map(([, field], index) => parseValue(field, words[index + 1] ?? ""));
  return otherValues.every((value) => value !== null) ? words : null;
}

/** The rows and columns of the board in a message of the server. */
const BOARD_ROWS = 5;
const BOARD_COLUMNS = 5;
const GAP = "  ";

/** Returns the number of rows that a text takes on a terminal with this number of columns, which wraps longer lines. */
const rowsOf = (text: string, columns: number): number =>
  text.split("\n").reduce((rows, line) => rows + Math.max(1, Math.ceil(stringWidth(line) / columns)), 0);

/**
 * Lays out the board of a message in as many columns as fit. The other parts are unchanged. `boardLast` moves the board to the end, because the end of
 * a message that is longer than the screen stays visible.
 */
function fitMessage(message: string, columns: number, boardLast: boolean): string {
  const parts = message.split("\n\n").map((text) => ({ text, cells: cellsOf(text) }));
  const laidOut = parts.map(({ text, cells }) =>
    cells === null || rowsOf(text, columns) === BOARD_ROWS ? text : inColumns(cells, columns),
  );
  const boardIndex = parts.findIndex(({ cells }) => cells !== null);
  const [board] = boardLast && boardIndex !== -1 ? laidOut.splice(boardIndex, 1) : [];
  return [...laidOut, ...(board === undefined ? [] : [board])].join("\n\n");
}

/** Returns the cards of a board; null if the text is not a board. */
function cellsOf(part: string): readonly string[] | null {
  const rows = part.split("\n").map((line) => line.trim().split(/ {2,}/));
  const isBoard = rows.length === BOARD_ROWS && rows.every((row) => row.length === BOARD_COLUMNS);
  return isBoard ? rows.flat() : null;
}

/** Lays out cells row by row in as many columns as fit. Each column is as wide as its widest cell. */
function inColumns(cells: readonly string[], columns: number): string {
  for (let columnCount = BOARD_COLUMNS; columnCount > 1; columnCount--) {
    const widths = Array.from({ length: columnCount }, (_, column) =>
      widest(cells.filter((_, index) => index % columnCount === column)),
    );
    const total = widths.reduce((sum, width) => sum + width, 0) + GAP.length * (columnCount - 1);
    if (total > columns) continue;
    const rows = Array.from({ length: Math.ceil(cells.length / columnCount) }, (_, row) =>
      cells.slice(row * columnCount, (row + 1) * columnCount).map((cell, column) => padded(cell, widths[column] ?? 0)),
    );
    return rows.map((row) => row.join(GAP).trimEnd()).join("\n");
  }
  return cells.join("\n");
}

const widest = (cells: readonly string[]): number => Math.max(...cells.map((cell) => stringWidth(cell)));

const padded = (cell: string, width: number): string => cell + " ".repeat(Math.max(0, width - stringWidth(cell)));

/** The fields of a form at a terminal: prompts, and the values of typed lines. */

type Value = string | number | boolean;

/** Returns a text without accents and in lower case, so that typed words need not match exactly. */
const normalized = (text: string): string => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/** Whether choices can be answered with their numbers. They cannot if a choice is a number itself. */
const isNumbered = (choices: readonly string[]): boolean =>
  choices.length > 0 && !choices.some((choice) => /^\d+$/.test(choice));

/** Returns the prompt of a field: its title and its hint. */
function promptOf(name: string, field: FormField): string {
  const hint = hintOf(field);
  return `${field.title ?? name}${hint && ` (${hint})`}: `;
}

/** Returns the accepted answers of a field as text; empty for any text. */
function hintOf(field: FormField): string {
  if (field.type === "boolean") return [`yes or no`, field.description].filter(Boolean).join("; ");
  if (field.type === "integer") return `a number from ${field.minimum ?? 0} to ${field.maximum ?? 9}`;
  const { enum: choices = [] } = field;
  if (choices.length === 0) return "";
  return isNumbered(choices) ? `a word or its number, 1 to ${choices.length}` : `one of ${choices.join(", ")}`;
}

/** Returns the value of a field for a typed line; null if the line is not a valid answer or is ambiguous. */
function parseValue(field: FormField, line: string): Value | null {
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
function numberedList(choices: readonly string[], columns: number): string {
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

/** Reads lines from a terminal or a pipe. */
interface Lines {
  /** Whether input and output are a terminal. */
  readonly isTerminal: boolean;
  /** Prints `prompt` at a terminal and resolves with the next line; null after Ctrl-D and at the end of a pipe. */
  next(prompt: string): Promise<string | null>;
  /** Discards lines that were typed at a terminal before a prompt. */
  discardTyped(): void;
  close(): void;
}

/** Opens the lines of an input. Calls `onInterrupt` for Ctrl-C, because a readline interface turns it into an event instead of a signal. */
function readLines(input: NodeJS.ReadStream, output: NodeJS.WriteStream, onInterrupt: () => void): Lines {
  const isTerminal = Boolean(input.isTTY && output.isTTY);
  const waiting: ((line: string | null) => void)[] = [];
  const unreadLines: string[] = [];
  let reader: Interface | null = null;
  let hasEnded = false;

  const open = (): Interface => {
    const lines = isTerminal
      ? createInterface({ input, output, terminal: true, historySize: 0 })
      : createInterface({ input, terminal: false });
    lines.on("line", (line) => {
      const resolve = waiting.shift();
      if (resolve) resolve(line);
      else unreadLines.push(line);
    });
    lines.on("SIGINT", onInterrupt);
    lines.on("close", () => {
      reader = null;
      // At a terminal, the next prompt opens the reader again.
      hasEnded = !isTerminal;
      for (const resolve of waiting.splice(0)) resolve(null);
    });
    return lines;
  };

  return {
    isTerminal,
    next(prompt) {
      const line = unreadLines.shift();
      if (line !== undefined) return Promise.resolve(line);
      if (hasEnded) return Promise.resolve(null);
      reader ??= open();
      if (isTerminal) {
        reader.setPrompt(prompt);
        reader.prompt();
      }
      return new Promise((resolve) => waiting.push(resolve));
    },
    discardTyped() {
      if (isTerminal) unreadLines.length = 0;
    },
    close() {
      reader?.close();
      input.unref?.();
    },
  };
}
