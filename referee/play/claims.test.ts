import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { testWriter } from "#shared/store/testing/writer.ts";
import { agentDirectory } from "../agents.ts";
import { startTestHost, type TestHost } from "../rest/testing/host.ts";
import { createHost } from "../sessions/host.ts";
import { REPLY_SCHEMA, sqliteReplies } from "../sessions/replies.ts";
import { SEAT_SCHEMA, seatTable } from "../sessions/seats.ts";
import { SESSION_SCHEMA, sessionStore } from "../sessions/session-store.ts";
import { createWaits } from "../sessions/waits.ts";
import { createPlay } from "./play.ts";
import { type TestSeat, twoSeats } from "./testing/play.ts";
import { createTurns } from "./turns.ts";

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.remove());

const logOf = async (seat: TestSeat): Promise<string> =>
  (await host.call("GET", `/sessions/${seat.gameId}/log`, { token: seat.token })).text;

const CHECKMATE = { claim: "checkmate" };
const DRAW = { claim: "draw" };
const WIN = { claim_win: true };
const NOT = { checkmate: "Accusation failed: Not checkmate", draw: "Accusation failed: Not a draw" };

/** White mates with Qg7, stalemates with Qf7 and does neither with Qf8. */
const QUEEN = "7k/4Q3/6K1/8/8/8/8/8 w - - 0 1";
/** Kxa2 leaves bare kings. */
const LAST_PAWN = "8/8/8/8/8/8/p1k5/K7 w - - 0 1";
/** Any quiet move is the hundredth ply without a capture or a pawn. */
const FIFTY = "7k/8/6K1/8/8/8/8/R7 w - - 99 80";

