import type { JSX } from "preact";
import type { ConnectFourView } from "../../games/connect-four.ts";
import type { TicTacToeView } from "../../games/tic-tac-toe.ts";
import type { BoardProps } from "./board-props.ts";
import { type Cell, SquareGrid } from "./square-grid.tsx";

const A = "a".charCodeAt(0);

/** Returns the middle column of a board. */
const middleOf = ([row = []]: readonly (readonly Cell[])[]): number => Math.floor(row.length / 2);

/** The board `marks`, for example of tic-tac-toe. The name of a cell is the action that marks it. */
export function MarksBoard({ game, canAct, pending, onPlay }: BoardProps): JSX.Element {
  const last = pending ?? game.last_action?.action;
  const { board } = game.state as TicTacToeView;
  const rows = board.map((marks, row) =>
    [...marks].map((mark, column): Cell => {
      const id = `${String.fromCharCode(A + column)}${board.length - row}`;
      const isOpen = canAct && game.legal_actions.includes(id);
      return {
        id,
        label: `${id}, ${mark === "." ? "empty" : mark}${id === last ? ", last move" : ""}`,
        marks: [
          `mark-${mark === "." ? "none" : mark}`,
          ...(isOpen ? ["target"] : []),
          ...(id === last ? ["last"] : []),
        ],
        content: mark === "." ? null : <span class="mark">{mark === "x" ? "×" : "○"}</span>,
      };
    }),
  );
  const pick = (id: string): void => {
    if (canAct && game.legal_actions.includes(id)) onPlay(id);
  };
  const center = [Math.floor(rows.length / 2), middleOf(rows)] as const;
  return <SquareGrid label={`${game.name} board`} rows={rows} className="marks" start={center} onPick={pick} />;
}

const DISCS: Readonly<Record<string, string>> = { r: "red", y: "yellow", ".": "empty" };

/** The board `discs`, for example of Connect Four. Each cell of a column drops a disc into the column. */
export function DiscsBoard({ game, canAct, pending, onPlay }: BoardProps): JSX.Element {
  const { board } = game.state as ConnectFourView;
  const last = Number(pending ?? game.last_action?.action);
  const rows = board.map((discs, row) =>
    [...discs].map((disc, index): Cell => {
      const column = index + 1;
      const isOpen = canAct && game.legal_actions.includes(column);
      // The last disc is the highest one in its column.
      const isLast = column === last && disc !== "." && (board[row - 1]?.[index] ?? ".") === ".";
      return {
        id: `${column}/${board.length - row}`,
        label: `column ${column}, row ${board.length - row}, ${DISCS[disc]}${isLast ? ", last move" : ""}`,
        marks: [`disc-${DISCS[disc]}`, ...(isOpen ? ["target"] : []), ...(isLast ? ["last"] : [])],
        content: <span class="disc" />,
      };
    }),
  );
  const pick = (id: string): void => {
    const column = Number.parseInt(id, 10);
    if (canAct && game.legal_actions.includes(column)) onPlay(column);
  };
  const top = [0, middleOf(rows)] as const;
  return <SquareGrid label={`${game.name} board`} rows={rows} className="discs" start={top} onPick={pick} />;
}
