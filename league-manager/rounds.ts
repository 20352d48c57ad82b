import { systemClock } from "#shared/lib/clock.ts";
import type { Logger } from "#shared/runtime/logger.ts";
import type { Agent } from "./agents.ts";
import type { Announcer } from "./announce.ts";
import type { Dispatcher } from "./dispatch.ts";
import { type LeagueEvent, summaryOf } from "./events.ts";
import type { Standing } from "./league/standings.ts";
import {
  completeMatch,
  currentRound,
  forfeitUnplayed,
  type League,
  type Match,
  matchesOf,
  type RecordedResult,
  SHUT_DOWN,
} from "./league.ts";
import type { AgentRegistry } from "./registry.ts";
import type { ManagerStore } from "./tables.ts";

export interface RoundsOptions {
  readonly leagues: ReadonlyMap<string, League>;
  readonly store: ManagerStore;
  readonly registry: AgentRegistry;
  readonly dispatcher: Dispatcher;
  readonly announcer: Announcer;
  readonly log: Logger;
  readonly emit: (event: LeagueEvent) => void;
  readonly standings: (league: League) => readonly Standing[];
  readonly seedOf: (match: Match) => string;
  /** Every league is completed. */
  readonly onAllCompleted: () => void;
}

/** The course of running leagues: a round is handed out, its results come in, the next one follows. */
export interface Rounds {
  /** Begins a round: hands out its open matches; those of shut-down players are forfeited at once. */
  play(league: League, roundId: number): Promise<void>;
  /** Writes a result down and lets everything follow from it; resolves when it is on disk. */
  complete(match: Match, result: RecordedResult, entries: readonly string[], referee: Agent | null): Promise<void>;
  /** Goes on with a league that was running when the manager stopped. */
  resume(league: League): Promise<void>;
}

/** How long the last news of a league may take before the end is told. */
const LAST_NEWS_MS = 1_000;

/**
 * Whether a round was being played when the manager stopped. The matches of such a round are played to their end, also those of players
 * that have been shut down since.
 */
const hasBegun = (league: League, roundId: number): boolean =>
  matchesOf(league, roundId).some(({ status, epoch, result }) => {
    const isForfeited = result?.reason === SHUT_DOWN;
    return !isForfeited && (status !== "scheduled" || epoch > 1);
  });

