import type { LeagueEvent } from "../../../league-manager/league/events.ts";
import type { Plan } from "../plan.ts";
import type { LogEntry } from "./log.ts";
import type { CheckedEnvelope } from "./messages.ts";
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

/** Checks which announcements the players receive, by the entries and the rounds of their leagues. */
interface Announcements {
  /** A request of a manager or a referee that has arrived. */
  onRequest(to: string, request: CheckedEnvelope): void;
  /** `names` are the display names of the players, by id. */
  faults(log: readonly LogEntry[], names: ReadonlyMap<string, string>): readonly Fault[];
}

interface Received {
  readonly to: string;
  readonly type: string;
  readonly leagueId: string;
  readonly roundId: number;
}

const ANNOUNCEMENTS: ReadonlySet<string> = new Set([
  "ROUND_ANNOUNCEMENT",
  "ROUND_START",
  "ROUND_END",
  "LEAGUE_STANDINGS_UPDATE",
]);

export function createAnnouncements(plan: Plan): Announcements {
  const received: Received[] = [];
  const started = new Set<string>();
  const early = new Set<string>();
  return {
    onRequest(to, { type, payload }) {
      const leagueId = String(payload.league_id);
      const roundId = Number(payload.round_id);
      if (ANNOUNCEMENTS.has(type)) received.push({ to, type, leagueId, roundId });
      const key = `${to} ${leagueId} ${roundId}`;
      if (type === "ROUND_START") started.add(key);
      if (type === "GAME_INVITE" && !started.has(key) && answersAtOnce(plan, to))
        early.add(`${to} was invited to ${payload.match_id} before it had received the start of its round`);
    },
    faults: (log, names) =>
      faultsOf("schedule", new Set([...early, ...received.flatMap((one) => faultOf(one, log, names))])),
  };
}

/** Whether a player answers the start of a round in less than 250 ms, after which it would be invited anyway. */
const answersAtOnce = ({ managers, disturbances, calls, former, added, visitor, ...plan }: Plan, to: string): boolean =>
  /^player \d+$/.test(to) &&
  managers === 1 &&
  disturbances.length === 0 &&
  [calls, former, added, visitor, plan.contacts, plan.lateMs, plan.isSecondLeague].every((part) => part === undefined);

/** Returns a fault if a player has not entered the league of an announcement, or if the end of a round is that of one that was not opened. */
function faultOf(
  { to, type, leagueId, roundId }: Received,
  log: readonly LogEntry[],
  names: ReadonlyMap<string, string>,
): readonly string[] {
  const events = log.flatMap(({ stream, event }) => (stream === `league:${leagueId}` ? [event as LeagueEvent] : []));
  const faults: string[] = [];
  const hasEntered = (machine: string): boolean =>
    events.some(
      (event) =>
        event.type === "player_entered" && names.get(event.player_id)?.slice(1) === machine.slice("player ".length),
    );
  if (/^player \d+$/.test(to) && !hasEntered(to))
    faults.push(`${to} has received ${type} of the league ${leagueId}, which it has not entered`);
  const opened = events.flatMap((event) => (event.type === "round_opened" ? [event.round_id] : []));
  // Rounds that are opened as soon as they are paired have no event.
  if (type === "ROUND_END" && opened.length > 0 && roundId > Math.max(...opened))
    faults.push(`${to} has received the end of round ${roundId} of ${leagueId}, which was not opened`);
  return faults;
}

/** Checks that no referee has more matches than its capacity. A match that was taken from it counts until the referee has acknowledged this. */
export function faultsOfCapacity({ capacity }: Plan, events: readonly LeagueEvent[]): readonly Fault[] {
  if (capacity === undefined) return [];
  /** The matches of each referee, with their epochs. */
  const matches = new Map<string, Set<string>>();
  const assigned = new Map<string, string>();
  const faults: string[] = [];
  const remove = (refereeId: string | undefined, match: string): void =>
    void matches.get(refereeId ?? "")?.delete(match);
  for (const event of events) {
    if (!("match_id" in event) || !("epoch" in event)) continue;
    const match = `${event.match_id}, epoch ${event.epoch}`;
    if (event.type === "match_assigned") {
      const { referee_id } = event;
      const ofReferee = matches.get(referee_id) ?? new Set();
      matches.set(referee_id, ofReferee.add(match));
      assigned.set(match, referee_id);
      if (ofReferee.size > capacity) faults.push(`${referee_id} has ${ofReferee.size} matches with ${match}`);
    } else if (event.type === "withdrawal_settled") remove(event.referee_id, match);
    else if (isReported(event)) remove(assigned.get(match), match);
  }
  return faultsOf("capacity", faults);
}

/** Whether the referee of a match has reported its end, so that it does not play the match any longer. */
const isReported = (event: LeagueEvent): boolean =>
  event.type === "match_completed" ||
  (event.type === "match_released" && event.reason === "aborted") ||
  (event.type === "match_aborted" && event.referee_id !== null);
