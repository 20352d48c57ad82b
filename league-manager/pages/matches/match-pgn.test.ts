import { Chess } from "chess.js";
import { describe, expect, it } from "vitest";
import { chess } from "#shared/games/chess.ts";
import type { TimeControl } from "#shared/lib/time-control.ts";
import { outcomeOf, participantsOf } from "#shared/session/match-result.ts";
import type { Command } from "#shared/session/session.ts";
import { act, playSession } from "#shared/session/testing/play.ts";
import { AT } from "../../league/testing/leagues.ts";
import { type PgnMatch, pgnOfMatch } from "./match-pgn.ts";

const ROLES = { white: "P01", black: "P02" };
const NAMES: Readonly<Record<string, string>> = { P01: 'Ann "A", Doe', P02: "Žofie \\" };

/** A match of chess after these moves and commands. */
function matchOf(
  moves: string,
  last: readonly Command[] = [],
  options: object = {},
  clock: TimeControl | null = null,
): PgnMatch {
  const match = { league_id: "class", match_id: "R3M1", round_id: 3, options, roles: ROLES };
  const participants = participantsOf(match);
  const setup = { id: "s", game: chess, options: chess.options.parse(options), participants, seed: "1", at: AT, clock };
  const isWhiteFirst = chess.options.parse(options).fen.split(" ")[1] === "w";
  const acts = moves.split(" ").filter(Boolean);
  const commands = acts.map((uci, ply) => ({
    ...act((ply % 2 === 0) === isWhiteFirst ? "white" : "black", uci),
    spentMs: 1_500 * (ply + 1),
  }));
  const { session, log, head } = playSession(setup, [...commands, ...last]);
  return { ...match, ...outcomeOf(session, head, ROLES), log: [...log] };
}

const forfeit = (role: string, cause: "timeout" | "clock" | "illegal_move" | "resigned" | "refused"): Command => ({
  type: "forfeit",
  faults: [{ role, cause, detail: "detail" }],
});

const read = (match: PgnMatch): { readonly tags: Readonly<Record<string, string>>; readonly moves: number } => {
  const board = new Chess();
  board.loadPgn(pgnOfMatch(match, (id) => NAMES[id] ?? id));
  return { tags: board.getHeaders(), moves: board.history().length };
};

describe("pgnOfMatch", () => {
  it("writes the players, the round and the day of a match", () => {
    const { tags, moves } = read(matchOf("f2f3 e7e5 g2g4 d8h4"));
    expect(moves).toBe(4);
    expect(tags).toMatchObject({
      Event: "class",
      Round: "3",
      Date: "2025.01.01",
      White: "Ann 'A', Doe",
      Black: "Žofie \\\\",
      Result: "0-1",
      Termination: "normal",
      TimeControl: "-",
    });
  });

  it.each([
    ["a timeout", [forfeit("white", "timeout")], "0-1", "time forfeit"],
    ["an illegal move", [forfeit("black", "illegal_move")], "1-0", "rules infraction"],
    ["a resignation", [forfeit("black", "resigned")], "1-0", "normal"],
    ["a player that cannot be reached", [forfeit("black", "refused")], "1-0", "abandoned"],
    ["an abort", [{ type: "abort", reason: "http://10.0.0.1 failed" }], "*", "unterminated"],
  ] as const)("writes the result and the termination of %s", (_, commands, Result, Termination) => {
    expect(read(matchOf("e2e4", commands)).tags).toMatchObject({ Result, Termination });
  });

  it("begins with the moves of the opening, and writes the scores of engines from the point of view of White", () => {
    const options = { moves: "e2e4 e7e5", resign_score: 600, resign_moves: 1 };
    const match = matchOf("", [act("white", "g1f3 cp 20"), act("black", "b8c6 cp -900")], options);
    const { tags, moves } = read(match);
    expect(moves).toBe(4);
    expect(tags).toMatchObject({ Result: "1-0", Termination: "adjudication" });
    expect(pgnOfMatch(match, (id) => id)).toContain(
      "1. e4 e5 2. Nf3 {[%eval 0.20]} 2... Nc6 {[%eval 9.00] resignation} 1-0",
    );
  });

  it("writes a draw by the scores of both engines as an adjudication", () => {
    const options = { draw_score: 10, draw_moves: 1, draw_from_move: 1 };
    const { tags } = read(matchOf("", [act("white", "g1f3 cp 5"), act("black", "b8c6 cp -5")], options));
    expect(tags).toMatchObject({ Result: "1/2-1/2", Termination: "adjudication" });
  });

  it("writes a forfeit of both players without a result", () => {
    const faults = ["white", "black"].map((role) => ({ role, cause: "timeout" as const, detail: "no answer" }));
    expect(read(matchOf("", [{ type: "forfeit", faults }])).tags).toMatchObject({ Result: "*" });
  });

  it("writes a draw by the move limit of the league as an adjudication", () => {
    const match = matchOf("e2e4 e7e5", [], { max_plies: 2 });
    expect(read(match).tags).toMatchObject({ Result: "1/2-1/2", Termination: "adjudication" });
    expect(pgnOfMatch(match, String)).toContain("{move limit} 1/2-1/2\n");
  });

  it("writes a draw by agreement as a normal end, without the acceptance among the moves", () => {
    const acts = [act("white", "e2e4"), act("black", "e7e5 draw"), act("white", "draw")];
    const pgn = pgnOfMatch(matchOf("", acts, { draw_offers: true }), String);
    expect(pgn).toContain("1. e4 e5 {draw agreed} 1/2-1/2\n");
    expect(pgn).toContain('[Termination "normal"]');
  });

  it("writes the clocks of a match with clocks", () => {
    const match = matchOf(
      "e2e4 e7e5 g1f3",
      [forfeit("black", "clock")],
      {},
      { initial_ms: 60_000, increment_ms: 1_000 },
    );
    expect(pgnOfMatch(match, String)).toContain("1. e4 {[%clk 0:00:59.5]} 1... e5 {[%clk 0:00:58]} 2. Nf3");
    expect(pgnOfMatch(match, String)).toContain("{[%clk 0:00:56]");
    expect(read(match).tags).toMatchObject({ TimeControl: "60+1", Termination: "time forfeit", Result: "1-0" });
  });

  it("writes the start position of the options", () => {
    const fen = "4k3/P7/8/8/8/8/8/4K2R b K - 3 40";
    expect(read(matchOf("e8f7", [forfeit("white", "timeout")], { fen })).tags).toMatchObject({ FEN: fen, SetUp: "1" });
  });

  it("does not write the reason of an abort, which can contain addresses", () => {
    expect(pgnOfMatch(matchOf("", [{ type: "abort", reason: "http://10.0.0.1 failed" }]), String)).not.toContain(
      "10.0",
    );
  });

  it("writes a match without a log, which the manager forfeited", () => {
    const match = { ...matchOf("", [forfeit("white", "timeout")]), log: [] };
    expect(read(match).tags).toMatchObject({ Result: "0-1", Date: "????.??.??" });
  });
});
