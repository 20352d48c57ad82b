import { styleText } from "node:util";
import type { CallerAnswer, CallerQuestion, FormField } from "#shared/rpc/jsonrpc/caller-input.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { fitMessage, rowsOf } from "./board-layout.ts";
import { hintOf, isNumbered, numberedList, parseValue, promptOf, type Value } from "./form-fields.ts";
import { type Lines, readLines } from "./terminal-lines.ts";

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
