import type { JSX } from "preact";
import type { ConnectFourView } from "../../games/connect-four.ts";
import type { TicTacToeView } from "../../games/tic-tac-toe.ts";
import type { BoardProps } from "./board-props.ts";
import { type Cell, SquareGrid } from "./square-grid.tsx";

/** The board of tic-tac-toe. The name of a cell is the action that marks it. */
export function TicTacToeBoard({ game, canAct, pending, onPlay }: BoardProps): JSX.Element {
  const last = pending ?? game.last_action?.action;
  const rows = (game.state as TicTacToeView).board.map((marks, row) =>
    [...marks].map((mark, column): Cell => {
      const id = `${"abc"[column]}${3 - row}`;
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
  return <SquareGrid label="Tic-tac-toe board" rows={rows} className="three" start={[1, 1]} onPick={pick} />;
}

const DISCS: Readonly<Record<string, string>> = { r: "red", y: "yellow", ".": "empty" };

/** The board of Connect Four. Each cell of a column drops a disc into the column. */
export function ConnectFourBoard({ game, canAct, pending, onPlay }: BoardProps): JSX.Element {
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
  return <SquareGrid label="Connect Four board" rows={rows} className="seven" start={[0, 3]} onPick={pick} />;
}