describe("a claim about the position after a move", () => {
  it.each<[string, string, object, string | null]>([
    [QUEEN, "Qg7", CHECKMATE, null],
    [QUEEN, "e7g7", WIN, null],
    [QUEEN, "Qg7#", { ...CHECKMATE, ...WIN }, null],
    [QUEEN, "Qf7", DRAW, null],
    [QUEEN, "Qg7", DRAW, NOT.draw],
    [QUEEN, "Qf7", CHECKMATE, NOT.checkmate],
    [QUEEN, "Qf7", WIN, NOT.checkmate],
    [QUEEN, "Qf8", CHECKMATE, null],
    [QUEEN, "Qe5", CHECKMATE, NOT.checkmate],
    [QUEEN, "Qe5", DRAW, NOT.draw],
    [QUEEN, "Qe5", WIN, NOT.checkmate],
    [QUEEN, "Qe5", { claim: null, claim_win: false }, null],
    [LAST_PAWN, "Kxa2", DRAW, null],
    [LAST_PAWN, "Kxa2", WIN, NOT.checkmate],
    [FIFTY, "Rb1", DRAW, null],
    [FIFTY, "Ra8", CHECKMATE, null],
    [FIFTY, "Ra8", DRAW, NOT.draw],
  ])("%s %s %j", async (fen, move, claim, refusal) => {
    const [white] = await twoSeats(host, "chess", { options: { fen } });
    const before = await logOf(white);
    const told = await white.move(move, claim);
    if (refusal === null) {
      expect(told.isError, told.text).toBe(false);
      expect(told.value.tick).toBe(1);
    } else {
      expect([told.isError, told.text]).toEqual([true, refusal]);
      expect(await logOf(white)).toBe(before);
      expect((await white.wait()).value).toMatchObject({ tick: 0, next: "your_turn" });
    }
  });

  it("is refused for a tick to come, as any move is", async () => {
    const [white] = await twoSeats(host, "chess", { options: { fen: QUEEN } });
    for (const claim of [{}, CHECKMATE]) {
      const told = await white.move("Qg7#", { ...claim, expected_tick: 99 });
      expect([told.isError, told.text]).toEqual([true, expect.stringContaining("xpected tick 99, but the ")]);
      expect((await white.wait()).value).toMatchObject({ tick: 0, next: "your_turn" });
    }
  });

  it("is not made on a move that is just being committed, which it was not checked on", async () => {
    const db = openSqlite(":memory:", SESSION_SCHEMA + SEAT_SCHEMA + REPLY_SCHEMA);
    const writer = testWriter(db);
    const own = createHost(sessionStore(db, writer), systemClock, systemIds);
    const bots = { names: [], play: () => {} };
    const desk = {
      host: own,
      agents: agentDirectory(db, writer, systemClock, systemIds),
      seats: seatTable(db),
      writer,
      bots,
    };
    const play = createPlay({ ...desk, ids: systemIds, pagesUrl: () => "", showAtTerminal: () => {} });
    const turns = createTurns(
      own,
      play,
      createWaits(own, systemClock),
      sqliteReplies(db, testWriter(db), systemClock),
      systemClock,
    );
    const creator = { kind: "agent" } as const;
    const made = await play.create({ template: "chess", opponent: "agent", creator, bearer: null });
    if (!made.ok) throw new Error(made.error.message);
    const { gameId, token } = made.value;
    const joined = await play.join(gameId, { bearer: null });
    if (!joined.ok) throw new Error(joined.error.message);
    const turn = { gameId, resign: false, claim: null, expectedTick: null, idempotencyKey: null };
    const opening = turns.finish({ ...turn, token, move: "e4" });
    const claimed = { claim: "checkmate", expectedTick: 1 } as const;
    const answer = await turns.finish({ ...turn, token: joined.value.token, move: "e7e5", ...claimed });
    expect([(await opening).ok, answer.ok, own.read(gameId)?.session.tick]).toEqual([true, false, 1]);
    db.close();
  });

  it("of an illegal move or out of turn is refused as that, and words that are no claim too", async () => {
    const [white, black] = await twoSeats(host, "chess");
    expect((await white.move("Qh5#", CHECKMATE)).text).toMatch(/^Illegal move Qh5#/);
    expect((await black.move("e5", CHECKMATE)).text).toMatch(/^Not your turn/);
    for (const claim of ["win", "stalemate", true, 1, ""])
      expect((await white.move("e4", { claim })).isError).toBe(true);
    expect((await white.move("e4", { ...DRAW, ...WIN })).text).toContain("a draw is no win");
    expect((await white.move("e4", { ...CHECKMATE, idempotency_key: "k" })).text).toBe(NOT.checkmate);
    // What was refused has used no key.
    expect((await white.move("e4", { idempotency_key: "k" })).isError).toBe(false);
  });

  it("of a win in other games", async () => {
    const [x, o] = await twoSeats(host, "tic_tac_toe");
    for (const [seat, move] of [[x, "a1"] as const, [o, "b1"] as const, [x, "a2"] as const, [o, "b2"] as const]) {
      expect((await seat.move(move, WIN)).text).toBe("Accusation failed: Not a win");
      expect((await seat.move(move, DRAW)).text).toBe(NOT.draw);
      expect((await seat.move(move)).isError).toBe(false);
    }
    expect((await x.move("a3", CHECKMATE)).text).toBe(NOT.checkmate);
    expect((await x.move("a3", WIN)).value.result).toMatchObject({
      winner: "x",
      reason: "three_in_a_row",
      termination: "normal",
    });
  });
});

/** Otherwise who has not chosen yet could ask which of its choices would win. */
describe.each([
  ["rps", "paper"],
  ["even_odd", 2],
  ["kuhn_poker", "bet"],
] as const)("%s, where something is hidden", (template, move) => {
  it("answers every claim alike, before and after the other's choice", async () => {
    const [one, two] = await twoSeats(host, template, { options: template === "kuhn_poker" ? { hands: 1 } : {} });
    const claims = [CHECKMATE, DRAW, WIN];
    const asked = async (seat: TestSeat) =>
      (await Promise.all(claims.map((claim) => seat.move(move, claim)))).map(({ text }) => text);
    const refusals = await asked(one);
    expect(new Set(refusals).size).toBe(1);
    expect(refusals[0]).toMatch(/^No claims in /);
    expect((await one.move(move)).isError).toBe(false);
    const later = template === "kuhn_poker" ? "call" : move;
    const [first, ...others] = await Promise.all(claims.map((claim) => two.move(later, claim)));
    expect(first?.text).toBe(refusals[0]);
    for (const { text } of others) expect(text).toBe(first?.text);
    expect((await two.wait({ timeout_s: 0 })).value.tick).toBe(1);
  });
});
