import type { LeagueEvent } from "../../../league-manager/league/events.ts";
import type { Plan } from "../plan.ts";
import type { Seen } from "./envelopes.ts";

type Completed = Extract<LeagueEvent, { type: "match_completed" }>;

/** Standings as they were sent to a player. */
interface Update {
  readonly roundId: number;
  readonly rows: readonly { readonly player_id: string; readonly points: number }[];
}

/** Checks the course of a league without the production code that decides it. */
export interface Course {
  onRequest(request: Seen): void;
  /** The faults of the events of a league that is over, and of the standings that were sent. */
  faults(events: readonly LeagueEvent[]): readonly string[];
}

export function createCourse({ players }: Plan): Course {
  const updates: Update[] = [];
  return {
    onRequest({ type, payload }) {
      if (type !== "LEAGUE_STANDINGS_UPDATE") return;
      updates.push({ roundId: Number(payload.round_id), rows: payload.standings as Update["rows"] });
    },
    faults: (events) => [
      ...faultsOfRounds(players.length, events),
      ...updates.flatMap((update) => faultsOfStandings(update, events)),
    ],
  };
}

/** Every pair plays once, and a round is opened when the earlier ones are completed. */
function faultsOfRounds(players: number, events: readonly LeagueEvent[]): readonly string[] {
  const faults: string[] = [];
  const open = new Set<string>();
  const pairs = new Set<string>();
  for (const event of events) {
    if (event.type === "round_paired") {
      for (const { match_id, players: pair } of event.pairings) {
        open.add(match_id);
        pairs.add([...pair].sort().join());
      }
    } else if (event.type === "round_opened") {
      const earlier = [...open].find((matchId) => roundOf(matchId) < event.round_id);
      if (earlier) faults.push(`round ${event.round_id} was opened before ${earlier} was completed`);
    } else if (event.type === "match_completed") {
      open.delete(event.match_id);
      if (!hasRightPoints(event)) faults.push(`${event.match_id} has wrong points`);
    }
  }
  if (open.size > 0) faults.push(`${[...open].join()} not completed`);
  if (pairs.size !== (players * (players - 1)) / 2) faults.push(`${pairs.size} pairs of ${players} players play`);
  return faults;
}

const roundOf = (matchId: string): number => Number(/^R(\d+)M/.exec(matchId)?.[1]);

/** 3 points for the winner; a match without a winner is a draw, unless both players have forfeited it. */
const hasRightPoints = ({ winner, match_points, termination }: Completed): boolean =>
  Object.entries(match_points).every(
    ([id, points]) => points === (winner !== null ? (id === winner ? 3 : 0) : termination === "normal" ? 1 : 0),
  );

/** The standings after a round are the sums of the points of the matches up to that round. */
function faultsOfStandings({ roundId, rows }: Update, events: readonly LeagueEvent[]): readonly string[] {
  const sums = new Map<string, number>();
  for (const event of events) {
    if (event.type !== "match_completed" || roundOf(event.match_id) > roundId) continue;
    for (const [id, points] of Object.entries(event.match_points)) sums.set(id, (sums.get(id) ?? 0) + points);
  }
  return rows
    .filter(({ player_id, points }) => points !== (sums.get(player_id) ?? 0))
    .map(
      ({ player_id, points }) => `${player_id} has ${points} points after round ${roundId}, not ${sums.get(player_id)}`,
    );
}
