import type { ZodType } from "zod";
import type { Result } from "../lib/result.ts";

/** A seat in a game, e.g. "white". */
export type Role = string;
export type Viewer = Role | "spectator";

/** Why an action was refused; the text is shown to whoever sent it, so it names nothing hidden. */
export interface Illegal {
  readonly message: string;
}

/** How a finished game ended: the highest score wins, equal scores are a draw. */
export interface Outcome {
  readonly scores: Readonly<Record<Role, number>>;
  /** For machines and logs, snake_case: "checkmate", "rounds_won". */
  readonly reason: string;
}

/** A round that has just closed, for games that have rounds: what ROUND_RESULT tells both players. */
export interface RoundSummary {
  readonly round: number;
  readonly moves: Readonly<Record<Role, unknown>>;
  readonly winner: Role | null;
  readonly scores: Readonly<Record<Role, number>>;
  /** The game's own facts, e.g. sum and sum_type. */
  readonly facts: Readonly<Record<string, unknown>>;
}

export interface GameInfo {
  readonly name: string;
  /** How it is played and how an action is written, for those who have never seen it. */
  readonly rules: string;
  /** Its options: name to meaning, range and default. Absent in games without options. */
  readonly options?: Readonly<Record<string, string>>;
  /** Several roles act in one turn, each without seeing the others' choice. */
  readonly simultaneous: boolean;
  readonly hiddenInformation: boolean;
  /**
   * With hidden information: the roles that see everything, where all other roles see what everybody sees. Absent where each role sees
   * something that the others do not.
   */
  readonly seesAll?: readonly Role[];
  /** Roles that win and lose together, every role in one team; absent where each role plays for itself. */
  readonly teams?: readonly Team[];
  /** No game, whatever its options, takes more actions than this. */
  readonly maxActions: number;
  /** `legalActions` lists some of what is legal, because all of it cannot be listed (a clue in Codenames). */
  readonly listsSample?: true;
  /** How pages draw its views; absent where they show its text. */
  readonly board?: BoardKind;
  /** The notations of its moves with examples, as tools describe them to LLMs; absent where the listed actions show them. */
  readonly notation?: string;
  /** The reason of the outcome in which a player wins by a move, where all wins have this one. A player may claim it with the move. */
  readonly winningReason?: "checkmate";
  /** It is played by the meaning of words, which the built-in bots do not know. Pages do not offer it against them. */
  readonly needsLanguage?: true;
}

/** Roles that win and lose together. */
export interface Team {
  readonly name: string;
  readonly roles: readonly Role[];
}

/**
 * The boards of pages, by what a view and its actions have to be like:
 * - `chess`: a view has `fen`, and actions are UCI;
 * - `marks`: a view has `board`, rows of `x`, `o` and `.`, and an action is a cell like `a1`;
 * - `discs`: a view has `board`, rows of `r`, `y` and `.`, and an action is a column from 1;
 * - `words`: views and actions of Codenames.
 */
export type BoardKind = "chess" | "marks" | "discs" | "words";

/**
 * A game is a pure state machine: no clock, no dice, no I/O, no mutation of its arguments.
 * States, actions and views are plain JSON and survive a round trip through it.
 *
 * Obligations, held by `conformance.test.ts` for every registered game:
 * - `toAct` is empty if and only if the state is terminal, and exactly then `outcome` is not null;
 * - `applyAction` refuses whatever `legalActions` would not list (for any role, at any time) with an `Illegal`, and never throws;
 *   a game that says `listsSample` may take more, of roles that are to act;
 * - roles of one team have one score;
 * - in a simultaneous game `toAct` lists every role of the open turn that has not yet chosen; the order of choices
 *   does not matter, and none shows in another role's view before the turn closes;
 * - `legalActions(viewState(state, role), role)` equals `legalActions(state, role)`: a player lists its moves from its own view;
 * - the spectator's view is derivable from every role's view, so spectators may watch live.
 */
