import { compareIds } from "#shared/lib/ids.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { endpointKey, type MachineAddresses, remoteNetworkOf } from "#shared/protocol/addresses.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import { lateEntryRejection, noLeague } from "../league/decide.ts";
import { configIdOf, currentMatches, type League } from "../league/league.ts";
import { type Admitted, type Attempt, identify, type Presence, type PresenceCheck } from "./agent-identity.ts";
import type { AdmissionPolicy } from "./places.ts";
import { type Agent, type ManagerState, playsGame } from "./registered-agent.ts";

interface PlayerAttempt extends Attempt {
  /** The ids of the requested leagues; null for every open league of its games. */
  readonly leagueIds: readonly string[] | null;
  /** What is known of the players at the endpoint. Those that have left lose it if the new player is admitted. */
  readonly presence: Presence;
}
interface RefereeAttempt extends Attempt {
  readonly endpoint: string;
  /** Ids of the referees that do not answer health probes, the longest silence first. */
  readonly silent: readonly string[];
}

export interface AdmittedPlayer extends Admitted {
  /** The leagues of the player after the registration. */
  readonly leagueIds: readonly string[];
  /** Players whose endpoint the new player gets. They leave their open leagues. */
  readonly displaced: readonly Agent[];
  /** Players with neither an endpoint nor a league that are forgotten, because there are more than `MAX_ABSENT_PLAYERS`. */
  readonly forgotten: readonly Agent[];
}
interface AdmittedReferee extends Admitted {
  /** The silent referee that the new referee replaces; null if the number of referees is below the limit. */
  readonly replaced: Agent | null;
}

/** The maximum number of registered players that have neither an endpoint nor a league. */
export const MAX_ABSENT_PLAYERS = 500;

/** Decides whether a player may register, and determines its id and its leagues. */
export function admitPlayer(
  state: ManagerState,
  policy: AdmissionPolicy,
  attempt: PlayerAttempt,
): Result<AdmittedPlayer | PresenceCheck, ProtocolError> {
  const identified = identify(state, policy, "player", attempt, attempt.presence);
  if (!identified.ok || identified.value.type === "presence_check")
    return identified as Result<PresenceCheck, ProtocolError>;
  const { displaced, ...admitted } = identified.value;
  const { id } = admitted;
  const leagueIds = entriesFor(state, policy, { ...attempt, ...admitted, displaced });
  if (!leagueIds.ok) return leagueIds;
  return ok({ ...admitted, leagueIds: leagueIds.value, displaced, forgotten: tooManyAbsent(state, id, displaced) });
}

/** Decides whether a referee may register, and determines its id and the referee that it replaces. */
export function admitReferee(
  state: ManagerState,
  policy: AdmissionPolicy,
  attempt: RefereeAttempt,
): Result<AdmittedReferee, ProtocolError> {
  const identified = identify(state, policy, "referee", attempt, { departed: new Set(), present: new Set() });
  if (!identified.ok) return identified;
  if (identified.value.type === "presence_check") throw new Error("only players cause a presence check");
  const { displaced: _, ...admitted } = identified.value;
  const replaced = placeForReferee(state, policy, { ...attempt, ...admitted });
  return replaced.ok ? ok({ ...admitted, replaced: replaced.value }) : replaced;
}

/**
 * Returns the absent players that exceed `MAX_ABSENT_PLAYERS` when `present` is registered, lowest ids first. Without the limit, any number of names
 * could be registered with one endpoint.
 */
function tooManyAbsent(state: ManagerState, present: string, displaced: readonly Agent[]): readonly Agent[] {
  if (displaced.length === 0) return [];
  const absent = [...state.agents.values()].filter(
    (agent) =>
      agent.kind === "player" && agent.id !== present && agent.endpoint === "" && !isInSomeLeague(state, agent.id),
  );
  const excess = absent.length + displaced.length - MAX_ABSENT_PLAYERS;
  return excess <= 0 ? [] : absent.sort((a, b) => compareIds(a.id, b.id)).slice(0, excess);
}

