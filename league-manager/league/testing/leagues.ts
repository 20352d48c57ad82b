import { expect } from "vitest";
import { findGame } from "#shared/games/registry.ts";
import type { Result } from "#shared/lib/result.ts";
import type { ErrorCode, ProtocolError } from "#shared/protocol/errors.ts";
import type { MatchResult } from "#shared/protocol/messages.ts";
import { outcomeOf, participantsOf } from "#shared/session/match-result.ts";
import type { Command } from "#shared/session/session.ts";
import { act as actOfRole, playSession } from "#shared/session/testing/play.ts";
import { decideLeague } from "../decide.ts";
import { LEAGUE_FORMAT_VERSION, type LeagueEvent } from "../events.ts";
import { foldLeague, matchOf } from "../evolve.ts";
import {
  type League,
  type LeagueCommand,
  type LeagueSettings,
  type Match,
  type NewLeagueEvent,
  optionsOf,
} from "../league.ts";
import { rolesOf } from "../outcome.ts";

export const AT = "2025-01-01T00:00:00.000Z";

export const SETTINGS: LeagueSettings = {
  leagueId: "rps",
  like: null,
  runId: "run",
  game: "rps.v1",
  roles: ["player_1", "player_2"],
  options: { best_of: 1 },
  clock: null,
  format: "round-robin",
  formatOptions: {},
  tieBreaks: null,
  teams: null,
  openings: null,
  lateEntry: "closed",
  startsAt: null,
  roundMs: null,
  seedCommitment: "commitment of the seed",
};

export const CODENAMES: LeagueSettings = {
  ...SETTINGS,
  leagueId: "codenames",
  game: "codenames.v1",
  roles: ["red_spymaster", "red_team", "blue_spymaster", "blue_team"],
  options: {},
};

/** An event as it is stored. */
export const stored = (event: NewLeagueEvent): LeagueEvent =>
  ({ v: LEAGUE_FORMAT_VERSION, at: AT, ...event }) as LeagueEvent;

/** The league after these commands, and its events. Throws if a command is rejected. */
export function afterCommands(commands: readonly LeagueCommand[]): { league: League; events: readonly LeagueEvent[] } {
  const events: LeagueEvent[] = [];
  for (const command of commands) {
    const decided = decideLeague(foldLeague(events), command);
    if (!decided.ok) throw new Error(`${command.type}: ${decided.error.message}`);
    events.push(...decided.value.map(stored));
  }
  return { league: foldLeague(events) as League, events };
}

/** Commands that open a league and enter players. */
export const entered = (playerIds: readonly string[], settings = SETTINGS): readonly LeagueCommand[] => [
  { type: "open", settings },
  ...playerIds.map((playerId) => enter(playerId)),
];

export const enter = (playerId: string, byOperator?: true): LeagueCommand => ({
  type: "enter",
  playerId,
  nameCommitment: `name of ${playerId}`,
  ...(byOperator && { byOperator }),
});

/** The seed of the leagues of the tests. */
export const LEAGUE_SEED = "seed of the league";

export const START: LeagueCommand = { type: "start", seed: LEAGUE_SEED };

/** The command that pairs the next rounds, or completes the pairing. */
export const pair = (slots = 0): LeagueCommand => ({ type: "pair", seed: LEAGUE_SEED, slots });

/** Commands that start a league of these players and open its first round. */
export const running = (playerIds: readonly string[], settings = SETTINGS): readonly LeagueCommand[] => [
  ...entered(playerIds, settings),
  START,
  open(1),
];

/** Tests a command after other commands: `given(…).when(command).leadsTo(events)` or `.isRejected(code, message)`. */
export const given = (...commands: readonly LeagueCommand[]) => ({
  when(command: LeagueCommand) {
    const league = commands.length === 0 ? null : afterCommands(commands).league;
    const decided: Result<readonly NewLeagueEvent[], ProtocolError> = decideLeague(league, command);
    return {
      leadsTo(...events: readonly NewLeagueEvent[]): void {
        expect(decided).toStrictEqual({ ok: true, value: events });
      },
      isRejected(code: ErrorCode, message: string, more: Partial<ProtocolError> = {}): void {
        expect(decided).toMatchObject({ ok: false, error: { error_code: code, message, ...more } });
      },
    };
  },
});

/** The seed of every match. */
export const SEED = "seed of the match";

/** The result of a match after these commands to its session, which must end it. */
export function resultOf(league: League, match: Match, commands: readonly Command[], seed = SEED): MatchResult {
  const game = findGame(league.game);
  if (!game) throw new Error(`no game ${league.game}`);
  const { leagueId: league_id } = league;
  const { matchId: match_id, roundId: round_id, epoch } = match;
  const players = rolesOf(league, match);
  const participants = participantsOf({ league_id, match_id, roles: players });
  const options = game.options.parse(optionsOf(league, match));
  const setup = { id: "session", game, options, participants, seed, clock: league.clock, at: AT };
  const { session, log, head } = playSession(setup, commands);
  return { league_id, match_id, round_id, epoch, ...outcomeOf(session, head, players), log };
}

/** The command by which the player in a seat makes its choice in rock-paper-scissors. */
export const act = (seat: 1 | 2, action: string): Command => actOfRole(`player_${seat}`, action);

/** The commands of a match that the player in the first seat wins. */
export const WON: readonly Command[] = [act(1, "rock"), act(2, "scissors")];

/** The commands of a match that these roles forfeit by timeout. */
export const forfeitBy = (...roles: readonly string[]): readonly Command[] => [
  { type: "forfeit", faults: roles.map((role) => ({ role, code: "G002", cause: "timeout", detail: "no answer" })) },
];

/** The result of a match that was aborted without having been played. */
export const unplayed = ({ leagueId }: League, { matchId, roundId, epoch }: Match, reason: string): MatchResult => ({
  league_id: leagueId,
  match_id: matchId,
  round_id: roundId,
  epoch,
  winner: null,
  final_scores: {},
  match_points: {},
  termination: "aborted",
  reason,
  faults: [],
  log_head: "",
  log: [],
});

/** Assigns a match to REF01. */
export const assign = (matchId: string, epoch = 1): LeagueCommand => ({
  type: "assign",
  matchId,
  epoch,
  refereeId: "REF01",
});

/** Opens a round. `shutDown`: the players that are shut down, with the versions of their logs. */
export const open = (
  roundId: number,
  shutDown: Readonly<Record<string, number>> = {},
  removed: readonly string[] = [],
): LeagueCommand => ({
  type: "open_round",
  roundId,
  shutDown: new Map(Object.entries(shutDown)),
  removed: new Set(removed),
});

/** Assigns a match and reports that the player in its first seat has won. */
export function played(before: readonly LeagueCommand[], matchId: string): readonly LeagueCommand[] {
  const assigned = [...before, assign(matchId)];
  const { league } = afterCommands(assigned);
  const match = matchOf(league, matchId);
  if (!match) throw new Error(`no match ${matchId}`);
  const result = resultOf(league, match, WON);
  return [...assigned, { type: "report", result, refereeId: "REF01", seed: SEED }];
}