export interface Game<Options = unknown, State = unknown, Action = unknown, View = unknown> {
  /** Template id with version, e.g. "chess.v1". */
  readonly id: string;
  readonly roles: readonly Role[];
  readonly info: GameInfo;
  /** Parses and completes options; `options.parse({})` gives the defaults. */
  readonly options: ZodType<Options>;
  /**
   * The options of a session that begins now, from parsed ones: names the version of each rule that has changed, so that the session's log keeps its
   * rules. Options that name none, as older logs have them, mean the first version. Absent for a game whose rules have not changed.
   */
  optionsOfNew?(options: Options): Options;
  /** Parses what came over the wire into an action's plain form (`{"number": 3}` becomes `3`); says nothing of legality. */
  readonly action: ZodType<Action>;
  initialState(setup: { options: Options; seed: string }): State;
  /** The roles that may act now; empty if and only if the state is terminal. */
  toAct(state: State): readonly Role[];
  /** Legal actions of a role, in a fixed order; empty for a role that is not to act. */
  legalActions(state: State | View, role: Role): readonly Action[];
  applyAction(state: State, role: Role, action: Action): Result<State, Illegal>;
  /** An action by which a driver goes on without a role that does not answer: the session host takes it from a driver alone. */
  isDriversOwn?(action: Action): boolean;
  isTerminal(state: State): boolean;
  outcome(state: State): Outcome | null;
  viewState(state: State, viewer: Viewer): View;
  /** A view while players are missing, in games whose states name that phase. */
  waitingView?(view: View): View;
  /** What an LLM or a terminal is shown; tells no more than `viewState` for the same viewer. */
  toText(state: State, viewer: Viewer): string;
  /** An action for people, as `readAction` takes it, where the action itself is no text. */
  actionText?(action: Action): string;
  /**
   * What a person wrote as a move, where the game has a notation besides its actions (SAN in chess), as an action; null when it
   * names none. It says nothing of legality, and looks at nothing that the view does not show.
   */
  readAction?(state: State | View, text: string): Action | null;
  /** Why such a text is no legal action for the role that is to act; in games with a notation of their own. */
  whyUnread?(state: State | View, text: string): string;
  /** The rounds closed so far, oldest first, without the first `from`; absent in games without rounds. */
  rounds?(state: State, from?: number): readonly RoundSummary[];
}

/** A role, a reason or another identifier as people read it: "red spymaster". */
export const spoken = (identifier: string): string => identifier.replaceAll("_", " ");

/** The reason of a result, which names several faults with commas between them, as people read it. */
export const reasonInWords = (reason: string): string => spoken(reason).replaceAll(",", ", ");

/** The winners in words: a team by its name, any other role by `named`. */
export function winnersInWords(
  teams: GameInfo["teams"] | undefined,
  winners: readonly Role[],
  named: (role: Role) => string = (role) => role,
): string {
  const team = teams?.find(
    ({ roles }) => roles.length === winners.length && roles.every((role) => winners.includes(role)),
  );
  return team ? `team ${team.name}` : winners.map(named).join(" and ");
}

/** The id of a game without its version: "chess" of "chess.v1". */
export const withoutVersion = (id: string): string => id.replace(/\.v\d+$/, "");

/** Whether `role` sees something that `other` does not. */
export function seesMore({ info }: Pick<Game, "info">, role: Role, other: Role): boolean {
  if (!info.hiddenInformation || role === other) return false;
  return info.seesAll === undefined || (info.seesAll.includes(role) && !info.seesAll.includes(other));
}

/** The roles with the highest score; null when all are equal (a draw). */
export function winnersOf(outcome: Pick<Outcome, "scores">): readonly Role[] | null {
  const entries = Object.entries(outcome.scores);
  const best = Math.max(...entries.map(([, score]) => score));
  const winners = entries.filter(([, score]) => score === best).map(([role]) => role);
  return winners.length === entries.length ? null : winners;
}