/** The maximum number of players of a league without `max_players`: a round robin of more players has too many matches. */
export const MAX_PLAYERS = 500;

interface EntryRequest {
  readonly id: string;
  readonly name: string;
  readonly returning: Agent | null;
  readonly capabilities: Pick<Agent, "gameTypes">;
  readonly leagueIds: readonly string[] | null;
  /** Players that leave their open leagues if the request is accepted. */
  readonly displaced: readonly Agent[];
}

/**
 * Returns the leagues of a player after its registration: those that it requests, or every open league of its games. Returns a rejection if it
 * cannot enter a requested league, or if it can enter none.
 */
export function entriesFor(
  state: ManagerState,
  policy: AdmissionPolicy,
  request: EntryRequest,
): Result<readonly string[], ProtocolError> {
  const accepted: string[] = [];
  for (const league_id of request.leagueIds ?? state.leagues.keys()) {
    const league = state.leagues.get(league_id);
    if (!league) return err(noLeague(league_id, state.leagues.values()));
    const rejection = entryRejection(state, policy, request, league);
    if (rejection === null) accepted.push(league_id);
    else if (request.leagueIds) return err(withChoices(rejection, state, policy, request, league));
  }
  if (accepted.length > 0) return ok([...new Set(accepted)]);
  const isAnyFull = [...state.leagues.values()].some(
    (league) =>
      league.status === "open" && playsGame(request.capabilities, league.game) && isFull(policy, request, league),
  );
  return err(
    isAnyFull
      ? protocolError("L002", fullMessage(policy, request, "every league of your games is full"), laterLeagues(policy))
      : closedRejection(state, policy, request),
  );
}

/** Returns the reason why a player cannot enter a league, or null if it can or is already in it. */
function entryRejection(
  state: ManagerState,
  policy: AdmissionPolicy,
  request: EntryRequest,
  league: League,
): ProtocolError | null {
  const { leagueId: league_id, game, status } = league;
  if (league.entrants.has(request.id)) return null;
  if (request.returning?.state === "SHUTDOWN" && isPlaying(state, request.id)) {
    return protocolError("L001", "the player is shut down until its running leagues are over", { league_id });
  }
  if (league.teams?.every((members) => !members.includes(request.id))) {
    return protocolError("L001", `league ${league_id} is played by teams, and "${request.name}" is in none`, {
      league_id,
    });
  }
  if (!playsGame(request.capabilities, game)) {
    const message = `league ${league_id} plays ${game}, ${gamesAdvice(request)}`;
    return protocolError("L001", message, { league_id });
  }
  if (status === "running") {
    const rejection = lateEntryRejection(league, false);
    if (rejection !== null) return protocolError("L001", `league ${league_id} ${rejection}`, { league_id });
  } else if (status !== "open") {
    return protocolError("L001", `league ${league_id} is over`, { league_id });
  }
  if (!isFull(policy, request, league)) return null;
  return protocolError("L002", fullMessage(policy, request, `league ${league_id} is full`), { league_id });
}

/** Returns a rejection with the other leagues that the player can enter; if there is none, with the advice of a league that is over. */
function withChoices(
  rejection: ProtocolError,
  state: ManagerState,
  policy: AdmissionPolicy,
  request: EntryRequest,
  rejected: League,
): ProtocolError {
  const choices = [...state.leagues.values()].filter(
    (league) => !league.entrants.has(request.id) && entryRejection(state, policy, request, league) === null,
  );
  const ids = choices.map(({ leagueId }) => leagueId);
  const isOver = rejected.status === "completed";
  const advice = ids.length > 0 ? `. Your player can enter: ${listed(ids)}` : isOver ? adviceOf(policy) : "";
  return { ...rejection, message: `${rejection.message}${advice}` };
}

