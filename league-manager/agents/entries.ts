import { err, ok, type Result } from "#shared/lib/result.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import { noLeague } from "../league/decisions/decision.ts";
import { lateEntryRejection } from "../league/decisions/entrants.ts";
import type { League } from "../league/league.ts";
import type { Agent } from "./agent.ts";
import { playsGame } from "./capabilities.ts";
import type { AdmissionPolicy } from "./policy.ts";
import type { ManagerState } from "./state.ts";

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
      ? protocolError("L002", fullMessage(policy, request, "every league of your games is full"))
      : protocolError("L001", closedMessage(state, policy, request)),
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
function isFull(policy: AdmissionPolicy, { id, displaced }: EntryRequest, { leagueId, entrants }: League): boolean {
  if (policy.startWhen === "roster") return !policy.places.some((place) => place.kind === "player" && place.id === id);
  const freedEntries = displaced.filter((player) => entrants.has(player.id)).length;
  return entrants.size - freedEntries >= (policy.maxPlayers.get(leagueId) ?? MAX_PLAYERS);
}

/** Whether a player that is not in a league yet can enter it. */
export function takesPlayers(policy: AdmissionPolicy, league: League): boolean {
  const { status, entrants, leagueId } = league;
  if (status === "running" ? lateEntryRejection(league, false) !== null : status !== "open") return false;
  if (policy.startWhen === "roster" || league.teams) {
    const isFree = (playerId: string): boolean => !entrants.has(playerId) && !isOfRun(policy, playerId);
    const places = policy.places.filter(({ kind }) => kind === "player").map(({ id }) => id);
    return (league.teams?.flat() ?? places).some(isFree);
  }
  return entrants.size < (policy.maxPlayers.get(leagueId) ?? MAX_PLAYERS);
}

/** Whether the run starts the player with this id. */
const isOfRun = ({ places }: AdmissionPolicy, playerId: string): boolean =>
  places.some(({ id, startedByRun }) => id === playerId && startedByRun !== null);

const fullMessage = ({ startWhen }: AdmissionPolicy, { name }: EntryRequest, full: string): string =>
  startWhen === "roster" ? `the league accepts only the players of its config, and "${name}" is not one of them` : full;

/** The maximum number of leagues that a rejection lists for each status. */
const MAX_LISTED = 10;

/** The message for a player that can enter no league because none of its games is open. It names the leagues of its games. */
function closedMessage(state: ManagerState, policy: AdmissionPolicy, request: EntryRequest): string {
  const { capabilities } = request;
  const message = "no league of your games is open";
  const leagues = [...state.leagues.values()];
  const ofItsGames = leagues.filter(({ game }) => playsGame(capabilities, game));
  if (ofItsGames.length === 0) {
    const games = new Set(leagues.map(({ game }) => game));
    return games.size === 0 ? message : `${message}: the leagues play ${listed([...games])}, ${gamesAdvice(request)}`;
  }
  const running = ofItsGames.filter(({ status }) => status === "running").map(({ leagueId }) => leagueId);
  const over = ofItsGames.filter(({ status }) => status === "completed").map(({ leagueId }) => leagueId);
  const are = (ids: readonly string[]): string => `${listed(ids)} ${ids.length === 1 ? "is" : "are"}`;
  const states = [
    ...(running.length > 0 ? [`${are(running)} running`] : []),
    ...(over.length > 0 ? [`${are(over)} over`] : []),
  ];
  return states.length === 0 ? message : `${message}: ${states.join("; ")}${adviceOf(policy)}`;
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
    : ". The operator can serve new leagues, with another league_id in the config or with --data FOLDER";

/** Whether a player is in a running league. */
export const isPlaying = ({ leagues }: ManagerState, playerId: string): boolean =>
  [...leagues.values()].some(({ status, entrants }) => status === "running" && entrants.has(playerId));

/** Whether a player is in a league, including the leagues that the config no longer lists. Such a player stays registered. */
export const isInSomeLeague = ({ leagues, formerLeagues }: ManagerState, playerId: string): boolean =>
  [...leagues.values(), ...formerLeagues].some(({ entrants }) => entrants.has(playerId));

/** Whether an agent is registered and has an endpoint. */
export const isPresent = ({ agents }: ManagerState, id: string): boolean => (agents.get(id)?.endpoint ?? "") !== "";
