import type { FunctionComponent, JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { BoardKind } from "#shared/games/game.ts";
import type { GameFacts } from "#shared/web/game-view.ts";
import { ActionButtons } from "./action-buttons.tsx";
import type { BoardProps } from "./board-props.ts";

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

/** The board of games without a graphical board: the text of the game and a button for each legal action. */
function TextBoard(props: BoardProps): JSX.Element {
  const { game } = props;
  const text = useRef<HTMLPreElement>(null);
  // The current state is at the end of the text.
  useLayoutEffect(() => {
    if (text.current) text.current.scrollTop = text.current.scrollHeight;
  }, [game.board]);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by the keyboard */}
      <pre class="text" ref={text} aria-label={`${game.name} as text`} role="region" tabIndex={0}>
        {game.board}
      </pre>
      <ActionButtons {...props} label="Legal actions" />
    </>
  );
}
