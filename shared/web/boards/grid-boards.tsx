import type { JSX } from "preact";
import { useRef, useState } from "preact/hooks";
import type { ConnectFourView } from "../../games/connect-four.ts";
import type { TicTacToeView } from "../../games/tic-tac-toe.ts";
import type { GameView } from "../game-view.ts";
import type { BoardProps } from "./board-props.ts";
import { type Cell, SquareGrid } from "./square-grid.tsx";

const A = "a".charCodeAt(0);

/** Returns the middle column of a board. */
const middleOf = ([row = ""]: readonly string[]): number => Math.floor(row.length / 2);

/** The board `marks`, for example of tic-tac-toe. The name of a cell is the action that marks it. */
export function MarksBoard({ game, canAct, pending, onPlay }: BoardProps): JSX.Element {
  const { board } = game.state as TicTacToeView;
  const won = winningCells(board, game.result);
  const rows = board.map((marks, row) =>
    [...marks].map((letter, column): Cell => {
      const id = `${String.fromCharCode(A + column)}${board.length - row}`;
      const isPending = id === pending && letter === ".";
      const mark = isPending && /^[xo]$/.test(game.your_role) ? game.your_role : letter;
      const marked = {
        pending: isPending,
        target: canAct && game.legal_actions.includes(id),
        last: pending === null && id === game.last_action?.action,
        won: won.has(`${row},${column}`),
      };
      return {
        id,
        label: [id, mark === "." ? "empty" : mark, ...labelsOf(marked)].join(", "),
        marks: [`mark-${mark === "." ? "none" : mark}`, ...marksOf(marked)],
        content: mark === "." ? null : <Mark mark={mark} />,
      };
    }),
  );
  const pick = (id: string): void => {
    if (canAct && game.legal_actions.includes(id)) onPlay(id);
  };
  const center = [Math.floor(rows.length / 2), middleOf(board)] as const;
  return <SquareGrid label={`${game.name} board`} rows={rows} className="marks" start={center} onPick={pick} />;
}

const Mark = ({ mark }: { readonly mark: string }): JSX.Element => (
  <svg class="sign" viewBox="0 0 20 20" aria-hidden="true">
    {mark === "x" ? <path d="M3 3L17 17M17 3L3 17" /> : <circle cx="10" cy="10" r="7" />}
  </svg>
);

const DISCS: Readonly<Record<string, string>> = { r: "red", y: "yellow" };
const COLORS = Object.values(DISCS);

/**
 * The board `discs`, for example of Connect Four. A column is a button that drops a disc into it. The board is one stop
 * for the Tab key; the arrow keys and the digits select a column.
 */
export function DiscsBoard({ game, canAct, pending, onPlay }: BoardProps): JSX.Element {
  const { board } = game.state as ConnectFourView;
  const count = board[0]?.length ?? 0;
  const [cursor, setCursor] = useState(middleOf(board));
  const group = useRef<HTMLDivElement>(null);
  const won = winningCells(board, game.result);
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = columnAfterKey(cursor, event.key, count);
    if (next === null) return;
    event.preventDefault();
    group.current?.querySelectorAll("button")[next]?.focus();
  };
  const own = COLORS.includes(game.your_role) ? game.your_role : "";
  return (
    <div
      ref={group}
      role="group"
      aria-label={`${game.name} board`}
      class={`discs drop-${own}`}
      style={{ "--columns": count }}
      onKeyDown={onKeyDown}
    >
      {Array.from({ length: count }, (_, index) => {
        const column = index + 1;
        const isOpen = canAct && game.legal_actions.includes(column);
        const slots = slotsOf({ game, board, index, won, isPending: pending === column, own });
        return (
          <button
            type="button"
            key={column}
            data-column={column}
            class={isOpen ? "column target" : "column"}
            aria-label={columnInWords(column, slots)}
            aria-disabled={!isOpen}
            tabIndex={index === cursor ? 0 : -1}
            onFocus={() => setCursor(index)}
            onClick={() => isOpen && onPlay(column)}
          >
            {slots.map(({ disc, marks }, row) => (
              <span
                key={`${column}/${board.length - row}`}
                class={["hole", disc && `disc-${disc}`, ...marks].join(" ")}
              >
                <span class="disc" />
              </span>
            ))}
          </button>
        );
      })}
    </div>
  );
}

