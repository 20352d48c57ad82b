import { matchRef } from "#shared/lib/ids.ts";
import { err, messageOf, ok, type Result } from "#shared/lib/result.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import type { AgentState } from "#shared/protocol/lifecycle.ts";
import type { StartGame } from "#shared/protocol/messages.ts";
import { signFor } from "#shared/protocol/signing.ts";
import type { Peers } from "#shared/rpc/peer.ts";
import type { Config } from "#shared/runtime/config.ts";
import type { Logger } from "#shared/runtime/logger.ts";
import { matchSeed } from "#shared/session/match-seed.ts";
import type { Agent } from "./agents.ts";
import { createAnnouncer } from "./announce.ts";
import { createDispatcher } from "./dispatch.ts";
import { documentOf } from "./document.ts";
import type { LeagueEvent } from "./events.ts";
import type { Standing } from "./league/standings.ts";
import {
  addMatch,
  currentRound,
  drawUp,
  type League,
  type Match,
  matchesOf,
  restoreLeague,
  rowOf,
  standingsOf,
} from "./league.ts";
import { awaitPlayers } from "./recovery.ts";
import type { AgentRegistry } from "./registry.ts";
import { createRecorder, type Recorder } from "./results.ts";
import { createRounds } from "./rounds.ts";
import type { RunIdentity } from "./run-identity.ts";
import type { Kept, ManagerStore } from "./tables.ts";

export const MANAGER_SENDER = "league_manager:LM01";

export interface ManagerOptions {
  readonly config: Config;
  readonly store: ManagerStore;
  readonly kept: Kept;
  readonly registry: AgentRegistry;
  readonly peers: Peers;
  readonly log: Logger;
  readonly run: RunIdentity;
  readonly emit: (event: LeagueEvent) => void;
}

/** The league manager: starts leagues, has their rounds played, takes results, keeps the standings. */
export interface Manager {
  readonly leagues: ReadonlyMap<string, League>;
  /** Closes a league's registration and begins its first round; L005 or L001 when it cannot start. */
  start(leagueId: string): Promise<Result<{ matches: number }, ProtocolError>>;
  /** Takes a match result from the referee that the match was given to. */
  record: Recorder["record"];
  /** Adds a match to the running or a later round of a running league. */
  schedule(
    leagueId: string,
    players: readonly [string, string],
    roundId: number,
  ): Promise<Result<Match, ProtocolError>>;
  /** Takes a player out: of open leagues at once, of running ones by forfeit of the rounds to come. One that is in no other is forgotten. */
  remove(player: Agent): Promise<void>;
  /** A referee has registered: it may be given matches, and is told which are still its own. */
  welcomeReferee(referee: Agent): readonly StartGame[];
  /** Forgets the referee among these that has been silent for longest, and so has no match; false when all of them answer. */
  forgetSilent(among: (referee: Agent) => boolean): boolean;
  standings(league: League): readonly Standing[];
  /** A player's lifecycle state; null for one that is not registered any more. */
  stateOf(playerId: string): AgentState | null;
  /** Resolves when `resume` has assigned the unfinished matches to referees again. */
  readonly restored: Promise<void>;
  /** Goes on with every league that was running when the manager stopped. */
  resume(): Promise<void>;
  stop(): void;
}

