import { styleText } from "node:util";
import type { Ask, FormField, Said } from "#shared/rpc/jsonrpc/input.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { fitted, rowsOf } from "./board-layout.ts";
import { hintOf, isNumbered, listed, promptOf, type Value, valueIn } from "./form-fields.ts";
import { type Lines, readLines } from "./terminal-lines.ts";

type Form = Extract<Ask, { kind: "form" }>;

const OTHER_SCREEN = "\x1b[?1049h\x1b[H";
const FIRST_SCREEN = "\x1b[?1049l";
/** Clears the screen and the lines that have scrolled off it. */
const CLEAR = "\x1b[2J\x1b[3J\x1b[H";
/** Rows that are kept for the typed line, and for one field that is asked again. */
const SPARE_ROWS = 4;
const HOW_TO_LEAVE = "(Type stop, or press Ctrl-D, to leave a form.)";
/** Control characters, which a terminal would obey. */
const CONTROL = /[^\P{Cc}\n]/gu;
const CANCEL: Said = { kind: "form", action: "cancel", content: {} };

/** The people at this terminal, who fill in forms one after the other. */
export class TerminalForms {
  readonly #lines: Lines;
  readonly #stream: NodeJS.WriteStream;
  #wasTold = false;
  /** Removes the secret from the screen; empty while none is shown. */
  #hide = "";

  constructor(input: NodeJS.ReadStream, stream: NodeJS.WriteStream, onInterrupt: () => void) {
    this.#lines = readLines(input, stream, onInterrupt);
    this.#stream = stream;
    process.once("exit", this.#uncover);
  }

  /** Asks a form; `onlyFor` names the player that it is secret to, if others sit at the same terminal. Rejects when no answers are left. */
  async fillIn(form: Form, onlyFor: string | null): Promise<Said> {
    this.#lines.forget();
    if (onlyFor === null || !this.#lines.isTerminal) return this.#ask(form);
    const come = await this.#next(`\nThe next form is for ${onlyFor} alone. Press Enter when nobody else looks. `);
    if (come === null) return CANCEL;
    // The other screen leaves no trace, but cannot be scrolled.
    const onOther = this.#fits(form);
    this.#stream.write(onOther ? OTHER_SCREEN : CLEAR);
    this.#hide = onOther ? FIRST_SCREEN : CLEAR;
    try {
      return await this.#ask(form);
    } finally {
      this.#uncover();
    }
  }

  close(): void {
    this.#lines.close();
    this.#uncover();
    process.off("exit", this.#uncover);
  }

  readonly #uncover = (): void => {
    this.#stream.write(this.#hide);
    this.#hide = "";
  };

  #write(text: string): void {
    this.#stream.write(`${text}\n`);
  }

  get #columns(): number {
    return this.#stream.columns || 80;
  }

  #shown({ message }: Form, boardLast: boolean): string {
    return fitted(message.replace(CONTROL, ""), this.#columns, boardLast);
  }

  /** Whether a form and its prompts fit on the screen together. */
  #fits(form: Form): boolean {
    const prompts = Object.entries(form.fields).map(([name, field]) => promptOf(name, field));
    const text = ["", this.#shown(form, false), "", HOW_TO_LEAVE, "", ...prompts].join("\n");
    return rowsOf(text, this.#columns) + SPARE_ROWS <= (this.#stream.rows || 24);
  }

  async #ask(form: Form): Promise<Said> {
    const { isTerminal } = this.#lines;
    this.#write(`\n${this.#shown(form, isTerminal && !this.#fits(form))}\n`);
    if (!this.#wasTold) this.#write(`${HOW_TO_LEAVE}\n`);
    this.#wasTold = true;
    const content: Record<string, Value> = {};
    const open = Object.entries(form.fields);
    for (const [, field] of open) {
      const { enum: choices = [] } = field as { enum?: readonly string[] };
      if (isNumbered(choices)) this.#write(`${listed(choices, this.#columns)}\n`);
    }
    let given: string[] = [];
    for (const [index, [name, field]] of open.entries()) {
      const value = await this.#fieldOf(name, field, given.shift());
      if (value === null) return CANCEL;
      content[name] = value;
      const words = index === 0 && typeof value === "string" ? wordsForAll(value, open) : null;
      if (words === null) continue;
      content[name] = words[0] ?? "";
      given = words.slice(1);
    }
    return { kind: "form", action: "accept", content };
  }

  /** The value of one field; null when the form is left. `given` is a word of the field that was typed before. */
  async #fieldOf(name: string, field: FormField, given: string | undefined): Promise<Value | null> {
    const hint = hintOf(field);
    const prompt = styleText("bold", promptOf(name, field), { stream: this.#stream });
    let line: string | null | undefined = given;
    for (;;) {
      line ??= await this.#next(prompt);
      if (line === null) return null;
      const value = valueIn(field, line);
      if (value !== null) return value;
      if (line.toLowerCase() === "stop") return null;
      this.#write(`"${line}" will not do: ${hint || "say something"}.`);
      line = undefined;
    }
  }

  /** The next line; null when the form is left. Rejects at the end of an input that is no terminal. */
  async #next(prompt: string): Promise<string | null> {
    const { isTerminal } = this.#lines;
    if (!isTerminal) this.#write(prompt);
    const line = await this.#lines.next(prompt);
    if (line === null && !isTerminal) throw new StartError("no more answers come on stdin", EXIT.failed);
    return line?.trim() ?? null;
  }
}

/** The words of a line that fills in all fields of a form at once, such as "OCEAN 2" for a clue; null for any other line. */
function wordsForAll(line: string, fields: readonly (readonly [string, FormField])[]): string[] | null {
  const words = line.split(/\s+/);
  if (words.length < 2 || words.length !== fields.length) return null;
  const others = fields.slice(1).map(([, field], place) => valueIn(field, words[place + 1] ?? ""));
  return others.every((one) => one !== null) ? words : null;
}
