import type { League, Match, MatchFault, Outcome, Round, Termination } from "./league.ts";
import { NONE, sharedList } from "./outcome.ts";
import { matchIdOf } from "./round-robin.ts";

/**
 * The format of the snapshots of this version. Increase it with every change of `League` or of this file. A snapshot of another format is not
 * read; the league is then folded from its log.
 */
const FORMAT = 1;

/** A league as text. Agents and reasons are written once and named by their index. */
export function leagueSnapshot(league: League): string {
  const { entrants, rounds, ...fields } = league;
  const players = [...entrants.keys()];
  const playerIndex = new Map(players.map((playerId, index) => [playerId, index]));
  const reasons = indexed();
  const referees = indexed();
  const seat = (playerId: string): number => playerIndex.get(playerId) as number;
  const outcomeRow = ({ winner, scores, points, termination, reason, faults, logHead }: Outcome): OutcomeRow => [
    winner === null ? -1 : seat(winner),
    scores,
    points,
    termination,
    reasons.indexOf(reason),
    faults,
    logHead,
  ];
  const matchRow = ({ players, epoch, aborts, refereeId, assignedAt, outcome }: Match): MatchRow => {
    const seats = players.map(seat);
    if (epoch === 1 && refereeId === null && outcome === null) return seats;
    const referee = refereeId === null ? -1 : referees.indexOf(refereeId);
    return [seats, epoch, aborts, referee, outcome ? outcomeRow(outcome) : assignedAt];
  };
  const rows = rounds.map(({ isOpened, isAnnounced, byes, matches }): RoundRow => {
    return [isOpened, isAnnounced, byes.map(seat), matches.map(matchRow)];
  });
  const document: Document = {
    ...{ format: FORMAT, fields, entrants: [...entrants], rounds: rows },
    ...{ referees: referees.all(), reasons: reasons.all() },
  };
  return JSON.stringify(document);
}

/** The league of a snapshot; null when it cannot be read. */
export function restoreLeague(text: string): League | null {
  try {
    const document: Document = JSON.parse(text);
    if (document.format !== FORMAT) return null;
    const { fields, entrants } = document;
    const rounds = document.rounds.map((row, index) => roundOf(document, row, index + 1));
    return { ...fields, entrants: new Map(entrants), rounds };
  } catch {
    return null;
  }
}

interface Document {
  readonly format: number;
  readonly fields: Omit<League, "entrants" | "rounds">;
  readonly entrants: readonly (readonly [playerId: string, nameCommitment: string])[];
  readonly referees: readonly string[];
  readonly reasons: readonly string[];
  readonly rounds: readonly RoundRow[];
}

type RoundRow = readonly [isOpened: boolean, isAnnounced: boolean, byes: readonly number[], rows: readonly MatchRow[]];

/** A match that is scheduled and was never assigned has its players alone. */
type MatchRow =
  | readonly number[]
  | readonly [
      players: readonly number[],
      epoch: number,
      aborts: number,
      referee: number,
      state: string | OutcomeRow | null,
    ];

type OutcomeRow = readonly [
  winner: number,
  scores: readonly number[],
  points: readonly number[],
  termination: Termination,
  reason: number,
  faults: readonly MatchFault[],
  logHead: string,
];

/** Numbers texts in the order of their first use. */
function indexed() {
  const known = new Map<string, number>();
  return {
    all: (): readonly string[] => [...known.keys()],
    indexOf(text: string): number {
      const index = known.get(text) ?? known.size;
      if (index === known.size) known.set(text, index);
      return index;
    },
  };
}

function roundOf(document: Document, [isOpened, isAnnounced, byes, rows]: RoundRow, roundId: number): Round {
  const matches = rows.map((row, index) => restoredMatch(document, row, roundId, index));
  const open = matches.reduce((count, { status }) => count + (status === "completed" ? 0 : 1), 0);
  return { roundId, matches, byes: byes.map((seat) => playerAt(document, seat)), open, isOpened, isAnnounced };
}

const playerAt = ({ entrants }: Document, seat: number): string => entryAt(entrants, seat)[0];

/** The entry of a table; throws when the snapshot has none. */
function entryAt<T>(table: readonly T[], index: number): T {
  const entry = table[index];
  if (entry === undefined) throw new RangeError(`a snapshot names entry ${index} of ${table.length}`);
  return entry;
}

const isPlain = (row: MatchRow): row is readonly number[] => typeof row[0] === "number";

function restoredMatch(document: Document, row: MatchRow, roundId: number, index: number): Match {
  const [seats, epoch, aborts, referee, state] = isPlain(row) ? ([row, 1, 0, -1, null] as const) : row;
  const outcome = Array.isArray(state) ? outcomeOf(document, state as OutcomeRow) : null;
  const isAssigned = typeof state === "string";
  return {
    matchId: matchIdOf(roundId, index),
    roundId,
    players: seats.map((seat) => playerAt(document, seat)),
    status: outcome ? "completed" : isAssigned ? "assigned" : "scheduled",
    epoch,
    refereeId: referee < 0 ? null : entryAt(document.referees, referee),
    assignedAt: isAssigned ? state : null,
    aborts,
    outcome,
  };
}

function outcomeOf(document: Document, row: OutcomeRow): Outcome {
  const [winner, scores, points, termination, reason, faults, logHead] = row;
  return {
    winner: winner < 0 ? null : playerAt(document, winner),
    scores: sharedList(scores),
    points: sharedList(points),
    termination,
    reason: entryAt(document.reasons, reason),
    faults: faults.length === 0 ? NONE : faults,
    logHead,
  };
}
