import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import type { StartGame } from "#shared/protocol/messages.ts";
import { played } from "../testing/results.ts";
import { type ScriptedLeague, startScriptedLeague } from "../testing/scripted-league.ts";

const CONFIG = {
  leagues: [{ league_id: "rps", game: "rps.v1", options: { best_of: 1 }, move_ms: 9_000, max_players: 2 }],
};

const operatorOf = ({ dataFolder }: ScriptedLeague): string =>
  readFileSync(join(dataFolder, "operator-token"), "utf8").trim();

/** Sends OPEN_LEAGUE with the operator token, or with another one. */
const open = (league: ScriptedLeague, league_id: string, like: string, token = operatorOf(league)) =>
  league.send("OPEN_LEAGUE", "league_manager:operator", { league_id, like }, token);

/** Plays the league `rps` to its end. */
async function playFirst(league: ScriptedLeague): Promise<void> {
  await league.begin();
  await league.report("REF01", played(await league.order("REF01", "R1M1")));
  await league.completion();
}

const shownBy = async (league: ScriptedLeague) =>
  (await league.send("LIST_LEAGUES", "player:unknown", {}, "")).payload.leagues;

/** Enters a player into a league. A player that is not registered yet gets an inbox. */
const enter = (
  league: ScriptedLeague,
  id: string,
  league_id: string,
  { url = null, token = "" }: Partial<Place> = {},
) =>
  league.send(
    "PLAYER_REGISTER_REQUEST",
    `player:${id}`,
    { display_name: id, version: "1.0.0", game_types: ["rps.v1"], league_ids: [league_id], contact_endpoint: url },
    token,
  );
interface Place {
  readonly url: string | null;
  readonly token: string;
}

/** Resolves with the START_GAME of the first match of a league. */
const firstOrder = (league: ScriptedLeague, leagueId: string): Promise<StartGame> =>
  vi.waitFor(() => {
    const found = league
      .referee("REF01")
      .orders()
      .find(({ league_id }) => league_id === leagueId);
    if (!found) throw new Error(`no START_GAME of ${leagueId}`);
    return found;
  }, WAIT_OPTIONS);

describe.concurrent("open_league", () => {
  it("opens a league that is played with the settings of the config, also after a restart", async (test) => {
    const league = await startScriptedLeague(test, { config: CONFIG });
    await playFirst(league);
    expect(await open(league, "second", "rps")).toMatchObject({
      type: "OPEN_LEAGUE_RESPONSE",
      payload: { status: "OPENED", league_id: "second", like: "rps" },
    });
    const expected = [
      { league_id: "rps", status: "completed", players: 2, max_players: 2 },
      { league_id: "second", status: "open", game: "rps.v1", players: 0, max_players: 2 },
    ];
    expect(await shownBy(league)).toMatchObject(expected);
    const commitment =
      /^second is open for registration, with the settings that the config gives rps; its seed commitment is [0-9a-f]{64}$/;
    expect(league.events()).toContainEqual({ type: "notice", message: expect.stringMatching(commitment) });
    for (const id of ["P01", "P02"])
      expect(await enter(league, id, "second", league.player(id))).toMatchObject({ payload: { status: "ACCEPTED" } });
    expect(await enter(league, "Late", "second")).toMatchObject({
      payload: { status: "REJECTED", error_code: "L002", reason: "league second is full" },
    });
    await league.restart();
    expect(await shownBy(league)).toMatchObject([expected[0], { ...expected[1], players: 2 }]);
    await league.send("START_LEAGUE", "league_manager:operator", { league_id: "second" }, operatorOf(league));
    const order = await firstOrder(league, "second");
    expect(order).toMatchObject({ options: { best_of: 1 }, timeouts: { move_ms: 9_000 } });
    expect(await league.report("REF01", played(order))).toMatchObject({ payload: { status: "RECORDED" } });
    const { leagues } = await league.completion();
    expect(leagues.map(({ league_id, status }) => [league_id, status])).toEqual([
      ["rps", "completed"],
      ["second", "completed"],
    ]);
    expect(await open(league, "third", "second")).toMatchObject({ payload: { like: "rps" } });
  });

  it("needs the operator token, a league that is over and an id that is valid and not in use", async (test) => {
    const league = await startScriptedLeague(test, { config: CONFIG });
    const rejection = async (leagueId: string, like: string, token?: string) => {
      const answer = await open(league, leagueId, like, token);
      return answer.payload ? [answer.payload.error_code, answer.payload.message] : answer;
    };
    expect(await rejection("second", "rps")).toEqual([
      "L005",
      "league rps is open: a league like it can be opened when it is over",
    ]);
    await playFirst(league);
    expect(await rejection("second", "rps", league.player("P01").token)).toMatchObject(["L004", {}]);
    expect(await rejection("second", "gone")).toEqual(["L005", "no league gone; there are rps"]);
    expect(await rejection("rps", "rps")).toEqual([
      "L003",
      "the name rps is in use: a league of this run has it; choose another",
    ]);
    for (const id of ["a b", ".", ".."])
      expect(await rejection(id, "rps")).toMatchObject({
        code: -32602,
        data: { faults: [{ message: "use letters, digits, dot, dash and underscore, and not only dots" }] },
      });
    expect(await rejection("RPS", "rps")).toEqual([
      "L003",
      "the name rps is in use: a league of this run has it; choose another",
    ]);
    expect(await shownBy(league)).toHaveLength(1);
  });
});
