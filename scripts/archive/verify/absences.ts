import type { Agent } from "../../../league-manager/agents/registered-agent.ts";
import type { LeagueEvent } from "../../../league-manager/league/events.ts";
import { hasTimedOut } from "../../../league-manager/league/outcome.ts";
import type { AgentLog, LeagueLog } from "./league-logs.ts";
import type { Findings, Source } from "./source.ts";

/**
 * Checks that the log of each absent player contains the cause of its absence. A player is shut down by the operator or by three timeouts in a row, and
 * is then absent from all later rounds of its league. Each timeout must be a completed match with this fault. The log of a league may name the
 * operator as the cause only if the log of the player does; logs of earlier versions do not name the operator.
 */
export function checkAbsences(source: Source, agents: ReadonlyMap<string, AgentLog>, logs: readonly LeagueLog[]): void {
  for (const log of logs) {
    for (const event of log.events) {
      if (event.type === "round_opened") checkCauses(source, agents, log, event);
      if (event.type === "player_left") checkDeparture(source, agents, log, event);
    }
  }
  checkTimeouts(source, agents, logs);
}

function checkCauses(
  { findings }: Source,
  agents: ReadonlyMap<string, AgentLog>,
  { file, league }: LeagueLog,
  { absent, round_id }: Extract<LeagueEvent, { type: "round_opened" }>,
): void {
  for (const { player_id, agent_version, removed } of absent) {
    const text = `${player_id} is absent from round ${round_id} of ${league?.leagueId}`;
    const cause = agents.get(player_id)?.steps[agent_version - 1]?.cause;
    if (cause?.type === "dismissed") findings.except(file, `${text}: it has left`);
    else if (cause?.type === "removed") findings.except(file, `${text}: the operator removed it`);
    else if (cause?.type !== "timed_out")
      findings.blame(file, `${text}, but neither timeouts nor the operator had shut it down`);
    else if (removed) findings.blame(file, `${text}: timeouts shut it down, and the operator did not remove it`);
  }
}

/** A player that leaves after the start is paired no more, so its own log must contain the cause. */
function checkDeparture(
  { findings }: Source,
  agents: ReadonlyMap<string, AgentLog>,
  { file, league }: LeagueLog,
  { player_id, agent_version }: Extract<LeagueEvent, { type: "player_left" }>,
): void {
  if (agent_version === undefined) return;
  const text = `${player_id} leaves ${league?.leagueId} after its start`;
  const cause = agents.get(player_id)?.steps[agent_version - 1]?.cause;
  if (cause?.type === "removed") findings.except(file, `${text}: the operator removed it`);
  else if (cause?.type === "dismissed") findings.except(file, `${text} at its own request`);
  else if (cause?.type !== "timed_out")
    findings.blame(file, `${text}, but neither timeouts nor the operator had shut it down`);
}

type EventOf<T extends LeagueEvent["type"]> = Extract<LeagueEvent, { type: T }>;

/**
 * Compares the logs of players with those of their leagues. The events `timed_out` and `answered` must correspond to completed matches, in the same
 * order, and a player that is shut down must be absent from every round that is opened later.
 */
function checkTimeouts({ findings }: Source, agents: ReadonlyMap<string, AgentLog>, logs: readonly LeagueLog[]): void {
  const matchEvents = new Map([...agents].map(([id, log]) => [id, new MatchEvents(log, findings)] as const));
  const agentEvents = [...agents.values()].map(({ steps }) => steps.map(({ event }) => event));
  const areTimesOrdered = [...logs.map(({ events }) => events), ...agentEvents].every(isOrderedByTime);
  for (const log of logs) {
    if (log.league) followLeague(log, log.league.leagueId, matchEvents, areTimesOrdered, findings);
  }
  for (const events of matchEvents.values()) events.blameUnexplained();
}

/** Whether no event has an earlier time than the event before it. False if the clock of the machine was set back: times then do not show the order. */
const isOrderedByTime = (events: readonly { readonly at: string }[]): boolean =>
  events.every(({ at }, index) => index === 0 || at >= (events[index - 1]?.at ?? ""));

