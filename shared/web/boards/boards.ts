import type { FunctionComponent } from "preact";
import type { BoardKind } from "../../games/game.ts";
import type { GameFacts } from "../game-facts.ts";
import type { BoardProps } from "./board-props.ts";
import { CardsBoard } from "./cards-board.tsx";
import { ChessBoard } from "./chess-board.tsx";
import { CodenamesBoard } from "./codenames-board.tsx";
import { DiscsBoard, MarksBoard } from "./grid-boards.tsx";
import { HandsBoard } from "./hands-board.tsx";
import { NumbersBoard } from "./numbers-board.tsx";
import { TextBoard } from "./text-board.tsx";

const BOARDS: Readonly<Record<BoardKind, FunctionComponent<BoardProps>>> = {
  chess: ChessBoard,
  marks: MarksBoard,
  discs: DiscsBoard,
  words: CodenamesBoard,
  hands: HandsBoard,
  numbers: NumbersBoard,
  cards: CardsBoard,
};

/** Returns the board of a game. A game without a graphical board, or that the page does not know, is shown as text. */
export const boardOf = (facts: GameFacts | undefined): FunctionComponent<BoardProps> =>
  facts?.board ? BOARDS[facts.board] : TextBoard;
