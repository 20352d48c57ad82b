/** The rules of Codenames: the board, turns, the effect of each card, the end of a game and its verdict. */
import { describe, expect, it } from "vitest";
import { create, decide, type Session } from "#shared/session/session.ts";
import { verdictOf } from "../session/verdict.ts";
import { codenames } from "./codenames.ts";
import type { CodenamesState, Identity } from "./codenames-view.ts";
import { act, begin, coveredOf, play, rejection, wordsWith } from "./testing/codenames.ts";

const ROLES = ["red_spymaster", "red_team", "blue_spymaster", "blue_team"] as const;
const TEAMS = ["red", "blue"] as const;
const other = { red: "blue", blue: "red" } as const;

const seeds = Array.from({ length: 60 }, (_, n) => `seed ${n}`);
const red = (): CodenamesState => begin({ starting_team: "red" });

describe("codenames.v1, the board", () => {
  it.each(TEAMS)(
    "has 25 different words: 9 agents of %s, which begins, 8 of the other team, 7 neutral cards and 1 assassin",
    (team) => {
      for (const seed of seeds) {
        const state = begin({ starting_team: team }, seed);
        const counts = (["red", "blue", "neutral", "assassin"] as Identity[]).map(
          (identity) => coveredOf(state, identity).length,
        );
        expect(counts).toEqual(team === "red" ? [9, 8, 7, 1] : [8, 9, 7, 1]);
        expect(new Set(state.cards.map(({ word }) => word)).size).toBe(25);
        expect(state).toMatchObject({ turn: team, phase: "clue", guesses_left: null, result: null });
        expect(state.remaining).toEqual({ [team]: 9, [other[team]]: 8 });
        expect(codenames.toAct(state)).toEqual([`${team}_spymaster`]);
      }
    },
  );

  it("is determined by the seed and differs between seeds", () => {
    for (const seed of seeds) expect(begin({}, seed)).toEqual(begin({}, seed));
    const drawn = (value: (state: CodenamesState) => unknown) =>
      new Set(seeds.map((seed) => JSON.stringify(value(begin({}, seed))))).size;
    expect(drawn(({ cards }) => cards.map(({ word }) => word))).toBe(seeds.length);
    expect(drawn(({ cards }) => cards.map(({ identity }) => identity))).toBe(seeds.length);
    expect(drawn(({ turn }) => turn)).toBe(2);
  });

  it("has every identity about equally often in every place", () => {
    const deals = Array.from({ length: 2_000 }, (_, n) => begin({ starting_team: "red" }, `deal ${n}`));
    for (const [identity, count] of Object.entries({ red: 9, blue: 8, neutral: 7, assassin: 1 })) {
      const expected = (deals.length * count) / 25;
      for (let index = 0; index < 25; index++) {
        const found = deals.filter(({ cards }) => cards[index]?.identity === identity).length;
        expect(Math.abs(found - expected)).toBeLessThan(5 * Math.sqrt(expected));
      }
    }
  });

  it("keeps given words in their order, which does not depend on the identities", () => {
    const words = wordsWith("Café", " new york ");
    const state = begin({ words }, "a");
    expect(state.cards.map(({ word }) => word).slice(0, 3)).toEqual(["CAFÉ", "NEW YORK", "あ"]);
    const keyOf = (seed: string) => begin({ words, starting_team: "red" }, seed).cards.map(({ identity }) => identity);
    expect(keyOf("a")).toEqual(keyOf("a"));
    expect(keyOf("a")).not.toEqual(keyOf("b"));
  });
});

