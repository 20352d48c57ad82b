import type { LeagueEvent } from "../../../league-manager/league/events.ts";
import type { Plan } from "../plan.ts";
import type { CheckedEnvelope } from "./envelopes.ts";
import { type Fault, faultsOf } from "./rules.ts";

type Completed = Extract<LeagueEvent, { type: "match_completed" }>;

/** The standings in a message to a player. */
interface Update {
  readonly roundId: number;
  readonly rows: readonly { readonly player_id: string; readonly points: number }[];
}

/** Checks pairings, rounds, points and standings of a league independently of the production code. */
interface Course {
  onRequest(request: CheckedEnvelope): void;
  /** Returns the faults in the events of a completed league and in the standings that were sent. */
  faults(events: readonly LeagueEvent[]): readonly Fault[];
}

export function createCourse(plan: Plan): Course {
  const updates: Update[] = [];
  return {
    onRequest({ type, payload }) {
      if (type !== "LEAGUE_STANDINGS_UPDATE") return;
      updates.push({ roundId: Number(payload.round_id), rows: payload.standings as Update["rows"] });
    },
    faults: (events) => [
      ...faultsOf("schedule", faultsOfRounds(plan, events)),
      ...faultsOf("standings", faultsOfPoints(events)),
      ...faultsOf(
        "standings",
        updates.flatMap((update) => faultsOfStandings(plan, update, events)),
      ),
    ],
  };
}

/**
 * Checks that each round is opened after the earlier ones are completed, and that in a round robin every pair of players that have entered plays. `verify`
 * checks the pairings of other formats by asking the format again.
 */
function faultsOfRounds(plan: Plan, events: readonly LeagueEvent[]): readonly string[] {
  const { format } = plan;
  const waits = waitsForPlayers(plan);
  const faults: string[] = [];
  const open = new Set<string>();
  const pairs = new Set<string>();
  const entered = new Set<string>();
  const departed = new Set<string>();
  const latecomers = new Set<string>();
  const scheduled = new Set<string>();
  let isRunning = false;
  for (const event of events) {
    if (event.type === "started") {
      isRunning = true;
      const count = plan.players.length;
      if (waits && entered.size < count) faults.push(`the league has started with ${entered.size} of ${count} players`);
    } else if (event.type === "player_entered") {
      entered.add(event.player_id);
      if (isRunning) latecomers.add(event.player_id);
    } else if (event.type === "match_scheduled") {
      open.add(event.match_id);
      scheduled.add([...event.players].sort().join());
    } else if (event.type === "round_paired") {
      for (const { match_id, players: pair } of event.pairings) {
        open.add(match_id);
        pairs.add([...pair].sort().join());
        if (format && pair.some((id) => departed.has(id))) faults.push(`${match_id} has a player that has left`);
      }
    } else if (event.type === "player_left") {
      if (isRunning) departed.add(event.player_id);
      else entered.delete(event.player_id);
    } else if (event.type === "round_opened") {
      const earlier = [...open].find((matchId) => roundOf(matchId) < event.round_id);
      if (earlier) faults.push(`round ${event.round_id} was opened before ${earlier} was completed`);
    } else if (ENDS.has(event.type) && "match_id" in event) {
      open.delete(event.match_id);
    }
  }
  if (open.size > 0) faults.push(`${[...open].join()} not completed`);
  if (!format) {
    // The matches of a player that comes late are paired later. Players that have left, and pairs that an operator has added, are not paired then. After
    // an operator has ended the league, nobody is paired any more.
    const isExcused = (pair: Pair): boolean =>
      pair.some((id) => latecomers.has(id)) && (pair.some((id) => departed.has(id)) || scheduled.has(pair.join()));
    const all = pairsOf([...entered]);
    const isEnded = events.some((event) => event.type === "pairing_completed" && event.by === "operator");
    const missing = all.find((pair) => !pairs.has(pair.join()) && !isExcused(pair));
    if (missing && !isEnded) faults.push(`${missing.join()} do not play`);
    const keys = new Set(all.map(String));
    const added = [...pairs].find((pair) => !keys.has(pair));
    if (added !== undefined) faults.push(`${added} play, and have not both entered`);
  }
  return faults;
}

