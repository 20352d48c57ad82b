import type { Agent } from "../../../league-manager/agents/agent.ts";
import type { LeagueEvent } from "../../../league-manager/league/events.ts";
import type { AgentLog } from "./agent-log.ts";
import type { Findings } from "./findings.ts";
import type { LeagueLog } from "./league-log.ts";
import type { Source } from "./source.ts";

type EventOf<T extends LeagueEvent["type"]> = Extract<LeagueEvent, { type: T }>;

/**
 * Compares the logs of players with those of their leagues: `timed_out` and `answered` are the events that the manager had to record when the
 * matches ended, in the same order, and a player that is shut down is absent from every round that is opened after that.
 */
export function checkTimeouts(
  { findings }: Source,
  agents: ReadonlyMap<string, AgentLog>,
  logs: readonly LeagueLog[],
): void {
  const all = [...agents].map(([id, log]) => [id, new Judgements(log, findings)] as const);
  const judgements = new Map(all);
  const agentEvents = [...agents.values()].map(({ steps }) => steps.map(({ event }) => event));
  const isSteady = [...logs.map(({ events }) => events), ...agentEvents].every(neverFalls);
  for (const log of logs) {
    if (log.league) followLeague(log, log.league.leagueId, judgements, isSteady, findings);
  }
  for (const [, judged] of all) judged.blameOthers();
}

/** The machine's clock can be set back. The times of events do not show their order then. */
const neverFalls = (events: readonly { readonly at: string }[]): boolean =>
  events.every(({ at }, index) => index === 0 || at >= (events[index - 1]?.at ?? ""));

function followLeague(
  { file, events }: LeagueLog,
  leagueId: string,
  judgements: ReadonlyMap<string, Judgements>,
  isSteady: boolean,
  findings: Findings,
): void {
  const courses = new Map<string, Course>();
  const playersOf = new Map<number, Set<string>>();
  const startedAt = events.find(({ type }) => type === "started")?.at ?? "";
  const firstAbsences = firstAbsencesIn(events);
  const courseOf = (playerId: string): Course | null => {
    const judged = judgements.get(playerId);
    if (!judged || judged.steps.length === 0) return null;
    const course =
      courses.get(playerId) ??
      new Course(judged, { leagueId, startedAt, isSteady, absentAt: firstAbsences.get(playerId) ?? null });
    courses.set(playerId, course);
    return course;
  };
  const addPlayers = (roundId: number, players: readonly string[]): void => {
    const inRound = playersOf.get(roundId) ?? new Set();
    playersOf.set(roundId, inRound);
    for (const playerId of players) inRound.add(playerId);
  };
  for (const event of events) {
    if (event.type === "round_paired") for (const { players } of event.pairings) addPlayers(event.round_id, players);
    if (event.type === "match_scheduled") addPlayers(event.round_id, event.players);
    if (event.type === "match_completed" && event.referee_id !== null)
      for (const playerId of Object.keys(event.match_points)) courseOf(playerId)?.completed(playerId, event);
    if (event.type !== "round_opened") continue;
    const absent = new Map(event.absent.map(({ player_id, agent_version }) => [player_id, agent_version]));
    for (const playerId of playersOf.get(event.round_id) ?? []) {
      const fault = courseOf(playerId)?.opened(event.at, absent.get(playerId) ?? null) ?? null;
      if (fault !== null) findings.blame(file, `${playerId} ${fault} round ${event.round_id} of ${leagueId}`);
    }
  }
}

/** The version of each player at its first absence. */
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

/** The events of a player's log that are about matches. */
class Judgements {
  readonly steps: AgentLog["steps"];
  /** The version after the event about each match. */
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