/** Compares the log of one league with the logs of its players. */
function followLeague(
  { file, events }: LeagueLog,
  leagueId: string,
  matchEvents: ReadonlyMap<string, MatchEvents>,
  areTimesOrdered: boolean,
  findings: Findings,
): void {
  const positions = new Map<string, LogPosition>();
  const playersByRound = new Map<number, Set<string>>();
  const startedAt = events.find(({ type }) => type === "started")?.at ?? "";
  const entries = lateEntriesIn(events);
  const firstAbsences = firstAbsencesIn(events);
  const positionOf = (playerId: string): LogPosition | null => {
    const ofPlayer = matchEvents.get(playerId);
    if (!ofPlayer || ofPlayer.steps.length === 0) return null;
    const position =
      positions.get(playerId) ??
      new LogPosition(ofPlayer, {
        leagueId,
        enteredAt: entries.get(playerId) ?? startedAt,
        areTimesOrdered,
        absentAt: firstAbsences.get(playerId) ?? null,
      });
    positions.set(playerId, position);
    return position;
  };
  const addPlayers = (roundId: number, players: readonly string[]): void => {
    const inRound = playersByRound.get(roundId) ?? new Set();
    playersByRound.set(roundId, inRound);
    for (const playerId of players) inRound.add(playerId);
  };
  for (const event of events) {
    if (event.type === "round_paired") for (const { players } of event.pairings) addPlayers(event.round_id, players);
    if (event.type === "match_scheduled") addPlayers(event.round_id, event.players);
    if (event.type === "match_completed" && event.referee_id !== null)
      for (const playerId of Object.keys(event.match_points)) positionOf(playerId)?.passCompletedMatch(playerId, event);
    if (event.type !== "round_opened") continue;
    const absent = new Map(event.absent.map(({ player_id, agent_version }) => [player_id, agent_version]));
    for (const playerId of playersByRound.get(event.round_id) ?? []) {
      const fault = positionOf(playerId)?.passOpenedRound(event.at, absent.get(playerId) ?? null) ?? null;
      if (fault !== null) findings.blame(file, `${playerId} ${fault} round ${event.round_id} of ${leagueId}`);
    }
  }
}

/** Returns the time of the entry of each player that entered after the start, by player id. */
function lateEntriesIn(events: readonly LeagueEvent[]): ReadonlyMap<string, string> {
  const late = events.filter((event) => event.type === "player_entered" && event.entered_after !== undefined);
  return new Map(late.map((event) => [(event as EventOf<"player_entered">).player_id, event.at]));
}

/** Returns the version of each player's log at the player's first absence, by player id. */
function firstAbsencesIn(events: readonly LeagueEvent[]): ReadonlyMap<string, number> {
  const first = new Map<string, number>();
  for (const event of events) {
    if (event.type !== "round_opened") continue;
    for (const { player_id, agent_version } of event.absent)
      if (!first.has(player_id)) first.set(player_id, agent_version);
  }
  return first;
}

interface MatchKey {
  readonly league_id: string;
  readonly match_id: string;
  readonly epoch: number;
}
const nameOf = ({ league_id, match_id, epoch }: MatchKey): string => `${league_id}/${match_id} under epoch ${epoch}`;

/** The `timed_out` and `answered` events of a player's log. */
class MatchEvents {
  readonly steps: AgentLog["steps"];
  /** The version after the event of each match, by the name of the match and its epoch. */
  readonly versions = new Map<string, number>();
  readonly #file: string;
  readonly #findings: Findings;
  readonly #explained = new Set<number>();

  constructor({ file, steps }: AgentLog, findings: Findings) {
    this.#file = file;
    this.#findings = findings;
    this.steps = steps;
    for (const [index, { event }] of steps.entries()) {
      if (event.type !== "timed_out" && event.type !== "answered") continue;
      const name = nameOf(event);
      if (this.versions.has(name)) this.blame(`event ${index}: ${name} is counted twice`);
      else this.versions.set(name, index + 1);
    }
  }

  blame(message: string): void {
    this.#findings.blame(this.#file, message);
  }

  /** Marks the event that led to a version as explained by a completed match. */
  explain(version: number): void {
    this.#explained.add(version);
  }

  /** Blames the events that do not correspond to a completed match. */
  blameUnexplained(): void {
    for (const [name, version] of this.versions) {
      if (this.#explained.has(version)) continue;
      const isTimeout = this.steps[version - 1]?.event.type === "timed_out";
      this.blame(`${name} is not a match that it ${isTimeout ? "lost because it did not answer" : "finished"}`);
    }
  }
}

interface PositionOptions {
  readonly leagueId: string;
  /** The time of the league's start, or of the player's entry after it. */
  readonly enteredAt: string;
  readonly areTimesOrdered: boolean;
  /** The version of the log at the player's first absence from a round of the league; null if the player is never absent. */
  readonly absentAt: number | null;
}

/**
 * The position in a player's log while the log of one league is read: the lowest version that is consistent with the events so far. A player is not
 * registered again, renewed or dismissed while its league runs, so the events of the league lie between two such events.
 */
class LogPosition {
  readonly #matchEvents: MatchEvents;
  readonly #leagueId: string;
  readonly #areTimesOrdered: boolean;
  readonly #lastVersion: number;
  #version: number;