/** Whether a league has no free place for a player. A league with a roster accepts only the players of its places. */
function isFull(policy: AdmissionPolicy, { id, displaced }: EntryRequest, league: League): boolean {
  const { entrants } = league;
  if (policy.startWhen === "roster") return !policy.places.some((place) => place.kind === "player" && place.id === id);
  const freedEntries = displaced.filter((player) => entrants.has(player.id)).length;
  return entrants.size - freedEntries >= (policy.maxPlayers.get(configIdOf(league)) ?? MAX_PLAYERS);
}

/** Whether a player that is not in a league yet can enter it. */
export function takesPlayers(policy: AdmissionPolicy, league: League): boolean {
  const { status, entrants } = league;
  if (status === "running" ? lateEntryRejection(league, false) !== null : status !== "open") return false;
  if (policy.startWhen === "roster" || league.teams) {
    const isFree = (playerId: string): boolean => !entrants.has(playerId) && !isOfRun(policy, playerId);
    const places = policy.places.filter(({ kind }) => kind === "player").map(({ id }) => id);
    return (league.teams?.flat() ?? places).some(isFree);
  }
  return entrants.size < (policy.maxPlayers.get(configIdOf(league)) ?? MAX_PLAYERS);
}

/** Whether the run starts the player with this id. */
const isOfRun = ({ places }: AdmissionPolicy, playerId: string): boolean =>
  places.some(({ id, startedByRun }) => id === playerId && startedByRun !== null);

const fullMessage = ({ startWhen }: AdmissionPolicy, { name }: EntryRequest, full: string): string =>
  startWhen === "roster" ? `the league accepts only the players of its config, and "${name}" is not one of them` : full;

/** The maximum number of leagues that a rejection lists for each status. */
const MAX_LISTED = 10;

/** The context of the rejection of a player that can enter a league which is opened later. No league is opened in a run with a roster. */
const laterLeagues = ({ startWhen }: AdmissionPolicy): ProtocolError["context"] =>
  startWhen === "roster" ? {} : { cause: "no_open_league" };

/** The rejection of a player that can enter no league because none of its games is open. It names the leagues of its games. */
function closedRejection(state: ManagerState, policy: AdmissionPolicy, request: EntryRequest): ProtocolError {
  const { capabilities } = request;
  const message = "no league of your games is open";
  const rejected = (why: string, context = {}): ProtocolError => protocolError("L001", `${message}${why}`, context);
  const leagues = [...state.leagues.values()];
  const ofItsGames = leagues.filter(({ game }) => playsGame(capabilities, game));
  if (ofItsGames.length === 0) {
    const games = new Set(leagues.map(({ game }) => game));
    return rejected(games.size === 0 ? "" : `: the leagues play ${listed([...games])}, ${gamesAdvice(request)}`);
  }
  const running = ofItsGames.filter(({ status }) => status === "running").map(({ leagueId }) => leagueId);
  const over = ofItsGames.filter(({ status }) => status === "completed").map(({ leagueId }) => leagueId);
  const are = (ids: readonly string[]): string => `${listed(ids)} ${ids.length === 1 ? "is" : "are"}`;
  const states = [
    ...(running.length > 0 ? [`${are(running)} running`] : []),
    ...(over.length > 0 ? [`${are(over)} over`] : []),
  ];
  return states.length === 0
    ? rejected("")
    : rejected(`: ${states.join("; ")}${adviceOf(policy)}`, laterLeagues(policy));
}

/** The games of a player that cannot enter a league because of its game, and where they are changed. */
const gamesAdvice = ({ capabilities }: EntryRequest): string =>
  `and your player plays ${listed(capabilities.gameTypes)}. Change its games: \`export const games\` in a bot file, GAMES in join.py, or game_types of the registration`;

const listed = (names: readonly string[]): string =>
  [...names.slice(0, MAX_LISTED), ...(names.length > MAX_LISTED ? [`${names.length - MAX_LISTED} more`] : [])].join(
    ", ",
  );

