import { afterEach, beforeEach, expect, it } from "vitest";
import type { PlayerDocument, StandingsDocument } from "#shared/web/league-documents.ts";
import { HOSTILE, reportForP01 } from "../../testing/forfeits.ts";
import { startTestManager, type TestManager } from "../../testing/test-manager.ts";

const LEAGUES = [
  { league_id: "rps", game: "rps.v1", format_options: { cycles: 2 }, min_players: 2 },
  { league_id: "other", game: "rps.v1", min_players: 3 },
];
let manager: TestManager;
beforeEach(async () => {
  manager = await startTestManager(LEAGUES);
});
afterEach(() => manager.stop());

const read = async (playerId: string, query = ""): Promise<PlayerDocument> => {
  const response = await fetch(`http://127.0.0.1:${manager.port}/api/leagues/rps/players/${playerId}${query}`);
  expect(response.status).toBe(200);
  return (await response.json()) as PlayerDocument;
};

const times = (ms: number, more: object = {}) => ({
  turns: 2,
  median_ms: ms,
  p95_ms: 2 * ms,
  max_ms: 3 * ms,
  max_tick: 1,
  invalid: 0,
  ...more,
});

it("a player's page has its results, its answer times and its faults with the last exchange", async () => {
  await manager.register("REF01", "P01", "P02");
  await manager.assigned("rps", "R1M1");
  expect(await read("P01")).toMatchObject({ form: [], rating: null, answers: null, last_error: null, faults: [] });
  expect((await read("P01")).rows.map(({ match_id, status }) => [match_id, status])).toEqual([
    ["R1M1", "playing"],
    ["R2M1", "scheduled"],
  ]);
  await reportForP01(manager, "R1M1", { more: { answer_times: { P02: times(10), P01: times(1), P77: times(5) } } });
  await reportForP01(manager, "R2M1", {
    isForfeit: true,
    more: { answer_times: { P02: times(50, { max_tick: 0, invalid: 3 }) } },
  });

  const loser = await read("P02");
  expect(loser).toMatchObject({
    player: { player_id: "P02", name: "P02" },
    rank: 2,
    points: 0,
    played: 2,
    wins: 0,
    draws: 0,
    losses: 2,
    form: [
      { match_id: "R1M1", mark: "loss" },
      { match_id: "R2M1", mark: "loss" },
    ],
    answers: { matches: 2, turns: 4, median_ms: 10, p95_ms: 20, invalid: 3 },
    faults: [{ text: "Illegal moves", count: 1 }],
    opponents: [{ player_id: "P01", wins: 0, draws: 0, losses: 2 }],
    other_leagues: [{ league_id: "other" }],
  });
  expect(loser.answers?.slowest).toEqual({ ms: 150, match_id: "R2M1", step: 1 });
  expect(loser.rating?.error).toBeGreaterThan(0);
  expect(loser.last_error).toMatchObject({ match_id: "R2M1", step: 0, request: "a move", answer: HOSTILE });
  // The position of an open turn does not contain the choice of the opponent.
  expect(loser.last_error?.position?.game_state).not.toContain("rock");
  expect(loser.last_error?.position?.legal_actions).toBe("rock, paper, scissors");
  expect(loser.rows.map(({ match_id, mark, reason, is_own_fault }) => [match_id, mark, reason, is_own_fault])).toEqual([
    ["R2M1", "loss", "Illegal moves", true],
    ["R1M1", "loss", "rounds won", false],
  ]);
  const winner = await read("P01");
  expect(winner).toMatchObject({ faults: [], last_error: null, answers: { matches: 1 }, points: 6 });
  expect(winner.rows[0]).toMatchObject({ reason: "Illegal moves", is_own_fault: false, answers: null });
});

it("an annulled match is counted no more, and a removed player is named as such", async () => {
  await manager.register("REF01", "P01", "P02");
  await reportForP01(manager, "R1M1", { isForfeit: true });
  expect(await read("P02")).toMatchObject({ faults: [{ count: 1 }], opponents: [{ losses: 1 }] });
  const annul = { league_id: "rps", match_id: "R1M1", reason: "wrong opening", auth_token: manager.operator };
  expect(await manager.tool("annul_match", annul, manager.operator)).toMatchObject({ status: "ANNULLED" });
  const after = await read("P02");
  expect(after).toMatchObject({ faults: [], opponents: [], form: [], last_error: null, played: 0 });
  expect(after.rows.find(({ match_id }) => match_id === "R1M1")).toMatchObject({ mark: "none", reason: "annulled" });
  expect(after.state).toEqual({ text: "Active.", needs_attention: false });
  await manager.tool("remove_player", { player_id: "P02" }, manager.operator);
  expect((await read("P02")).state).toMatchObject({
    text: "Removed by the operator. It is not paired any more.",
    needs_attention: true,
  });
  const standings = await fetch(`http://127.0.0.1:${manager.port}/api/leagues/rps/standings`);
  const standingsOf = (await standings.json()) as StandingsDocument;
  const { rows } = standingsOf;
  expect(standingsOf.league).toMatchObject({ players: 2, departed: 1 });
  expect(rows.map(({ player_id, presence }) => [player_id, presence]).sort()).toEqual([
    ["P01", "present"],
    ["P02", "removed"],
  ]);
});

it("a player that is removed before the last round forfeits the matches that a round robin has already paired", async () => {
  await manager.register("REF01", "P01", "P02");
  await manager.assigned("rps", "R1M1");
  await manager.tool("remove_player", { player_id: "P02" }, manager.operator);
  const text = "Removed by the operator. It forfeits its matches of later rounds.";
  expect((await read("P02")).state).toEqual({ text, needs_attention: true });
});

it("a player of no or another league has no page", async () => {
  await manager.register("P01");
  for (const path of ["rps/players/P09", "rps/players/__proto__", "none/players/P01"]) {
    for (const prefix of ["/api/leagues", "/leagues"]) {
      const response = await fetch(`http://127.0.0.1:${manager.port}${prefix}/${path}`);
      expect([path, response.status]).toEqual([path, 404]);
    }
  }
});

it("the page without JavaScript and its embedded document contain hostile answers as text only", async () => {
  await manager.register("REF01", "P01", "P02");
  await reportForP01(manager, "R1M1", { isForfeit: true });
  const html = await (await fetch(`http://127.0.0.1:${manager.port}/leagues/rps/players/P02`)).text();
  expect(html).toContain("illegal move: ");
  expect(html).not.toContain("<img");
  expect(html).not.toContain("\u001b");
});
