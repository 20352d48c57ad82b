import { expect } from "vitest";
import type { Result } from "#shared/lib/result.ts";
import type { ErrorCode, ProtocolError } from "#shared/protocol/errors.ts";
import type { LeagueCommand, LeagueSettings, NewLeagueEvent } from "./commands.ts";
import { decideLeague } from "./decide.ts";
import { FORMAT_VERSION, type LeagueEvent } from "./events.ts";
import { foldLeague } from "./evolve.ts";
import type { League } from "./league.ts";

export const AT = "2025-01-01T00:00:00.000Z";

export const SETTINGS: LeagueSettings = {
  leagueId: "rps",
  runId: "run",
  game: "rps.v1",
  roles: ["player_1", "player_2"],
  options: { best_of: 1 },
  format: "round-robin",
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
export const stored = (event: NewLeagueEvent): LeagueEvent => ({ v: FORMAT_VERSION, at: AT, ...event }) as LeagueEvent;

/** The league that these commands lead to, all of which must be accepted, and its events. */
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
  ...playerIds.map((playerId) => ({ type: "enter", playerId, nameCommitment: `name of ${playerId}` }) as const),
];

/** Commands that start a league of these players and open its first round. */
export const running = (playerIds: readonly string[], settings = SETTINGS): readonly LeagueCommand[] => [
  ...entered(playerIds, settings),
  { type: "start" },
  { type: "open_round", roundId: 1, shutDown: new Map() },
];

/** Given these commands, when another one comes, then these events follow, or it is rejected. */
export const given = (...commands: readonly LeagueCommand[]) => ({
  when(command: LeagueCommand) {
    const league = commands.length === 0 ? null : afterCommands(commands).league;
    const decided: Result<readonly NewLeagueEvent[], ProtocolError> = decideLeague(league, command);
    return {
      leadsTo(...events: readonly NewLeagueEvent[]): void {
        expect(decided).toEqual({ ok: true, value: events });
      },
      isRejected(code: ErrorCode, message: string, more: Partial<ProtocolError> = {}): void {
        expect(decided).toMatchObject({ ok: false, error: { error_code: code, message, ...more } });
      },
    };
  },
});
