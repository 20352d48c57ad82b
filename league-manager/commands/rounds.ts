import { err, invariant, ok, type Result } from "#shared/lib/result.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import type { Decide, ManagerState } from "../ledger.ts";
import { Draft } from "./draft.ts";
import { playerOf } from "./players.ts";

/** Opens the current round. Matches of players who are shut down are forfeited in the same append. */
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

/** Records that each player of the league has received the round's announcement, or has not answered in time. */
export const announceRound =
  (leagueId: string, roundId: number): Decide<null> =>
  (state, at) => {
    const draft = new Draft(state, at);
    const announced = draft.league(leagueId, { type: "announce_round", roundId });
    return announced.ok ? draft.decision(null) : announced;
  };

export interface ScheduledMatch {
  readonly leagueId: string;
  readonly matchId: string;
  readonly roundId: number;
  /** Role to player id. */
  readonly roles: Readonly<Record<string, string>>;
}

/**
 * An operator adds a match. `leagueId` null: to the only running league that all players are in. `players` has one id for each role, in the
 * order of the roles.
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
    const match = league?.rounds[roundId - 1]?.matches.at(-1);
    invariant(league && match, "a scheduled match is the last of its round");
    const roles = Object.fromEntries(league.roles.map((role, seat) => [role, match.players[seat] as string]));
    return draft.decision({ leagueId: target.value, matchId: match.matchId, roundId, roles });
  };

/** The one running league that all these players are in. */
function sharedLeague(state: ManagerState, players: readonly string[]): Result<string, ProtocolError> {
  for (const id of players) {
    const player = playerOf(state, id);
    if (!player.ok) return player;
  }
  const choices = [...state.leagues.values()]
    .filter(({ status, entrants }) => status === "running" && players.every((id) => entrants.has(id)))
    .map((league) => league.leagueId);
  const [only, another] = choices;
  if (only !== undefined && another === undefined) return ok(only);
  const names = players.join(" and ");
  const why =
    only === undefined
      ? `${names} are in no running league together`
      : `${names} are in several running leagues: give league_id, one of ${choices.join(", ")}`;
  return err(protocolError("L005", why, { choices }, true));
}
