import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BoardWord, codenames } from "./codenames.ts";
import { clueFault, clueRules, fold, sampleClues, upper } from "./codenames-clues.ts";
import { WORDS } from "./codenames-words.ts";
import { act, begin, coveredOf, play, rejection, wordsWith } from "./testing/codenames.ts";

/** Legal clues and board words of Codenames, and the sample of clues, which is never empty. */

const BOARD = wordsWith(
  "Whale",
  "Café",
  "New York",
  "Straße",
  "Jack-o'-lantern",
  "L’île",
  "İzmir",
  "Οδός",
  "ﬁn",
  "수도",
);

describe("codenames.v1, a clue by version 1 of the rule, which earlier sessions have", () => {
  it.each([
    ["OCEAN", "a word"],
    ["ocean", "in any case"],
    [" ocean ", "with surrounding spaces"],
    ["ÉTÉ", "with accents"],
    ["zoe\u0308", "with combining accents"],
    ["м\u0301оре", "in another script"],
    ["海", "of one letter that no word contains"],
    ["मछली", "with vowel signs, which are marks"],
    ["WHALY", "nearly a word of the board"],
    ["ELAHW", "a word of the board backwards"],
    ["YORKSHIRES", "with a part of a word"],
    ["X".repeat(30), "of 30 letters"],
    [`${"e\u0301".repeat(30)}`, "of 30 letters with accents"],
    ["𝒳".repeat(30), "of 30 letters beyond the first 65,536"],
  ])("%j is accepted: %s", (word) => {
    const state = begin({ words: BOARD });
    const given = act(state, { type: "clue", word, number: 1 });
    expect(given.turns[0]?.clue).toEqual({ word: upper(word), number: 1 });
  });

  const letters = "a clue is one word of letters";
  const alike = (word: string) =>
    expect.stringMatching(new RegExp(` is, contains or is part of ${word}, a word on the board$`));
  it.each([
    ["", letters],
    [" ", letters],
    ["TWO WORDS", letters],
    ["TWO\u00a0WORDS", letters],
    ["TWO\nWORDS", letters],
    ["SEA-LION", letters],
    ["DON'T", letters],
    ["OCEAN3", letters],
    ["3", letters],
    ["٣", letters],
    ["Ⅷ", letters],
    ["OCEAN!", letters],
    ["OCEAN_", letters],
    ["__proto__", letters],
    ["🐋", letters],
    ["SEA🐋", letters],
    ["\u0301", letters],
    ["\u0301OCEAN", letters],
    ["OCE\u200bAN", letters],
    ["OCE\u00adAN", letters],
    ["OCE\u3164AN", letters],
    ["\u115f", letters],
    ["\ud835", letters],
    ["X".repeat(31), "a clue has at most 30 letters"],
    ["WHALE", alike("WHALE")],
    ["whale", alike("WHALE")],
    ["WHÁLE", alike("WHALE")],
    ["wha\u0323le", alike("WHALE")],
    ["ＷＨＡＬＥ", alike("WHALE")],
    ["𝐖𝐇𝐀𝐋𝐄", alike("WHALE")],
    ["WHALES", alike("WHALE")],
    ["OVERWHALED", alike("WHALE")],
    ["HAL", alike("WHALE")],
    ["h", alike("WHALE")],
    ["CAFE", alike("CAFÉ")],
    ["CAFETERIA", alike("CAFÉ")],
    ["CAF", alike("CAFÉ")],
    ["YORK", alike("NEW YORK")],
    ["WYO", alike("NEW YORK")],
    ["NEWYORKER", alike("NEW YORK")],
    ["STRASSE", alike("STRASSE")],
    ["straße", alike("STRASSE")],
    ["STRAẞE", alike("STRASSE")],
    ["LANTERN", alike("JACK-O'-LANTERN")],
    ["KOLAN", alike("JACK-O'-LANTERN")],
    ["ILE", alike("L’ÎLE")],
    ["IZMIR", alike("İZMIR")],
    ["ızmir", alike("İZMIR")],
    ["οδοσ", alike("ΟΔΌΣ")],
    ["FINS", alike("FIN")],
    ["수", alike("수도")],
  ])("%j is rejected: %s", (word, message) => {
    const state = begin({ words: BOARD });
    expect(rejection(state, `${state.turn}_spymaster`, { type: "clue", word, number: 1 })).toEqual(message);
  });

  it("a guessed word no longer forbids clues", () => {
    const state = begin();
    const word = coveredOf(state, state.turn)[0] ?? "";
    const clue = { type: "clue", word, number: 1 };
    expect(rejection(state, `${state.turn}_spymaster`, clue)).toMatch(/a word on the board/);
    const later = play(state, "clue, own, pass");
    for (const clueWord of [word, `${word}S`, word.slice(1)])
      expect(clueFault(clueWord, coveredWords(later), 1)).toBe(null);
    expect(rejection(later, `${later.turn}_spymaster`, clue)).toBe(null);
  });

  it("upper and fold are idempotent for every letter", () => {
    for (let code = 0; code < 0x11_0000; code++) {
      const text = String.fromCodePoint(code);
      if (!/\p{L}/u.test(text)) continue;
      if (upper(upper(text)) !== upper(text) || fold(fold(text)) !== fold(text) || fold(upper(text)) !== fold(text)) {
        expect.unreachable(`U+${code.toString(16)}`);
      }
    }
  });
});

