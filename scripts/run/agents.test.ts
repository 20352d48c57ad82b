import { expect, it } from "vitest";
import { Config } from "#shared/runtime/config/config.ts";
import { faultOfRun } from "./agents.ts";

const ALPHA = { name: "Alpha", bot: "random" };
const GUEST = { name: "Guest", self: true };
const FISH = { name: "Fish", uci: { command: "fish" } };
const CHESS = { league_id: "chess", game: "chess.v1" };
const RPS = { league_id: "rps", game: "rps.v1" };

it.each([
  ["more players to wait for than there are", [ALPHA, GUEST], { ...RPS, min_players: 3 }, "min_players"],
  ["more players to wait for than play the game", [ALPHA, FISH], { ...RPS, min_players: 2 }, "min_players"],
  ["room for fewer players than there are", [ALPHA, GUEST, FISH], { ...CHESS, max_players: 2 }, "max_players"],
])("a league of a run has no %s", (_what, players, league, key) => {
  const fault = faultOfRun(Config.parse({ players, leagues: [CHESS, { ...league, league_id: "odd" }] }));
  expect(fault).toMatchObject({ path: ["leagues", 1, key], message: expect.stringMatching(/^league odd has \d/) });
});

it.each([
  ["as many as there are", [ALPHA, GUEST], { ...RPS, min_players: 2, max_players: 2 }],
  ["fewer to wait for and room for more", [ALPHA, GUEST, FISH], { ...CHESS, min_players: 2, max_players: 9 }],
  ["room for those that play the game", [ALPHA, GUEST, FISH], { ...RPS, max_players: 2 }],
])("a league of a run may name numbers that fit its roster: %s", (_what, players, league) => {
  expect(faultOfRun(Config.parse({ players, leagues: [league] }))).toBeNull();
});
