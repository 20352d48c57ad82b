import { afterEach, expect, test } from "vitest";
import type { LiveEvent } from "../../../league-manager/projections/live-events.ts";
import { startTestLeague, type TestLeague } from "../../testing/in-process-league.ts";

let league: TestLeague | undefined;
afterEach(() => league?.stop());

test("an overdue match is played again twice and then aborted without points, and no player is charged", async () => {
  const notices: string[] = [];
  league = await startTestLeague({
    leagues: [{ league_id: "rps", game: "rps.v1" }],
    // Manual players make no move, and the limit for a move is longer than the test.
    players: ["Ann", "Bob"].map((name) => ({ name, bot: "manual" })),
    timeouts: { match_ms: 100, move_ms: 600_000 },
    onEvent: (event) => {
      if (event.type === "notice") notices.push(event.message);
    },
  });
  const [rps] = (await league.completed).leagues;
  const aborted = {
    termination: "aborted",
    reason: "its referee did not complete it in time",
    winner: null,
    points: {},
  };
  expect(rps?.matches).toMatchObject([aborted]);
  expect(rps?.standings.map(({ played, points }) => [played, points])).toEqual([
    [0, 0],
    [0, 0],
  ]);
  expect(notices.filter((text) => text.includes("played again"))).toHaveLength(2);
});

test("an aborted match releases the capacity of its referee for the next match", async () => {
  league = await startTestLeague({
    leagues: [{ league_id: "rps", game: "rps.v1" }],
    players: ["Ann", "Bob", "Cid"].map((name) => ({ name, bot: "manual" })),
    maxConcurrentMatches: 1,
    timeouts: { match_ms: 100, move_ms: 600_000 },
  });
  const [rps] = (await league.completed).leagues;
  expect(rps?.matches.map(({ match_id, termination }) => [match_id, termination])).toEqual([
    ["R1M1", "aborted"],
    ["R2M1", "aborted"],
    ["R3M1", "aborted"],
  ]);
});

test("an overdue match releases the capacity of its referee for a waiting match of other players", async () => {
  const responsiveMatch = Promise.withResolvers<LiveEvent>();
  league = await startTestLeague({
    leagues: [{ league_id: "rps", game: "rps.v1" }],
    // The manual players do not move in R1M1. R1M2 waits for the capacity of the referee.
    players: ["manual", "random", "random", "manual"].map((bot, index) => ({ name: `Player ${index + 1}`, bot })),
    maxConcurrentMatches: 1,
    timeouts: { match_ms: 1_500, move_ms: 600_000 },
    onEvent: (event) => {
      if (event.type === "match_completed" && event.match.match_id === "R1M2") responsiveMatch.resolve(event);
    },
  });
  expect(await responsiveMatch.promise).toMatchObject({ match: { termination: "normal", roles: { player_1: "P02" } } });
});
