import { SharedList } from "#shared/lib/list.ts";
import type { ReleaseReason } from "./events.ts";
import { occupiedBy } from "./evolve.ts";
import { type League, type Match, matchIdOf, type Outcome, type Round } from "./league.ts";
import { sharedOutcome } from "./outcome.ts";

/**
 * The format version of snapshots. Increase it with every change of the serialized fields of `League` or of this file. A snapshot of another format is ignored, and the
 * league is folded from its log.
 */
const FORMAT = 8;

/** A serialized league: one text for its fields and one for each round, so that no text grows with the number of rounds. */
export interface LeagueSnapshot {
  readonly head: string;
  /** The texts of rounds by round id. */
  readonly rounds: ReadonlyMap<number, string>;
}

/** Serializes a league. `written` is the league of the previous snapshot: rounds that are the same objects in it are omitted. */
export function leagueSnapshot(league: League, written: League | null = null): LeagueSnapshot {
  const { entrants, rounds, occupied: _, ...fields } = league;
  const head: Head = { format: FORMAT, fields, entrants: [...entrants], rounds: rounds.length };
  const seats = new Map([...entrants.keys()].map((playerId, index) => [playerId, index]));
  const changed = [...rounds.differences(written?.rounds ?? SharedList.of())].flatMap(
    (index) => rounds.at(index) ?? [],
  );
  return {
    head: JSON.stringify(head),
    rounds: new Map(changed.map((round) => [round.roundId, JSON.stringify(roundDocument(round, seats))])),
  };
}

/** Returns the league of a snapshot with all its rounds, or null if it is damaged or of another format. */
export function restoreLeague({ head, rounds: texts }: LeagueSnapshot): League | null {
  try {
    const { format, fields, entrants, rounds }: Head = JSON.parse(head);
    if (format !== FORMAT) return null;
    const players = entrants.map(([playerId]) => playerId);
    const restored = SharedList.of(
      Array.from({ length: rounds }, (_, index) => restoredRound(texts.get(index + 1), index + 1, players)),
    );
    const occupied = occupiedBy({ rounds: restored, withdrawals: fields.withdrawals });
    return { ...fields, entrants: new Map(entrants), rounds: restored, occupied };
  } catch {
    return null;
  }
}

interface Head {
  readonly format: number;
  readonly fields: Omit<League, "entrants" | "rounds" | "occupied">;
  readonly entrants: readonly (readonly [playerId: string, nameCommitment: string])[];
  /** The number of rounds. */
  readonly rounds: number;
}

/** A serialized round. Players are indexes in the order of entry. Referees and outcomes are indexes into the two lists, which begin with null for none. */
interface RoundDocument {
  readonly label: string | null;
  readonly isOpened: boolean;
  readonly isAnnounced: boolean;
  readonly openedAt: string | null;
  readonly isExpired: boolean;
  readonly byes: readonly number[];
  readonly matches: readonly MatchRow[];
  readonly referees: readonly (string | null)[];
  readonly outcomes: readonly (Outcome | null)[];
  /** The options of the matches that have options, by the index of the match. */
  readonly options: Readonly<Record<number, Match["options"]>>;
}

/** A match. The row of a match in its first epoch without a referee has only the players. */
type MatchRow =
  | readonly number[]
  | readonly [
      players: readonly number[],
      epoch: number,
      aborts: number,
      referee: number,
      assignedAt: string | null,
      outcome: number,
      logHead: string | null,
      release: readonly [reason: ReleaseReason, referee: number] | null,
    ];

function roundDocument(
  { label, isOpened, isAnnounced, openedAt, isExpired, byes, matches }: Round,
  seats: ReadonlyMap<string, number>,
): RoundDocument {
  const referees = numbering<string>();
  const outcomes = numbering<Outcome>();
  const seat = (playerId: string): number => seats.get(playerId) as number;
  const rowOf = (match: Match): MatchRow => {
    const { players, epoch, aborts, refereeId, assignedAt, outcome, logHead, lastRelease } = match;
    if (epoch === 1 && refereeId === null && outcome === null) return players.map(seat);
    const [referee, outcomeNumber] = [referees.numberOf(refereeId), outcomes.numberOf(outcome)];
    const release = lastRelease && ([lastRelease.reason, referees.numberOf(lastRelease.refereeId)] as const);
    return [players.map(seat), epoch, aborts, referee, assignedAt, outcomeNumber, logHead, release];
  };
  const rows = matches.map(rowOf);
  const options = matches.flatMap((match, index) => (match.options ? [[index, match.options] as const] : []));
  return {
    label,
    isOpened,
    isAnnounced,
    openedAt,
    isExpired,
    byes: byes.map(seat),
    matches: rows,
    referees: referees.all(),
    outcomes: outcomes.all(),
    options: Object.fromEntries(options),
  };
}

/** Numbers values in the order of their first use. Null has the number 0. */
function numbering<T>() {
  const numbers = new Map<T | null, number>([[null, 0]]);
  return {
    all: (): readonly (T | null)[] => [...numbers.keys()],
    numberOf(value: T | null): number {
      const number = numbers.get(value) ?? numbers.size;
      numbers.set(value, number);
      return number;
    },
  };
}

function restoredRound(text: string | undefined, roundId: number, players: readonly string[]): Round {
  const { label, byes, options, ...document }: RoundDocument = JSON.parse(text ?? "");
  const { referees, isOpened, isAnnounced, openedAt, isExpired } = document;
  const outcomes = document.outcomes.map((outcome) => outcome && sharedOutcome(outcome));
  const matches = document.matches.map((row, index): Match => {
    const [seats, epoch, aborts, referee, assignedAt, outcomeNumber, logHead, release] = isPlain(row)
      ? unassigned(row)
      : row;
    const outcome = entryAt(outcomes, outcomeNumber);
    return {
      matchId: matchIdOf(roundId, index),
      roundId,
      players: seats.map((seat) => entryAt(players, seat)),
      options: options[index] ?? null,
      status: outcome ? "completed" : assignedAt === null ? "scheduled" : "assigned",
      epoch,
      refereeId: entryAt(referees, referee),
      assignedAt,
      aborts,
      lastRelease: release && { reason: release[0], refereeId: entryAt(referees, release[1]) as string },
      outcome,
      logHead,
    };
  });
  const open = matches.reduce((count, { status }) => count + (status === "completed" ? 0 : 1), 0);
  const byePlayers = byes.map((seat) => entryAt(players, seat));
  const state = { open, isOpened, isAnnounced, openedAt, isExpired };
  return { roundId, label, matches, byes: byePlayers, ...state };
}

const isPlain = (row: MatchRow): row is readonly number[] => typeof row[0] === "number";
const unassigned = (players: readonly number[]) => [players, 1, 0, 0, null, 0, null, null] as const;

/** Returns an entry of a table. Throws a RangeError if the table has no such entry. */
function entryAt<T>(table: readonly T[], index: number): T {
  const entry = table[index];
  if (entry === undefined) throw new RangeError(`a snapshot names entry ${index} of ${table.length}`);
  return entry;
}
