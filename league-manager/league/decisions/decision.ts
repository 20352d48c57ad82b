import { matchRef } from "#shared/lib/ids.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import type { LeagueCommand, NewLeagueEvent } from "../commands.ts";
import type { League, Match } from "../league.ts";

/** The answer to a command: the events to append, or a rejection. */
export type Decided = Result<readonly NewLeagueEvent[], ProtocolError>;

export type CommandOf<T extends LeagueCommand["type"]> = Extract<LeagueCommand, { type: T }>;

/** The decision about a command that was executed before: it is accepted without events. */
export const UNCHANGED: Decided = ok([]);

/** The detail of the rejection of a command that a paused league does not execute. */
export const PAUSED = "the operator has paused it";

/** Rejects a command that the state of the league does not allow. The text begins with that state. */
export const rejectState = ({ leagueId: league_id, status }: League, detail: string): Decided =>
  err(protocolError("L005", `league ${league_id} is ${status}: ${detail}`, { league_id }));

/** Rejects a command with a text that begins with the name of the league. */
export const rejectLeague = (league: League, detail: string, code: ProtocolError["error_code"] = "L005"): Decided =>
  err(protocolError(code, `league ${league.leagueId} ${detail}`, { league_id: league.leagueId }));

/** Rejects a command that names an unknown match. */
export const rejectMatch = ({ leagueId }: League, match_id: string): Decided =>
  err(protocolError("G003", `no match ${matchRef(leagueId, match_id)}`, { match_id }));

/** The events that cancel those of the matches that are not completed. */
export const cancellationsOf = (matches: readonly Match[]): readonly NewLeagueEvent[] =>
  matches.flatMap(({ matchId, epoch, status }) =>
    status === "completed" ? [] : [{ type: "match_cancelled", match_id: matchId, epoch }],
  );

/** The rejection of a request that names an unknown league. It names the leagues that exist. */
export function noLeague(league_id: string, leagues: Iterable<Pick<League, "leagueId">>): ProtocolError {
  const known = Array.from(leagues, ({ leagueId }) => leagueId).join(", ") || "none";
  return protocolError("L005", `no league ${league_id}; there are ${known}`, { league_id });
}
