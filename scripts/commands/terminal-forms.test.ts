import { PassThrough } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import { codenames } from "#shared/games/codenames.ts";
import type { CallerAnswer, CallerQuestion } from "#shared/rpc/jsonrpc/caller-input.ts";
import { TerminalForms } from "./terminal-forms.ts";

type Form = Extract<CallerQuestion, { kind: "form" }>;
const guess: Form = {
  kind: "form",
  message: "Guess one word.",
  fields: { word: { type: "string", title: "Your guess", enum: ["WHALE", "ÉCLAIR", "WHEEL"] } },
};
const clue: Form = {
  kind: "form",
  message: "WHALE (assassin)\nGive a clue.",
  fields: {
    word: { type: "string", title: "Clue" },
    number: { type: "string", title: "Number", enum: ["1", "2", "unlimited"] },
  },
};
const confirmation: Form = { kind: "form", message: "Go on?", fields: { go_on: { type: "boolean" } } };

let forms: TerminalForms | null = null;
afterEach(() => forms?.close());

/**
 * Creates forms on streams that behave like a terminal. `shown` waits until a text appears after the text of the previous call, and returns the
 * output up to it.
 */
function openTerminal(rows = 40, columns = 80) {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => input });
  const output = Object.assign(new PassThrough(), { isTTY: true, rows, columns });
  let text = "";
  let readUntil = 0;
  let onOutput = (): void => {};
  output.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    onOutput();
  });
  const shown = (expected: string): Promise<string> =>
    new Promise((resolve) => {
      onOutput = () => {
        const start = text.indexOf(expected, readUntil);
        if (start === -1) return;
        const end = start + expected.length;
        const output = text.slice(readUntil, end);
        readUntil = end;
        onOutput = () => {};
        resolve(output);
      };
      onOutput();
    });
  let interrupts = 0;
  forms = new TerminalForms(input as never, output as never, () => interrupts++);
  return { forms, shown, type: (keys: string) => void input.write(keys), interrupts: () => interrupts };
}

const accepted = (content: object): CallerAnswer => ({ kind: "form", action: "accept", content: { ...content } });
const CANCELLED: CallerAnswer = { kind: "form", action: "cancel", content: {} };

describe("a form at a terminal", () => {
  it.each([
    [guess, "2\r", { word: "ÉCLAIR" }],
    [guess, "eclair\r", { word: "ÉCLAIR" }],
    [guess, "wha\r", { word: "WHALE" }],
    [clue, "ocean 2\r", { word: "ocean", number: "2" }],
    [confirmation, "N\r", { go_on: false }],
    [confirmation, "stop\r", { go_on: false }],
  ])("%j is completed by the keys %j", async (form, keys, content) => {
    const { forms, shown, type } = openTerminal();
    const answer = forms.fillIn(form, null);
    await shown(": ");
    type(keys);
    expect(await answer).toEqual(accepted(content));
  });

  it("repeats a field after an invalid or ambiguous answer, and asks for each field", async () => {
    const { forms, shown, type } = openTerminal();
    const guessAnswer = forms.fillIn(guess, null);
    for (const invalid of ["wh\r", "4\r", "\r"]) {
      await shown("Your guess");
      type(invalid);
      await shown("is not a valid answer");
    }
    await shown("Your guess");
    type("wheel\r");
    expect(await guessAnswer).toEqual(accepted({ word: "WHEEL" }));
    const answer = forms.fillIn(clue, null);
    await shown("Clue");
    type("ocean\r");
    await shown("Number");
    type("unlimited\r");
    expect(await answer).toEqual(accepted({ word: "ocean", number: "unlimited" }));
  });

  it.each(["stop\r", "\x04"])("is cancelled by %j, and the next form can be completed", async (keys) => {
    const { forms, shown, type } = openTerminal();
    const cancelled = forms.fillIn(guess, null);
    await shown("Your guess");
    type(keys);
    expect(await cancelled).toEqual(CANCELLED);
    const answer = forms.fillIn(guess, null);
    await shown("Your guess");
    type("1\r");
    expect(await answer).toEqual(accepted({ word: "WHALE" }));
  });

  it("reports Ctrl-C to its owner", async () => {
    const { forms, shown, type, interrupts } = openTerminal();
    const answer = forms.fillIn(guess, null);
    await shown("Your guess");
    type("\x03");
    type("1\r");
    await answer;
    expect(interrupts()).toBe(1);
  });
});

describe("a form with a secret at a shared terminal", () => {
  it.each([
    [40, "\x1b[?1049h", "\x1b[?1049l"],
    [8, "\x1b[2J\x1b[3J\x1b[H", "\x1b[2J\x1b[3J\x1b[H"],
  ])("is shown after Enter, and removed from a screen of %i rows after the answer", async (rows, before, after) => {
    const { forms, shown, type } = openTerminal(rows);
    const answer = forms.fillIn(clue, "the spymaster of team red");
    expect(await shown("Press Enter")).not.toContain("assassin");
    type("\r");
    await shown(before);
    await shown("WHALE (assassin)");
    await shown("Clue");
    type("ocean 2\r");
    await shown(after);
    expect(await answer).toEqual(accepted({ word: "ocean", number: "2" }));
  });

  it("is removed when the command ends before the answer", async () => {
    const { forms, shown, type } = openTerminal();
    const answer = forms.fillIn(clue, "the spymaster of team red");
    await shown("Press Enter");
    type("\r");
    await shown("Clue");
    forms.close();
    await shown("\x1b[?1049l");
    expect(await answer).toEqual(CANCELLED);
  });
});

describe("the key card of a spymaster", () => {
  const state = codenames.initialState({ options: codenames.options.parse({}), seed: "key" });
  const link = `http://127.0.0.1:8001/game/d52499d2-f1cc-4d40-9583-ccb22b7729e4#seat=${"x".repeat(43)}`;
  const parts = [
    "You are the spymaster of team red.",
    codenames.toText(state, "red_spymaster"),
    link,
    "Give a clue: one word.",
  ];
  const form: Form = { ...clue, message: parts.join("\n\n") };
  const [alternateScreen, clearedScreen] = ["\x1b[?1049h", "\x1b[2J\x1b[3J\x1b[H"];

  it.each([
    [200, 30, 5, alternateScreen],
    [80, 40, 4, alternateScreen],
    [80, 24, 4, clearedScreen],
    [80, 16, 4, clearedScreen],
    [40, 60, 2, alternateScreen],
    [40, 24, 2, clearedScreen],
    [24, 60, 1, alternateScreen],
    [24, 40, 1, clearedScreen],
  ])(
    "is completely visible on a screen of %i columns and %i rows, in %i columns of cards",
    async (columns, rows, columnCount, screen) => {
      const { forms, shown, type } = openTerminal(rows, columns);
      const answer = forms.fillIn(form, "the spymaster of team red");
      await shown("Press Enter");
      type("\r");
      await shown(screen);
      const lines = (await shown("Clue: ")).replaceAll("\r", "").split("\n");
      type("ocean 2\r");
      await answer;
      const rowsShown = lines.flatMap((line) => line.match(new RegExp(`.{1,${columns}}`, "g")) ?? [""]);
      const visible = rowsShown.slice(-rows).join("\n"); // the other rows have scrolled off the screen
      const keyLines = visible.split("\n").filter((line) => /\((red|blue|neutral|assassin)\)/.test(line));
      expect(keyLines).toHaveLength(Math.ceil(25 / columnCount));
      for (const { word, identity } of state.cards) expect(visible).toContain(`${word} (${identity})`);
    },
  );
});
