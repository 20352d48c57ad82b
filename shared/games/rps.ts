import { z } from "zod";
import { err, ok } from "../lib/result.ts";
import type { Game, Role, RoundSummary, Viewer } from "./game.ts";

const ROLES = ["player_1", "player_2"] as const;
type Seat = (typeof ROLES)[number];

const CHOICES = ["rock", "paper", "scissors"] as const;
export type RpsAction = (typeof CHOICES)[number];
const BEATS: Readonly<Record<RpsAction, RpsAction>> = { rock: "scissors", paper: "rock", scissors: "paper" };

type Choices = Readonly<Record<Seat, RpsAction | null>>;
type Scores = Readonly<Record<Seat, number>>;

interface ClosedRound {
  readonly round: number;
  readonly choices: Readonly<Record<Seat, RpsAction>>;
  readonly winner: Seat | null;
}

/** The part of the state that a game of several rounds has in addition to the open round. */
interface Series {
  readonly best_of: number;
  readonly round: number;
  readonly scores: Scores;
  readonly previous_rounds: readonly ClosedRound[];
}

/** The state. `series` is present only if more than one round is played. */
export interface RpsState {
  readonly phase: "commit" | "reveal";
  readonly choices: Choices;
  readonly result: "player_1_wins" | "player_2_wins" | "draw" | null;
  readonly series?: Series;
}

export type RpsView = RpsState;

const Options = z.strictObject({
  /** The maximum number of rounds, including draws. The game ends when the trailing player cannot catch up. */
  best_of: z.int().min(1).max(99).default(1),
});
type RpsOptions = z.infer<typeof Options>;

const NO_CHOICES: Choices = { player_1: null, player_2: null };
const isSeat = (role: Role): role is Seat => role === "player_1" || role === "player_2";

const HOW_TO_PLAY =
  "Both players choose at the same time, without seeing the other choice. Rock beats scissors, scissors beat paper, and paper beats rock. The player with more rounds wins. The game ends as soon as the other player cannot catch up.";
const RULES = `Rock, paper, scissors. Both players choose at the same time, without seeing the other choice. Rock beats scissors, scissors beat paper, paper
beats rock. At most best_of rounds are played (option, default 1), including draws. The game ends when the trailing player cannot catch up.
An action is "rock", "paper" or "scissors".`;

/**
 * Rock, paper, scissors. With `best_of` n at most n rounds are played, including draws. The game ends when the trailing
 * player cannot catch up.
 */
export const rps: Game<RpsOptions, RpsState, RpsAction, RpsView, Seat> = {
  id: "rps.v1",
  roles: ROLES,
  info: {
    name: "Rock, paper, scissors",
    rules: RULES,
    howToPlay: HOW_TO_PLAY,
    options: { best_of: "1 to 99: the maximum number of rounds, including draws; default: 1" },
    simultaneous: true,
    hiddenInformation: true,
    maxActions: 198,
    history: ["series", "previous_rounds"],
    board: "hands",
  },
  options: Options,
  action: z.enum(CHOICES, "choose rock, paper or scissors"),
  initialState: ({ options: { best_of } }) => ({
    phase: "commit",
    choices: NO_CHOICES,
    result: null,
    ...(best_of > 1 && { series: { best_of, round: 1, scores: { player_1: 0, player_2: 0 }, previous_rounds: [] } }),
  }),
  toAct: (state) => (state.result === null ? ROLES.filter((seat) => state.choices[seat] === null) : []),
  legalActions: (state, role) => (isSeat(role) && state.result === null && state.choices[role] === null ? CHOICES : []),
  applyAction(state, role, action) {
    if (!isSeat(role)) return err({ message: "no such role" });
    if (state.result !== null) return err({ message: "the game is over" });
    if (state.choices[role] !== null) return err({ message: "you have already chosen" });
    if (!CHOICES.includes(action)) return err({ message: "choose rock, paper or scissors" });
    const choices: Choices = { ...state.choices, [role]: action };
    const { player_1, player_2 } = choices;
    if (player_1 === null || player_2 === null) return ok({ ...state, choices });
    return ok(reveal(state, { player_1, player_2 }));
  },
  isTerminal: (state) => state.result !== null,
  outcome: (state) =>
    state.result === null ? null : { scores: scoresOf(state), reason: state.result === "draw" ? "draw" : "rounds_won" },
  viewState: (state, viewer) =>
    state.phase === "reveal" ? state : { ...state, choices: visible(state.choices, viewer) },
  toText: (state, viewer) => textOf(rps.viewState(state, viewer)),
  rounds: summaries,
};

/** Closes a round with both choices, which leads to the next round or to the end. */
function reveal(state: RpsState, choices: ClosedRound["choices"]): RpsState {
  const winner = winnerOf(choices);
  if (!state.series) return { phase: "reveal", choices, result: winner ? `${winner}_wins` : "draw" };
  const { best_of, round, previous_rounds } = state.series;
  const closed = [...previous_rounds, { round, choices, winner }];
  const scores = tally(closed);
  const lead = Math.abs(scores.player_1 - scores.player_2);
  const isOver = lead > best_of - round || round === best_of;
  const series = { best_of, round: isOver ? round : round + 1, scores, previous_rounds: closed };
  if (!isOver) return { phase: "commit", choices: NO_CHOICES, result: null, series };
  const result = lead === 0 ? "draw" : scores.player_1 > scores.player_2 ? "player_1_wins" : "player_2_wins";
  return { phase: "reveal", choices, result, series };
}

function winnerOf({ player_1, player_2 }: ClosedRound["choices"]): Seat | null {
  if (player_1 === player_2) return null;
  return BEATS[player_1] === player_2 ? "player_1" : "player_2";
}

const tally = (rounds: readonly ClosedRound[]): Scores => ({
  player_1: rounds.filter(({ winner }) => winner === "player_1").length,
  player_2: rounds.filter(({ winner }) => winner === "player_2").length,
});

const scoresOf = (state: RpsState): Scores => tally(closedRounds(state));

function closedRounds(state: RpsState): readonly ClosedRound[] {
  if (state.series) return state.series.previous_rounds;
  const { player_1, player_2 } = state.choices;
  if (state.phase !== "reveal" || player_1 === null || player_2 === null) return [];
  return [{ round: 1, choices: { player_1, player_2 }, winner: winnerOf({ player_1, player_2 }) }];
}

function summaries(state: RpsState, from = 0): readonly RoundSummary[] {
  const found: RoundSummary[] = [];
  let scores: Scores = { player_1: 0, player_2: 0 };
  for (const [index, { round, choices: moves, winner }] of closedRounds(state).entries()) {
    if (winner !== null) scores = { ...scores, [winner]: scores[winner] + 1 };
    if (index >= from) found.push({ round, moves, winner, scores, facts: {} });
  }
  return found;
}

const visible = (choices: Choices, viewer: Viewer): Choices => ({
  player_1: viewer === "player_1" ? choices.player_1 : null,
  player_2: viewer === "player_2" ? choices.player_2 : null,
});

function textOf(view: RpsState): string {
  const lines = closedRounds(view).map(({ round, choices, winner }) => {
    return `Round ${round}: player_1 ${choices.player_1}, player_2 ${choices.player_2}: ${winner ?? "draw"}`;
  });
  if (view.result !== null) return [...lines, `Result: ${view.result}`].join("\n");
  const chosen = ROLES.flatMap((seat) =>
    view.choices[seat] === null ? [] : [`${seat} has chosen ${view.choices[seat]}`],
  );
  return [...lines, `Round ${view.series?.round ?? 1}: choose rock, paper or scissors.`, ...chosen].join("\n");
}
