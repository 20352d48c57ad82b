import type { FormatResult } from "#shared/formats/format.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { inOneLine } from "#shared/lib/text.ts";
import type { AgentState } from "#shared/protocol/lifecycle.ts";
import type { Logger } from "#shared/runtime/process/logger.ts";
import { LEAGUE_COMMAND } from "#shared/runtime/program.ts";
import type { Standing } from "#shared/standings/standings.ts";
import type { Awaited } from "../agents/awaited-players.ts";
import type { LeagueEvent } from "../league/events.ts";
import { matchOf } from "../league/evolve.ts";
import { endOfPairing, formatText, plannedRounds } from "../league/format-view.ts";
import { type League, type MatchFault, roundOf } from "../league/league.ts";
import type { Commit, CommittedEvent, Ledger } from "../ledger.ts";
import type { Projections, StateChange } from "./projections.ts";
import { type CompletedMatch, completedMatch, resultField } from "./results-document.ts";

/** The events that the terminal and `league run --json` report while leagues are running. */
export type LiveEvent =
  | { readonly type: "registered"; readonly agent_id: string; readonly name: string; readonly kind: string }
  | {
      readonly type: "league_started";
      readonly league_id: string;
      readonly game: string;
      /** The format with its options, for people; absent for a round robin without options. */
      readonly format?: string;
      /** The number of matches that the league has at its end at most; null if its format never ends by itself. */
      readonly matches: number | null;
    }
  | {
      readonly type: "round_started";
      readonly league_id: string;
      readonly round_id: number;
      /** The number of rounds that the league has at its end; null if it is not known. */
      readonly rounds: number | null;
      /** The name of the round for people, if it has one. */
      readonly label?: string;
      /** The names of the players without a match. */
      readonly byes: readonly string[];
    }
  | {
      readonly type: "match_completed";
      readonly league_id: string;
      readonly match: CompletedMatch;
      readonly faults: readonly MatchFault[];
      readonly completed: number;
      /** As in `league_started`. */
      readonly matches: number | null;
      /** The rows of the leaders and of the players of the match. All rows for each match of a large league would overload the reader. */
      readonly standings: readonly Standing[];
      /** The result so far of a format that tests a hypothesis; absent for other formats. */
      readonly result?: FormatResult;
    }
  | { readonly type: "league_waiting"; readonly league_id: string; readonly awaited: Awaited }
  | { readonly type: "league_stuck"; readonly league_id: string; readonly why: string }
  | {
      readonly type: "league_completed";
      readonly league_id: string;
      readonly standings: readonly Standing[];
      /** As in `match_completed`. */
      readonly result?: FormatResult;
    }
  | {
      readonly type: "player_state";
      readonly agent_id: string;
      readonly name: string;
      readonly was: AgentState;
      readonly state: AgentState;
      /** The leagues that the player has entered. */
      readonly league_ids: readonly string[];
    }
  | { readonly type: "notice"; readonly message: string }
  /** All leagues are completed. The event has no results, because they can be too large for one message; `storedDocument` reads them. */
  | { readonly type: "all_completed" };

/** The live events of one committed event. The caller has advanced the projections by it. `change` is the change of an agent's state by the event. */
export function liveEventsOf(
  committed: CommittedEvent,
  commit: Commit,
  projections: Projections,
  change: StateChange | null,
): readonly LiveEvent[] {
  if (committed.kind === "agent") return liveOfAgent(committed, commit, projections, change);
  const league = projections.league(committed.leagueId);
  return league ? liveOfLeague(league, committed.event, projections) : [];
}