describe("codenames.v1, a turn", () => {
  it.each([
    ["clue 1", 2],
    ["clue 3", 4],
    ["clue 9", 10],
    ["clue 0", null],
    ["clue unlimited", null],
    ["clue 3, own", 3],
    ["clue 3, own, own, own", 1],
    ["clue 0, own, own, own", null],
  ])("after %s a team has %j guesses left", (script, left) => {
    expect(play(red(), script)).toMatchObject({ turn: "red", phase: "guess", guesses_left: left });
  });

  it.each([
    ["own", { red: 8, blue: 8 }, "continues the turn"],
    ["neutral", { red: 9, blue: 8 }, "ends the turn"],
    ["other", { red: 9, blue: 7 }, "ends the turn"],
    ["assassin", { red: 9, blue: 8 }, "ends the game"],
  ] as const)("a guess of a card: %s", (card, remaining, effect) => {
    const before = play(red(), "clue 3");
    const state = play(before, card);
    expect(state.remaining).toEqual(remaining);
    const [guess] = state.turns[0]?.guesses ?? [];
    expect(state.cards.filter(({ uncovered }) => uncovered)).toEqual([{ ...guess, uncovered: true }]);
    expect(codenames.toAct(state)).toEqual(
      { "continues the turn": ["red_team"], "ends the turn": ["blue_spymaster"], "ends the game": [] }[effect],
    );
  });

  it.each([
    ["clue 1, own, own", "number + 1 guesses"],
    ["clue 2, own, own, own", "number + 1 guesses"],
    ["clue 2, own, pass", "a pass"],
    ["clue 0, own, own, own, pass", "a pass after a clue for none"],
    ["clue unlimited, own, own, own, own, pass", "a pass after an unlimited clue"],
    ["skip", "a missing clue"],
    ["clue 2, skip", "a missing guess"],
    ["clue 2, own, skip", "a missing second guess"],
  ])("the turn ends after %j, by %s", (script) => {
    expect(play(red(), script)).toMatchObject({ turn: "blue", phase: "clue", guesses_left: null });
    expect(codenames.toAct(play(red(), script))).toEqual(["blue_spymaster"]);
  });

  it("a team may guess without a limit after 0 and unlimited", () => {
    for (const number of ["0", "unlimited"]) {
      const state = play(red(), `clue ${number}${", own".repeat(9)}`);
      expect(state.result).toEqual({ winner: "red", reason: "agents_found" });
    }
  });

  it("a team may pass after its first guess in each turn", () => {
    const mayPass = (state: CodenamesState) => {
      const listed = codenames.legalActions(state, "red_team").some(({ type }) => type === "pass");
      expect(rejection(state, "red_team", { type: "pass" })).toBe(
        listed ? null : "guess at least one word before you pass",
      );
      return listed;
    };
    expect(mayPass(play(red(), "clue 2"))).toBe(false);
    expect(mayPass(play(red(), "clue 2, own"))).toBe(true);
    expect(mayPass(play(red(), "clue 2, own, pass, clue 1, neutral, clue 2"))).toBe(false);
  });

  it("is recorded with its clue, its guesses and the reason why it was skipped", () => {
    const { turns } = play(red(), "clue 1, own, pass, skip, clue unlimited, skip");
    const word = coveredOf(red(), "red")[0];
    expect(turns).toEqual([
      { team: "red", clue: { word: "CLUE", number: 1 }, guesses: [{ word, identity: "red" }], skipped: null },
      { team: "blue", clue: null, guesses: [], skipped: "no_answer" },
      { team: "red", clue: { word: "CLUE", number: "unlimited" }, guesses: [], skipped: "no_answer" },
      { team: "blue", clue: null, guesses: [], skipped: null },
    ]);
  });

  it("a guess matches a covered word without regard to case, accents and spaces", () => {
    const state = play(begin({ words: wordsWith("Café", "New York", "Straße") }, "b"), "clue 9");
    const team = `${state.turn}_team`;
    for (const word of ["café", "CAFE", "Cafe\u0301", "new york", "NewYork", " strasse ", "STRAẞE"]) {
      expect(rejection(state, team, { type: "guess", word })).toBe(null);
    }
    const guessed = act(state, { type: "guess", word: "cafe" });
    expect(guessed.cards[0]?.uncovered).toBe(true);
    const next = guessed.phase === "guess" ? guessed : play(guessed, "clue");
    for (const word of ["CAFÉ", "CAF", "CAFES", "", " ", "__proto__", "NEW", "🙂"]) {
      const message = rejection(next, codenames.toAct(next)[0] ?? "", { type: "guess", word });
      expect(message).toBe("that word is not on the board, or it has been guessed");
    }
  });
});

