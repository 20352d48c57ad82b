/** Version 2 of the rule for clues, which new sessions have, and version 1, which earlier sessions keep. */
import { describe, expect, it, test } from "vitest";
import { create } from "#shared/session/session.ts";
import { replayTexts } from "../session/replay.ts";
import { codenames } from "./codenames.ts";
import { clueFault } from "./codenames-clues.ts";
import { WORDS } from "./codenames-words.ts";
import { begin, rejection, wordsWith } from "./testing/codenames.ts";

const fault = (clue: string, word: string): string | null => clueFault(clue, [word], 2);
const pairs = (text: string): [clue: string, word: string][] =>
  text
    .trim()
    .split(/\s*[|\n]\s*/)
    .map((pair) => pair.trim().split(" on ") as [string, string]);

describe("codenames.v1, a clue by version 2 of the rule", () => {
  it.each(
    pairs(`PARTY on ART|PARTY on PART|HEART on ART|EARTH on EAR|CHAIR on HAIR|TRAIN on RAIN|START on STAR|PLANET on PLAN|PLANET on PLANE|CARPET on CAR
      CARPET on PET|BEARD on BEAR|CATTLE on CAT|HIP on SHIP|FLOWER on FLOW|MOTHER on MOTH|HAMMER on HAM|CARING on CAR|STARED on STAR|SEED on SEE
      PENGUIN on PEN|SEASON on SEA|FRIENDSHIP on SHIP|WINDOW on WIND|TENNIS on TEN|MARKET on MARK|EAGER on EAGLE|POLICY on POLICE|HAL on WHALE
      H on WHALE|GIANT on ANT|ANT on GIANT|ROCKET on ROCK|DONKEY on KEY|EVENING on EVEN|CRATE on CRATER|TAIL on TAILOR|OPEN on PEN|水 on 水曜日`),
  )("%s may be given with %s on the board", (clue, word) => expect(fault(clue, word)).toBe(null));

  it.each(
    pairs(`BROKEN on BREAK|BREAK on BROKEN|BROKE on BREAKING|MICE on MOUSE|MOUSE on MICE|FEET on FOOT|TEETH on TOOTH|CHILDREN on CHILD|WHALES on WHALE
      WHALING on WHALE|PARTIES on PARTY|KNIVES on KNIFE|SCARVES on SCARF|CHURCHES on CHURCH|POTATOES on POTATO|CACTI on CACTUS|OASES on OASIS
      RUNNING on RUN|RAN on RUN|STOPPED on STOP|TRAVELLING on TRAVEL|TRAVELED on TRAVEL|TYING on TIE|FLIES on FLY|FLEW on FLIES|BIGGEST on BIG
      HAPPINESS on HAPPY|DANCE on DANCER|BAKING on BAKER|FARM on FARMER|LAW on LAWYER|MAGIC on MAGICIAN|BREAKAGE on BREAK|CLOUDY on CLOUD
      AMERICAN on AMERICA|AUSTRALIA on AUSTRALIAN|POISONOUS on POISON|NERVOUS on NERVE|ICY on ICE|FRENCH on FRANCE`),
  )("%s is rejected as a form of %s", (clue, word) =>
    expect(fault(clue, word)).toBe(`the clue ${clue} is a form of ${word}, a word on the board`),
  );

  it.each(
    pairs(`EARTH on EARTHQUAKE|QUAKE on EARTHQUAKE|YORK on NEW YORK|KEY on KEYBOARD|BOARD on KEYBOARD|RAIN on RAINBOW|NUT on PEANUT|ICE on ICEBERG
      HEDGE on HEDGEHOG|LANTERN on JACK-O'-LANTERN`),
  )("%s is rejected as a part of %s", (clue, word) =>
    expect(fault(clue, word)).toBe(`the clue ${clue} is part of ${word}, a word on the board`),
  );

  it.each(
    pairs(
      "SNOWSHOE on SHOE|SUNFLOWERS on FLOWER|BOOKSHELF on BOOK|BREAKDOWN on BREAK|RAINCOAT on RAIN|SWORDSMAN on SWORD",
    ),
  )("%s is rejected as a compound of %s", (clue, word) =>
    expect(fault(clue, word)).toBe(`the clue ${clue} is a compound of ${word}, a word on the board`),
  );

  it.each(pairs("WHАLE on WHALE|СОСОА on COCOA|МОРЕ on MOPE|ØCEAN on OCEAN|ŁION on LION|ᴡʜᴀʟᴇ on WHALE|MOPE on МОРЕ"))(
    "%s is rejected because its letters look like those of %s",
    (clue, word) => expect(fault(clue, word)).toBe(`the clue ${clue} looks like ${word}, a word on the board`),
  );

  it("a form of a word is rejected even if its letters are look-alikes", () =>
    expect(fault("WHАLES", "WHALE")).toBe("the clue WHАLES is a form of WHALE, a word on the board"));

  it.each(["WHALE", "whale", "WHÁLE", "ＷＨＡＬＥ"])("%s is rejected as the word on the board", (clue) =>
    expect(fault(clue, "WHALE")).toBe(`the clue ${clue} is WHALE, a word on the board`),
  );

  it("each built-in word is accepted as a clue for a board of the other built-in words", () => {
    const rejected = WORDS.flatMap(
      (word) =>
        clueFault(
          word,
          WORDS.filter((other) => other !== word),
          2,
        ) ?? [],
    );
    expect(rejected).toEqual([]);
  });
});

describe("codenames.v1, the version of the rule in a session", () => {
  const words = wordsWith("MOUSE", "ART");
  const participants = Object.fromEntries(codenames.roles.map((role) => [role, role]));
  const setup = { id: "s", game: codenames as never, participants, seed: "seed", at: "2026-01-01T00:00:00.000Z" };
  const log = (options: object, clue: string): string[] => {
    const { entry } = create({ ...setup, options: codenames.options.parse(options) });
    const created = { ...entry, options };
    const role = `${begin({ words }, "seed").turn}_spymaster`;
    const acted = {
      type: "acted",
      tick: 0,
      role,
      agent: role,
      action: { type: "clue", word: clue, number: 1 },
      at: setup.at,
    };
    return [created, acted].map((entry) => JSON.stringify(entry));
  };
  const isValid = (bodies: readonly string[]): boolean => replayTexts(bodies, "seed").ok;

  test("a new session records the current version in its options, unless its options name a version", () => {
    const options = (given: object) => create({ ...setup, options: codenames.options.parse(given) }).next.options;
    expect(options({ words })).toEqual({ words, clue_rule: 2 });
    expect(options({ clue_rule: 1 })).toEqual({ clue_rule: 1 });
    expect(codenames.options.safeParse({ clue_rule: 3 }).success).toBe(false);
  });

  test("an old log without a version verifies by version 1", () => {
    expect([isValid(log({ words }, "MICE")), isValid(log({ words }, "PARTY"))]).toEqual([true, false]);
  });

  test("a new log verifies by version 2", () => {
    const options = { words, clue_rule: 2 };
    expect([isValid(log(options, "MICE")), isValid(log(options, "PARTY"))]).toEqual([false, true]);
  });

  test("the version is in the state and the views of a new session, and absent in those of an earlier one", () => {
    const state = begin({ words, clue_rule: 2 });
    expect(rejection(state, `${state.turn}_spymaster`, { type: "clue", word: "MICE", number: 1 })).toMatch(
      /form of MOUSE/,
    );
    for (const viewer of ["red_team", "spectator"])
      expect(codenames.viewState(state, viewer)).toMatchObject({ clue_rule: 2 });
    expect(begin({ words })).not.toHaveProperty("clue_rule");
  });
});
