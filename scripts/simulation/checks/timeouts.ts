import type { LeagueEvent } from "../../../league-manager/league/events.ts";
import type { LogEntry } from "./log.ts";
import { type Fault, faultsOf } from "./rules.ts";

/** The number of consecutive matches lost by timeout after which a player is shut down (PROTOCOL.md, section 2). */
const LAST_TIMEOUT = 3;

/** The state of a player that follows from its matches. */
interface Counted {
  timeouts: number;
  isOut: boolean;
  /** The events about timeouts that the stream of the player must have. */
  readonly expected: string[];
}

/** The events of the stream of an agent, by the id of the agent. */
export type AgentStreams = ReadonlyMap<
  string,
  readonly { readonly type: string; readonly match_id?: string; readonly league_id?: string }[]
>;

/**
 * Counts the timeouts of each player again, from the completed matches: a timeout counts against the player that has timed out, another match that it has
 * played ends the count, and the third in a row shuts the player down. The streams of the players must have the same timeouts, and only players that are
 * shut down, or that an operator has removed, leave the league.
 */
export function faultsOfTimeouts(events: readonly LeagueEvent[], streams: AgentStreams): readonly Fault[] {
  const players = new Map<string, Counted>();
  const faults: Fault[] = [];
  const counted = (id: string): Counted => {
    const player = players.get(id) ?? { timeouts: 0, isOut: false, expected: [] };
    players.set(id, player);
    return player;
  };
  const isRemoved = (id: string): boolean => streams.get(id)?.some(({ type }) => type === "removed") === true;
  // Timeouts in an earlier league count for a player that enters this one before the earlier one is over.
  const isCountedElsewhere = (id: string): boolean =>
    streams.get(id)?.some(({ type, league_id }) => isCounted(type) && league_id !== "sim") === true;
  const end = events.findIndex(({ type }) => type === "completed");
  for (const event of events.slice(0, end < 0 ? events.length : end)) {
    if (event.type === "player_left") {
      const player = counted(event.player_id);
      if (!player.isOut && !isRemoved(event.player_id) && !isCountedElsewhere(event.player_id))
        faults.push(`timeouts: ${event.player_id} was shut down after ${player.timeouts} timeouts in a row`);
      player.isOut = true;
    }
    // A match without a log was not played.
    if (event.type !== "match_completed" || event.log_head === "") continue;
    for (const id of Object.keys(event.match_points)) {
      const hasTimedOut = event.faults.some(
        ({ player_id, code, cause }) => player_id === id && code === "G002" && cause !== "clock",
      );
      countMatch(counted(id), event.match_id, hasTimedOut);
    }
  }
  for (const [id, { expected, isOut }] of players) {
    const ofPlayer = streams.get(id) ?? [];
    if (isCountedElsewhere(id)) continue;
    const actual = ofPlayer.flatMap(({ type, match_id }) => (isCounted(type) ? [`${type} ${match_id}`] : []));
    if (actual.join() !== expected.join())
      faults.push(`timeouts: ${id} has the events ${actual.join(", ")} instead of ${expected.join(", ")}`);
    const hasLeft = events.some((event) => event.type === "player_left" && event.player_id === id);
    if (isOut && !hasLeft) faults.push(`timeouts: ${id} was not shut down after ${LAST_TIMEOUT} timeouts in a row`);
  }
  return faults;
}

const isCounted = (type: string): boolean => type === "timed_out" || type === "answered";

/** Counts a match of a player. Matches that end after the player was shut down do not count. */
function countMatch(player: Counted, matchId: string, hasTimedOut: boolean): void {
  if (player.isOut) return;
  if (hasTimedOut) player.expected.push(`timed_out ${matchId}`);
  else if (player.timeouts > 0) player.expected.push(`answered ${matchId}`);
  player.timeouts = hasTimedOut ? player.timeouts + 1 : 0;
  player.isOut = player.timeouts >= LAST_TIMEOUT;
}

/** What follows from the events of an agent. */
interface Agent {
  readonly isReferee: boolean;
  hasEntered: boolean;
  isOut: boolean;
  timeouts: number;
}

/**
 * Returns the agents that are still active when the only league of a run has ended, of its players and of all referees. Agents that register or are renewed
 * after the end are left out. Runs with several leagues are not checked.
 */
export function faultsOfDismissals(log: readonly LogEntry[]): readonly Fault[] {
  const isOnlyLeague = log.every(({ stream }) => !stream.startsWith("league:") || stream === "league:sim");
  const end = log.findIndex(({ stream, event }) => stream === "league:sim" && event.type === "completed");
  if (!isOnlyLeague || end < 0) return [];
  const agents = new Map<string, Agent>();
  for (const [index, { stream, event }] of log.entries()) {
    if ("player_id" in event && event.type === "player_entered") {
      const player = agents.get(event.player_id);
      if (player) player.hasEntered = true;
    }
    const id = stream.startsWith("agent:") ? stream.slice("agent:".length) : null;
    if (id === null) continue;
    if (event.type === "forgotten" || (event.type === "renewed" && index > end)) agents.delete(id);
    else if (event.type === "registered" && index < end) {
      const isReferee = "kind" in event && event.kind === "referee";
      agents.set(id, { isReferee, hasEntered: false, isOut: false, timeouts: 0 });
    }
    const agent = agents.get(id);
    if (agent) follow(agent, event.type);
  }
  const active = [...agents].filter(([, { isReferee, hasEntered, isOut }]) => (isReferee || hasEntered) && !isOut);
  return faultsOf(
    "end",
    active.map(([id]) => `${id} was not dismissed at the end of the league`),
  );
}

function follow(agent: Agent, type: string): void {
  if (type === "timed_out") agent.timeouts++;
  if (type === "answered" || type === "renewed") agent.timeouts = 0;
  if (type === "dismissed" || type === "removed" || agent.timeouts >= LAST_TIMEOUT) agent.isOut = true;
  if (type === "renewed") agent.isOut = false;
}
