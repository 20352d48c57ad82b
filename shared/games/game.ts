import type { ZodType } from "zod";
import type { Result } from "#shared/lib/result.ts";
import type { HistoryPath } from "./view-history.ts";

/** A seat in a game, e.g. "white". */
export type Role = string;
export type Viewer = Role | "spectator";

/** The reason why an action was rejected. The sender of the action sees the message, so it must not contain hidden information. */
export interface Illegal {
  readonly message: string;
}

/** The outcome of a finished game. The highest score wins; equal scores are a draw. */
export interface Outcome {
  readonly scores: Readonly<Record<Role, number>>;
  /** The reason in snake_case, for machines and logs: "checkmate", "rounds_won". */
  readonly reason: string;
}

/** A closed round, in games that have rounds, as ROUND_RESULT reports it to the players. */
export interface RoundSummary {
  readonly round: number;
  readonly moves: Readonly<Record<Role, unknown>>;
  readonly winner: Role | null;
  readonly scores: Readonly<Record<Role, number>>;
  /** Additional facts of the game, e.g. sum and sum_type. */
  readonly facts: Readonly<Record<string, unknown>>;
}

export interface GameInfo {
  readonly name: string;
  /** The rules and the format of an action, for readers who do not know the game. */
  readonly rules: string;
  /** The rules in two to five sentences, for people who play on a page, without the format of an action. By default `rules`. */
  readonly howToPlay?: string;
  /**
   * The options of the game: for each name the meaning, the range and the default. Absent if the game has no options.
   */
  readonly options?: Readonly<Record<string, string>>;
  /** The options that a game in which people have all seats has by default. */
  readonly optionsOfPeople?: Readonly<Record<string, unknown>>;
  /** Whether several roles act in one turn, each without seeing the choices of the others. */
  readonly simultaneous: boolean;
  readonly hiddenInformation: boolean;
  /**
   * In a game with hidden information, the roles that see everything, if all other roles see only the public
   * information. Absent if each role sees information that the other roles do not see.
   */
  readonly seesAll?: readonly Role[];
  /** Roles that win and lose together; every role is in one team. Absent if each role plays for itself. */
  readonly teams?: readonly Team[];
  /** The maximum number of actions of a game, with any options. */
  readonly maxActions: number;
  /** Whether `legalActions` lists only some of the legal actions, because there are too many (clues in Codenames). */
  readonly listsSample?: true;
  /**
   * The list in the views to which actions only add elements, e.g. the closed rounds. Requests to a player can leave out
   * the elements that it has received. Absent if the views have no such list.
   */
  readonly history?: HistoryPath;
  /**
   * Whether only programs need that list. Pages, tools, replays and the history of a bot then have the views without it,
   * so that they do not grow with the game.
   */
  readonly historyForPrograms?: true;
  /** The board with which pages draw the views of the game. Absent if they show its text. */
  readonly board?: BoardKind;
  /** The notations of moves with examples, as tools describe them to LLMs. Absent if the listed actions show them. */
  readonly notation?: string;
  /**
   * The reason of the outcome if a player wins by a move, in a game in which all wins have this reason. A player may
   * claim it with its move.
   */
  readonly winningReason?: "checkmate";
  /**
   * Whether the game depends on the meaning of words, which the built-in bots do not understand. Pages do not offer
   * such a game against them.
   */
  readonly needsLanguage?: true;
}

/** Roles that win and lose together. */
export interface Team {
  readonly name: string;
  readonly roles: readonly Role[];
}

/**
 * The boards of pages, with their requirements on views and actions:
 * - `chess`: a view has `fen`, and actions are in UCI;
 * - `marks`: a view has `board`, rows of `x`, `o` and `.` from top to bottom, and an action is a cell: the letter of its
 *   column and its row, counted from the bottom, like `a1`;
 * - `discs`: a view has `board`, rows of `r`, `y` and `.` from top to bottom, and an action is a column, counted from 1;
 * - `words`: views and actions of Codenames;
 * - `hands`: a view has `choices`, the choice of each role in the open round: `rock`, `paper`, `scissors`, or null if the
 *   viewer may not see it. In a game of several rounds it has `series` with `round`, `best_of`, `scores` and
 *   `previous_rounds`. An action is a choice;
 * - `numbers`: a view has `choices` like `hands`, of numbers or the words `even` and `odd`, and `round`, `max_rounds`,
 *   `scores` and `previous_rounds`, each with the `number` that decided the round. An action is a choice;
 * - `cards`: a view has `cards`, the card of each role: `jack`, `queen`, `king`, or null if the viewer may not see it, the
 *   `actions` of the open hand, of which the role `first` made the first one, and `hand`, `hands`, `scores` and
 *   `previous_hands`. An action is `check`, `bet`, `call` or `fold`. Each role has one chip in the pot, and each bet and
 *   call adds one.
 */
export type BoardKind = "chess" | "marks" | "discs" | "words" | "hands" | "numbers" | "cards";

/**
 * A game is a pure state machine without clock, randomness, I/O or mutation of its arguments. States, actions and views
 * are plain JSON and are unchanged by a round trip through it.
 *
 * `contract/` checks these obligations, for the built-in games in `conformance.test.ts`:
 * - `toAct` is empty if and only if the state is terminal, and `outcome` is not null exactly then;
 * - `applyAction` rejects every action that `legalActions` does not list, for any role at any time, with an `Illegal`,
 *   and never throws; a game with `listsSample` may accept other actions of roles that are to act, and an option may
 *   allow a listed action with an addition (the score of the position in chess);
 * - the roles of a team have the same score;
 * - in a simultaneous game `toAct` lists all roles that have not yet chosen in the open turn; the order of choices does
 *   not matter, and no choice is visible in another role's view before the turn closes;
 * - `legalActions(viewState(state, role), role)` equals `legalActions(state, role)`, so that a player can list its
 *   moves from its view;
 * - `toText(viewState(state, viewer), viewer)` equals `toText(state, viewer)`, so that a player can show its view;
 * - the spectator's view is derivable from every role's view, so that spectators may watch live.
 */
