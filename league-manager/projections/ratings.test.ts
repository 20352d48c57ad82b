import { describe, expect, it } from "vitest";
import { SharedList } from "#shared/lib/list.ts";
import type { League, Round } from "../league/league.ts";
import { CODENAMES, SETTINGS } from "../league/testing/leagues.ts";
import { cachedRatings, ratingsOf } from "./ratings.ts";

const nameOf = (playerId: string): string => `name of ${playerId}`;

/** A league of these players with matches in its first round. `points` is by seat; null for a match that is not completed. */
function leagueOf(
  players: readonly string[],
  matches: readonly { readonly players: readonly string[]; readonly points: readonly number[] | null }[],
  settings: Pick<League, "game" | "roles"> = SETTINGS,
  change: Partial<League> = {},
): League {
  const round = {
    isOpened: true,
    matches: matches.map(({ points, ...match }) => ({ ...match, outcome: points && { points } })),
  };
  const entrants = new Map(players.map((id) => [id, ""]));
  const completedCount = matches.filter(({ points }) => points !== null).length;
  const { game, roles } = settings;
  return {
    leagueId: "l",
    status: "running",
    game,
    roles,
    entrants,
    completedCount,
    rounds: [round],
    ...change,
  } as unknown as League;
}

const won = (...players: readonly string[]) => ({ players, points: [3, 0] });

describe("the ratings of a league", () => {
  it("list all players, the strongest first, and say which differences are significant", async () => {
    const matches = [...Array.from({ length: 12 }, () => won("P02", "P01")), won("P02", "P03")];
    const open = { players: ["P03", "P01"], points: null };
    const ratings = await ratingsOf(leagueOf(["P01", "P02", "P03"], [...matches, open]), nameOf);
    expect(ratings).toMatchObject({ model: "bradley-terry", matches: 13 });
    expect(ratings.players.map(({ player_id, display_name, matches }) => [player_id, display_name, matches])).toEqual([
      ["P02", "name of P02", 13],
      ["P03", "name of P03", 1],
      ["P01", "name of P01", 12],
    ]);
    expect(
      ratings.comparisons.map(({ player_id, other_id, significant }) => [player_id, other_id, significant]),
    ).toEqual([
      ["P02", "P03", false],
      ["P02", "P01", true],
      ["P03", "P01", false],
    ]);
  });

  it("do not count rounds that are not opened", async () => {
    const league = leagueOf(["P01", "P02"], [won("P01", "P02")]);
    const later = { ...league.rounds.at(0), isOpened: false } as Round;
    expect((await ratingsOf({ ...league, rounds: SharedList.of([later]) }, nameOf)).matches).toBe(0);
  });

  it("of a team game rate the members of teams", async () => {
    const players = ["P01", "P02", "P03", "P04"];
    const match = { players, points: [3, 3, 0, 0] };
    const { model, players: rows } = await ratingsOf(leagueOf(players, [match], CODENAMES), nameOf);
    expect(model).toBe("openskill");
    const ratingOf = (id: string) => rows.find(({ player_id }) => player_id === id)?.rating ?? 0;
    expect([ratingOf("P01"), ratingOf("P03")]).toEqual([ratingOf("P02"), ratingOf("P04")]);
    expect(ratingOf("P01")).toBeGreaterThan(ratingOf("P03"));
  });
});

describe("kept ratings", () => {
  it("are computed again after a match, after an entry and at the end of the league", async () => {
    const ratings = cachedRatings(nameOf);
    const first = ratings(leagueOf(["P01", "P02"], [won("P01", "P02")]));
    expect(ratings(leagueOf(["P01", "P02"], [won("P01", "P02")]))).toBe(first);
    const second = ratings(leagueOf(["P01", "P02"], [won("P01", "P02"), won("P01", "P02")]));
    expect((await second).matches).toBe(2);
    const entered = ratings(leagueOf(["P01", "P02", "P03"], [won("P01", "P02"), won("P01", "P02")]));
    expect((await entered).players).toHaveLength(3);
  });

  it("that could not be computed are computed again at the next call", async () => {
    const league = leagueOf(["P01", "P02"], [won("P01", "P02")], SETTINGS, { status: "completed" });
    let isBroken = false;
    const ratings = cachedRatings((playerId) => {
      if (isBroken) throw new Error("no name");
      return nameOf(playerId);
    });
    const failed = ratings(league);
    isBroken = true; // when the table is ready
    await expect(failed).rejects.toThrow("no name");
    isBroken = false;
    expect((await ratings(league)).matches).toBe(1);
  });

  it("of a large league are computed again after several matches, and always when it is completed", async () => {
    const players = Array.from({ length: 150 }, (_, i) => `P${i}`);
    const leagueAfter = (count: number, change: Partial<League> = {}) =>
      leagueOf(
        players,
        Array.from({ length: count }, () => won("P1", "P2")),
        SETTINGS,
        change,
      );
    const ratings = cachedRatings(nameOf);
    expect((await ratings(leagueAfter(10))).matches).toBe(10);
    expect((await ratings(leagueAfter(11))).matches).toBe(10);
    expect((await ratings(leagueAfter(12))).matches).toBe(12);
    expect((await ratings(leagueAfter(13, { status: "completed" }))).matches).toBe(13);
  });
});