const coveredWords = ({ cards }: ReturnType<typeof begin>): string[] =>
  cards.flatMap(({ word, uncovered }) => (uncovered ? [] : [word]));

describe("codenames.v1, words for the board", () => {
  it.each([
    ["Café", "CAFÉ"],
    [" new york ", "NEW YORK"],
    ["L’île", "L’ÎLE"],
    ["jack-o'-lantern", "JACK-O'-LANTERN"],
    ["straße", "STRASSE"],
    ["e\u0301t\u00e9", "ÉTÉ"],
    ["東京", "東京"],
    ["a", "A"],
    ["constructor", "CONSTRUCTOR"],
    ["x".repeat(30), "X".repeat(30)],
  ])("%j is written %j on the board, and parses to itself", (word, shown) => {
    expect(BoardWord.parse(word)).toBe(shown);
    expect(BoardWord.parse(shown)).toBe(shown);
  });

  it.each([
    "",
    " ",
    "x".repeat(31),
    `${"ß".repeat(16)}`,
    "R2D2",
    "3",
    "-whale",
    "'tis",
    "a_b",
    "a\nb",
    "🐋",
    "\u0301a",
    "\u037a",
    "\u3164",
    "wha\u3164le",
    3,
    null,
    ["whale"],
  ])("%j is rejected as a word for the board", (word) => expect(BoardWord.safeParse(word).success).toBe(false));

  const parses = (words: unknown): boolean => codenames.options.safeParse({ words }).success;
  it.each([
    ["25 words", wordsWith("a"), true],
    ["24 words", wordsWith("a").slice(1), false],
    ["26 words", ["b", ...wordsWith("a")], false],
    ["none", [], false],
    ["a word twice", wordsWith("whale", "whale"), false],
    ["a word in two cases", wordsWith("whale", "WHALE"), false],
    ["a word with and without its accents", wordsWith("cafe", "Café"), false],
    ["a word with and without its space", wordsWith("new york", "newyork"), false],
    ["a word with and without its hyphen", wordsWith("jack-o'-lantern", "jackolantern"), false],
    ["a word in two spellings", wordsWith("straße", "strasse"), false],
    ["a word that is part of another", wordsWith("ant", "lantern"), true],
    ["a word that is empty", wordsWith("whale", ""), false],
    ["text", "whale", false],
    ["null", null, false],
  ])("a list of words is accepted or rejected: %s", (_name, words, expected) => expect(parses(words)).toBe(expected));

  it("the starting team is red or blue, and unknown options are rejected", () => {
    const accepts = (options: object) => codenames.options.safeParse(options).success;
    expect(["red", "blue"].every((starting_team) => accepts({ starting_team }))).toBe(true);
    for (const starting_team of ["green", "RED", "", null, 1]) expect(accepts({ starting_team })).toBe(false);
    expect(accepts({ seed: "mine" })).toBe(false);
    expect(accepts(JSON.parse('{"__proto__": {"starting_team": "red"}}'))).toBe(false);
  });

  it("the built-in words are valid board words, and no word is part of another", () => {
    expect(WORDS.length).toBeGreaterThan(300);
    for (const word of WORDS) expect(BoardWord.parse(word)).toBe(word);
    const inside = WORDS.flatMap((word) => WORDS.filter((other) => other !== word && other.includes(word)));
    expect([inside, new Set(WORDS).size]).toEqual([[], WORDS.length]);
  });
});

describe("codenames.v1, listed clues", () => {
  /** Words that forbid as many clues as possible. */
  const restrictive = fc.oneof(
    fc.constantFrom(..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    fc.constantFrom(..."AEIOUSTRNLMC"),
    fc
      .tuple(fc.constantFrom(..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"), fc.integer({ min: 1, max: 30 }))
      .map(([a, n]) => a.repeat(n)),
    fc.constantFrom("ẞ".repeat(30), "ﬀ".repeat(15), "ＡＡＡ", "𝐁", "é", "ANIMAL", "anim", "C-C-C", "d d"),
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 }),
  );

  it.each(clueRules)("exist for every board, are all legal by version %i, and are different", (rule) => {
    const boards = fc.uniqueArray(
      restrictive.filter((word) => BoardWord.safeParse(word).success).map((word) => BoardWord.parse(word)),
      {
        selector: fold,
        maxLength: 25,
      },
    );
    fc.assert(
      fc.property(boards, (covered) => {
        const clues = sampleClues(covered, rule);
        expect(clues.length).toBeGreaterThan(0);
        expect(clues.filter(({ word }) => clueFault(word, covered, rule) !== null)).toEqual([]);
        expect(new Set(clues.map((clue) => JSON.stringify(clue))).size).toBe(clues.length);
      }),
      { seed: 1, numRuns: 400 },
    );
  });

  it("include the only word that 25 words of one letter leave", () => {
    for (const missing of ["A", "M", "Z"]) {
      const words = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"].filter((letter) => letter !== missing);
      expect(sampleClues(words, 1)).toEqual([1, 2].map((number) => ({ word: missing.repeat(30), number })));
      const state = begin({ words });
      for (const clue of codenames.legalActions(state, `${state.turn}_spymaster`)) act(state, clue);
    }
  });

  it("are the same for the same board, whatever the identities", () => {
    const words = wordsWith("whale");
    const clues = (seed: string) => {
      const state = begin({ words, starting_team: "red" }, seed);
      return codenames.legalActions(state, "red_spymaster");
    };
    expect(clues("a")).toEqual(clues("b"));
  });
});
