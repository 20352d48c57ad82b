import { equalSecrets } from "#shared/lib/hash.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import type { PlayerRegisterRequest, RefereeRegisterRequest } from "#shared/protocol/messages.ts";
import { remoteNetworkOf, sameEndpoint } from "#shared/rpc/addresses.ts";
import type { Answer, Caller } from "#shared/rpc/operations.ts";
import type { Agent } from "./agents.ts";
import type { LeagueEvent } from "./events.ts";
import type { League } from "./league.ts";
import type { Manager } from "./manager.ts";
import type { AgentRegistry, Place } from "./registry.ts";

export interface EntryOptions {
  readonly manager: Manager;
  readonly registry: AgentRegistry;
  /** The places that the config keeps. */
  readonly places: readonly Place[];
  /**
   * `roster`: a league starts when every kept place is taken, and is closed to others; `count`: when as many players are registered
   * as it says itself, or as the config has, whoever they are.
   */
  readonly startWhen: "roster" | "count";
  /** How long the kept places are waited for: then a league starts without those that have not come. */
  readonly registrationMs: number;
  /** The join code that a registration needs; null if the league has none. A registration with an agent's token needs none. */
  readonly joinCode: string | null;
  readonly emit: (event: LeagueEvent) => void;
  readonly onError: (thrown: unknown) => void;
}

/** The way into the league: registrations, which league they lead to, and when a league is complete and starts. */
export interface Entry {
  player(request: PlayerRegisterRequest, caller: Caller): Promise<Answer>;
  referee(request: RefereeRegisterRequest, caller: Caller): Promise<Answer>;
  /** Starts every open league that has all it waits for. */
  startComplete(): void;
  stop(): void;
}

/** How long a complete roster waits for the rest of the configured referees, so that matches are dealt out alike each time. */
const REFEREE_GRACE_MS = 3_000;

/** Of a league that says no number itself: a round robin of more has more matches than anybody waits for, and strangers would fill it. */
const MOST_PLAYERS = 500;

/** Each is probed every second, so strangers could register them without end; as many as there are ports for them. */
const MOST_REFEREES = 99;
/** Of one remote network, so that one program cannot take every place. */
const MOST_REFEREES_OF_NETWORK = 33;

