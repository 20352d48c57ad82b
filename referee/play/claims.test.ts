import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { testWriter } from "#shared/store/testing/writer.ts";
import { startTestHost, type TestHost } from "../rest/testing/host.ts";
import { agentDirectory } from "../sessions/agent-tokens.ts";
import { createHost, createWaits } from "../sessions/host.ts";
import { REPLY_SCHEMA, sqliteReplies } from "../sessions/idempotent-replies.ts";
import { SEAT_SCHEMA, seatTable } from "../sessions/seats.ts";
import { SESSION_SCHEMA, sessionStore } from "../sessions/session-store.ts";
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
  ])("%s %s %j", async (fen, move, claim, rejection) => {
    const [white] = await twoSeats(host, "chess", { options: { fen } });
    const before = await logOf(white);
    const answer = await white.move(move, claim);
    if (rejection === null) {
      expect(answer.isError, answer.text).toBe(false);
      expect(answer.value.tick).toBe(1);
    } else {
      expect([answer.isError, answer.text]).toEqual([true, rejection]);
      expect(await logOf(white)).toBe(before);
      expect((await white.wait()).value).toMatchObject({ tick: 0, next: "your_turn" });
    }
  });

  it("is rejected for a later tick, like any move", async () => {
    const [white] = await twoSeats(host, "chess", { options: { fen: QUEEN } });
    for (const claim of [{}, CHECKMATE]) {
      const answer = await white.move("Qg7#", { ...claim, expected_tick: 99 });
      expect([answer.isError, answer.text]).toEqual([true, expect.stringContaining("xpected tick 99, but the ")]);
      expect((await white.wait()).value).toMatchObject({ tick: 0, next: "your_turn" });
    }
  });

  it("is rejected if it was checked before a move that is being committed", async () => {
    const db = openSqlite(":memory:", SESSION_SCHEMA + SEAT_SCHEMA + REPLY_SCHEMA);
    const writer = testWriter(db);
    const sessionHost = createHost(sessionStore(db, writer), systemClock, systemIds);
    const bots = { names: [], plays: () => false, opponentsIn: () => [], play: () => {} };
    const context = {
      host: sessionHost,
      agents: agentDirectory(db, writer, systemClock, systemIds),
      seats: seatTable(db),
      writer,
      bots,
      clock: systemClock,
    };
    const play = createPlay({ ...context, ids: systemIds, pagesUrl: () => "", showAtTerminal: () => {} });
    const turns = createTurns(
      sessionHost,
      play,
      createWaits(sessionHost, systemClock),
      sqliteReplies(db, testWriter(db), systemClock),
      systemClock,
    );
    const creator = { kind: "agent" } as const;
    const created = await play.create({ template: "chess", opponent: "agent", creator, bearer: null });
    if (!created.ok) throw new Error(created.error.message);
    const { gameId, token } = created.value;
    const joined = await play.join(gameId, { bearer: null });
    if (!joined.ok) throw new Error(joined.error.message);
    const turn = { gameId, resign: false, claim: null, expectedTick: null, idempotencyKey: null };
    const opening = turns.finish({ ...turn, token, move: "e4" });
    const claimed = { claim: "checkmate", expectedTick: 1 } as const;
    const answer = await turns.finish({ ...turn, token: joined.value.token, move: "e7e5", ...claimed });
    expect([(await opening).ok, answer.ok, sessionHost.read(gameId)?.session.tick]).toEqual([true, false, 1]);
    db.close();
  });

  it("is rejected with an illegal move, out of turn or as an unknown claim", async () => {
    const [white, black] = await twoSeats(host, "chess");
    expect((await white.move("Qh5#", CHECKMATE)).text).toMatch(/^Illegal move Qh5#/);
    expect((await black.move("e5", CHECKMATE)).text).toMatch(/^Not your turn/);
    for (const claim of ["win", "stalemate", true, 1, " "])
      expect((await white.move("e4", { claim })).isError).toBe(true);
    expect((await white.move("e4", { ...DRAW, ...WIN })).text).toContain("claim a draw or a win, not both");
    expect((await white.move("e4", { ...CHECKMATE, idempotency_key: "k" })).text).toBe(NOT.checkmate);
    // A rejected request has not used its key.
    expect((await white.move("e4", { idempotency_key: "k" })).isError).toBe(false);
  });

  it("can be made for a win in other games", async () => {
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

/** If claims were checked in these games, a player could find out by claims which of its choices would win. */
describe.each([
  ["rps", "paper"],
  ["even_odd", 2],
  ["kuhn_poker", "bet"],
] as const)("a claim in %s, which has hidden information", (template, move) => {
  it("is always rejected in the same way, before and after the choice of the opponent", async () => {
    const [one, two] = await twoSeats(host, template, { options: template === "kuhn_poker" ? { hands: 1 } : {} });
    const claims = [CHECKMATE, DRAW, WIN];
    const claimAll = async (seat: TestSeat) =>
      (await Promise.all(claims.map((claim) => seat.move(move, claim)))).map(({ text }) => text);
    const rejections = await claimAll(one);
    expect(new Set(rejections).size).toBe(1);
    expect(rejections[0]).toMatch(/^No claims in /);
    expect((await one.move(move)).isError).toBe(false);
    const later = template === "kuhn_poker" ? "call" : move;
    const [first, ...others] = await Promise.all(claims.map((claim) => two.move(later, claim)));
    expect(first?.text).toBe(rejections[0]);
    for (const { text } of others) expect(text).toBe(first?.text);
    expect((await two.wait({ timeout_s: 0 })).value.tick).toBe(1);
  });
});
