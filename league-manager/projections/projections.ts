import type { FormatResult } from "#shared/formats/format.ts";
import { equalSecrets, sha256Hex } from "#shared/lib/hash.ts";
import type { AgentState } from "#shared/protocol/lifecycle.ts";
import { createTally, type Standing, type Tally, tallyOf } from "#shared/standings/standings.ts";
import type { Agent } from "../agents/agent.ts";
import { evolveAgent } from "../agents/evolve.ts";
import type { LeagueEvent } from "../league/events.ts";
import { matchOf } from "../league/evolve.ts";
import { formatResultOf } from "../league/format-view.ts";
import { type League, roundOf } from "../league/league.ts";
import {
  omitsLiveTieBreaks,
  openedRounds,
  plainStandings,
  rankedStandings,
  type TeamStanding,
} from "../league/standings-of.ts";
import type { Commit, CommittedEvent, ManagerState } from "../ledger.ts";
import { expectedMatchesCache } from "./expected-matches.ts";
import { type PlayerMatches, playerMatchesIndex } from "./player-matches.ts";
import { earlierRanksCache } from "./rank-changes.ts";
import { cachedRatings, type RatingsDocument } from "./ratings.ts";
import { type RecentMatches, recentMatchesOf } from "./recent-matches.ts";
import { teamStandingsCache } from "./team-standings.ts";

/** The read models of the manager. Each committed event advances them, so that neither requests nor events need a pass over all matches. */
export interface Projections {
  /** All leagues in the order of the config. */
  leagues(): readonly League[];
  league(leagueId: string): League | null;
  agent(agentId: string): Agent | null;
  /** Returns the agent with this token, or null. */
  authenticate(token: string | null): Agent | null;
  /** Advances by one event of a commit. Returns the change of an agent's lifecycle state, or null. */
  advance(committed: CommittedEvent, commit: Commit): StateChange | null;
  /** The standings of a league. Returns the same array until they change. */
  standings(league: League): readonly Standing[];
  /** The standings for the live event of a result: those of `standings`, without further tie-breaks in a large league. */
  liveStandings(league: League): readonly Standing[];
  /** The ratings of a league, which may lack the last matches of a large league that is running (`cachedRatings`). */
  ratings(league: League): Promise<RatingsDocument>;
  /** The number of matches that a league has at its end at most; null if its format never ends by itself. */
  expectedMatches(league: League): number | null;
  /** The matches of a player, with counts over the completed ones. */
  matchesOf(league: League, playerId: string): PlayerMatches;
  /** The result so far of a league whose format tests a hypothesis; null for other formats and before the start. */
  result(league: League): FormatResult | null;
  /** The ranks of players and teams before the round of the last result, by id; null if there is no earlier round. */
  earlierRanks(league: League): ReadonlyMap<string, number> | null;
  /** The standings of the teams of a league; null if each player plays for itself. Returns the same array until they change. */
  teamStandings(league: League): readonly TeamStanding[] | null;
  /** The matches of a league that were completed last. */
  recentMatches(league: League): RecentMatches;
  /** The number of completed matches of a league after the last event. */
  completed(leagueId: string): number;
}

/** A change of an agent's lifecycle state. */
export interface StateChange {
  readonly agent: Agent;
  readonly was: AgentState;
}

interface LeagueProjection {
  readonly tally: Tally;
  readonly recent: RecentMatches;
  completed: number;
  /** The cached standings; null after a change. */
  rows: readonly Standing[] | null;
  /** The agents whose names the cached standings have. */
  agents: ManagerState["agents"] | null;
}