  constructor(matchEvents: MatchEvents, { leagueId, enteredAt, areTimesOrdered, absentAt }: PositionOptions) {
    this.#matchEvents = matchEvents;
    this.#leagueId = leagueId;
    this.#areTimesOrdered = areTimesOrdered;
    const { steps } = matchEvents;
    const ofLeague = steps.findIndex(({ event }) => "league_id" in event && event.league_id === leagueId);
    const duringLeague =
      ofLeague >= 0 ? ofLeague : (absentAt ?? steps.findLastIndex(({ event }) => event.at <= enteredAt) + 1) - 1;
    const isBeginning = (step: AgentLog["steps"][number]): boolean =>
      step.event.type === "registered" || step.event.type === "renewed";
    const first = steps.slice(0, duringLeague + 1).findLastIndex(isBeginning);
    const isEnd = (step: AgentLog["steps"][number]): boolean => isBeginning(step) || step.event.type === "dismissed";
    const next = steps.findIndex((step, index) => index > Math.max(first, 0) && isEnd(step));
    this.#version = Math.max(first, 0) + 1;
    this.#lastVersion = next < 0 ? steps.length : next;
  }

  /** Advances past a completed match of the player. Blames the player's log if it does not record the match correctly. */
  passCompletedMatch(playerId: string, event: EventOf<"match_completed">): void {
    const matchEvents = this.#matchEvents;
    const name = nameOf({ ...event, league_id: this.#leagueId });
    const isTimeout = hasTimedOut(event.faults, playerId);
    const version = matchEvents.versions.get(name);
    if (version === undefined) {
      const needsNoEvent = ({ state, fails }: Agent): boolean => state === "SHUTDOWN" || (!isTimeout && fails === 0);
      if (this.#advance(event.at, needsNoEvent)) return;
      matchEvents.blame(`${name}, which it ${isTimeout ? "lost because it did not answer" : "finished"}, is missing`);
      return;
    }
    const recorded = matchEvents.steps[version - 1]?.event;
    if (recorded?.type !== (isTimeout ? "timed_out" : "answered")) return;
    matchEvents.explain(version);
    if (recorded.at !== event.at) matchEvents.blame(`${name} did not end at ${recorded.at}`);
    if (version <= this.#version || version > this.#lastVersion)
      matchEvents.blame(`${name} is not in the order in which the matches were completed`);
    this.#version = Math.max(this.#version, version);
  }

  /** Advances past the opening of a round with matches of the player. Returns the fault, or null. */
  passOpenedRound(at: string, absentAt: number | null): string | null {
    if (absentAt === null) {
      return this.#advance(at, ({ state }) => state !== "SHUTDOWN") ? null : "is shut down, but not absent from";
    }
    const { steps } = this.#matchEvents;
    if (absentAt > steps.length) return null;
    const isInOrder = absentAt >= this.#version && absentAt <= this.#lastVersion;
    const isInTime =
      this.#isNotAfter(absentAt, at) && (!this.#areTimesOrdered || (steps[absentAt]?.event.at ?? at) >= at);
    this.#version = Math.max(this.#version, absentAt);
    return isInOrder && isInTime ? null : "was not shut down at this version at the opening of";
  }

  /** Advances to the first version at this time that satisfies the predicate. Returns whether such a version exists. */
  #advance(at: string, predicate: (agent: Agent) => boolean): boolean {
    const { steps } = this.#matchEvents;
    for (let version = this.#version; version <= this.#lastVersion && this.#isNotAfter(version, at); version++) {
      const agent = steps[version - 1]?.after;
      const isOver = this.#areTimesOrdered && (steps[version]?.event.at ?? at) < at;
      if (isOver || !agent || !predicate(agent)) continue;
      this.#version = version;
      return true;
    }
    return false;
  }

  /** Whether a version existed at this time; true if the times of the events are not ordered. */
  #isNotAfter(version: number, at: string): boolean {
    return !this.#areTimesOrdered || (this.#matchEvents.steps[version - 1]?.event.at ?? "") <= at;
  }
}
