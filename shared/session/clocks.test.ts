import { describe, expect, test } from "vitest";
import { findGame } from "#shared/games/registry.ts";
import type { TimeControl } from "#shared/lib/time-control.ts";
import { charge, clockFault, startClocks, timeLeft } from "./clocks.ts";
import { replayTexts } from "./replay.ts";
import type { Command } from "./session.ts";
import { act, playSession } from "./testing/play.ts";
import { verdictOf } from "./verdict.ts";

const AT = "2025-01-01T00:00:00.000Z";

const clocks = startClocks({ initial_ms: 60_000, increment_ms: 1_000 }, ["white", "black"]);

test("each role begins with the initial time", () => {
  expect(clocks).toEqual({ initial_ms: 60_000, increment_ms: 1_000, remaining_ms: { white: 60_000, black: 60_000 } });
});

test("an action costs the time spent and adds the increment, for its role only", () => {
  const after = charge(clocks, "white", 2_500);
  expect(after?.remaining_ms).toEqual({ white: 58_500, black: 60_000 });
  expect(clocks.remaining_ms.white).toBe(60_000);
});

test("a role that has used all of its time has lost, whatever the increment", () => {
  expect(charge(clocks, "black", 59_999)?.remaining_ms.black).toBe(1_001);
  expect(charge(clocks, "black", 60_000)).toBeNull();
  expect(charge(clocks, "black", 75_000)).toBeNull();
});

test("the fault of a loss on time names the time control", () => {
  expect(clockFault(clocks)).toEqual({ code: "G002", cause: "clock", detail: "lost on time (60+1)" });
});

test("a role without a clock is an error of this program", () => {
  expect(() => timeLeft(clocks, "red")).toThrow("red has no clock");
});

describe("a session with clocks", () => {
  const begin = (gameId: string, clock: TimeControl | null, commands: readonly Command[]) => {
    const game = findGame(gameId);
    if (!game) throw new Error(`no game ${gameId}`);
    const participants = Object.fromEntries(game.roles.map((role) => [role, `agent of ${role}`]));
    return playSession(
      { id: "s1", game, options: game.options.parse({}), participants, seed: "seed", clock, at: AT },
      commands,
    );
  };
  const moved = (role: string, action: unknown, spentMs: number): Command => ({
    type: "act",
    role,
    action,
    expectedTick: null,
    spentMs,
  });
  const control = { initial_ms: 10_000, increment_ms: 500 };
  const lost = (role: string): Command => ({
    type: "forfeit",
    faults: [{ role, ...clockFault(startClocks(control, [])) }],
  });

  test("has the initial time, the increments and the charges of its log", () => {
    const { session } = begin("chess.v1", control, [moved("white", "e2e4", 1_200), moved("black", "e7e5", 9_999)]);
    expect(session.clocks?.remaining_ms).toEqual({ white: 9_300, black: 501 });
    expect(session.turnClocks).toEqual(session.clocks);
  });

  test("is replayed from its log with the same clocks", () => {
    for (const commands of [[moved("white", "e2e4", 1_200)], [moved("white", "e2e4", 0), lost("black")]]) {
      const { session, log, head } = begin("chess.v1", control, commands);
      expect(replayTexts(log, "seed")).toEqual({ ok: true, value: { session, head } });
    }
  });

  test("shows the charges of a simultaneous turn when the turn is closed, because they show who has acted", () => {
    const open = begin("rps.v1", control, [moved("player_2", "rock", 700)]).session;
    expect(open.clocks?.remaining_ms).toEqual({ player_1: 10_000, player_2: 9_800 });
    expect(open.turnClocks?.remaining_ms).toEqual({ player_1: 10_000, player_2: 10_000 });
    const closed = begin("rps.v1", control, [moved("player_2", "rock", 700), moved("player_1", "rock", 600)]).session;
    expect(closed.turnClocks?.remaining_ms).toEqual({ player_1: 9_900, player_2: 9_800 });
  });

  test("ends by forfeit with the reason clock when a role has lost on time, and the role has no time left", () => {
    const { session } = begin("chess.v1", control, [moved("white", "e2e4", 0), lost("black")]);
    expect(session).toMatchObject({ status: "completed", termination: "forfeit", reason: "clock" });
    expect(session.clocks?.remaining_ms).toEqual({ white: 10_500, black: 0 });
    expect(verdictOf(session)).toMatchObject({ winner: "white", points: { white: 3, black: 0 } });
  });

  const one = { initial_ms: 10_000, increment_ms: 500 };
  test.each<[string, TimeControl | null, Command, RegExp]>([
    ["an action without a charge", one, act("white", "e2e4"), /white is charged no time in a session with clocks/],
    ["an action after the time was over", one, moved("white", "e2e4", 10_000), /white acted after its time was over/],
    ["a loss on time without clocks", null, lost("white"), /white lost on time in a session without clocks/],
  ])("throws on %s, which is an error of its driver", (_, clock, command, message) => {
    expect(() => begin("chess.v1", clock, [command])).toThrow(message);
  });

  test.each<[string, TimeControl | null, object, string]>([
    ["no charge in a session with clocks", one, {}, "white is charged no time in a session with clocks"],
    ["a charge without clocks", null, { spent_ms: 5 }, "white is charged a time in a session without clocks"],
    ["a charge of more than the time left", one, { spent_ms: 10_001 }, "white acted after its time was over"],
  ])("rejects a log with %s", (_, clock, charge, message) => {
    const { log } = begin("chess.v1", clock, []);
    const acted = { type: "acted", tick: 0, role: "white", agent: "agent of white", action: "e2e4", ...charge, at: AT };
    expect(replayTexts([...log, JSON.stringify(acted)], "seed")).toEqual({ ok: false, error: { seq: 1, message } });
  });

  test("without clocks has a log without fields of clocks, as in versions without clocks", () => {
    const { log, session } = begin("chess.v1", null, [act("white", "e2e4")]);
    expect(log.join()).not.toMatch(/clock|spent/);
    expect(session.clocks).toBeNull();
  });
});
