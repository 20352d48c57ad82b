import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { type BoardKind, type Game, seesMore, type Viewer } from "#shared/games/game.ts";
import { historyIn } from "#shared/games/view-history.ts";
import { invariant } from "#shared/lib/result.ts";
import { faultLine } from "#shared/lib/schema-messages.ts";
import { evidenceAt } from "./game-obligations.ts";
import {
  applyLegal,
  type Evidence,
  must,
  type Obligation,
  type Subject,
  sampledSteps,
  type Trace,
  Violation,
  viewersOf,
} from "./obligation.ts";
import { canonicalJson, throughJson } from "./values.ts";

const UNKNOWN_VIEWERS = ["", "unknown", "__proto__", "constructor"];

/** A state of a random game. */
interface Place {
  readonly trace: Trace;
  readonly step: number;
  readonly state: unknown;
}

const placesOf = ({ traces }: Subject): readonly Place[] =>
  traces.flatMap((trace) => trace.states.map((state, step) => ({ trace, step, state })));

const sampledPlaces = ({ traces }: Subject): readonly Place[] =>
  traces.flatMap((trace) => sampledSteps(trace).map((step) => ({ trace, step, state: trace.states[step] })));

const openTurns = (subject: Subject): readonly Place[] =>
  placesOf(subject).filter(({ state }) => subject.game.toAct(state).length > 1);

/** Returns everything about a state that a viewer can see. */
function seenBy(game: Game, state: unknown, viewer: Viewer): string {
  const rounds = game.rounds?.(state) ?? [];
  return canonicalJson([game.viewState(state, viewer), game.toText(state, viewer), rounds, game.outcome(state)]);
}

/**
 * Checks that the view of `viewer` follows from the view of `from`: states with the same view of `from` have the same
 * view of `viewer`. Views are compared within games of the same options, because they need not show the options.
 */
function mustFollow(subject: Subject, viewer: Viewer, from: Viewer): void {
  const { game } = subject;
  const derived = new Map<string, string>();
  for (const { trace, step, state } of placesOf(subject)) {
    const key = canonicalJson([trace.options, game.viewState(state, from)]);
    const view = canonicalJson(game.viewState(state, viewer));
    const expected = derived.get(key) ?? view;
    derived.set(key, view);
    if (view === expected) continue;
    const problem = `the view of ${viewer} contains information that the view of ${from} does not contain`;
    throw new Violation(problem, {
      ...evidenceAt(trace, step),
      viewer,
      expected: JSON.parse(expected),
      actual: JSON.parse(view),
    });
  }
}