export function createManager(options: ManagerOptions): Manager {
  const { config, store, kept, registry, peers, log, emit } = options;
  const leagues = new Map<string, League>(config.leagues.map((one) => [one.league_id, restoreLeague(one, kept)]));
  /** Players in leagues that the config no longer has. They stay registered, because the store still has those leagues. */
  const formerEntrants = new Set(
    kept.entrants.filter(({ league_id }) => !leagues.has(league_id)).map(({ player_id }) => player_id),
  );
  const leagueOf = (match: Match): League => leagues.get(match.leagueId) as League;
  const seedOf = (match: Match): string => matchSeed(options.run, match.leagueId, match.matchId, match.epoch);
  const nameOf = (playerId: string): string => registry.get(playerId)?.name ?? playerId;
  const standings = (league: League): readonly Standing[] => standingsOf(league, nameOf);

  const orderOf = (match: Match): StartGame => {
    const { join_ms, move_ms, game_over_ms } = config.timeouts;
    const seat = (playerId: string) => {
      const player = registry.get(playerId) as Agent;
      return {
        player_id: player.id,
        endpoint: player.endpoint,
        dialect: player.dialect,
        match_token: signFor(player.tokenHash, matchRef(match.leagueId, match.matchId)),
        legal_actions: player.wantsLegalActions,
        round_results: player.wantsRoundResults,
        batch: player.takesBatches,
      };
    };
    return {
      league_id: match.leagueId,
      round_id: match.roundId,
      match_id: match.matchId,
      epoch: match.epoch,
      run_id: options.run.runId,
      game: leagueOf(match).game.id,
      options: leagueOf(match).config.options,
      seed: seedOf(match),
      roles: Object.fromEntries(Object.entries(match.roles).map(([role, playerId]) => [role, seat(playerId)])),
      timeouts: { join_ms, move_ms, game_over_ms },
    };
  };

  const onAllCompleted = (): void =>
    emit({ type: "all_completed", document: documentOf([...leagues.values()], nameOf) });

  /** What is found in the data folder: who starts anew there should learn why nothing begins. */
  const tellRestored = (league: League): void => {
    const { league_id } = league.config;
    if (league.status === "completed") emit({ type: "league_completed", league_id, standings: standings(league) });
    if (league.status !== "running") return;
    const { completed, matches } = league;
    emit({ type: "notice", message: `${league_id} goes on: ${completed} of ${matches.size} matches are played` });
  };

  const onStuck = ({ config }: League, thrown: unknown): void => {
    log.error({ err: thrown, league: config.league_id }, "a league could not be restored");
    emit({ type: "notice", message: `${config.league_id} cannot go on: ${messageOf(thrown)}` });
  };

  const dispatcher = createDispatcher({
    registry,
    peers,
    log,
    sender: MANAGER_SENDER,
    timeoutMs: config.timeouts.default_ms,
    matchMs: config.timeouts.match_ms,
    onOverdue: (match) => {
      const told = recorder.abort(match, "its referee did not end it in time");
      told.catch((thrown) => log.error({ err: thrown }, "an overdue match could not be aborted"));
    },
    save: (match) => store.updateMatch(rowOf(match)),
    orderOf,
    gameOf: (match) => leagueOf(match).game.id,
    turnOf: (match) => matchesOf(leagueOf(match), match.roundId).indexOf(match),
    onRefusal: (referee, why) =>
      emit({
        type: "notice",
        message: `referee ${referee.id} takes no matches (${why}); they go to another, if there is one`,
      }),
    onNoReferee: ({ leagueId, matchId }) =>
      emit({
        type: "notice",
        message: `${leagueId} ${matchId} waits: no referee that answers plays its game and reaches its players; a player on this machine's loopback address is reached by referees on this machine`,
      }),
    onReferee: (referee, isUp, left) => {
      const next = left > 0 ? "its matches go to another" : "no referee is left: the league waits for one";
      const what = isUp ? "is back" : `does not answer; ${next}`;
      emit({ type: "notice", message: `referee ${referee.id} ${what}` });
    },
  });
  const stopped = new AbortController();
  const restored = Promise.withResolvers<void>();
  const announcer = createAnnouncer(peers, MANAGER_SENDER, config.timeouts.default_ms);
  const rounds = createRounds({
    leagues,
    store,
    registry,
    dispatcher,
    announcer,
    log,
    emit,
    standings,
    seedOf,
    onAllCompleted,
  });

  /** Everybody in a league that has started; who is active already stays so. */
  const activate = async ({ entrants }: League): Promise<void> => {
    const players = [...entrants].flatMap((id) => registry.get(id) ?? []);
    for (const agent of [...players, ...registry.all("referee")]) await registry.move(agent, "league_start");
  };

  const recorder = createRecorder({ leagues, store, dispatcher, rounds, seedOf, emit });

  const resumeLeagues = async (): Promise<void> => {
    for (const league of leagues.values()) tellRestored(league);
    const running = [...leagues.values()].filter((league) => league.status === "running");
    // The manager may have been killed between the two steps of a start.
    for (const league of running) await activate(league);
    const inPlay = new Set(running.flatMap((league) => [...league.entrants]));
    const players = [...inPlay].flatMap((id) => registry.get(id) ?? []).filter(({ state }) => state !== "SHUTDOWN");
    await awaitPlayers(players, peers, stopped.signal);
    if (stopped.signal.aborted) return;
    // A league that cannot be restored must not keep the others from going on.
    for (const league of running) await rounds.resume(league).catch((thrown) => onStuck(league, thrown));
    if (running.length === 0 && [...leagues.values()].every((league) => league.status === "completed"))
      onAllCompleted();
  };

  return {
    leagues,
    standings,
    stateOf: (playerId) => registry.get(playerId)?.state ?? null,
    record: recorder.record,

    async start(league_id) {
      const league = leagues.get(league_id);
      if (!league) return err(protocolError("L005", `no league ${league_id}`, { league_id }));
      if (league.status !== "open")
        return err(protocolError("L005", `league ${league_id} is ${league.status} already`, { league_id }));
      if (league.entrants.size < 2) {
        return err(
          protocolError("L001", `league ${league_id} has ${league.entrants.size} of at least 2 players`, {}, true),
        );
      }
      if (registry.all("referee").length === 0)
        return err(protocolError("L001", "no referee is registered yet", {}, true));
      league.status = "running";
      drawUp(league);
      const matches = league.matches.size;
      await store.setLeagueStatus(league_id, "running", [...league.matches.values()].map(rowOf));
      await activate(league);
      emit({ type: "league_started", league_id, game: league.game.id, matches });
      await rounds.play(league, currentRound(league) ?? 1);
      return ok({ matches });
    },

    async schedule(league_id, [first, second], roundId) {
      const league = leagues.get(league_id);
      if (!league) return err(protocolError("L005", `no league ${league_id}`, { league_id }));
      for (const id of [first, second]) {
        if (!league.entrants.has(id))
          return err(protocolError("L004", `${id} is not in league ${league_id}`, { player_id: id }));
      }
      const current = currentRound(league);
      if (league.status !== "running" || current === null) {
        return err(
          protocolError("L005", `league ${league_id} is ${league.status}; matches are added while it runs`, {}, true),
        );
      }
      const next = Math.max(...league.rounds.keys()) + 1;
      const context = { round_id: roundId, first_round: current, last_round: next };
      const choices = `choose a round from ${current} to ${next}`;
      if (roundId < current) return err(protocolError("G005", `round ${roundId} is over; ${choices}`, context));
      if (roundId > next) return err(protocolError("G003", `there is no round ${roundId}; ${choices}`, context));
      const [firstRole = "", secondRole = ""] = league.game.roles;
      const matchId = `R${roundId}M${matchesOf(league, roundId).length + 1}`;
      const match = addMatch(league, roundId, matchId, { [firstRole]: first, [secondRole]: second });
      await store.addMatch(rowOf(match));
      if (roundId === current) dispatcher.enqueue([match]);
      return ok(match);
    },

    async remove(player) {
      for (const league of leagues.values()) {
        if (league.status !== "open" || !league.entrants.delete(player.id)) continue;
        await store.removeEntrant(league.config.league_id, player.id);
      }
      const hasPlayed =
        formerEntrants.has(player.id) || [...leagues.values()].some((league) => league.entrants.has(player.id));
      await (hasPlayed ? registry.move(player, "league_end") : registry.forget(player));
      emit({ type: "notice", message: `${player.name} (${player.id}) was taken out by the operator` });
    },

    welcomeReferee(referee) {
      dispatcher.welcome(referee);
      return dispatcher.assignedTo(referee.id).map(orderOf);
    },

    forgetSilent(among) {
      const referee = dispatcher.silent().find(among);
      if (!referee) return false;
      dispatcher.forget(referee);
      registry.forget(referee).catch((thrown) => log.error({ err: thrown }, "a referee could not be forgotten"));
      emit({ type: "notice", message: `referee ${referee.id} is silent and makes room for another` });
      return true;
    },

    restored: restored.promise,

    async resume() {
      await resumeLeagues().finally(restored.resolve);
    },

    stop() {
      stopped.abort();
      dispatcher.stop();
    },
  };
}
