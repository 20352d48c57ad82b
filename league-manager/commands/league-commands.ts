import { err, invariant, ok, type Result } from "#shared/lib/result.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import { entriesFor, isPlaying } from "../agents/admission.ts";
import type { AdmissionPolicy } from "../agents/places.ts";
import { nameCommitment } from "../agents/registered-agent.ts";
import { noLeague } from "../league/decide.ts";
import { canPair, opensAtOnce } from "../league/format-view.ts";
import { configIdOf, type League, type LeagueCommand, type LeagueSettings, roundOf } from "../league/league.ts";
import { roundToOpen } from "../league/open-work.ts";
import type { Decide, FollowUps, ManagerState } from "../ledger.ts";
import { activateReferee, playerOf } from "./agent-commands.ts";
import { Draft } from "./draft.ts";

/** Opens the leagues that are new in the config, and reconfigures open leagues whose config has changed. Executed at the start of the manager. */
export const openLeagues =
  (leagues: readonly LeagueSettings[]): Decide<null> =>
  (state, at) => {
    const draft = new Draft(state, at);
    for (const settings of leagues) {
      const opened = draft.league(settings.leagueId, { type: "open", settings });
      if (!opened.ok) return opened;
    }
    return draft.decision(null);
  };

/** A run with a roster ends with the last league of its config, and its players are not registered in others. */
const ROSTER_ONLY = "this run plays only the leagues of its config: league serve runs a manager that can open others";

/** The maximum number of leagues of a run. Each one stays in the memory of the manager. */
const MAX_LEAGUES = 1_000;

/**
 * Opens a league with the settings of the league `like`, which is over, and enters the players that the config lists by endpoint, because they do not
 * register themselves. `settingsOf` returns the settings of a league of the config for the new one; null if this manager has no such league in its
 * config. Replies with the id of the league of the config.
 */
export const openLeague =
  (
    policy: AdmissionPolicy,
    { leagueId, like }: { readonly leagueId: string; readonly like: string },
    settingsOf: (configId: string) => LeagueSettings | null,
  ): Decide<{ readonly configId: string }> =>
  (state, at) => {
    if (policy.startWhen === "roster") return err(protocolError("L005", ROSTER_ONLY));
    const model = state.leagues.get(like);
    if (!model) return err(noLeague(like, state.leagues.values()));
    const rejection = openRejection(state, leagueId, model);
    if (rejection !== null) return err(rejection);
    const configId = configIdOf(model);
    const settings = settingsOf(configId);
    if (!settings) return err(noLeague(configId, state.leagues.values()));
    const draft = new Draft(state, at);
    const opened = draft.league(leagueId, { type: "open", settings });
    if (!opened.ok) return opened;
    for (const { id, kind, endpoint } of policy.places)
      if (kind === "player" && endpoint !== null) enterListed(draft, policy, id, leagueId);
    return draft.decision({ configId });
  };

/** Enters a registered player that the config lists by endpoint, if the league takes it. */
function enterListed(draft: Draft, policy: AdmissionPolicy, id: string, leagueId: string): void {
  const player = draft.state.agents.get(id);
  if (!player || player.isRemoved) return;
  const request = { id, name: player.name, returning: player, capabilities: player, displaced: [] };
  if (!entriesFor(draft.state, policy, { ...request, leagueIds: [leagueId] }).ok) return;
  draft.mustLeague(leagueId, { type: "enter", playerId: id, nameCommitment: nameCommitment(player) });
  if (!isPlaying(draft.state, id)) draft.agent(id, { type: "renew" });
}

/** Returns the reason why a league cannot be opened like another one; null if it can. */
function openRejection(
  { leagues, formerLeagues }: ManagerState,
  league_id: string,
  { leagueId: like, status }: League,
): ProtocolError | null {
  // Exports have a file for each league, and some file systems do not distinguish cases.
  const sameName = (leagueId: string): boolean => leagueId.toLowerCase() === league_id.toLowerCase();
  const used = [...leagues.keys(), ...formerLeagues.map(({ leagueId }) => leagueId)].find(sameName);
  if (used !== undefined) {
    const message = `the name ${used} is in use: a league of this run has it; choose another`;
    return protocolError("L003", message, { league_id });
  }
  if (status !== "completed") {
    const message = `league ${like} is ${status}: a league like it can be opened when it is over`;
    return protocolError("L005", message, { league_id: like, cause: "league_not_over" });
  }
  if (leagues.size + formerLeagues.length < MAX_LEAGUES) return null;
  const message = `the run has ${MAX_LEAGUES} leagues, which is the maximum: serve new ones with --data FOLDER`;
  return protocolError("L002", message, { league_id });
}

/**
 * Closes the registration of a league, pairs its first rounds, and activates its players and all referees. `seed` is the seed of the league. Replies
 * with the number of matches that are paired.
 */