  /** Blames the events that no completed match explains. */
  blameOthers(): void {
    for (const [name, version] of this.versions) {
      if (this.#explained.has(version)) continue;
      const isTimeout = this.steps[version - 1]?.event.type === "timed_out";
      this.blame(`${name} is no match that it ${isTimeout ? "lost because it did not answer" : "finished"}`);
    }
  }
}

interface CourseOptions {
  readonly leagueId: string;
  readonly startedAt: string;
  readonly isSteady: boolean;
  /** The version at which the player is first absent from a round of the league; null if it never is. */
  readonly absentAt: number | null;
}

/**
 * How far the log of a player has come while its league is played: the lowest version that the events so far allow. The player is not
 * registered anew, renewed or dismissed while its league runs, so that the league lies between two such events.
 */
class Course {
  readonly #judged: Judgements;
  readonly #leagueId: string;
  readonly #isSteady: boolean;
  readonly #last: number;
  #version: number;

  constructor(judged: Judgements, { leagueId, startedAt, isSteady, absentAt }: CourseOptions) {
    this.#judged = judged;
    this.#leagueId = leagueId;
    this.#isSteady = isSteady;
    const { steps } = judged;
    const own = steps.findIndex(({ event }) => "league_id" in event && event.league_id === leagueId);
    const within = own >= 0 ? own : (absentAt ?? steps.findLastIndex(({ event }) => event.at <= startedAt) + 1) - 1;
    const isBeginning = (step: AgentLog["steps"][number]): boolean =>
      step.event.type === "registered" || step.event.type === "renewed";
    const first = steps.slice(0, within + 1).findLastIndex(isBeginning);
    const isEnd = (step: AgentLog["steps"][number]): boolean => isBeginning(step) || step.event.type === "dismissed";
    const next = steps.findIndex((step, index) => index > Math.max(first, 0) && isEnd(step));
    this.#version = Math.max(first, 0) + 1;
    this.#last = next < 0 ? steps.length : next;
  }

  /** A referee has completed a match of the player. */
  completed(playerId: string, event: EventOf<"match_completed">): void {
    const judged = this.#judged;
    const name = nameOf({ ...event, league_id: this.#leagueId });
    const hasTimedOut = event.faults.some(({ player_id, code }) => player_id === playerId && code === "G002");
    const version = judged.versions.get(name);
    if (version === undefined) {
      const isFree = ({ state, fails }: Agent): boolean => state === "SHUTDOWN" || (!hasTimedOut && fails === 0);
      if (this.#advance(event.at, isFree)) return;
      judged.blame(`${name}, which it ${hasTimedOut ? "lost because it did not answer" : "finished"}, is missing`);
      return;
    }
    const recorded = judged.steps[version - 1]?.event;
    if (recorded?.type !== (hasTimedOut ? "timed_out" : "answered")) return;
    judged.explain(version);
    if (recorded.at !== event.at) judged.blame(`${name} did not end at ${recorded.at}`);
    if (version <= this.#version || version > this.#last)
      judged.blame(`${name} is not in the order in which the matches ended`);
    this.#version = Math.max(this.#version, version);
  }

  /** A round with matches of the player is opened. Returns the fault, or null. */
  opened(at: string, absentAt: number | null): string | null {
    if (absentAt === null) {
      return this.#advance(at, ({ state }) => state !== "SHUTDOWN") ? null : "is shut down, but not absent from";
    }
    const { steps } = this.#judged;
    if (absentAt > steps.length) return null;
    const isInOrder = absentAt >= this.#version && absentAt <= this.#last;
    const isInTime = this.#isNotAfter(absentAt, at) && (!this.#isSteady || (steps[absentAt]?.event.at ?? at) >= at);
    this.#version = Math.max(this.#version, absentAt);
    return isInOrder && isInTime ? null : "was not yet shut down, or no longer at this version, at the opening of";
  }

  /** Advances to the first version at this time for which the predicate holds. Returns whether there is one. */
  #advance(at: string, predicate: (agent: Agent) => boolean): boolean {
    const { steps } = this.#judged;
    for (let version = this.#version; version <= this.#last && this.#isNotAfter(version, at); version++) {
      const agent = steps[version - 1]?.after;
      const isOver = this.#isSteady && (steps[version]?.event.at ?? at) < at;
      if (isOver || !agent || !predicate(agent)) continue;
      this.#version = version;
      return true;
    }
    return false;
  }

  #isNotAfter(version: number, at: string): boolean {
    return !this.#isSteady || (this.#judged.steps[version - 1]?.event.at ?? "") <= at;
  }
}
