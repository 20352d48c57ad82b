import { z } from "zod";
import { faultLine } from "../../lib/schema-messages.ts";
import type { BoardKind, Game } from "../game.ts";
import { must, type Obligation, type Subject } from "./obligation.ts";
import { sampledSteps, viewersOf } from "./play.ts";
import { evidenceAt } from "./state-obligations.ts";

const MAX_COLUMNS = 26;

/** A board as rows of equal length, each a text with one of `letters` for each cell. */
const rowsOf = (letters: string) =>
  z.looseObject({
    board: z
      .array(
        z.string().regex(new RegExp(`^[${letters}]{1,${MAX_COLUMNS}}$`), `must have only ${[...letters].join(" ")}`),
      )
      .min(1)
      .refine((rows) => new Set(rows.map((row) => row.length)).size === 1, "must have rows of equal length"),
  });

/** The columns of a board, counted from 1. */
const columnsOf = (view: unknown): number => (view as { readonly board: readonly string[] }).board[0]?.length ?? 0;

/** Whether a text is a cell of a board: the letter of its column, and its row, counted from the bottom. */
function isCell(view: unknown, action: unknown): boolean {
  const [, letter = "", row = ""] = /^([a-z])([1-9]\d*)$/.exec(String(action)) ?? [];
  const rows = (view as { readonly board: readonly string[] }).board.length;
  return letter !== "" && letter.charCodeAt(0) - "a".charCodeAt(0) < columnsOf(view) && Number(row) <= rows;
}

const HANDS = ["rock", "paper", "scissors"] as const;
const CARDS = ["jack", "queen", "king"] as const;
const BETS = ["check", "bet", "call", "fold"] as const;

const isOneOf = (values: readonly string[], action: unknown): boolean => values.includes(action as string);
const byRole = <Value extends z.ZodType>(value: Value) => z.record(z.string(), value);

/** A closed round. */
const roundOf = (choice: z.ZodType) => ({ round: z.int(), choices: byRole(choice), winner: z.string().nullable() });

/** A choice of even/odd. */
const Choice = z.union([z.int(), z.enum(["even", "odd"])], 'must be a number, or "even" or "odd"');

interface BoardRules {
  readonly view: z.ZodType;
  /** Whether a legal action of a role fits its view. */
  fits(view: unknown, action: unknown): boolean;
  readonly actions: string;
}

/** The requirements of each board, which `BoardKind` describes. */
const BOARDS: Readonly<Record<BoardKind, BoardRules>> = {
  chess: {
    view: z.looseObject({
      fen: z.string().regex(/^([1-8kqrbnp]{1,8}\/){7}[1-8kqrbnp]{1,8} [wb] /i, "must be a position in FEN"),
    }),
    fits: (_view, action) => /^([a-h][1-8]){2}[qrbn]?$/.test(String(action)),
    actions: "a move in UCI notation such as e2e4",
  },
  marks: { view: rowsOf("xo."), fits: isCell, actions: "a cell such as a1" },
  discs: {
    view: rowsOf("ry."),
    fits: (view, action) => Number.isInteger(action) && Number(action) >= 1 && Number(action) <= columnsOf(view),
    actions: "the number of a column, counted from 1",
  },
  words: {
    view: z.looseObject({
      cards: z.array(z.looseObject({ word: z.string() })),
      ...{ remaining: z.record(z.string(), z.int()), phase: z.string(), turns: z.array(z.looseObject({})) },
    }),
    fits: (_view, action) => typeof action === "object" && action !== null && "type" in action,
    actions: "an action of Codenames",
  },
  hands: {
    view: z.looseObject({
      choices: byRole(z.enum(HANDS).nullable()),
      series: z
        .looseObject({
          ...{ round: z.int(), best_of: z.int(), scores: byRole(z.int()) },
          previous_rounds: z.array(z.looseObject(roundOf(z.enum(HANDS)))),
        })
        .optional(),
    }),
    fits: (_view, action) => isOneOf(HANDS, action),
    actions: "rock, paper or scissors",
  },
  numbers: {
    view: z.looseObject({
      ...{ choices: byRole(Choice.nullable()), round: z.int(), max_rounds: z.int(), scores: byRole(z.int()) },
      previous_rounds: z.array(z.looseObject({ ...roundOf(Choice), number: z.int() })),
    }),
    fits: (_view, action) => Choice.safeParse(action).success,
    actions: "a number, even or odd",
  },
  cards: {
    view: z.looseObject({
      ...{ cards: byRole(z.enum(CARDS).nullable()), actions: z.array(z.enum(BETS)), first: z.string() },
      ...{ hand: z.int(), hands: z.int(), scores: byRole(z.int()) },
      previous_hands: z.array(
        z.looseObject({
          ...{ hand: z.int(), first: z.string(), actions: z.array(z.enum(BETS)), winner: z.string(), chips: z.int() },
          cards: byRole(z.enum(CARDS)).nullable(),
        }),
      ),
    }),
    fits: (_view, action) => isOneOf(BETS, action),
    actions: "check, bet, call or fold",
  },
};

function mustFit({ game, traces }: Subject, board: BoardKind): void {
  const rules = BOARDS[board];
  const isFor = `info.board is "${board}", but`;
  for (const trace of traces) {
    for (const step of sampledSteps(trace)) {
      const state = trace.states[step];
      for (const viewer of viewersOf(game)) {
        const view = game.viewState(state, viewer);
        const [issue] = rules.view.safeParse(view).error?.issues ?? [];
        const problem = `${isFor} the view of ${viewer} does not fit: ${issue && faultLine(issue)}`;
        must(!issue, problem, () => ({ ...evidenceAt(trace, step), viewer, actual: view }));
        for (const action of viewer === "spectator" ? [] : game.legalActions(state, viewer)) {
          const wrong = `${isFor} a legal action of ${viewer} is not ${rules.actions}`;
          must(rules.fits(view, action), wrong, () => ({ ...evidenceAt(trace, step), role: viewer, action }));
        }
      }
    }
  }
}

/** The obligation of a game that declares a board. */
export const BOARD_OBLIGATION: Obligation = {
  id: "board",
  title: "its views and actions fit the board that it declares",
  advice: "return what the board needs (docs/adding-a-game.md), or remove info.board: pages then show toText",
  applies: ({ info }: Game) => info.board !== undefined,
  check: (subject) => {
    if (subject.game.info.board) mustFit(subject, subject.game.info.board);
  },
};
