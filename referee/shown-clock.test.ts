import { expect, it } from "vitest";
import { findGame } from "#shared/games/registry.ts";
import type { RecordedEvent } from "#shared/lib/hash.ts";
import { act, playSession } from "#shared/session/testing/play.ts";
import { createLobby } from "./sessions/host.ts";
import { clockField } from "./views.ts";

const START = Date.parse("2026-01-01T00:00:00.000Z");

/** A match of a game with clocks, whose entries were written one second apart. */
function match(gameId: string, actions: readonly (readonly [string, unknown])[], options = {}) {
  const game = findGame(gameId);
  if (!game) throw new Error(`no game ${gameId}`);
  const participants = Object.fromEntries(game.roles.map((role, index) => [role, `P0${index + 1}`]));
  const clock = { initial_ms: 60_000, increment_ms: 0 };
  const setup = { id: "s", game, options: game.options.parse(options), participants, seed: "s", clock, at: "" };
  const commands = actions.map(([role, action]) => ({ ...act(role, action), spentMs: 400 }));
  const { session, entries } = playSession(setup, commands);
  const rows = entries.map((entry, index) => ({
    body: JSON.stringify({ ...entry, at: new Date(START + index * 1_000).toISOString() }),
  }));
  return { session, rows: rows as unknown as readonly RecordedEvent[] };
}

const noSeats = (): readonly string[] => [];

it("the open turn has lasted since the last action", () => {
  const { session, rows } = match("tic_tac_toe.v1", [["x", "a1"]]);
  const lobby = createLobby(noSeats, () => {}, { now: () => START });
  expect(clockField(session, rows, lobby, START + 5_000).clock).toMatchObject({
    remaining_ms: { x: 59_600, o: 60_000 },
    elapsed_ms: 4_000,
  });
});

it("an open simultaneous turn has lasted since the last closed turn", () => {
  const round = [
    ["player_1", "rock"],
    ["player_2", "paper"],
  ] as const;
  const { session, rows } = match("rps.v1", [...round, ["player_1", "rock"]], { best_of: 5 });
  const lobby = createLobby(noSeats, () => {}, { now: () => START });
  expect(clockField(session, rows, lobby, START + 5_000).clock?.elapsed_ms).toBe(3_000);
});

it("the first turn has lasted since the players accepted, and an open turn since the start of the process", () => {
  const { session, rows } = match("tic_tac_toe.v1", []);
  let now = START - 60_000;
  const lobby = createLobby(noSeats, () => {}, { now: () => now });
  const accepted = lobby.inviting(session);
  now = START + 3_000;
  accepted();
  expect(clockField(session, rows, lobby, START + 5_000).clock?.elapsed_ms).toBe(2_000);
  const restarted = createLobby(noSeats, () => {}, { now: () => START + 4_000 });
  expect(clockField(session, rows, restarted, START + 5_000).clock?.elapsed_ms).toBe(1_000);
});