export const startLeague =
  (leagueId: string, seed: string): Decide<{ readonly matches: number }> =>
  (state, at) => {
    const draft = new Draft(state, at);
    const started = draft.league(leagueId, { type: "start", seed });
    if (!started.ok) return started;
    const referees = refereesOf(state);
    if (referees.length === 0) return err(protocolError("L001", "no referee is registered yet", {}, true));
    const entrants = state.leagues.get(leagueId)?.entrants ?? new Map<string, string>();
    const players = [...entrants.keys()].filter((id) => state.agents.has(id));
    for (const id of players) draft.agent(id, { type: "activate" });
    for (const id of referees) activateReferee(draft, id);
    const rounds = started.value.map((event) => (event.type === "round_paired" ? event.pairings.length : 0));
    return draft.decision({ matches: rounds.reduce((sum, matches) => sum + matches, 0) });
  };

/**
 * Pairs the next rounds of a league. `seed` is the seed of the league, `slots` the number of matches that can be started now. Without a new round it
 * has no events.
 */
export const pairLeague =
  (leagueId: string, seed: string, slots: number): Decide<null> =>
  (state, at) => {
    const draft = new Draft(state, at);
    const paired = draft.league(leagueId, { type: "pair", seed, slots });
    return paired.ok ? draft.decision(null) : paired;
  };

/**
 * Ends a league whose matches are completed. Players are dismissed when all their leagues are over, referees when all leagues are over. This
 * includes the leagues that the config no longer lists, because they continue when it lists them again.
 */
export const completeLeague =
  (leagueId: string): Decide<null> =>
  (state, at) => {
    const draft = new Draft(state, at);
    const completed = draft.league(leagueId, { type: "complete" });
    if (!completed.ok) return completed;
    const { leagues, formerLeagues } = draft.state;
    const unfinished = [...leagues.values(), ...formerLeagues].filter(({ status }) => status !== "completed");
    const entrants = state.leagues.get(leagueId)?.entrants ?? new Map<string, string>();
    const players = [...entrants.keys()].filter(
      (id) => state.agents.has(id) && !unfinished.some((league) => league.entrants.has(id)),
    );
    const referees = unfinished.length === 0 ? refereesOf(state) : [];
    for (const id of [...players, ...referees]) draft.agent(id, { type: "dismiss" });
    return draft.decision(null);
  };

const refereesOf = ({ agents }: ManagerState): readonly string[] =>
  [...agents.values()].filter(({ kind }) => kind === "referee").map(({ id }) => id);

/** Opens the current round, and forfeits the matches of players that are shut down in the same append. */
export const openRound =
  (leagueId: string, roundId: number): Decide<null> =>
  (state, at) => {
    const entrants = state.leagues.get(leagueId)?.entrants ?? new Map<string, string>();
    const shutDown = new Map<string, number>();
    const removed = new Set<string>();
    for (const id of entrants.keys()) {
      const player = state.agents.get(id);
      if (player?.state !== "SHUTDOWN") continue;
      shutDown.set(id, player.version);
      if (player.isRemoved) removed.add(id);
    }
    const draft = new Draft(state, at);
    const opened = draft.league(leagueId, { type: "open_round", roundId, shutDown, removed });
    return opened.ok ? draft.decision(null) : opened;
  };

/** Records that each player of the league has received the announcement of a round or has not answered in time. */
export const announceRound =
  (leagueId: string, roundId: number): Decide<null> =>
  (state, at) => {
    const draft = new Draft(state, at);
    const announced = draft.league(leagueId, { type: "announce_round", roundId });
    return announced.ok ? draft.decision(null) : announced;
  };

interface ScheduledMatch {
  readonly leagueId: string;
  readonly matchId: string;
  readonly roundId: number;
  /** Player ids by role. */
  readonly roles: Readonly<Record<string, string>>;
}

/**
 * Adds a match to a round. `players` has one id for each role, in the order of the roles. If `leagueId` is null, the league is the only running one
 * that has all the players.
 */
export const scheduleMatch =
  (leagueId: string | null, players: readonly string[], roundId: number): Decide<ScheduledMatch> =>
  (state, at) => {
    const target = leagueId === null ? sharedLeague(state, players) : ok(leagueId);
    if (!target.ok) return target;
    const draft = new Draft(state, at);
    const scheduled = draft.league(target.value, { type: "schedule", roundId, players });
    if (!scheduled.ok) return scheduled;
    const league = draft.state.leagues.get(target.value);
    const match = roundOf(league, roundId)?.matches.at(-1);
    invariant(league && match, "a scheduled match is the last of its round");
    const roles = Object.fromEntries(league.roles.map((role, seat) => [role, match.players[seat] as string]));
    return draft.decision({ leagueId: target.value, matchId: match.matchId, roundId, roles });
  };

