import type { FormatResult } from "#shared/formats/format.ts";
import { equalSecrets, sha256Hex } from "#shared/lib/hash.ts";
import { SharedList } from "#shared/lib/list.ts";
import type { AgentState } from "#shared/protocol/lifecycle.ts";
import { createTally, type Standing, type StandingsPlayer, type Tally, tallyOf } from "#shared/standings/standings.ts";
import type { Awaited } from "../agents/awaited-players.ts";
import { type Agent, evolveAgent } from "../agents/registered-agent.ts";
import type { LeagueEvent } from "../league/events.ts";
import { matchOf } from "../league/evolve.ts";
import { expectedMatches, formatResultOf, opensAtOnce } from "../league/format-view.ts";
import { type League, roundOf } from "../league/league.ts";
import { CANCELLED } from "../league/outcome.ts";
import {
  omitsLiveTieBreaks,
  openedRounds,
  plainStandings,
  rankedStandings,
  type TeamStanding,
  teamStandingsOf,
} from "../league/standings-of.ts";
import type { Commit, CommittedEvent, ManagerState } from "../ledger.ts";
import type { ManagerStore } from "../store/manager-store.ts";
import { type PlayerMatches, playerMatchesIndex } from "./player-matches.ts";
import { cachedRatings, type RatingsDocument } from "./ratings.ts";