export function createEntry(options: EntryOptions): Entry {
  const { manager, registry, places, startWhen, emit, onError } = options;
  const playerPlaces = places.filter((place) => place.kind === "player");
  const refereePlaces = places.filter((place) => place.kind === "referee");
  const starting = new Set<string>();
  /** Leagues of which it was told that they cannot start. */
  const stuck = new Set<string>();
  let isWaitingOver = false;
  const waitTimer = setTimeout(() => {
    isWaitingOver = true;
    startComplete();
    tellStuck();
  }, options.registrationMs);
  let isGraceOver = false;
  let graceTimer: NodeJS.Timeout | undefined;

  /** The leagues that a player enters: those it asked for, or every open one of its games. */
  const leaguesFor =
    (request: PlayerRegisterRequest) =>
    (player: Agent): Result<readonly string[], ProtocolError> => {
      const chosen: string[] = [];
      for (const league_id of request.league_ids ?? manager.leagues.keys()) {
        const league = manager.leagues.get(league_id);
        if (!league) return err(protocolError("L005", `no league ${league_id}`, { league_id }));
        const why = whyNot(league, player, request);
        if (why === null) chosen.push(league_id);
        else if (request.league_ids?.includes(league_id)) return err(why);
      }
      if (chosen.length > 0) {
        // Seated before the registration is written, so that two who come at once do not get the same last seat.
        for (const league_id of chosen) manager.leagues.get(league_id)?.entrants.add(player.id);
        return ok(chosen);
      }
      const full = [...manager.leagues.values()].some((league) => league.status === "open" && isFull(league, player));
      return err(
        full
          ? protocolError("L002", noSeat("every league of your games is full", player))
          : protocolError("L001", "no league of your games is open"),
      );
    };

  const whyNot = (league: League, player: Agent, request: PlayerRegisterRequest): ProtocolError | null => {
    const { league_id, game } = league.config;
    if (league.entrants.has(player.id)) return null;
    if (player.state === "SHUTDOWN" && isPlaying(player)) {
      const why = "you are shut down, until the leagues that you are in are over";
      return protocolError("L001", why, { league_id });
    }
    if (!request.game_types.some((type) => type === game || game.startsWith(`${type}.`))) {
      return protocolError("L001", `league ${league_id} plays ${game}, which is not in your game_types`, { league_id });
    }
    if (league.status !== "open")
      return protocolError("L001", `league ${league_id} is ${league.status}`, { league_id });
    return isFull(league, player)
      ? protocolError("L002", noSeat(`league ${league_id} is full`, player), { league_id })
      : null;
  };

  const isOpen = (leagueId: string): boolean => manager.leagues.get(leagueId)?.status === "open";
  const isPlaying = ({ id }: Agent): boolean =>
    [...manager.leagues.values()].some((league) => league.status === "running" && league.entrants.has(id));

  /** Whether a league has no seat left for a player: those of a roster are for whom they are kept. */
  const isFull = (league: League, player: Agent): boolean => {
    if (startWhen === "roster") return !playerPlaces.some((place) => place.id === player.id);
    return league.entrants.size >= (league.config.max_players ?? MOST_PLAYERS);
  };

  const noSeat = (full: string, { name }: Agent): string =>
    startWhen === "roster" ? `no place is kept for "${name}": who plays here stands in the league's config` : full;

  /** Who referees a match could invent its moves: a league of known players has the referees that it knows. */
  const mayReferee = (referee: Agent): Result<readonly string[], ProtocolError> => {
    const { id, endpoint } = referee;
    if (startWhen === "roster") {
      if (refereePlaces.some((place) => place.id === id)) return ok([]);
      return err(protocolError("L002", "this league has the referees of its config, and takes no other"));
    }
    const isExpected = (url: string): boolean =>
      refereePlaces.some((place) => place.endpoint !== null && sameEndpoint(place.endpoint, url));
    if (registry.get(id) === referee || isExpected(endpoint)) return ok([]);
    const referees = registry.all("referee");
    const network = remoteNetworkOf(endpoint);
    const ofNetwork = ({ endpoint }: Agent): boolean => network !== null && remoteNetworkOf(endpoint) === network;
    const isNetworkFull = referees.filter(ofNetwork).length >= MOST_REFEREES_OF_NETWORK;
    if (!isNetworkFull && referees.length < MOST_REFEREES) return ok([]);
    // A new referee of a network that has its share replaces only a referee of that network.
    const mayReplace = (other: Agent): boolean => !isExpected(other.endpoint) && (!isNetworkFull || ofNetwork(other));
    if (manager.forgetSilent(mayReplace)) return ok([]);
    const registered = isNetworkFull
      ? `${MOST_REFEREES_OF_NETWORK} referees of your network`
      : `${MOST_REFEREES} referees`;
    return err(protocolError("L002", `${registered} are registered, and all of them answer`, {}, true));
  };

  const isComplete = (league: League): boolean => {
    if (league.status !== "open" || league.entrants.size < 2 || registry.all("referee").length === 0) return false;
    const { min_players = playerPlaces.length } = league.config;
    if (startWhen === "count") return min_players > 0 && league.entrants.size >= min_players;
    if (playerPlaces.length === 0) return false;
    const missing = playerPlaces.filter((place) => !registry.get(place.id));
    return (missing.length === 0 || isWaitingOver) && refereesAreIn();
  };

  const refereesAreIn = (): boolean => {
    if (isGraceOver || refereePlaces.every((place) => registry.get(place.id))) return true;
    graceTimer ??= setTimeout(() => {
      isGraceOver = true;
      startComplete();
    }, REFEREE_GRACE_MS);
    return false;
  };

  const startComplete = (): void => {
    for (const league of manager.leagues.values()) {
      const { league_id } = league.config;
      if (starting.has(league_id) || !isComplete(league)) continue;
      starting.add(league_id);
      const absent = playerPlaces.filter((place) => !registry.get(place.id)).map((place) => place.name);
      if (startWhen === "roster" && absent.length > 0) {
        emit({ type: "notice", message: `league ${league_id} starts without ${absent.join(", ")}` });
      }
      manager
        .start(league_id)
        .catch(onError)
        .finally(() => starting.delete(league_id));
    }
    if (playerPlaces.every((place) => registry.get(place.id))) tellStuck();
  };

  /** Nobody else is waited for, so nothing would ever happen. A league of two or more lacks referees at most, and those come back. */
  const tellStuck = (): void => {
    if (startWhen === "count") return;
    for (const { config, status, entrants } of manager.leagues.values()) {
      if (status !== "open" || entrants.size >= 2 || stuck.has(config.league_id)) continue;
      stuck.add(config.league_id);
      const absent = playerPlaces.filter((place) => !registry.get(place.id)).map((place) => place.name);
      const missed = `; ${absent.join(", ")} did not come within ${options.registrationMs / 1000} s (timeouts.registration_ms)`;
      const why = `a league needs two players, and it has ${entrants.size}${absent.length > 0 ? missed : ""}`;
      emit({ type: "league_stuck", league_id: config.league_id, why });
    }
  };

  const lacksCode = ({ join_code }: { join_code?: string | null | undefined }, { authToken }: Caller): boolean => {
    const { joinCode } = options;
    return joinCode !== null && !equalSecrets(join_code ?? "", joinCode) && registry.authenticate(authToken) === null;
  };
  const wrongCode = protocolError("L001", "the join code is missing or wrong: ask for it and give --join-code WORD");

  const rejected = (error: ProtocolError) =>
    ({
      status: "REJECTED",
      auth_token: null,
      league_ids: [],
      reason: error.message,
      error_code: error.error_code,
    }) as const;

  return {
    async player(request, caller) {
      if (lacksCode(request, caller)) return ok({ player_id: null, ...rejected(wrongCode) });
      const registered = await registry.register(
        {
          kind: "player",
          name: request.display_name,
          endpoint: request.contact_endpoint,
          gameTypes: request.game_types,
          wantsLegalActions: request.legal_actions ?? true,
          wantsRoundResults: request.round_results ?? true,
          takesBatches: request.batch ?? false,
          maxConcurrent: 0,
          remoteAddress: caller.remoteAddress,
          token: caller.authToken,
        },
        leaguesFor(request),
      );
      if (!registered.ok) return ok({ player_id: null, ...rejected(registered.error) });
      const { agent, token, isNew, leagueIds } = registered.value;
      if (isNew) emit({ type: "registered", agent_id: agent.id, name: agent.name, kind: "player" });
      else if (agent.state === "SHUTDOWN" && leagueIds.some(isOpen) && !isPlaying(agent)) await registry.renew(agent);
      else await registry.move(agent, "recover");
      startComplete();
      return ok({
        status: "ACCEPTED",
        player_id: agent.id,
        auth_token: token,
        league_ids: leagueIds,
        reason: null,
        error_code: null,
      });
    },

    async referee(request, caller) {
      if (lacksCode(request, caller)) return ok({ referee_id: null, ...rejected(wrongCode) });
      const registered = await registry.register(
        {
          kind: "referee",
          name: request.display_name,
          endpoint: request.contact_endpoint,
          gameTypes: request.game_types,
          wantsLegalActions: false,
          wantsRoundResults: false,
          takesBatches: false,
          maxConcurrent: request.max_concurrent_matches,
          remoteAddress: caller.remoteAddress,
          token: caller.authToken,
        },
        mayReferee,
      );
      if (!registered.ok) return ok({ referee_id: null, ...rejected(registered.error) });
      const { agent, token, isNew } = registered.value;
      if (isNew) emit({ type: "registered", agent_id: agent.id, name: agent.name, kind: "referee" });
      // The answer lists the referee's matches, and the referee drops all others. Until `restored` the list is incomplete.
      await manager.restored;
      const matches = manager.welcomeReferee(agent);
      startComplete();
      const league_ids = [...manager.leagues.keys()];
      return ok({
        status: "ACCEPTED",
        referee_id: agent.id,
        auth_token: token,
        league_ids,
        reason: null,
        error_code: null,
        matches,
      });
    },

    startComplete,
    stop() {
      clearTimeout(graceTimer);
      clearTimeout(waitTimer);
    },
  };
}
