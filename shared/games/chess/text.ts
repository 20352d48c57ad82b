/** The part of a view that its text shows. */
interface ShownPosition {
  readonly fen: string;
  readonly turn: string;
  readonly outcome: { readonly winner: string | null; readonly reason: string } | null;
  readonly draw_offer?: string | null;
}

/** Returns a position as text: the board with coordinates, the side to move or the result, and the FEN. */
export function textOf({ fen, turn, outcome, draw_offer }: ShownPosition): string {
  const rows = (fen.split(" ", 1)[0] ?? "").split("/").map((rank, index) => {
    const cells = rank.replace(/\d/g, (n) => ".".repeat(Number(n)));
    return `${8 - index}  ${[...cells].join(" ")}`;
  });
  const end =
    outcome && `The game is over: ${outcome.winner ? `${outcome.winner} wins` : "draw"} by ${outcome.reason}.`;
  const offer = draw_offer && !outcome ? ` ${draw_offer} offers a draw.` : "";
  return [...rows, "   a b c d e f g h", end ?? `${turn} to move.${offer}`, fen].join("\n");
}
