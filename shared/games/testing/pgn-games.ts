import { Chess, DEFAULT_POSITION } from "chess.js";
import fc from "fast-check";
import type { PgnGame, PgnMove } from "../chess/pgn.ts";

const STARTS = [
  DEFAULT_POSITION,
  "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
  "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 7 24",
];

/** Texts with the characters that have a meaning in PGN. */
const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 40 }),
  fc
    .array(
      fc.constantFrom('"', "\\", ",", "{", "}", "[%clk 1]", "[", "]", "%", ";", "(", "$1", "1-0", "\n", " x ", "ž"),
      {
        maxLength: 60,
      },
    )
    .map((parts) => parts.join("")),
);

/** Random legal games with random names, clocks and reasons. */
export const pgnGame: fc.Arbitrary<PgnGame> = fc
  .record({
    event: text,
    site: text,
    round: text,
    white: text,
    black: text,
    reason: text,
    fen: fc.constantFrom(...STARTS),
    choices: fc.array(fc.nat(), { maxLength: 120 }),
    clocks: fc.option(fc.array(fc.nat({ max: 10_000_000 }), { minLength: 120, maxLength: 120 })),
    startedAt: fc.constantFrom(null, "2026-11-23T16:00:00.000Z"),
    result: fc.constantFrom("1-0", "0-1", "1/2-1/2", "*"),
    termination: fc.constantFrom("abandoned", "adjudication", "normal", "rules infraction", "time forfeit"),
  })
  .map(({ choices, clocks, ...game }) => ({
    ...game,
    timeControl: clocks && { initialMs: 10_000_000, incrementMs: 100 },
    moves: randomMoves(game.fen, choices, clocks),
  }));

function randomMoves(fen: string, choices: readonly number[], clocks: readonly number[] | null): readonly PgnMove[] {
  const board = new Chess(fen);
  return choices.flatMap((choice, ply) => {
    const legal = board.isGameOver() ? [] : board.moves({ verbose: true });
    const move = legal[choice % legal.length];
    if (!move) return [];
    board.move(move);
    const clockMs = clocks?.[ply];
    const score = choice % 3 === 0 && { score: { unit: choice % 2 ? "cp" : "mate", value: choice % 500 } as const };
    return [{ uci: move.lan, ...(clockMs !== undefined && { clockMs }), ...score }];
  });
}
