import { describe, expect, it } from "vitest";
import type { PointsDocument, RatingsDocumentPage, StandingsDocument } from "#shared/web/league-documents.ts";
import { intervalDrawing } from "#shared/web/rating-interval.ts";
import { DRAWN, PlayedLeague, playerIds, WON } from "../../testing/played-league.ts";
import { player } from "./player-document.ts";
import { points } from "./points-document.ts";
import { ratings } from "./ratings-document.ts";
import { standings } from "./standings-document.ts";

describe("the ratings of a league", () => {
  it("have the scale of all intervals and the comparison of each player with the next one", async () => {
    const played = new PlayedLeague(playerIds(3), { formatOptions: { cycles: 12 } });
    while (played.league.currentRound !== null) played.playRound();
    const document = await played.read<RatingsDocumentPage>(ratings);
    expect(document.rows.map(({ player_id }) => player_id)).toEqual(["P01", "P02", "P03"]);
    expect(document).toMatchObject({ model: "bradley-terry", matches: 36, first: 1 });
    const [best, , worst] = document.rows;
    expect(document.high).toBeCloseTo((best?.rating ?? 0) + (best?.error ?? 0));
    expect(document.low).toBeCloseTo((worst?.rating ?? 0) - (worst?.error ?? 0));
    expect(best?.next).toMatchObject({ is_significant: true });
    expect(worst?.next).toBeNull();
  });

  it("say that an order is not decided after one match", async () => {
    const played = new PlayedLeague(playerIds(2));
    played.complete("R1M1", WON);
    expect((await played.read<RatingsDocumentPage>(ratings)).rows[0]?.next).toMatchObject({ is_significant: false });
  });

  it("of more players than rows compare the last row of a page with the first of the next one", async () => {
    const played = new PlayedLeague(playerIds(120), { format: "swiss" });
    played.playRound();
    const second = await played.read<RatingsDocumentPage>(ratings, "page=2");
    expect(second).toMatchObject({ first: 101, page: 2, pages: 2 });
    expect((await played.read<RatingsDocumentPage>(ratings)).rows.at(-1)?.next).not.toBeNull();
  });

  it("of more players than can be rated at once are on no page, and the documents say so", async () => {
    for (const [count, limit] of [
      [300, null],
      [301, 300],
    ] as const) {
      const played = new PlayedLeague(playerIds(count), { format: "swiss" });
      played.playRound();
      const document = await played.read<RatingsDocumentPage>(ratings);
      expect([document.limit, document.rows.length > 0]).toEqual([limit, limit === null]);
      const params = { player: "P01" };
      const query = new URLSearchParams();
      const { rating } = (await player.read(played.context(), { league: played.league, params, query })) ?? {};
      expect(rating === null).toBe(limit !== null);
    }
  });

  it("are drawn on the common scale", () => {
    const scale = { low: 1400, high: 1600 };
    const { average, interval, rating, text } = intervalDrawing({ rating: 1550, error: 50 }, scale);
    expect([average, rating, text]).toEqual(["M100.0 0V20", "147.5", "1500 to 1600"]);
    expect(interval).toContain("M100.0 10H195.0");
  });
});

describe("the points of a league", () => {
  it("end with those of the standings, with the points of byes", async () => {
    const played = new PlayedLeague(playerIds(5), { format: "swiss", formatOptions: { rounds: 3 } });
    for (let round = 0; round < 3; round++) played.playRound();
    const document = await played.read<PointsDocument>(points);
    const { rows } = await played.read<StandingsDocument>(standings);
    expect(document).toMatchObject({ unit: "rounds", positions: [0, 1, 2, 3], total: 5 });
    expect(document.series.map(({ player_id, values }) => [player_id, values.at(-1)])).toEqual(
      rows.map(({ player_id, points }) => [player_id, points]),
    );
    expect(document.series.every(({ values }) => values[0] === 0)).toBe(true);
  });

  it("count a result of the round that is played, and no round without a result", async () => {
    const played = new PlayedLeague(playerIds(4));
    expect((await played.read<PointsDocument>(points)).positions).toEqual([0]);
    played.complete("R1M1", DRAWN);
    const document = await played.read<PointsDocument>(points);
    expect(document.positions).toEqual([0, 1]);
    expect(document.series.map(({ values }) => values[1]).toSorted()).toEqual([0, 0, 1, 1]);
  });

  it("of a format without rounds are those after each match of a player", async () => {
    const played = new PlayedLeague(playerIds(3), { format: "match", formatOptions: { games: 2 } });
    for (let round = 0; round < 3; round++) played.playRound();
    const document = await played.read<PointsDocument>(points);
    expect(document.unit).toBe("matches");
    expect(document.series[0]).toMatchObject({ player_id: "P01", values: expect.arrayContaining([0, 3]) });
  });

  it("of a long league have evenly spaced positions with the first and the last", async () => {
    const played = new PlayedLeague(playerIds(4), { formatOptions: { cycles: 100 } });
    while (played.league.currentRound !== null) played.playRound();
    const { positions, series } = await played.read<PointsDocument>(points);
    expect([positions.length, positions[0], positions.at(-1)]).toEqual([120, 0, 300]);
    expect(series[0]?.values.at(-1)).toBe(900);
  });

  it("of a long league end with those of the standings, also for a player with fewer matches", async () => {
    const played = new PlayedLeague(playerIds(3), { format: "match", formatOptions: { games: 400 } });
    for (let round = 0; round < 300; round++) played.playRound();
    const next = played.league.rounds.flatMap(({ matches }) => matches).find(({ outcome }) => outcome === null);
    played.complete(next?.matchId ?? "", WON);
    const { rows } = await played.read<StandingsDocument>(standings);
    const { positions, series } = await played.read<PointsDocument>(points);
    expect(new Set(rows.map(({ played }) => played)).size).toBeGreaterThan(1);
    expect(series.map(({ values }) => values.at(-1))).toEqual(rows.map(({ points }) => points));
    for (const [index, row] of rows.entries())
      expect(positions[(series[index]?.values.length ?? 0) - 1]).toBe(row.played);
  });

  it("of a large league have the first players and those that are asked for", async () => {
    const played = new PlayedLeague(playerIds(80), { format: "swiss" });
    played.playRound();
    const last = (await played.read<StandingsDocument>(standings)).rows.at(-1)?.player_id ?? "";
    const series = async (query: string) => (await played.read<PointsDocument>(points, query)).series;
    expect(await series("")).toHaveLength(60);
    expect((await series(`players=P01,${last}`)).map(({ player_id }) => player_id)).toContain(last);
  });
});