/** Returns the only running league that has all these players, or L005 with the `choices`, or L004 for an unknown player. */
function sharedLeague(state: ManagerState, players: readonly string[]): Result<string, ProtocolError> {
  for (const id of players) {
    const player = playerOf(state, id);
    if (!player.ok) return player;
  }
  const shared = [...state.leagues.values()].filter(({ entrants }) => players.every((id) => entrants.has(id)));
  const choices = shared.filter(({ status }) => status === "running").map(({ leagueId }) => leagueId);
  const [only, another] = choices;
  if (only !== undefined && another === undefined) return ok(only);
  const names = players.join(" and ");
  const message =
    only === undefined
      ? `${names} are in no running league together${statesOf(shared)}`
      : `${names} are in several running leagues: pass league_id, one of ${choices.join(", ")}`;
  return err(protocolError("L005", message, { choices }, true));
}

/** The maximum number of leagues whose state a rejection names. */
const MAX_STATES = 5;

/** The states of the leagues of the players of a rejected match, none of which is running. */
function statesOf(leagues: readonly League[]): string {
  if (leagues.length === 0) return "";
  const texts = { open: "has not started", running: "is running", completed: "is over" };
  const states = leagues.slice(0, MAX_STATES).map(({ leagueId, status }) => `${leagueId} ${texts[status]}`);
  const more = leagues.length > MAX_STATES ? [`${leagues.length - MAX_STATES} more`] : [];
  return `: ${[...states, ...more].join(", ")}. Matches are added while a league runs`;
}

/** Executes one command to a league. Replies with null. */
const inLeague =
  (leagueId: string, command: LeagueCommand): Decide<null> =>
  (state, at) => {
    const draft = new Draft(state, at);
    const decided = draft.league(leagueId, command);
    return decided.ok ? draft.decision(null) : decided;
  };

export const pauseLeague = (leagueId: string): Decide<null> => inLeague(leagueId, { type: "pause" });

export const resumeLeague = (leagueId: string): Decide<null> => inLeague(leagueId, { type: "resume" });

/** Raises extendable options of the format. */
export const extendLeague = (leagueId: string, formatOptions: Readonly<Record<string, unknown>>): Decide<null> =>
  inLeague(leagueId, { type: "extend", formatOptions });

/** Ends a running league with the standings so far. */
export const endLeague = (leagueId: string): Decide<null> => inLeague(leagueId, { type: "end" });

/** Makes a match count for no player. */
export const annulMatch = (leagueId: string, matchId: string, reason: string): Decide<null> =>
  inLeague(leagueId, { type: "annul", matchId, reason });

/** Ends a round whose time is over. */
export const expireRound = (leagueId: string, roundId: number): Decide<null> =>
  inLeague(leagueId, { type: "expire_round", roundId });

/** Enters a registered player into a league, also into a running one that accepts no late entries. */
export const addPlayer =
  (leagueId: string, playerId: string): Decide<null> =>
  (state, at) => {
    const profile = activePlayer(state, playerId);
    if (!profile.ok) return profile;
    const draft = new Draft(state, at);
    const command = { type: "enter", playerId, nameCommitment: profile.value, byOperator: true } as const;
    const entered = draft.league(leagueId, command);
    if (!entered.ok) return entered;
    if (draft.state.leagues.get(leagueId)?.status === "running") draft.agent(playerId, { type: "activate" });
    return draft.decision(null);
  };

/** Returns the commitment to the name of a registered player that is not shut down. */
function activePlayer(state: ManagerState, player_id: string): Result<string, ProtocolError> {
  const player = playerOf(state, player_id);
  if (!player.ok) return player;
  return player.value.state === "SHUTDOWN"
    ? err(protocolError("L001", `${player_id} is shut down; it must register again first`, { player_id }))
    : ok(nameCommitment(player.value));
}

/** The rounds of more players are paired by a separate command, because their pairing can take longer than a batch may. */
const MAX_PLAYERS_PAIRED_AT_ONCE = 400;

/**
 * Returns the follow-ups of leagues: after the last result of a round the next round is paired, and a round is opened when all earlier ones are completed.
 * A round and the result before it are therefore one commit. `leagueSeedOf` returns the seed of a league.
 */
export const leagueFollowUps =
  (leagueSeedOf: (leagueId: string) => string): FollowUps =>
  (before, state) => {
    if (state.leagues === before.leagues) return [];
    return [...state.leagues.values()].flatMap((league) => {
      const was = before.leagues.get(league.leagueId);
      return was === league ? [] : (followUpOf(league, was, leagueSeedOf) ?? []);
    });
  };

function followUpOf(
  league: League,
  was: League | undefined,
  leagueSeedOf: (leagueId: string) => string,
): Decide<unknown> | null {
  const { leagueId } = league;
  const roundId = roundToOpen(league);
  if (roundId !== null) return openRound(leagueId, roundId);
  if (!canPair(league) || opensAtOnce(league) || isAsked(was, league)) return null;
  if (league.entrants.size > MAX_PLAYERS_PAIRED_AT_ONCE) return null;
  return pairLeague(leagueId, leagueSeedOf(leagueId), 0);
}

/** Whether the format was asked before for the next rounds, with the same results and players. */
const isAsked = (was: League | undefined, { completedCount, entrants, departed }: League): boolean =>
  was !== undefined &&
  canPair(was) &&
  was.completedCount === completedCount &&
  was.entrants === entrants &&
  was.departed === departed;
