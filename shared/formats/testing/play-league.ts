import { SharedList } from "#shared/lib/list.ts";
import { createRandom, type Random } from "#shared/lib/rng.ts";
import type { Format, FormatMatch, FormatPlayer, FormatRound, LeagueView, NewRound, Next } from "../format.ts";

/** What happens in a simulated league beside matches with a normal result, as probabilities for each completed match. */
export interface Disturbances {
  readonly leave?: number;
  readonly lateEntry?: number;
  readonly forfeit?: number;
  readonly doubleForfeit?: number;
  readonly abort?: number;
  readonly annul?: number;
}

export interface SimulatedLeague {
  readonly format: Format;
  readonly options: unknown;
  readonly playerCount: number;
  readonly roleCount: number;
  /** The number of matches that are played at the same time. */
  readonly slots: number;
  readonly seed: string;
  readonly disturbances: Disturbances;
  /** Returns the points of a match; random points if it is absent. */
  readonly play?: (players: readonly string[], random: Random) => readonly number[];
}

/** One call of `next`: what the format knew, and what it returned. */
export interface Step {
  readonly view: LeagueView;
  readonly slots: number;
  readonly next: Next;
}

interface State {
  readonly random: Random;
  /** Players are replaced rather than changed, because the views of earlier steps share them. */
  readonly players: FormatPlayer[];
  rounds: SharedList<FormatRound>;
}

type Outcome = NonNullable<FormatMatch["outcome"]>;

/** The longest league of the tests has 2,013 steps. A format that never ends fails soon. */
const MAX_STEPS = 3_000;
const MAX_LATE_ENTRIES = 3;

/** Plays a league to its end and returns all calls of `next`. Throws if the format waits although no match is open, or does not end. */
export function playLeague(league: SimulatedLeague): readonly Step[] {
  const state: State = { random: createRandom(league.seed), players: [], rounds: SharedList.of() };
  for (let number = 0; number < league.playerCount; number++) enter(state);
  const steps: Step[] = [];
  for (let calls = 0; calls < MAX_STEPS; calls++) {
    const view = viewOf(state, league);
    const slots = Math.max(0, league.slots - state.rounds.flatMap(openMatchesOf).length);
    const next = league.format.next(view, slots, league.options);
    steps.push({ view, slots, next });
    if (next === "completed") return steps;
    if (next !== "wait") for (const round of next.rounds) addRound(state, round);
    const playable = playableMatches(state, league.format);
    if (playable.length === 0) throw new Error(`${league.format.id} waits although no match is open`);
    const match = state.random.pick(playable);
    complete(state, match, outcomeOf(match, state, league));
    disturb(state, league.disturbances);
  }
  throw new Error(`${league.format.id} has not ended after ${MAX_STEPS} steps`);
}

function enter({ players, rounds }: State): void {
  players.push({
    playerId: `P${String(players.length + 1).padStart(3, "0")}`,
    enteredAfter: rounds.length,
    hasLeft: false,
  });
}

function addRound(state: State, { pairings, byes }: NewRound): void {
  const roundId = state.rounds.length + 1;
  const matches = pairings.map((players, index) => ({ matchId: `R${roundId}M${index + 1}`, players, outcome: null }));
  state.rounds = state.rounds.append({ roundId, matches, byes });
}

const viewOf = ({ players, rounds }: State, { seed, roleCount }: SimulatedLeague): LeagueView => ({
  seed,
  roleCount,
  players: [...players],
  rounds,
});

const openMatchesOf = ({ matches }: FormatRound): readonly FormatMatch[] =>
  matches.filter(({ outcome }) => outcome === null);

/** The open matches of the opened rounds. */
function playableMatches({ rounds }: State, { opensRounds }: Format): readonly FormatMatch[] {
  const open = rounds.map(openMatchesOf).filter((matches) => matches.length > 0);
  return opensRounds === "at_once" ? open.flat() : (open[0] ?? []);
}

function complete(state: State, match: FormatMatch, outcome: Outcome): void {
  const index = [...state.rounds].findIndex(({ matches }) => matches.includes(match));
  const round = state.rounds.at(index) as FormatRound;
  const matches = round.matches.map((one) => (one === match ? { ...one, outcome } : one));
  state.rounds = state.rounds.with(index, { ...round, matches });
}

const ABORTED: Outcome = { points: [], scores: [], termination: "aborted" };

/** The outcome of a match. Players that have left forfeit it. */
function outcomeOf({ players }: FormatMatch, state: State, { disturbances, play }: SimulatedLeague): Outcome {
  const { random } = state;
  const hasLeft = (id: string): boolean => state.players.find(({ playerId }) => playerId === id)?.hasLeft ?? false;
  const forfeited = (atFault: (player: string) => boolean): Outcome => ({
    points: players.map((player) => (atFault(player) ? 0 : 3)),
    scores: players.map(() => 0),
    termination: "forfeit",
  });
  if (players.some(hasLeft)) return forfeited(hasLeft);
  if (random.next() < (disturbances.abort ?? 0)) return ABORTED;
  if (random.next() < (disturbances.doubleForfeit ?? 0)) return forfeited(() => true);
  if (random.next() < (disturbances.forfeit ?? 0)) {
    const loser = random.pick(players);
    return forfeited((player) => player === loser);
  }
  const points = play?.(players, random) ?? randomPoints(players, random);
  return { points, scores: points, termination: "normal" };
}

function randomPoints(players: readonly string[], random: Random): readonly number[] {
  const winner = random.int(0, players.length);
  return players.map((_, seat) => (winner === players.length ? 1 : seat === winner ? 3 : 0));
}

/** Lets a player leave or enter, or annuls a completed match of the last round, each with its probability. */
function disturb(state: State, { leave = 0, lateEntry = 0, annul = 0 }: Disturbances): void {
  const { random, players, rounds } = state;
  const active = players.filter(({ hasLeft }) => !hasLeft);
  if (random.next() < leave && active.length > 0) {
    const player = random.pick(active);
    players[players.indexOf(player)] = { ...player, hasLeft: true };
  }
  const late = players.filter(({ enteredAfter }) => enteredAfter > 0).length;
  if (random.next() < lateEntry && late < MAX_LATE_ENTRIES) enter(state);
  const completed = rounds.at(-1)?.matches.filter(({ outcome }) => outcome !== null) ?? [];
  if (random.next() < annul && completed.length > 0) complete(state, random.pick(completed), ABORTED);
}