export function createProjections(ledger: { readonly state: ManagerState }): Projections {
  const { state } = ledger;
  const leagues = new Map([...state.leagues].map(([leagueId, league]) => [leagueId, projectionOf(league)]));
  /** The agents after the last event, which may not be the last one of its commit. */
  const agents = new Map(state.agents);
  const byTokenHash = new Map([...agents.values()].map(({ tokenHash, id }) => [tokenHash, id]));

  const projectionFor = (leagueId: string): LeagueProjection => {
    const found = leagues.get(leagueId) ?? projectionOf(null);
    leagues.set(leagueId, found);
    return found;
  };
  const playersOf = ({ entrants }: League) =>
    [...entrants.keys()].map((player_id) => ({ player_id, display_name: nameOf(player_id) }));
  const nameOf = (playerId: string): string => ledger.state.agents.get(playerId)?.name ?? playerId;

  const advanceAgent = (
    { agentId, event, version }: Extract<CommittedEvent, { kind: "agent" }>,
    commit: Commit,
  ): StateChange | null => {
    const before = agents.get(agentId) ?? null;
    const profile = commit.state.agents.get(agentId) ?? commit.before.agents.get(agentId) ?? before;
    const agent = profile && evolveAgent(before, event, profile, version);
    if (before) byTokenHash.delete(before.tokenHash);
    if (agent) byTokenHash.set(agent.tokenHash, agentId);
    if (agent) agents.set(agentId, agent);
    else agents.delete(agentId);
    return agent && before && agent.state !== before.state ? { agent, was: before.state } : null;
  };

  return {
    leagues: () => [...ledger.state.leagues.values()],
    league: (leagueId) => ledger.state.leagues.get(leagueId) ?? null,
    agent: (agentId) => ledger.state.agents.get(agentId) ?? null,
    authenticate(token) {
      if (!token) return null;
      const hash = sha256Hex(token);
      const agent = ledger.state.agents.get(byTokenHash.get(hash) ?? "");
      return agent && equalSecrets(agent.tokenHash, hash) ? agent : null;
    },
    advance(committed, commit) {
      if (committed.kind === "agent") return advanceAgent(committed, commit);
      const { leagueId, event } = committed;
      advanceLeague(projectionFor(leagueId), event, commit.state.leagues.get(leagueId));
      return null;
    },
    standings(league) {
      const projection = projectionFor(league.leagueId);
      // The erasure of a name has no event.
      const { agents: current } = ledger.state;
      if (projection.agents !== current && projection.rows?.some((row) => row.display_name !== nameOf(row.player_id)))
        projection.rows = null;
      projection.agents = current;
      projection.rows ??= rankedStandings(league, playersOf(league), projection.tally);
      return projection.rows;
    },
    liveStandings(league) {
      if (!omitsLiveTieBreaks(league)) return this.standings(league);
      return plainStandings(league, playersOf(league), projectionFor(league.leagueId).tally);
    },
    ratings: cachedRatings(nameOf),
    expectedMatches: expectedMatchesCache(),
    matchesOf: playerMatchesIndex(),
    result: (league) => formatResultOf(league, nameOf),
    earlierRanks: earlierRanksCache(playersOf),
    teamStandings: teamStandingsCache(ledger, nameOf),
    recentMatches: ({ leagueId }) => projectionFor(leagueId).recent,
    completed: (leagueId) => projectionFor(leagueId).completed,
  };
}

/** Advances the projection of a league by an event. `league` is the league after the commit. */
function advanceLeague(projection: LeagueProjection, event: LeagueEvent, league: League | undefined): void {
  if (event.type === "match_completed") {
    projection.tally.add({ points: event.match_points, termination: event.termination });
  }
  const isAnnulled = event.type === "match_annulled";
  if (isAnnulled && event.match_points) {
    projection.tally.subtract({ points: event.match_points, termination: "normal" });
  }
  const byes = byesOf(event, league);
  projection.tally.addByes(byes);
  projection.recent.advance(event, (matchId) => (league && matchOf(league, matchId)?.players) ?? []);
  if (END_OF_MATCH.has(event.type) || (isAnnulled && event.match_points === undefined)) projection.completed++;
  if (CHANGES_STANDINGS.has(event.type) || byes.length > 0) projection.rows = null;
}

/** The players that have a bye in the round that an event opens. */
function byesOf(event: CommittedEvent["event"], league: League | undefined): readonly string[] {
  const isOpening = event.type === "round_opened" || (event.type === "round_paired" && event.slots !== undefined);
  return (isOpening ? roundOf(league, event.round_id)?.byes : null) ?? [];
}

const END_OF_MATCH = new Set<CommittedEvent["event"]["type"]>(["match_completed", "match_aborted", "match_cancelled"]);

const CHANGES_STANDINGS = new Set<CommittedEvent["event"]["type"]>([
  ...END_OF_MATCH,
  "match_annulled",
  // The ranks of an elimination follow from its rounds.
  "round_paired",
  "player_entered",
  "player_left",
]);

/** Creates the projection of a league that has been loaded, or of a new one. */
const projectionOf = (league: League | null): LeagueProjection => ({
  tally: league ? tallyOf(openedRounds(league)) : createTally(),
  recent: recentMatchesOf(league),
  completed: league?.completedCount ?? 0,
  rows: null,
  agents: null,
});