/** Whether the league of a plan starts only when all its players have entered. */
const waitsForPlayers = ({ lateMs, calls = [], added, former, startsAtMs, isSecondLeague }: Plan): boolean =>
  !lateMs?.some((ms) => ms > 0) &&
  !calls.some(({ tool }) => tool === "start_league" || tool === "add_player") &&
  [added, former, startsAtMs, isSecondLeague].every((part) => part === undefined);

/** The events after which a match is not played any more. */
const ENDS: ReadonlySet<string> = new Set(["match_completed", "match_aborted", "match_cancelled", "match_annulled"]);

type Pair = readonly [string, string];

const pairsOf = (ids: readonly string[]): readonly Pair[] => {
  const sorted = ids.toSorted();
  return sorted.flatMap((one, n) => sorted.slice(n + 1).map((other): Pair => [one, other]));
};

const roundOf = (matchId: string): number => Number(/^R(\d+)M/.exec(matchId)?.[1]);

const faultsOfPoints = (events: readonly LeagueEvent[]): readonly string[] =>
  events.flatMap((event) =>
    event.type === "match_completed" && !hasRightPoints(event) ? [`${event.match_id} has wrong points`] : [],
  );

/** Returns true if the winner has 3 points, each player of a draw has 1 point, and all other players have 0. */
const hasRightPoints = ({ winner, match_points, termination }: Completed): boolean =>
  Object.entries(match_points).every(
    ([id, points]) => points === (winner !== null ? (id === winner ? 3 : 0) : termination === "normal" ? 1 : 0),
  );

/**
 * Checks that the points in the standings after a round are the sums of the points of the matches, and of the byes of a Swiss, up to this round. The
 * standings lack the matches that were annulled before the last of these matches was over, and may lack those that were annulled later.
 */
function faultsOfStandings(plan: Plan, { roundId, rows }: Update, events: readonly LeagueEvent[]): readonly string[] {
  const ofRounds = events.filter((event) => "match_id" in event && roundOf(event.match_id) <= roundId);
  const annulled = ofRounds.filter((event) => event.type === "match_annulled");
  const last = ofRounds.findLastIndex(({ type }) => ENDS.has(type) && type !== "match_annulled");
  const first = ofRounds.slice(0, last).filter((event) => event.type === "match_annulled").length;
  let faults: readonly string[] = [];
  for (let count = annulled.length; count >= first; count--) {
    const sums = pointsAfter(plan, roundId, events, new Set(annulled.slice(0, count).map(({ match_id }) => match_id)));
    const wrong = rows.filter(({ player_id, points }) => points !== (sums.get(player_id) ?? 0));
    if (wrong.length === 0) return [];
    faults = wrong.map(
      ({ player_id, points }) =>
        `${player_id} has ${points} points after round ${roundId}, not ${sums.get(player_id) ?? 0}`,
    );
  }
  return faults;
}

/** Checks that the points in the final standings, as the manager shows them, are the sums of the points of all matches that are not annulled. */
export function faultsOfFinalStandings(plan: Plan, shown: unknown, events: readonly LeagueEvent[]): readonly Fault[] {
  const { standings: rows } = (shown ?? { standings: [] }) as { readonly standings: Update["rows"] };
  const annulled = events.flatMap((event) => (event.type === "match_annulled" ? [event.match_id] : []));
  const sums = pointsAfter(plan, Number.POSITIVE_INFINITY, events, new Set(annulled));
  return faultsOf(
    "operators",
    rows
      .filter(({ player_id, points }) => points !== (sums.get(player_id) ?? 0))
      .map(
        ({ player_id, points }) => `the standings show ${points} points of ${player_id}, not ${sums.get(player_id)}`,
      ),
  );
}

/** The points of the players after a round, without those of annulled matches. */
function pointsAfter(
  { format }: Plan,
  roundId: number,
  events: readonly LeagueEvent[],
  annulled: ReadonlySet<string>,
): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const event of events) {
    if (event.type === "round_paired" && event.round_id <= roundId && format?.id === "swiss") {
      for (const id of event.byes) sums.set(id, (sums.get(id) ?? 0) + 3);
    }
    if (event.type !== "match_completed" || roundOf(event.match_id) > roundId || annulled.has(event.match_id)) continue;
    for (const [id, points] of Object.entries(event.match_points)) sums.set(id, (sums.get(id) ?? 0) + points);
  }
  return sums;
}
