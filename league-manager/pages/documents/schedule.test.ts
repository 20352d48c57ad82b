import { describe, expect, it } from "vitest";
import type { ScheduleDocument } from "#shared/web/league-documents.ts";
import { PlayedLeague, playerIds, WON } from "../../testing/played-league.ts";
import { schedule } from "./schedule-document.ts";

describe("the schedule of a league", () => {
  it("shows the round that is played, with its bye, its states, its referee and its results", async () => {
    const played = new PlayedLeague(playerIds(5));
    played.complete("R1M1", WON);
    const document = await played.read<ScheduleDocument>(schedule);
    const [bye = ""] = played.league.rounds.at(0)?.byes ?? [];
    expect(document).toMatchObject({ current_round: 1, last_round: 5, has_all: false, total: 2, page: 1, pages: 1 });
    expect(document.round).toMatchObject({ round_id: 1, state: "playing", completed: 1, absent: [] });
    expect(document.round?.byes).toEqual([{ player_id: bye, name: `name of ${bye}` }]);
    const [winner, loser] = played.league.rounds.at(0)?.matches[0]?.players ?? [];
    expect(document.matches[0]).toMatchObject({
      match_id: "R1M1",
      status: "completed",
      referee: "name of REF01",
      result: `name of ${winner} wins (rounds won)`,
      players: [
        { player_id: winner, role: "player 1", points: 3 },
        { player_id: loser, role: "player 2", points: 0 },
      ],
    });
    expect(document.matches[1]).toMatchObject({ status: "scheduled", result: null, referee: null });
    expect(document.rounds.map(({ state }) => state)).toEqual(["playing", ...Array(4).fill("waiting")]);
  });

  it("has pages of the players without a match", async () => {
    const played = new PlayedLeague(playerIds(300), { format: "single-elimination" });
    const { byes = [] } = played.league.rounds.at(0) ?? {};
    expect(byes).toHaveLength(212);
    const round = async (query: string) => (await played.read<ScheduleDocument>(schedule, query)).round;
    const pages = [await round(""), await round("unpaired=2"), await round("round=1&page=9&unpaired=3")];
    expect(pages.map((one) => one?.byes.length)).toEqual([100, 100, 12]);
    expect(pages.flatMap((one) => one?.byes.map(({ player_id }) => player_id))).toEqual(byes);
    expect(pages[2]?.unpaired).toEqual({ page: 3, pages: 3, total: 212 });
  });

  it("shows a requested round, and no round that does not exist", async () => {
    const played = new PlayedLeague(playerIds(4));
    played.playRound();
    expect(await played.read(schedule, "round=1")).toMatchObject({ round: { round_id: 1, state: "completed" } });
    expect(await played.read(schedule)).toMatchObject({ round: { round_id: 2 }, current_round: 2 });
    for (const round of ["0", "4", "x", "1.5"]) expect(await played.read(schedule, `round=${round}`)).toBeNull();
  });

  it("says why a match was forfeited, and which players have left", async () => {
    const played = new PlayedLeague(playerIds(4), { format: "swiss", formatOptions: { rounds: 3 } });
    const [, absent = ""] = played.league.rounds.at(0)?.matches[0]?.players ?? [];
    played.complete("R1M1", WON, absent);
    played.complete("R1M2", WON);
    played.command({ type: "leave", playerId: absent, agentVersion: 1 });
    played.openRounds();
    const first = await played.read<ScheduleDocument>(schedule, "round=1");
    expect(first.matches[0]).toMatchObject({ is_forfeit: true });
    expect(first.matches[0]?.result).toContain(`name of ${absent}: no answer within 30 s`);
    expect(first.round?.absent).toEqual([]);
    const second = await played.read<ScheduleDocument>(schedule, "round=2");
    expect(second.round?.absent).toEqual([{ player_id: absent, name: `name of ${absent}` }]);
  });

  it("of a long round has pages, and of many rounds the rounds near the shown one", async () => {
    const long = new PlayedLeague(playerIds(220), { format: "swiss" });
    const page = await long.read<ScheduleDocument>(schedule, "page=2");
    expect(page).toMatchObject({ page: 2, pages: 2, total: 110 });
    expect(page.matches).toHaveLength(10);
    const many = new PlayedLeague(playerIds(4), { formatOptions: { cycles: 100 } });
    const near = await many.read<ScheduleDocument>(schedule, "round=250");
    expect(near.last_round).toBe(300);
    expect(near.rounds).toHaveLength(200);
    expect(near.rounds.map(({ round_id }) => round_id)).toContain(250);
  });

  it("of a league that plays several rounds at the same time lists all matches, the newest first", async () => {
    const played = new PlayedLeague(playerIds(2), { format: "match", formatOptions: { games: 4 } });
    played.playRound();
    const document = await played.read<ScheduleDocument>(schedule);
    expect(document).toMatchObject({ has_all: true, round: null });
    const ids = document.matches.map(({ match_id }) => match_id);
    expect(ids).toEqual(ids.toSorted().reverse());
    expect(ids).toContain("R1M1");
  });
});