describe("codenames.v1, the end", () => {
  const eight = ", own".repeat(8);
  it.each([
    ["a team wins with its last agent", `clue 9${eight}, own`, "red", "agents_found"],
    ["the team that began second wins with its last agent", `clue, neutral, clue 9${eight}`, "blue", "agents_found"],
    [
      "the first team wins if the other team guesses its last agent",
      `clue 0${eight}, neutral, clue, other`,
      "red",
      "agents_found",
    ],
    [
      "the second team wins if the first team guesses its last agent",
      `clue, neutral, clue 9${", own".repeat(7)}, neutral, clue, other`,
      "blue",
      "agents_found",
    ],
    ["the first team loses with the assassin", "clue, assassin", "blue", "assassin"],
    ["the second team loses with the assassin", "clue, neutral, clue, assassin", "red", "assassin"],
    ["a team loses with the assassin even if one agent is left", `clue 9${eight}, assassin`, "blue", "assassin"],
    ["sixty turns without an action are a draw", "skip, ".repeat(60), null, "turn_limit"],
    ["sixty turns without a guess are a draw", "clue, skip, ".repeat(60), null, "turn_limit"],
  ] as const)("%s", (_name, script, winner, reason) => {
    const state = play(red(), script);
    expect(state).toMatchObject({ phase: "over", guesses_left: null, result: { winner, reason } });
    expect([codenames.isTerminal(state), codenames.toAct(state)]).toEqual([true, []]);
    const scores = Object.fromEntries(ROLES.map((role) => [role, winner !== null && role.startsWith(winner) ? 1 : 0]));
    expect(codenames.outcome(state)).toEqual({ scores, reason });
    for (const role of ROLES) {
      expect(codenames.legalActions(state, role)).toEqual([]);
      for (const type of ["clue", "guess", "pass", "skip"]) {
        expect(rejection(state, role, { type, word: "ANY", number: 1, reason: "" })).toBe("the game is over");
      }
    }
  });

  it("the game ends with the sixtieth turn, after fewer actions than maxActions", () => {
    expect(play(red(), "skip, ".repeat(59))).toMatchObject({ phase: "clue", result: null });
    // The longest game: a pass after each agent, the neutral cards, then clues without a guess.
    const long = ["clue, own, pass, ".repeat(15), "clue, neutral, ".repeat(7), "clue, skip, ".repeat(37), "clue"].join(
      "",
    );
    const state = play(red(), long);
    expect(state.result).toBe(null);
    expect(play(state, "skip").result?.reason).toBe("turn_limit");
    expect(long.split(", ").length + 1).toBeLessThanOrEqual(codenames.info.maxActions);
  });
});

it.each([
  [`clue 9${", own".repeat(9)}`, "team red wins, because all its agents are found"],
  ["clue, assassin", "team blue wins, because team red guessed the assassin"],
  ["skip, ".repeat(60), "no team wins, because the turn limit is reached"],
])("the text of a finished game names the winning team and the reason: %#", (script, words) => {
  expect(codenames.toText(play(red(), script), "spectator").split("\n").at(-1)).toBe(`The game is over: ${words}.`);
});

it("the text says 1 guess, not 1 guesses", () => {
  expect(codenames.toText(play(red(), "clue 1, own"), "red_team")).toContain("red guesses for CLUE 1, 1 guess left.");
});

describe("codenames.v1, the verdict", () => {
  const participants = Object.fromEntries(ROLES.map((role) => [role, `agent of ${role}`]));
  const options = codenames.options.parse({ starting_team: "red" });
  const session = (): Session =>
    create({ id: "s", game: codenames as never, options, participants, seed: "seed", at: "" }).next;
  const following = (start: Session, command: Parameters<typeof decide>[1]): Session => {
    const decided = decide(start, command, "");
    if (!decided.ok) throw new Error(decided.error.message);
    return decided.value.next;
  };
  const points = { red_spymaster: 0, red_team: 0, blue_spymaster: 3, blue_team: 3 };
  const blue = { winners: ["blue_spymaster", "blue_team"], winner: null, points };

  it("gives a win to both roles of the winning team", () => {
    let current = session();
    for (const action of [
      { type: "clue", word: "CLUE", number: 1 },
      { type: "guess", word: coveredOf(red(), "assassin")[0] },
    ]) {
      const role = codenames.toAct(current.state as CodenamesState)[0] ?? "";
      current = following(current, { type: "act", role, action, expectedTick: current.tick });
    }
    expect(verdictOf(current)).toMatchObject({ ...blue, termination: "normal", reason: "assassin" });
  });

  it("gives a loss to both roles of the team of a role that forfeits", () => {
    const fault = (role: string) => ({ role, code: "G002", cause: "timeout", detail: "" }) as const;
    const lostBy = (...roles: string[]) =>
      verdictOf(following(session(), { type: "forfeit", faults: roles.map(fault) }));
    for (const role of ["red_spymaster", "red_team"])
      expect(lostBy(role)).toMatchObject({ ...blue, termination: "forfeit" });
    expect(lostBy("red_team", "blue_spymaster")).toMatchObject({ winners: [], winner: null });
  });
});