/** The obligations of views and texts. */
export const VIEW_OBLIGATIONS: readonly Obligation[] = [
  {
    id: "actions-from-view",
    title: "a role lists the same legal actions from its view as from the state",
    advice: "use only fields of the state in legalActions that the role's view also has",
    check(subject) {
      const { game } = subject;
      for (const { trace, step, state } of sampledPlaces(subject)) {
        for (const role of game.roles) {
          const expected = game.legalActions(state, role);
          const view = throughJson(game.viewState(state, role));
          const actual = game.legalActions(view, role);
          const problem = "legalActions lists other actions for the view of a role than for the state";
          must(isDeepStrictEqual(actual, expected), problem, () => ({
            ...evidenceAt(trace, step),
            role,
            expected,
            actual,
          }));
        }
      }
    },
  },
  {
    id: "spectator-view",
    title: "the spectator's view follows from every role's view",
    advice: "remove from the spectator's view what some role does not see, because spectators watch live",
    check: (subject) => {
      for (const role of subject.game.roles) mustFollow(subject, "spectator", role);
    },
  },
  {
    id: "views-of-roles",
    title: "the view of a role follows from the view of every role that sees at least as much",
    advice:
      "set info.hiddenInformation to true if roles see different things; info.seesAll names roles that see everything",
    check(subject) {
      const { game } = subject;
      for (const role of game.roles)
        for (const other of game.roles) if (!seesMore(game, role, other)) mustFollow(subject, role, other);
    },
  },
  {
    id: "text",
    title: "toText returns the same text for a state and for the viewer's view of it, so the text reveals nothing else",
    advice: "compute toText from viewState(state, viewer), and make it accept such a view in place of the state",
    check(subject) {
      const { game } = subject;
      for (const { trace, step, state } of placesOf(subject)) {
        for (const viewer of viewersOf(game)) {
          const expected = game.toText(state, viewer);
          const evidence = (): Evidence => ({ ...evidenceAt(trace, step), viewer, expected, actual });
          const actual = game.toText(throughJson(game.viewState(state, viewer)), viewer);
          must(typeof expected === "string" && expected !== "", "toText returns no text", evidence);
          must(
            actual === expected,
            "toText returns another text for the view of a viewer than for the state",
            evidence,
          );
        }
      }
    },
  },
  {
    id: "unknown-viewer",
    title: "an unknown viewer sees the view of the spectator",
    advice: "let viewState hide everything from viewers that are not one of the roles",
    check(subject) {
      const { game } = subject;
      for (const { trace, step, state } of sampledPlaces(subject)) {
        const expected = game.viewState(state, "spectator");
        for (const viewer of UNKNOWN_VIEWERS) {
          const actual = game.viewState(state, viewer);
          const problem = "viewState returns another view for a name that is not a role than for the spectator";
          must(isDeepStrictEqual(actual, expected), problem, () => ({
            ...evidenceAt(trace, step),
            viewer,
            expected,
            actual,
          }));
        }
      }
    },
  },
  {
    id: "seed",
    title: "no viewer sees the seed",
    advice: "remove the seed in viewState: from it a player could compute all hidden cards and dice",
    check(subject) {
      const { game } = subject;
      for (const { trace, step, state } of placesOf(subject)) {
        for (const viewer of viewersOf(game)) {
          const isHidden = !seenBy(game, state, viewer).includes(trace.seed);
          must(isHidden, "a view, text, round or outcome contains the seed of the game", () => ({
            ...evidenceAt(trace, step),
            viewer,
            actual: game.viewState(state, viewer),
          }));
        }
      }
    },
  },
  {
    id: "history",
    title: "actions only add elements to the list of info.history in every view",
    advice: "name in info.history a list of every view that only grows, or leave out info.history",
    applies: ({ info }) => info.history !== undefined,
    check({ game, traces }) {
      const { history } = game.info;
      invariant(history !== undefined, "the obligation applies");
      const listIn = (state: unknown, viewer: Viewer) => historyIn(game.viewState(state, viewer), history);
      for (const trace of traces) {
        for (const viewer of viewersOf(game)) {
          let expected = listIn(trace.states[0], viewer);
          for (const [step, state] of trace.states.entries()) {
            const actual = listIn(state, viewer);
            const isKept = isDeepStrictEqual(actual?.slice(0, expected?.length) ?? null, expected);
            const evidence = { ...evidenceAt(trace, step), viewer, expected, actual };
            must(isKept, "an action changes or removes elements of the list that info.history names", () => evidence);
            expected = actual;
          }
        }
      }
    },
  },
  {
    id: "same-view",
    title: "shows the same view to every viewer",
    advice: "set info.hiddenInformation to true, or return the same view for all viewers",
    applies: ({ info }) => !info.hiddenInformation,
    check(subject) {
      const { game } = subject;
      for (const { trace, step, state } of sampledPlaces(subject)) {
        const expected = game.viewState(state, "spectator");
        for (const viewer of game.roles) {
          const actual = game.viewState(state, viewer);
          const problem = "two viewers have different views, but info.hiddenInformation is false";
          must(canonicalJson(actual) === canonicalJson(expected), problem, () => ({
            ...evidenceAt(trace, step),
            viewer,
            expected,
            actual,
          }));
        }
      }
    },
  },
  {
    id: "choices-hidden",
    title: "a secret choice does not change what another viewer sees",
    advice: "hide the choices of the other roles in viewState and toText until the last role has chosen",
    applies: ({ info }) => info.simultaneous,
    check(subject) {
      const { game } = subject;
      for (const { trace, step, state } of openTurns(subject)) {
        for (const role of game.toAct(state)) {
          for (const action of game.legalActions(state, role)) {
            const chosen = applyLegal(game, state, role, action);
            for (const viewer of viewersOf(game).filter((other) => other !== role)) {
              const isHidden = seenBy(game, chosen, viewer) === seenBy(game, state, viewer);
              const problem = `${viewer} sees the choice of ${role} before the turn is over`;
              must(isHidden, problem, () => ({
                ...evidenceAt(trace, step),
                role,
                action,
                viewer,
                expected: game.viewState(state, viewer),
                actual: game.viewState(chosen, viewer),
              }));
            }
          }
        }
      }
    },
  },
  {
    id: "choices-visible",
    title: "a role sees its own secret choice",
    advice: "show a role its own choice in viewState, so that its view says which choice it has made",
    applies: ({ info }) => info.simultaneous,
    check(subject) {
      const { game } = subject;
      for (const { trace, step, state } of openTurns(subject)) {
        for (const role of game.toAct(state)) {
          const legal = game.legalActions(state, role);
          const views = legal.map((action) => seenBy(game, applyLegal(game, state, role, action), role));
          const problem = "a role has the same view after two different choices";
          must(new Set(views).size === legal.length, problem, () => ({
            ...evidenceAt(trace, step),
            role,
            viewer: role,
          }));
        }
      }
    },
  },
];

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
      remaining: z.record(z.string(), z.int()),
      phase: z.string(),
      turns: z.array(z.looseObject({})),
    }),
    fits: (_view, action) => typeof action === "object" && action !== null && "type" in action,
    actions: "an action of Codenames",
  },
  hands: {
    view: z.looseObject({
      choices: byRole(z.enum(HANDS).nullable()),
      series: z
        .looseObject({
          round: z.int(),
          best_of: z.int(),
          scores: byRole(z.int()),
          previous_rounds: z.array(z.looseObject(roundOf(z.enum(HANDS)))),
        })
        .optional(),
    }),
    fits: (_view, action) => isOneOf(HANDS, action),
    actions: "rock, paper or scissors",
  },
  numbers: {
    view: z.looseObject({
      choices: byRole(Choice.nullable()),
      round: z.int(),
      max_rounds: z.int(),
      scores: byRole(z.int()),
      previous_rounds: z.array(z.looseObject({ ...roundOf(Choice), number: z.int() })),
    }),
    fits: (_view, action) => Choice.safeParse(action).success,
    actions: "a number, even or odd",
  },
  cards: {
    view: z.looseObject({
      cards: byRole(z.enum(CARDS).nullable()),
      actions: z.array(z.enum(BETS)),
      first: z.string(),
      hand: z.int(),
      hands: z.int(),
      scores: byRole(z.int()),
      previous_hands: z.array(
        z.looseObject({
          hand: z.int(),
          first: z.string(),
          actions: z.array(z.enum(BETS)),
          winner: z.string(),
          chips: z.int(),
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
