import { expect, it } from "vitest";
import { findGame } from "#shared/games/registry.ts";
import type { ExportedMatch } from "../format.ts";
import { type ReportLeague, resultsOf } from "./report-run.ts";

/** A league of a game whose matches have these points by seat. The seats of match n begin with player n. */
function leagueOf(game: string, points: readonly (readonly number[])[]): ReportLeague {
  const roles = findGame(game)?.roles ?? [];
  const ids = roles.map((_, seat) => `P0${seat + 1}`);
  const matches = points.map((values, number) => {
    const seated = roles.map((role, seat) => [role, ids[(seat + number) % ids.length] ?? ""] as const);
    const match_points = Object.fromEntries(seated.map(([, id], seat) => [id, values[seat] ?? 0]));
    const termination = values.length === 0 ? "aborted" : "normal";
    return { match_id: `R1M${number + 1}`, roles: Object.fromEntries(seated), match_points, termination };
  });
  return {
    league_id: "class",
    game,
    status: "completed",
    roles,
    players: [],
    byes: [],
    teams: [],
    standings: ids.map((player_id) => ({ rank: 1, player_id, display_name: player_id, points: 0 })),
    matches: () => matches as unknown as ExportedMatch[],
  };
}

it("the crosstable has the points of each player against each other one, and an aborted match has none", async () => {
  const { crosstable, ratings } = await resultsOf(leagueOf("rps.v1", [[3, 0], [1, 1], []]));
  const points = crosstable.results.map((row) => row.map((cell) => cell.map((result) => result.points)));
  expect(points).toEqual([
    [[], [3, 1]],
    [[0, 1], []],
  ]);
  expect(ratings).toMatchObject({ model: "bradley-terry", matches: 2 });
  expect(ratings.rows.map(({ player }) => player)).toEqual(["P01", "P02"]);
});

it("players of one team have no result against each other, and are rated as a team", async () => {
  const { crosstable, ratings } = await resultsOf(leagueOf("codenames.v1", [[3, 3, 0, 0]]));
  const met = crosstable.results.map((row) => row.map((cell) => cell.length));
  expect(met).toEqual([
    [0, 0, 1, 1],
    [0, 0, 1, 1],
    [1, 1, 0, 0],
    [1, 1, 0, 0],
  ]);
  expect(ratings.model).toBe("openskill");
  const strong = ratings.rows.slice(0, 2).map(({ player }) => player);
  expect(strong.toSorted()).toEqual(["P01", "P02"]);
});
