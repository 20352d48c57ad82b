import { err, invariant, ok, type Result } from "#shared/lib/result.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import { type League, roundOf } from "../league/league.ts";
import type { Decide, ManagerState } from "../ledger.ts";
import { Draft } from "./draft.ts";
import { playerOf } from "./players.ts";

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
