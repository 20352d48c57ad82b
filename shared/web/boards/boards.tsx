import type { FunctionComponent, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { BoardKind } from "../../games/game.ts";
import type { GameFacts } from "../game-facts.ts";
import type { BoardProps } from "./board-props.ts";
import { TextBoard } from "./text-board.tsx";

type BoardComponent = FunctionComponent<BoardProps>;

/** The graphical boards. A page loads only the script of the board that it shows. */
const BOARDS: Readonly<Record<BoardKind, () => Promise<BoardComponent>>> = {
  chess: async () => (await import("./chess-board.tsx")).ChessBoard,
  marks: async () => (await import("./grid-boards.tsx")).MarksBoard,
  discs: async () => (await import("./grid-boards.tsx")).DiscsBoard,
  words: async () => (await import("./codenames-board.tsx")).CodenamesBoard,
  hands: async () => (await import("./hands-board.tsx")).HandsBoard,
  numbers: async () => (await import("./numbers-board.tsx")).NumbersBoard,
  cards: async () => (await import("./cards-board.tsx")).CardsBoard,
};

const loaded = new Map<BoardKind, BoardComponent>();

/** Loads a board, so that it is drawn at once. A board that cannot be loaded is shown as text. */
export async function loadBoard(kind: BoardKind | null): Promise<void> {
  if (kind && !loaded.has(kind)) loaded.set(kind, await BOARDS[kind]().catch(() => TextBoard));
}

interface Props extends BoardProps {
  readonly facts: GameFacts | undefined;
}

/** The board of a game. A game without a graphical board, or that the page does not know, is shown as text. */
export function Board({ facts, ...props }: Props): JSX.Element | null {
  const kind = facts?.board ?? null;
  const [, redraw] = useState<BoardKind | null>(null);
  useEffect(() => {
    if (kind && !loaded.has(kind)) void loadBoard(kind).then(() => redraw(kind));
  }, [kind]);
  const Shown = kind ? loaded.get(kind) : TextBoard;
  return Shown ? <Shown {...props} /> : null;
}
