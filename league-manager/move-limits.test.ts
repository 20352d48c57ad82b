import { expect, it } from "vitest";
import { startScriptedLeague } from "./testing/scripted-league.ts";

/** Resolves with the limits for moves in START_GAME of a match between P01 and P02, with this config. */
async function limitsWith(test: Parameters<typeof startScriptedLeague>[0], config: object) {
  const league = await startScriptedLeague(test, { config });
  const { timeouts, roles } = await league.order("REF01", "R1M1");
  return [timeouts.move_ms, ...Object.values(roles).map(({ player_id, move_ms }) => [player_id, move_ms])];
}
const league = { league_id: "rps", game: "rps.v1" };
const players = ["P01", "P02"].map((name) => ({ name, self: true }));

it("START_GAME has the clocks of the league, and then only the limits of the league and its players", async (test) => {
  const clock = { initial_ms: 60_000, increment_ms: 1_000 };
  const config = (more: object) => ({
    timeouts: { move_ms: 7_000 },
    players,
    leagues: [{ ...league, clock, ...more }],
  });
  const scripted = await startScriptedLeague(test, { config: config({}) });
  const order = await scripted.order("REF01", "R1M1");
  expect(order.clock).toEqual(clock);
  expect(order.timeouts.move_ms).toBe(86_400_000);
  expect((await limitsWith(test, config({ move_ms: 5_000 })))[0]).toBe(5_000);
});

it("the time limit for a move is that of the config", async (test) => {
  const limits = await limitsWith(test, { timeouts: { move_ms: 7_000 }, players });
  expect(limits).toEqual([7_000, ["P01", undefined], ["P02", undefined]]);
});

it("a league and a player of the config have their own time limits for a move", async (test) => {
  const limits = await limitsWith(test, {
    timeouts: { move_ms: 7_000 },
    leagues: [{ ...league, move_ms: 9_000 }],
    players: players.map((player) => (player.name === "P02" ? { ...player, move_ms: 60_000 } : player)),
  });
  expect(limits).toEqual([9_000, ["P01", undefined], ["P02", 60_000]]);
});
