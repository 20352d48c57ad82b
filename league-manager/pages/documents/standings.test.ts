import { describe, expect, it } from "vitest";
import type { OverviewDocument, StandingsDocument } from "#shared/web/league-documents.ts";
import { DRAWN, LOST, PlayedLeague, playerIds, WON } from "../../testing/played-league.ts";
import { overview } from "./overview-document.ts";
import { standings } from "./standings-document.ts";

const SWISS = { format: "swiss", formatOptions: { rounds: 3 } } as const;

/** Returns "P01 1 =0" for each row: the player, the rank and the movement. */
async function movementsOf(league: PlayedLeague): Promise<readonly string[]> {
  const { rows } = await league.read<StandingsDocument>(standings);
  return rows.map(({ player_id, rank, movement }) => `${player_id} ${rank} ${movement}`);
}

describe("the movement in the standings", () => {
  it("is absent until the second round has a result, and then counts from the end of the first round", async () => {
    const league = new PlayedLeague(playerIds(4), SWISS);
    const [first, second] = league.league.rounds.at(0)?.matches ?? [];
    league.complete(first?.matchId ?? "", WON);
    league.complete(second?.matchId ?? "", WON);
    league.openRounds();
    const [winner = "", loser = ""] = first?.players ?? [];
    expect(new Set((await movementsOf(league)).map((row) => row.split(" ")[2]))).toEqual(new Set(["null"]));

    // The two winners have met now: one of them is alone at the top, the other is no longer a shared first.
    const decider = league.league.rounds.at(1)?.matches.find(({ players }) => players.includes(winner));
    const points = decider?.players[0] === winner ? WON : LOST;
    league.complete(decider?.matchId ?? "", points);
    const rows = new Map((await movementsOf(league)).map((row) => [row.split(" ")[0], row]));
    expect(rows.get(winner)).toBe(`${winner} 1 0`);
    const other = decider?.players.find((id) => id !== winner) ?? "";
    expect(rows.get(other)).toBe(`${other} 2 -1`);
    expect(rows.get(loser)).toMatch(/ 0$/);
  });

  it("does not exist for formats without rounds", async () => {
    const league = new PlayedLeague(playerIds(2), { format: "match", formatOptions: { games: 4 } });
    league.playRound();
    expect(await movementsOf(league)).toEqual([expect.stringMatching(/ null$/), expect.stringMatching(/ null$/)]);
  });
});

describe("the standings", () => {
  it("show the last five results of each player, the latest last, and the result that was recorded last", async () => {
    const league = new PlayedLeague(playerIds(2), { format: "match", formatOptions: { games: 8 } });
    const marks: string[] = [];
    for (const points of [WON, DRAWN, LOST, WON, WON, DRAWN, WON]) {
      const match = league.league.rounds.flatMap(({ matches }) => matches).find(({ outcome }) => outcome === null);
      league.complete(match?.matchId ?? "", points);
      league.openRounds();
      const own = points[match?.players.indexOf("P01") ?? 0];
      marks.push(`${match?.matchId} ${own === 3 ? "win" : own === 1 ? "draw" : "loss"}`);
    }
    const { rows, last_result } = await league.read<StandingsDocument>(standings);
    const form = rows.find(({ player_id }) => player_id === "P01")?.form ?? [];
    expect(form.map(({ match_id, result }) => `${match_id} ${result}`)).toEqual(marks.slice(-5));
    expect(last_result?.match_id).toBe(marks.at(-1)?.split(" ")[0]);
  });

  it("of a league that was ended count the matches that were played, without the cancelled ones", async () => {
    const league = new PlayedLeague(playerIds(3));
    expect((await league.read<StandingsDocument>(standings)).league).toMatchObject({ completed: 0, matches: 3 });
    league.playRound();
    league.command({ type: "end" });
    league.command({ type: "complete" });
    const { league: header } = await league.read<StandingsDocument>(standings);
    expect(header).toMatchObject({ status: "completed", completed: 1, matches: 1, order: "" });
  });

  it("say what determines their order if it is not the points", async () => {
    const league = new PlayedLeague(playerIds(3), { format: "ladder", formatOptions: { matches: 4 } });
    const { league: header } = await league.read<StandingsDocument>(standings);
    expect(header.order).toContain("ratings of the ladder");
  });

  it("mark players that have left", async () => {
    const league = new PlayedLeague(playerIds(3));
    league.apply({ type: "player_left", player_id: "P02", agent_version: 1 });
    const { rows } = await league.read<StandingsDocument>(standings);
    expect(rows.map(({ player_id, presence }) => [player_id, presence])).toEqual(
      expect.arrayContaining([
        ["P01", "present"],
        ["P02", "left"],
      ]),
    );
  });
});

describe("the overview", () => {
  it("shows the last results, the latest first, the matches that are played, and the winners at the end", async () => {
    const league = new PlayedLeague(playerIds(4), SWISS);
    league.playRound();
    const [next] = league.league.rounds.at(1)?.matches ?? [];
    league.apply({ type: "match_assigned", match_id: next?.matchId ?? "", epoch: 1, referee_id: "REF01" });
    const running = await league.read<OverviewDocument>(overview);
    expect(running.results.map(({ match_id }) => match_id)).toEqual(["R1M2", "R1M1"]);
    expect(running.playing.map(({ match_id }) => match_id)).toEqual([next?.matchId]);
    expect(running.winners).toEqual([]);
    while ([...league.league.rounds].some(({ open }) => open > 0)) league.playRound();
    league.command({ type: "complete" });
    const completed = await league.read<OverviewDocument>(overview);
    expect(completed.winners.map(({ player_id }) => player_id)).toEqual(["P01"]);
    expect(completed.results).toHaveLength(6);
  });

  it("shows how to join without the join code, if the league takes players", async () => {
    const league = new PlayedLeague(playerIds(2));
    expect((await league.read<OverviewDocument>(overview)).joining).toBeNull();
    const joining = { needsJoinCode: true, takesPlayers: () => true, addresses: () => ["http://10.0.0.1:8000"] };
    const request = { league: league.league, params: {}, query: new URLSearchParams() };
    const context = { ...league.context(), joining };
    const expected = { addresses: ["http://10.0.0.1:8000"], program: "npm run league --", needs_join_code: true };
    expect(overview.read(context, request)).toMatchObject({ joining: { ...expected, names_league: false } });
    const { views } = context;
    const projections = { ...views.projections, leagues: () => [league.league, league.league] };
    const read = overview.read({ ...context, views: { ...views, projections } }, request);
    expect(read).toMatchObject({ joining: { ...expected, names_league: true } });
  });
});
