import { PassThrough } from "node:stream";
import { afterEach, describe, expect, it } from "vitest";
import { codenames } from "#shared/games/codenames.ts";
import type { Ask, Said } from "#shared/rpc/jsonrpc/input.ts";
import { TerminalForms } from "./terminal-forms.ts";

type Form = Extract<Ask, { kind: "form" }>;
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
const goOn: Form = { kind: "form", message: "Go on?", fields: { go_on: { type: "boolean" } } };

let people: TerminalForms | null = null;
afterEach(() => people?.close());

/** Streams that take themselves for a terminal; `shown` waits until something is on its screen, from where it last looked. */
function terminal(rows = 40, columns = 80) {
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => input });
  const output = Object.assign(new PassThrough(), { isTTY: true, rows, columns });
  let text = "";
  let seen = 0;
  let look = (): void => {};
  output.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    look();
  });
  const shown = (what: string): Promise<string> =>
    new Promise((resolve) => {
      look = () => {
        const at = text.indexOf(what, seen);
        if (at === -1) return;
        const between = text.slice(seen, at + what.length);
        seen = at + what.length;
        look = () => {};
        resolve(between);
      };
      look();
    });
  let interrupts = 0;
  people = new TerminalForms(input as never, output as never, () => interrupts++);
  return { people, shown, type: (keys: string) => void input.write(keys), interrupts: () => interrupts };
}

const accepted = (content: object): Said => ({ kind: "form", action: "accept", content: { ...content } });
const CANCELLED: Said = { kind: "form", action: "cancel", content: {} };

describe("a form at a terminal", () => {
  it.each([
    [guess, "2\r", { word: "ÉCLAIR" }],
    [guess, "eclair\r", { word: "ÉCLAIR" }],
    [guess, "wha\r", { word: "WHALE" }],
    [clue, "ocean 2\r", { word: "ocean", number: "2" }],
    [goOn, "N\r", { go_on: false }],
    [goOn, "stop\r", { go_on: false }],
  ])("%j is filled in by %j", async (form, keys, content) => {
    const { people, shown, type } = terminal();
    const said = people.fillIn(form, null);
    await shown(": ");
    type(keys);
    expect(await said).toEqual(accepted(content));
  });

  it("asks again for what means nothing or two things, and field by field", async () => {
    const { people, shown, type } = terminal();
    const guessed = people.fillIn(guess, null);
    for (const wrong of ["wh\r", "4\r", "\r"]) {
      await shown("Your guess");
      type(wrong);
      await shown("will not do");
    }
    await shown("Your guess");
    type("wheel\r");
    expect(await guessed).toEqual(accepted({ word: "WHEEL" }));
    const said = people.fillIn(clue, null);
    await shown("Clue");
    type("ocean\r");
    await shown("Number");
    type("unlimited\r");
    expect(await said).toEqual(accepted({ word: "ocean", number: "unlimited" }));
  });

  it.each(["stop\r", "\x04"])("is left by %j, and the next one is asked all the same", async (keys) => {
    const { people, shown, type } = terminal();
    const left = people.fillIn(guess, null);
    await shown("Your guess");
    type(keys);
    expect(await left).toEqual(CANCELLED);
    const said = people.fillIn(guess, null);
    await shown("Your guess");
    type("1\r");
    expect(await said).toEqual(accepted({ word: "WHALE" }));
  });

  it("passes Ctrl-C on", async () => {
    const { people, shown, type, interrupts } = terminal();
    const said = people.fillIn(guess, null);
    await shown("Your guess");
    type("\x03");
    type("1\r");
    await said;
    expect(interrupts()).toBe(1);
  });
});

describe("a form that is secret to one of several", () => {
  it.each([
    [40, "\x1b[?1049h", "\x1b[?1049l"],
    [8, "\x1b[2J\x1b[3J\x1b[H", "\x1b[2J\x1b[3J\x1b[H"],
  ])("is shown after Enter, and gone from a screen of %i rows with its answer", async (rows, before, after) => {
    const { people, shown, type } = terminal(rows);
    const said = people.fillIn(clue, "the spymaster of team red");
    expect(await shown("Press Enter")).not.toContain("assassin");
    type("\r");
    await shown(before);
    await shown("WHALE (assassin)");
    await shown("Clue");
    type("ocean 2\r");
    await shown(after);
    expect(await said).toEqual(accepted({ word: "ocean", number: "2" }));
  });

  it("is gone when the command ends in the middle of it", async () => {
    const { people, shown, type } = terminal();
    const said = people.fillIn(clue, "the spymaster of team red");
    await shown("Press Enter");
    type("\r");
    await shown("Clue");
    people.close();
    await shown("\x1b[?1049l");
    expect(await said).toEqual(CANCELLED);
  });
});

describe("a spymaster's key", () => {
  const state = codenames.initialState({ options: codenames.options.parse({}), seed: "key" });
  const link = `http://127.0.0.1:8001/game/d52499d2-f1cc-4d40-9583-ccb22b7729e4#seat=${"x".repeat(43)}`;
  const parts = [
    "You are the spymaster of team red.",
    codenames.toText(state, "red_spymaster"),
    link,
    "Give a clue: one word.",
  ];
  const form: Form = { ...clue, message: parts.join("\n\n") };
  const [other, scrolled] = ["\x1b[?1049h", "\x1b[2J\x1b[3J\x1b[H"];

  it.each([
    [200, 30, 5, other],
    [80, 40, 4, other],
    [80, 24, 4, scrolled],
    [80, 16, 4, scrolled],
    [40, 60, 2, other],
    [40, 24, 2, scrolled],
    [24, 60, 1, other],
    [24, 40, 1, scrolled],
  ])("stands whole on a screen of %i columns and %i rows, in %i columns", async (columns, rows, across, screen) => {
    const { people, shown, type } = terminal(rows, columns);
    const said = people.fillIn(form, "the spymaster of team red");
    await shown("Press Enter");
    type("\r");
    await shown(screen);
    const lines = (await shown("Clue: ")).replaceAll("\r", "").split("\n");
    type("ocean 2\r");
    await said;
    const rowsShown = lines.flatMap((line) => line.match(new RegExp(`.{1,${columns}}`, "g")) ?? [""]);
    const left = rowsShown.slice(-rows).join("\n"); // what has not scrolled off
    const key = left.split("\n").filter((line) => /\((red|blue|neutral|assassin)\)/.test(line));
    expect(key).toHaveLength(Math.ceil(25 / across));
    for (const { word, identity } of state.cards) expect(left).toContain(`${word} (${identity})`);
  });
});
