import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, type TestContext } from "vitest";
import type { Entry } from "#shared/session/entry.ts";
import type { LiveEvent } from "../../../league-manager/projections/live-events.ts";
import { type FaultyPlayer, startFaultyPlayer } from "../../testing/faulty-player.ts";
import { startTestLeague, type TestPlayer } from "../../testing/in-process-league.ts";

/** The time that the slow players take for each move. The other player makes all its moves in less, also on a slow machine. */
const SLOW_MS = 3_000;
const bot = (name: string): TestPlayer => ({ name, bot: "random" });

/** A player in this package with a slow bot. It is called over a WebSocket. */
function slowOverSocket(test: TestContext): TestPlayer {
  const folder = mkdtempSync(join(tmpdir(), "clocks-"));
  test.onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "slow.ts");
  writeFileSync(
    file,
    `export default async (turn) => {
      turn.log("left " + turn.clock.match.remainingMs[turn.role]);
      await new Promise((resolve) => setTimeout(resolve, ${SLOW_MS}));
      return turn.legal[0];
    };`,
  );
  return { name: "Slow", bot: file };
}

/** A player on plain HTTP, which is called by POST. */
function overPost(fault: "late" | "silent" | "none", started: FaultyPlayer[]): TestPlayer {
  return {
    name: "Slow",
    async start(place) {
      const player = await startFaultyPlayer({ ...place, fault, lateMs: SLOW_MS });
      started.push(player);
      return player;
    },
  };
}

/** Plays a league of Connect Four, in which a player has won after four of its moves at the earliest. Resolves with its first match. */
async function play(
  test: TestContext,
  players: readonly TestPlayer[],
  clock: { readonly initial_ms: number; readonly increment_ms: number },
) {
  const events: LiveEvent[] = [];
  const league = await startTestLeague({
    leagues: [{ league_id: "blitz", game: "connect_four.v1", clock }],
    players,
    onEvent: (event) => void events.push(event),
  });
  test.onTestFinished(() => league.stop());
  const document = await league.completed;
  const match = await league.match("blitz", "R1M1");
  const entries = match.log.map((text) => JSON.parse(text) as Entry);
  const charges = entries.flatMap((entry) => (entry.type === "acted" ? [entry] : []));
  const isSuspended = events.some((event) => event.type === "player_state" && event.state === "SUSPENDED");
  return { document, match, created: entries[0], charges, isSuspended };
}

describe.concurrent("a match with clocks", () => {
  it.for(["POST", "WebSocket"] as const)(
    "is lost on time by a slow player that is called by %s, and the player is not suspended",
    async (transport, test) => {
      const clock = { initial_ms: 5_000, increment_ms: 0 };
      const slow = transport === "POST" ? overPost("late", []) : slowOverSocket(test);
      const { document, match, created, charges, isSuspended } = await play(test, [slow, bot("Fast")], clock);
      expect(match).toMatchObject({ termination: "forfeit", reason: "clock", winner: "P02" });
      expect(match.result.faults).toMatchObject([{ player_id: "P01", code: "G002", cause: "clock" }]);
      expect(document.leagues[0]?.standings[0]).toMatchObject({ player_id: "P02", points: 3 });
      expect(isSuspended).toBe(false);
      expect(created).toMatchObject({ type: "created", clock });
      // The time for which an answer may have waited is not charged, and all agents of this test share one process.
      const ofSlow = charges.filter(({ role }) => match.roles[role] === "P01");
      expect(ofSlow.length).toBeGreaterThan(0);
      expect(ofSlow.every(({ spent_ms = 0 }) => spent_ms > 0)).toBe(true);
    },
  );

  it("is lost on time by a player that does not answer, which receives the cause", async (test) => {
    const started: FaultyPlayer[] = [];
    const { match, isSuspended } = await play(test, [overPost("silent", started), bot("Fast")], {
      initial_ms: 5_000,
      increment_ms: 5_000,
    });
    expect(match).toMatchObject({ reason: "clock", winner: "P02" });
    expect(isSuspended).toBe(false);
    const received = started.flatMap((player) => player.received);
    expect(received.find(({ type }) => type === "MOVE_REQUEST")?.payload).toMatchObject({
      time_limit_seconds: 5,
      clock: { initial_ms: 5_000, increment_ms: 5_000 },
    });
    expect(received.find(({ type }) => type === "GAME_ERROR")?.payload).toMatchObject({ context: { cause: "clock" } });
  });

  it("is played to its end by players with enough time, and each action in the log has its charge", async (test) => {
    const { match, charges } = await play(test, [overPost("none", []), bot("Fast")], {
      initial_ms: 60_000,
      increment_ms: 1_000,
    });
    expect(match.termination).toBe("normal");
    expect(charges.length).toBeGreaterThan(6);
    expect(charges.every(({ spent_ms }) => Number.isInteger(spent_ms))).toBe(true);
  });
});