export interface Game<
  Options = unknown,
  State = unknown,
  Action = unknown,
  View = unknown,
  RoleOf extends Role = Role,
> {
  /** The id of the game with its version, e.g. "chess.v1". */
  readonly id: string;
  readonly roles: readonly RoleOf[];
  readonly info: GameInfo;
  /** Parses options and adds defaults. `options.parse({})` returns the defaults. */
  readonly options: ZodType<Options>;
  /**
   * Returns the options of a new session from parsed options. They name the version of each rule that has changed, so
   * that the session's log keeps its rules. Options without a version, as in older logs, mean the first version. Absent
   * if the rules of the game have not changed.
   */
  optionsOfNew?(options: Options): Options;
  /**
   * Parses a received action into its plain form (`{"number": 3}` becomes `3`). It does not check whether the action is
   * legal.
   */
  readonly action: ZodType<Action>;
  initialState(setup: { options: Options; seed: string }): State;
  /** Returns the roles that may act now; empty if and only if the state is terminal. */
  toAct(state: State): readonly Role[];
  /** Returns the legal actions of a role in a fixed order; empty if the role is not to act. */
  legalActions(state: State | View, role: Role): readonly Action[];
  /** Returns the state after an action of a role, or the reason why the action is illegal. */
  applyAction(state: State, role: Role, action: Action): Result<State, Illegal>;
  /**
   * Returns whether an action replaces the action of a role that does not answer. The session host accepts such an
   * action only from a driver.
   */
  isDriverAction?(action: Action): boolean;
  isTerminal(state: State): boolean;
  /** Returns the outcome of a terminal state; null for any other state. */
  outcome(state: State): Outcome | null;
  /** Returns the part of a state that a viewer may know. */
  viewState(state: State, viewer: Viewer): View;
  /** Returns a view with the phase in which players are missing, in games that have such a phase. */
  waitingView?(view: View): View;
  /** Returns the view of a game that has ended by a forfeit with the phase of its end, in games that have such a phase. */
  endedView?(view: View): View;
  /**
   * Returns the text that is shown to an LLM or in a terminal. It contains no more information than `viewState` for the
   * same viewer, and can be computed from that view.
   */
  toText(state: State | View, viewer: Viewer): string;
  /** Returns an action as text for people, which `readAction` accepts. Absent if actions are text. */
  actionText?(action: Action): string;
  /**
   * Reads a move that a person has written in a notation of the game (SAN in chess). Returns the action, or null if the
   * text is not a move. It does not check whether the move is legal, and uses only information that the view contains.
   */
  readAction?(state: State | View, text: string): Action | null;
  /** Returns the reason why such a text is not a legal action of the role to act. Present in games with a notation. */
  explainIllegal?(state: State | View, text: string): string;
  /** Returns the closed rounds, oldest first, without the first `from`. Absent in games without rounds. */
  rounds?(state: State, from?: number): readonly RoundSummary[];
}

/** Returns a role, a reason or another identifier as text for people: "red spymaster". */
export const spoken = (identifier: string): string => identifier.replaceAll("_", " ");

/** Returns the reason of a result as text for people. A reason may name several faults with commas between them. */
export const reasonInWords = (reason: string): string =>
  reason
    .split(",")
    .map((one) => (one === "clock" ? "time over" : spoken(one)))
    .join(", ");

/** Returns the winners as text: the name of a team, or the names of roles by `named`. */
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

/** Returns the id of a game without its version: "chess" for "chess.v1". */
export const withoutVersion = (id: string): string => id.replace(/\.v\d+$/, "");

/** Returns whether `role` sees information that `other` does not see. */
export function seesMore({ info }: Pick<Game, "info">, role: Role, other: Role): boolean {
  if (!info.hiddenInformation || role === other) return false;
  return info.seesAll === undefined || (info.seesAll.includes(role) && !info.seesAll.includes(other));
}

/** Returns the roles with the highest score; null if all scores are equal (a draw). */
export function winnersOf(outcome: Pick<Outcome, "scores">): readonly Role[] | null {
  const entries = Object.entries(outcome.scores);
  const best = Math.max(...entries.map(([, score]) => score));
  const winners = entries.filter(([, score]) => score === best).map(([role]) => role);
  return winners.length === entries.length ? null : winners;
}

/** Returns the options of a game for its rules, one in each line. */
export function optionLines({ info }: Game): string {
  const options = Object.entries(info.options ?? {});
  if (options.length === 0) return "This game has no options.";
  return ["Options:", ...options.map(([name, meaning]) => `- ${name}: ${meaning}`)].join("\n");
}

/** Returns the options of several games in one line, for the description of a tool. */
export const optionsInWords = (games: readonly Game[]): string =>
  games
    .flatMap(({ id, info }) => {
      const options = Object.entries(info.options ?? {}).map(([name, meaning]) => `${name} (${meaning})`);
      return options.length === 0 ? [] : [`${withoutVersion(id)}: ${options.join(", ")}`];
    })
    .join(". ");

/** Returns the notations of moves with examples, for games that have one, as an addition to a description. */
export const notationsInWords = (games: readonly Game[]): string =>
  games.flatMap(({ id, info }) => (info.notation ? [`; in ${withoutVersion(id)} ${info.notation}`] : [])).join("");