export function createRounds(options: RoundsOptions): Rounds {
  const { leagues, store, registry, dispatcher, announcer, emit, standings } = options;
  /** The round that each running league is in; it is moved on once, by the match that completes it. */
  const openRounds = new Map<string, number>();

  const audience = (league: League): readonly Agent[] => [
    ...[...league.entrants].flatMap((id) => registry.get(id) ?? []),
    ...registry.all("referee"),
  ];

  const play: Rounds["play"] = async (league, round_id) => {
    const { league_id } = league.config;
    openRounds.set(league_id, round_id);
    emit({ type: "round_started", league_id, round_id });
    const open = matchesOf(league, round_id).filter((match) => match.status !== "completed");
    const absent = (match: Match): string[] =>
      Object.values(match.roles).filter((id) => registry.get(id)?.state === "SHUTDOWN");
    const unplayable = hasBegun(league, round_id) ? [] : open.filter((match) => absent(match).length > 0);
    dispatcher.enqueue(open.filter((match) => !unplayable.includes(match)));
    const matches = open.map((match) => ({
      match_id: match.matchId,
      game: league.game.id,
      roles: match.roles,
      referee_endpoint: match.refereeId === null ? null : (registry.get(match.refereeId)?.endpoint ?? null),
    }));
    announcer.tell(audience(league), "ROUND_ANNOUNCEMENT", { league_id, round_id, matches });
    announcer.tell(audience(league), "ROUND_START", { league_id, round_id });
    for (const match of unplayable) {
      await complete(match, forfeitUnplayed(match, absent(match), "the player is shut down"), [], null);
    }
  };

  const complete: Rounds["complete"] = async (match, result, entries, referee) => {
    await store.recordResult({
      league_id: match.leagueId,
      match_id: match.matchId,
      epoch: result.epoch,
      referee_id: referee?.id ?? null,
      result: JSON.stringify(result),
      log: JSON.stringify(entries),
      seed: options.seedOf(match),
      recorded_at: systemClock.iso(),
    });
    const league = leagues.get(match.leagueId) as League;
    // First, while it still says whose it is: a match that is aborted for good has its result from nobody.
    dispatcher.release(match);
    completeMatch(league, match, result, referee?.id ?? null);
    const judged = judgePlayers(match, result);
    emit({
      type: "match_completed",
      league_id: match.leagueId,
      match: summaryOf(match, result),
      faults: result.faults,
      completed: league.completed,
      matches: league.matches.size,
      standings: standings(league),
    });
    moveOn(league, match.roundId).catch((thrown) => {
      options.log.error({ err: thrown, league: match.leagueId }, "a league could not move on");
    });
    await judged;
  };

  /** A loss by TIMEOUT suspends a player, three in a row shut it down; any other result recovers it. */
  const judgePlayers = async (match: Match, result: RecordedResult): Promise<void> => {
    if (result.termination === "aborted" || result.reason === SHUT_DOWN) return;
    const kept: Promise<void>[] = [];
    for (const player of Object.values(match.roles).flatMap((id) => registry.get(id) ?? [])) {
      const timedOut = result.faults.some((fault) => fault.player_id === player.id && fault.code === "G002");
      const was = player.state;
      kept.push(timedOut ? registry.countTimeout(player) : registry.countGood(player));
      if (was !== "SHUTDOWN" && player.state === "SHUTDOWN") {
        const why = "too many matches in a row lost for want of an answer; the rest is forfeited";
        emit({ type: "notice", message: `${player.name} (${player.id}) is shut down: ${why}` });
      }
    }
    await Promise.all(kept);
  };

  const moveOn = async (league: League, round_id: number): Promise<void> => {
    const { league_id } = league.config;
    const round = matchesOf(league, round_id);
    if (openRounds.get(league_id) !== round_id || round.some((match) => match.status !== "completed")) return;
    openRounds.delete(league_id);
    const next_round_id = currentRound(league);
    const winners = Object.fromEntries(round.map((match) => [match.matchId, match.result?.winner ?? null]));
    const ended = { league_id, round_id, matches_completed: round.length, next_round_id, summary: { winners } };
    announcer.tell(audience(league), "ROUND_END", ended);
    const rows = standings(league).map((row) => ({ ...row, state: registry.get(row.player_id)?.state ?? null }));
    announcer.tell(audience(league), "LEAGUE_STANDINGS_UPDATE", { league_id, round_id, standings: rows });
    if (next_round_id !== null) return play(league, next_round_id);
    league.status = "completed";
    await store.setLeagueStatus(league_id, "completed", []);
    emit({ type: "league_completed", league_id, standings: standings(league) });
    await dismiss(league);
  };

  /** At the league's end its players go to SHUTDOWN, unless another league still counts on them. */
  const dismiss = async (league: League): Promise<void> => {
    const unfinished = [...leagues.values()].filter((one) => one.status !== "completed");
    for (const id of league.entrants) {
      const player = registry.get(id);
      if (player && !unfinished.some((one) => one.entrants.has(id))) await registry.move(player, "league_end");
    }
    if (unfinished.length > 0) return;
    for (const referee of registry.all("referee")) await registry.move(referee, "league_end");
    await announcer.settle(LAST_NEWS_MS);
    options.onAllCompleted();
  };

  return {
    play,
    complete,
    async resume(league) {
      const current = currentRound(league);
      if (current !== null) return play(league, current);
      const last = Math.max(0, ...league.rounds.keys());
      openRounds.set(league.config.league_id, last);
      await moveOn(league, last);
    },
  };
}