/** What the operator of a served league can do for a player that comes too late. */
const adviceOf = ({ startWhen }: AdmissionPolicy): string =>
  startWhen === "roster"
    ? ""
    : ". The operator can open another one with league open, or serve new leagues with --data FOLDER";

/** Whether a player is in a running league. */
export const isPlaying = ({ leagues }: ManagerState, playerId: string): boolean =>
  [...leagues.values()].some(({ status, entrants }) => status === "running" && entrants.has(playerId));

/** Whether a player is in a league, including the leagues that the config no longer lists. Such a player stays registered. */
export const isInSomeLeague = ({ leagues, formerLeagues }: ManagerState, playerId: string): boolean =>
  [...leagues.values(), ...formerLeagues].some(({ entrants }) => entrants.has(playerId));

/** Whether an agent is registered and has an endpoint. */
export const isPresent = ({ agents }: ManagerState, id: string): boolean => (agents.get(id)?.endpoint ?? "") !== "";

/** The maximum number of referees of a manager, which probes each of them every second. A config has the same limit. */
export const MAX_REFEREES = 99;
/** The maximum number of referees of one remote network, so that one program cannot register all referees. */
export const MAX_REFEREES_OF_NETWORK = 33;

interface RefereeRequest {
  readonly id: string;
  readonly endpoint: string;
  readonly machineAddresses: MachineAddresses;
  readonly returning: Agent | null;
  /** Ids of the referees that do not answer health probes, the longest silence first. */
  readonly silent: readonly string[];
}

/**
 * Decides whether a referee may register. Returns the silent referee that it replaces, or null if the number of referees is below the limit. A referee
 * could invent the moves of a match, so a league with a roster accepts only the referees of its config.
 */
function placeForReferee(
  state: ManagerState,
  policy: AdmissionPolicy,
  { id, endpoint, machineAddresses, returning, silent }: RefereeRequest,
): Result<Agent | null, ProtocolError> {
  const places = policy.places.filter((place) => place.kind === "referee");
  if (policy.startWhen === "roster") {
    if (places.some((place) => place.id === id)) return ok(null);
    return err(protocolError("L002", "the league accepts only the referees of its config"));
  }
  const keyOf = (url: string): string => endpointKey(url, machineAddresses);
  const expected = new Set(places.flatMap((place) => (place.endpoint === null ? [] : [keyOf(place.endpoint)])));
  if (returning || expected.has(keyOf(endpoint))) return ok(null);
  const referees = [...state.agents.values()].filter(({ kind }) => kind === "referee");
  const network = remoteNetworkOf(endpoint, machineAddresses);
  const isOfNetwork = (referee: Agent): boolean =>
    network !== null && remoteNetworkOf(referee.endpoint, machineAddresses) === network;
  const isNetworkFull = referees.filter(isOfNetwork).length >= MAX_REFEREES_OF_NETWORK;
  if (!isNetworkFull && referees.length < MAX_REFEREES) return ok(null);
  // If its network is full, a new referee replaces only a referee of that network.
  const mayReplace = (referee: Agent): boolean =>
    !expected.has(keyOf(referee.endpoint)) && (!isNetworkFull || isOfNetwork(referee)) && !hasMatch(state, referee.id);
  const replaced = silent
    .map((silentId) => state.agents.get(silentId))
    .find((agent) => agent?.kind === "referee" && mayReplace(agent));
  if (replaced) return ok(replaced);
  const registered = isNetworkFull ? `${MAX_REFEREES_OF_NETWORK} referees of your network` : `${MAX_REFEREES} referees`;
  return err(protocolError("L002", `${registered} are registered, and all of them answer`, {}, true));
}

/** Whether a match is assigned to a referee. Matches are assigned in current rounds only. */
const hasMatch = ({ leagues }: ManagerState, refereeId: string): boolean =>
  [...leagues.values()].some((league) =>
    currentMatches(league).some((match) => match.status === "assigned" && match.refereeId === refereeId),
  );