/** The read models of the manager. Each committed event advances them, so that neither requests nor events need a pass over all matches. */
export interface Projections {
  /** All leagues: those of the config in its order, then those that were opened like them. */
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

/** The data that the API and the pages show. */
export interface Views {
  readonly projections: Projections;
  /** Returns the players and referees that a league waits for, or null if it has started or its operator starts it. */
  readonly awaited: (league: League) => Awaited | null;
  /** The session log of a completed match; empty for a match that was not played. */
  readonly logOf: (leagueId: string, matchId: string) => Promise<readonly string[]>;
  /** The answer times of a player in completed matches as their referees measured them, by match id; without those that are not reported. */
  readonly answerTimesOf: ManagerStore["answerTimesOf"];
  /** The seed of a league, which is secret until the league is completed. */
  readonly leagueSeedOf: (leagueId: string) => string;
  /** The seed of a match under an epoch, which is secret until the match is completed. */
  readonly seedOf: (leagueId: string, matchId: string, epoch: number) => string;
}

/** The expected number of matches of a league, and the state for which it was computed. */
interface Expected extends Pick<League, "entrants" | "departed" | "isPairingComplete" | "formatOptions"> {
  readonly matches: number | null;
}

/**
 * Returns a function that gives the number of matches that a league has at its end at most; null if its format never ends by itself. The number
 * is computed again only after a change of the players or the options, or when the format has added more matches, because some formats read all matches.
 */
function expectedMatchesCache(): (league: League) => number | null {
  const cache = new Map<string, Expected>();
  return (league) => {
    const cached = cache.get(league.leagueId);
    if (cached && isValid(cached, league)) return cached.matches;
    const { leagueId, entrants, departed, isPairingComplete, formatOptions } = league;
    const matches = expectedMatches(league);
    cache.set(leagueId, { entrants, departed, isPairingComplete, formatOptions, matches });
    return matches;
  };
}

const isValid = (cached: Expected, league: League): boolean =>
  cached.entrants === league.entrants &&
  cached.departed === league.departed &&
  cached.formatOptions === league.formatOptions &&
  cached.isPairingComplete === league.isPairingComplete &&
  (cached.matches === null || league.matchCount <= cached.matches);

type Agents = ManagerState["agents"];

/** Returns a function that gives the standings of the teams of a league. They are computed again after a change of the league or of a name. */
function teamStandingsCache(ledger: { readonly state: ManagerState }, nameOf: (playerId: string) => string) {
  const cache = new WeakMap<League, { readonly agents: Agents; readonly rows: readonly TeamStanding[] | null }>();
  return (league: League): readonly TeamStanding[] | null => {
    const { agents } = ledger.state;
    const cached = cache.get(league);
    if (cached?.agents === agents) return cached.rows;
    const rows = teamStandingsOf(league, nameOf);
    cache.set(league, { agents, rows });
    return rows;
  };
}

type Ranks = ReadonlyMap<string, number>;

/**
 * Returns a function that gives the ranks before the round of the last result, by player id and by the id of the team; null without such a round. The
 * ranks are computed once for each round, because they depend on all earlier matches.
 */
function earlierRanksCache(playersOf: (league: League) => readonly StandingsPlayer[]) {
  const cache = new Map<string, { readonly key: string; readonly ranks: Ranks | null }>();
  return (league: League): Ranks | null => {
    const { leagueId, annulledCount, entrants, seedCommitment } = league;
    const round = roundOfLastResult(league);
    const key = [seedCommitment, round, annulledCount, entrants.size].join("/");
    const cached = cache.get(leagueId);
    if (cached?.key === key) return cached.ranks;
    const ranks = round === null || round < 2 ? null : ranksAfter(league, round - 1, playersOf(league));
    cache.set(leagueId, { key, ranks });
    return ranks;
  };
}

/** Returns the round of the last result; null without a result, and for formats whose rounds are played at the same time. */
function roundOfLastResult(league: League): number | null {
  if (league.status === "open" || opensAtOnce(league)) return null;
  const current = league.currentRound ?? league.rounds.length;
  const round = roundOf(league, current);
  if (!round) return null;
  return round.open < round.matches.length ? current : current - 1;
}

function ranksAfter(league: League, count: number, players: readonly StandingsPlayer[]): Ranks {
  const rounds = league.rounds.slice(0, count);
  const rows = rankedStandings(league, players, tallyOf(rounds), () => rounds);
  const teams = teamStandingsOf({ ...league, rounds: SharedList.of(rounds) }, (playerId) => playerId) ?? [];
  return new Map([...rows, ...teams].map(({ player_id, rank }) => [player_id, rank]));
}

/** The number of matches of a league that are remembered. */
const MAX_MATCHES = 20;
/** The number of matches of each player that are remembered. */
const MAX_FORM = 5;

/** The ids of the matches of a league that were completed last, and of those of each player. It advances with each result. */
interface RecentMatches {
  /** The matches of the league, the latest first. */
  all(): readonly string[];
  /** The matches of a player, the earliest first. */
  of(playerId: string): readonly string[];
  advance(event: LeagueEvent, playersOf: (matchId: string) => readonly string[]): void;
}

/**
 * Creates the list of a league that has been loaded. The events of the past are not read again: matches of a round count in the order of their
 * numbers.
 */
export function recentMatchesOf(league: League | null): RecentMatches {
  const all: string[] = [];
  const byPlayer = new Map<string, string[]>();
  const add = (matchId: string, players: readonly string[]): void => {
    addTo(all, matchId, MAX_MATCHES);
    for (const playerId of players) {
      const own = byPlayer.get(playerId) ?? [];
      byPlayer.set(playerId, own);
      addTo(own, matchId, MAX_FORM);
    }
  };
  for (const { matches } of league?.rounds ?? []) {
    for (const { matchId, players, outcome } of matches)
      if (outcome && outcome.reason !== CANCELLED) add(matchId, players);
  }
  return {
    all: () => all.toReversed(),
    of: (playerId) => byPlayer.get(playerId) ?? [],
    advance(event, playersOf) {
      if (event.type === "match_completed" || event.type === "match_aborted")
        add(event.match_id, playersOf(event.match_id));
    },
  };
}

/** Adds an id to the end of a list. The list keeps the last ids only. */
function addTo(list: string[], matchId: string, maximum: number): void {
  const known = list.indexOf(matchId);
  if (known >= 0) list.splice(known, 1);
  list.push(matchId);
  if (list.length > maximum) list.shift();
}