function liveOfLeague(league: League, event: LeagueEvent, projections: Projections): readonly LiveEvent[] {
  const { leagueId: league_id } = league;
  switch (event.type) {
    case "opened":
      return event.like === undefined ? [] : [notice(openedText(league))];
    case "started":
      return [leagueStarted(league, projections)];
    case "round_opened":
      return [roundStarted(league, event.round_id, projections)];
    case "match_released": {
      const reason = inOneLine(event.detail);
      if (event.reason === "unreachable")
        return [notice(`${matchRef(league_id, event.match_id)} begins again at another referee: ${reason}`)];
      if (event.reason === "refused") return [];
      return [notice(`${matchRef(league_id, event.match_id)} was aborted (${reason}) and is played again`)];
    }
    case "match_completed":
    case "match_aborted":
      return endOfMatch(league, event.match_id, projections);
    // The end of a league can cancel hundreds of thousands of matches of rounds that are not opened.
    case "match_cancelled": {
      const { roundId = 0 } = matchOf(league, event.match_id) ?? {};
      return roundOf(league, roundId)?.isOpened ? endOfMatch(league, event.match_id, projections) : [];
    }
    case "pairing_completed":
      return endOfPairing(league, event.by === undefined).map(notice);
    case "match_annulled": {
      const annulled = notice(`${matchRef(league_id, event.match_id)} is annulled: ${inOneLine(event.reason)}`);
      return event.match_points ? [annulled] : [annulled, ...endOfMatch(league, event.match_id, projections)];
    }
    case "round_expired":
      return [notice(`the time of round ${event.round_id} of ${league_id} is over; its open matches are cancelled`)];
    case "paused":
      return [notice(`${league_id} is paused: no match begins until the operator resumes it`)];
    case "resumed":
      return [notice(`${league_id} is resumed`)];
    case "extended":
      return [notice(`${league_id} is extended: ${JSON.stringify(event.format_options)}`)];
    case "player_entered":
      return event.entered_after === undefined ? [] : [notice(`${event.player_id} enters ${league_id} late`)];
    case "completed":
      return [leagueCompleted(league, projections)];
    default:
      return [];
  }
}

/** The seed commitments of the leagues of the config are printed at the start of the manager. */
const openedText = ({ leagueId, like, seedCommitment }: League): string =>
  `${leagueId} is open for registration, with the settings that the config gives ${like}; its seed commitment is ${seedCommitment}`;

function leagueStarted(league: League, projections: Projections): LiveEvent {
  const format = formatText(league);
  return {
    type: "league_started",
    league_id: league.leagueId,
    game: league.game,
    ...(format !== null && { format }),
    matches: projections.expectedMatches(league),
  };
}

function roundStarted(league: League, round_id: number, projections: Projections): LiveEvent {
  const round = roundOf(league, round_id);
  return {
    type: "round_started",
    league_id: league.leagueId,
    round_id,
    rounds: plannedRounds(league),
    ...(round?.label != null && { label: round.label }),
    byes: (round?.byes ?? []).map((id) => projections.agent(id)?.name ?? id),
  };
}

function endOfMatch(league: League, matchId: string, projections: Projections): readonly LiveEvent[] {
  const { leagueId: league_id } = league;
  const match = matchOf(league, matchId);
  const summary = match && completedMatch(league, match);
  if (!match || !summary) return [];
  return [
    {
      type: "match_completed",
      league_id,
      match: summary,
      faults: match.outcome?.faults ?? [],
      completed: projections.completed(league_id),
      matches: projections.expectedMatches(league),
      standings: leadersAnd(match.players, projections.liveStandings(league)),
      ...resultField(projections.result(league)),
    },
  ];
}

function liveOfAgent(
  { agentId, event }: Extract<CommittedEvent, { kind: "agent" }>,
  { state, before, events: committed }: Commit,
  projections: Projections,
  change: StateChange | null,
): readonly LiveEvent[] {
  const agent = state.agents.get(agentId) ?? before.agents.get(agentId);
  const name = agent?.name ?? agentId;
  const events: LiveEvent[] = [];
  if (event.type === "registered") events.push({ type: "registered", agent_id: agentId, name, kind: event.kind });
  else if (change?.agent.kind === "player") events.push(playerState(change, projections));
  if (event.type === "timed_out" && change?.agent.state === "SHUTDOWN") {
    const reason = "it lost three matches in a row by timeout; its matches of later rounds are forfeited";
    events.push(notice(`${name} (${agentId}) is shut down: ${reason}`));
  }
  if (event.type === "endpoint_lost") {
    // The registration of the player that has the endpoint now is in the same commit.
    const next = committed.find((other) => other.event.type === "registered" || other.event.type === "returned");
    const nextId = next?.kind === "agent" ? next.agentId : "";
    const newName = state.agents.get(nextId)?.name ?? nextId;
    events.push(notice(`${name} (${agentId}) has left; ${newName} (${nextId}) has its endpoint now and replaces it`));
  }
  if (event.type === "forgotten" && agent?.kind === "referee" && event.reason !== "left") {
    events.push(notice(`referee ${agentId} does not answer and is replaced by another referee`));
  }
  if (event.type === "removed" || (event.type === "forgotten" && event.reason === "removed")) {
    events.push(notice(`the operator has removed ${name} (${agentId})`));
  }
  if (event.type === "forgotten" && event.reason === "absent") {
    events.push(notice(`${name} (${agentId}) is no longer registered: too many players have left their endpoints`));
  }
  if (event.type === "forgotten" && event.reason === "left") events.push(notice(`${name} (${agentId}) has left`));
  return events;
}

