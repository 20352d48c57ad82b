import type { Bot, Turn } from "../sdk.ts";

const WORTH: Readonly<Record<string, number>> = { p: 1, n: 3, b: 3, r: 5, q: 9, k: 0 };

/** In chess the move that takes or promotes to the most at once; in other games any legal action. */
export default ((turn) =>
  turn.game === "chess.v1"
    ? bestCapture(turn as Turn<"chess.v1">)
    : turn.random.pick<unknown>(turn.legal)) satisfies Bot;

function bestCapture({ view, legal, random }: Turn<"chess.v1">): string {
  const pieces = piecesOf(view.fen);
  const gain = (move: string): number => (WORTH[pieces.get(move.slice(2, 4)) ?? ""] ?? 0) + (WORTH[move.slice(4)] ?? 0);
  const most = Math.max(...legal.map(gain));
  return random.pick(legal.filter((move) => gain(move) === most));
}

/** Square to piece letter, in lower case. */
function piecesOf(fen: string): ReadonlyMap<string, string> {
  const pieces = new Map<string, string>();
  for (const [index, rank] of (fen.split(" ", 1)[0] ?? "").split("/").entries()) {
    let file = 0;
    for (const character of rank) {
      if (/\d/.test(character)) file += Number(character);
      else pieces.set(`${"abcdefgh"[file++]}${8 - index}`, character.toLowerCase());
    }
  }
  return pieces;
}
