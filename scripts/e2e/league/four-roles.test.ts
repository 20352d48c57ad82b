import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { createRandom } from "#shared/lib/rng.ts";
import { rpcToolCall } from "#shared/rpc/testing/json-rpc.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { startTestHost, type TestHost } from "../../../referee/rest/testing/host.ts";
import { startTestLeague } from "../../testing/in-process-league.ts";
import { league } from "../../testing/processes.ts";

const ROLES = ["red_spymaster", "red_team", "blue_spymaster", "blue_team"] as const;

let host: TestHost | null = null;
afterEach(async () => {
  await host?.remove();
  host = null;
});

// biome-ignore lint/suspicious/noExplicitAny: JSON from the wire
type Wire = any;

interface Answer {
  readonly isError: boolean;
  /** The structured content of the answer. */
  readonly value: Wire;
  /** The text of the answer, for LLMs. */
  readonly text: string;
}

async function call(name: string, args: object): Promise<Answer> {
  host ??= await startTestHost();
  const body = rpcToolCall(name, args);
  const { json } = await host.call("POST", "/mcp", { body, headers: { "content-type": "application/json" } });
  const { isError = false, structuredContent: value, content } = json.result;
  return { isError, value, text: content[0].text };
}

const seatOf = ({ value }: Answer) => ({ game_id: value.game_id, seat_token: value.seat_token });

/** Plays a seat at random until the game is over; resolves with the last answer. */
async function playOut(seat: object, seed: string): Promise<Answer> {
  const random = createRandom(seed);
  for (;;) {
    const turn = await call("waitForNextTurn", seat);
    expect(turn.isError, turn.text).toBe(false);
    if (turn.value.next === "game_over") return turn;
    if (turn.value.next !== "your_turn") continue;
    const moved = await call("finishTurn", { ...seat, move: random.pick(turn.value.legal_actions) });
    expect(moved.isError, moved.text).toBe(false);
  }
}

/** Expects that all seats get the same result, and that the text of each seat states whether the seat has won or lost. */
function expectSameResult(answers: readonly Answer[]): void {
  const results = answers.map(({ value }) => value.result);
  for (const result of results) expect(result).toEqual(results[0]);
  const { winners, winner, termination } = results[0];
  expect([winner, termination]).toEqual([null, "normal"]);
  expect([[], ROLES.slice(0, 2), ROLES.slice(2)]).toContainEqual(winners);
  for (const { value, text } of answers) {
    expect(text).toContain(winners.length > 0 ? `team ${winners[0].split("_")[0]} wins (` : "no winner (");
    expect(text.includes("You have won.")).toBe(winners.includes(value.your_role));
    expect(text.includes("You have lost.")).toBe(winners.length > 0 && !winners.includes(value.your_role));
  }
}

describe("Codenames with the tools for games", () => {
  it("against agents has three open seats; after three agents have joined, the game is played to the end", async () => {
    const made = await call("createGame", { template: "codenames", opponent: "agent", play_as: "blue_team" });
    expect(made.value.players).toMatchObject({ red_spymaster: { joined: false }, blue_team: { joined: true } });
    expect(made.text).toMatch(/No player has joined as red_spymaster or red_team or blue_spymaster yet/);
    const { game_id } = made.value;
    const joined = [await call("joinGame", { game_id, role: "red_team" })];
    for (const _ of [1, 2]) joined.push(await call("joinGame", { game_id }));
    expect(joined.map(({ value }) => value.your_role)).toEqual(["red_team", "red_spymaster", "blue_spymaster"]);
    const full = await call("joinGame", { game_id });
    expect([full.isError, full.text]).toEqual([true, expect.stringContaining("Every seat of this game is taken")]);
    expectSameResult(await Promise.all([made, ...joined].map((one, index) => playOut(seatOf(one), `agent ${index}`))));
  });

  it("shows the identities of covered cards to the spymasters only", async () => {
    const made = await call("createGame", { template: "codenames", opponent: "agent" });
    const { game_id } = made.value;
    const others = [];
    for (const _ of [1, 2, 3]) others.push(await call("joinGame", { game_id }));
    for (const { value, text } of [made, ...others]) {
      const isSpymaster = value.your_role.endsWith("spymaster");
      const known = value.state.cards.filter(({ identity }: Wire) => identity !== null);
      expect(known).toHaveLength(isSpymaster ? 25 : 0);
      expect(/\((red|blue|neutral|assassin)\)/.test(text)).toBe(isSpymaster);
    }
    const watched = await call("get_game_state", { match_id: game_id });
    expect(JSON.parse(watched.text).state.cards.every(({ identity }: Wire) => identity === null)).toBe(true);
  });

  it("accepts clues and guesses in free form, and lists legal clues after an illegal one", async () => {
    const options = {
      starting_team: "red",
      words: [..."ABCDEFGHIJKLMNOPQRSTUVWX", "Café"].map((one) => one.repeat(3)),
    };
    const made = await call("createGame", { template: "codenames", options, opponent: "agent" });
    const { game_id } = made.value;
    const team = await call("joinGame", { game_id, role: "red_team" });
    for (const role of ["blue_spymaster", "blue_team"]) await call("joinGame", { game_id, role });
    expect((await call("waitForNextTurn", seatOf(made))).text).toMatch(/^Legal moves, or some of them: [A-Z]+ 1, /m);
    const wrong = await call("finishTurn", { ...seatOf(made), move: "aaas 2" });
    expect(wrong.isError).toBe(true);
    expect(wrong.text).toContain("the clue AAAS is a form of AAA, a word on the board. Legal moves, or");
    const clue = await call("finishTurn", { ...seatOf(made), move: "clue: ocean, 2" });
    expect(clue.value.last_action).toMatchObject({ role: "red_spymaster", action: { word: "OCEAN", number: 2 } });
    const earlyPass = await call("finishTurn", { ...seatOf(team), move: "pass" });
    expect(earlyPass.text).toContain("guess at least one word before you pass");
    const guessed = await call("finishTurn", { ...seatOf(team), move: "guess cafecafecafe" });
    expect(guessed.value.last_action.action).toEqual({ type: "guess", word: "CAFÉCAFÉCAFÉ" });
  });

  it.each(["red_spymaster", "blue_team"])("is played to the end by an agent (%s) and three bots", async (play_as) => {
    const made = await call("createGame", { template: "codenames", opponent: "random", play_as });
    const kinds = ROLES.map((role) => made.value.players[role].kind);
    expect(kinds).toEqual(ROLES.map((role) => (role === play_as ? "agent" : "bot")));
    expectSameResult([await playOut(seatOf(made), play_as)]);
  });
});