const notice = (message: string): LiveEvent => ({ type: "notice", message });

const playerState = ({ agent, was }: StateChange, projections: Projections): LiveEvent => ({
  type: "player_state",
  agent_id: agent.id,
  name: agent.name,
  was,
  state: agent.state,
  league_ids: projections.leagues().flatMap(({ leagueId, entrants }) => (entrants.has(agent.id) ? [leagueId] : [])),
});

/** The number of leading rows in the live event of each match. */
const LEADERS = 10;

const leadersAnd = (players: readonly string[], standings: readonly Standing[]): readonly Standing[] =>
  standings.filter(({ player_id }, index) => index < LEADERS || players.includes(player_id));

const leagueCompleted = (league: League, projections: Projections): LiveEvent => ({
  type: "league_completed",
  league_id: league.leagueId,
  standings: projections.standings(league),
  ...resultField(projections.result(league)),
});

const areCompleted = (projections: Projections): boolean =>
  projections.leagues().every(({ status }) => status === "completed");

/** The live event after those of all events of a commit, if the commit has completed the last league. One commit can complete several leagues. */
function liveEventsAfter({ events }: Commit, projections: Projections): readonly LiveEvent[] {
  const hasCompleted = events.some(({ event }) => event.type === "completed");
  return hasCompleted && areCompleted(projections) ? [{ type: "all_completed" }] : [];
}

export interface LiveFeedOptions {
  readonly ledger: Pick<Ledger, "onCommit">;
  readonly projections: Projections;
  readonly log: Logger;
  readonly emit: (event: LiveEvent) => void;
  /** Called with each committed event and its change of an agent, after the event has advanced the projections. */
  readonly onCommitted: (committed: CommittedEvent, change: StateChange | null) => void;
}

/**
 * Advances the projections with each commit and emits its live events. Only `onCommitted` may read the projections during a commit, because other
 * listeners of the ledger may be called before the projections are advanced. Returns the function that stops the feed.
 */
export const liveFeed = ({ ledger, projections, log, emit, onCommitted }: LiveFeedOptions): (() => void) =>
  ledger.onCommit((commit) => {
    for (const committed of commit.events) {
      const change = projections.advance(committed, commit);
      if (change) {
        const { agent, was } = change;
        log.info({ agent: agent.id, was, state: agent.state }, "the state of an agent has changed");
      }
      onCommitted(committed, change);
      for (const event of liveEventsOf(committed, commit, projections, change)) emit(event);
    }
    for (const event of liveEventsAfter(commit, projections)) emit(event);
  });

/** The live events at the start of a manager, about the leagues in its store. A paused league does not continue until the operator resumes it. */
export function liveEventsAtStart(projections: Projections, dataFolder: string): readonly LiveEvent[] {
  const events = projections.leagues().flatMap((league): LiveEvent[] => {
    const { leagueId, status, isPaused, completedCount } = league;
    const matches = projections.expectedMatches(league) ?? league.matchCount;
    if (status === "completed") return [leagueCompleted(league, projections)];
    if (status === "open") return league.like === null ? [] : [notice(openedText(league))];
    const progress = `${completedCount} of ${matches} matches are completed`;
    if (!isPaused) return [notice(`${leagueId} continues: ${progress}`)];
    const command = `${LEAGUE_COMMAND} resume ${leagueId} --data ${dataFolder}`;
    return [notice(`${leagueId} is paused (${progress}); continue it with: ${command}`)];
  });
  return areCompleted(projections) ? [...events, { type: "all_completed" }] : events;
}