/** A place for a disc. */
interface Slot {
  /** The colour of the disc; "" if there is none. */
  readonly disc: string;
  readonly marks: readonly string[];
  readonly labels: readonly string[];
}

interface Column extends Pick<BoardProps, "game"> {
  readonly board: readonly string[];
  readonly index: number;
  readonly won: ReadonlySet<string>;
  readonly isPending: boolean;
  /** The colour of the viewer's discs; "" if it has none. */
  readonly own: string;
}

/** Returns the places of a column from top to bottom. A disc falls to the lowest free one. */
function slotsOf({ game, board, index, won, isPending, own }: Column): readonly Slot[] {
  const free = board.findLastIndex((row) => row[index] === ".");
  const isLastColumn = Number(game.last_action?.action) === index + 1;
  return board.map((row, number): Slot => {
    const isLanding = number === free;
    const disc = isPending && isLanding ? own : (DISCS[row[index] ?? ""] ?? "");
    const marked = {
      pending: isPending && isLanding,
      landing: isLanding && !isPending,
      // The last disc is the highest one in its column.
      last: isLastColumn && !isPending && number === free + 1,
      won: won.has(`${number},${index}`),
    };
    return { disc, marks: marksOf(marked), labels: labelsOf(marked) };
  });
}

/** Returns the label of a column: "Column 4, from the bottom: red, yellow (last move)". */
function columnInWords(column: number, slots: readonly Slot[]): string {
  const discs = slots
    .filter(({ disc, labels }) => disc !== "" || labels.length > 0)
    .map(({ disc, labels }) => `${disc || "disc"}${labels.length > 0 ? ` (${labels.join(", ")})` : ""}`)
    .reverse();
  if (discs.length === 0) return `Column ${column}, empty`;
  return `Column ${column}${discs.length === slots.length ? ", full" : ""}, from the bottom: ${discs.join(", ")}`;
}

type Marked = Readonly<Record<string, boolean>>;
const LABELS: Readonly<Record<string, string>> = {
  pending: "being sent",
  last: "last move",
  won: "in the winning line",
};
const marksOf = (marked: Marked): readonly string[] => Object.keys(marked).filter((mark) => marked[mark]);
const labelsOf = (marked: Marked): readonly string[] => marksOf(marked).flatMap((mark) => LABELS[mark] ?? []);

function columnAfterKey(column: number, key: string, count: number): number | null {
  const last = count - 1;
  if (/^[1-9]$/.test(key)) return Number(key) <= count ? Number(key) - 1 : null;
  const moves: Readonly<Record<string, number>> = {
    ArrowLeft: Math.max(0, column - 1),
    ArrowRight: Math.min(last, column + 1),
    Home: 0,
    End: last,
  };
  return moves[key] ?? null;
}

const LENGTHS: Readonly<Record<string, number>> = { three: 3, four: 4, five: 5, six: 6 };
const DIRECTIONS = [
  [0, 1],
  [1, 0],
  [1, 1],
  [1, -1],
] as const;

/** Returns the cells "row,column" of the lines that have won. The reason of the result names their length: "four_in_a_row". */
function winningCells(board: readonly string[], result: GameView["result"]): ReadonlySet<string> {
  const length = LENGTHS[/^([a-z]+)_in_a_row$/.exec(result?.reason ?? "")?.[1] ?? ""];
  const won = new Set<string>();
  if (length === undefined) return won;
  for (const [row, cells] of board.entries()) {
    for (const [column, letter] of [...cells].entries()) {
      for (const [down, right] of DIRECTIONS) {
        const line = Array.from({ length }, (_, step) => [row + step * down, column + step * right] as const);
        if (letter !== "." && line.every(([r, c]) => board[r]?.[c] === letter))
          for (const cell of line) won.add(cell.join());
      }
    }
  }
  return won;
}