describe("Codenames in a league", () => {
  it("is played by fixed pairs in a Swiss system, whose members take turns as spymaster", async () => {
    const names = ["Ann", "Bob", "Cid", "Dee", "Eve", "Fay", "Gil", "Hal"];
    const players = names.map((name, index) => ({ name, bot: index < 2 ? "wordlists" : "random" }));
    const teams = [names.slice(0, 2), names.slice(2, 4), names.slice(4, 6), names.slice(6)];
    const format = { format: "swiss", format_options: { rounds: 2 } };
    const running = await startTestLeague({
      leagues: [{ league_id: "c", game: "codenames.v1", ...format, teams }],
      players,
    });
    onTestFinished(() => running.stop());
    const { matches, teams: table } = (await running.completed).leagues[0] as Wire;
    const idOf = (name: string): string => `P0${names.indexOf(name) + 1}`;
    const pairs = teams.map((team) => team.map(idOf));
    for (const [a, b] of pairs) {
      const spymasters = matches.map(({ roles }: Wire) =>
        [roles.red_spymaster, roles.blue_spymaster].find((id) => id === a || id === b),
      );
      expect(spymasters.filter(Boolean).toSorted()).toEqual([a, b]);
    }
    expect(table.map(({ display_name, played }: Wire) => [display_name, played])).toContainEqual(["Ann & Bob", 2]);
    expect(table[0]).toMatchObject({ display_name: "Ann & Bob", members: ["P01", "P02"], wins: 2 });
  });

  it("gives each of five players every role once and one bye, and the same points to both roles of a team", async () => {
    const names = ["Ann", "Bob", "Cid", "Dee", "Eve"];
    const players = names.map((name) => ({ name, bot: "random" }));
    const running = await startTestLeague({ leagues: [{ league_id: "c", game: "codenames.v1" }], players });
    onTestFinished(() => running.stop());
    const { matches, standings } = (await running.completed).leagues[0] as Wire;
    expect(matches).toHaveLength(5);
    for (const { roles, points, termination } of matches) {
      expect(termination).toBe("normal");
      const [redSpymaster, red, blueSpymaster, blue] = ROLES.map((role) => points[roles[role]]);
      expect([redSpymaster, blueSpymaster]).toEqual([red, blue]);
      expect([red, blue].sort()).toEqual([0, 3]);
    }
    for (const role of ROLES) expect(new Set(matches.map(({ roles }: Wire) => roles[role])).size).toBe(5);
    expect(standings.map(({ played, wins, losses }: Wire) => [played, wins + losses])).toEqual(names.map(() => [4, 4]));
  });

  it("requires at least as many places as a match has roles", () => {
    const leagues = [{ league_id: "c", game: "codenames.v1", max_players: 3, min_players: 2 }];
    const message = "must be at least 4, the number of players in a match of codenames.v1";
    expect(Config.safeParse({ leagues }).error?.issues).toMatchObject([
      { path: ["leagues", 0, "max_players"], message },
      { path: ["leagues", 0, "min_players"], message },
    ]);
  });

  it("is rejected by league play with an error that lists its roles", async () => {
    const { code, stdout, stderr } = await league("play random cycle --game codenames".split(" "));
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(
      /^Codenames needs 4 players \(red_spymaster, .*, blue_team\); league play supports only games of two$/m,
    );
  });
});
