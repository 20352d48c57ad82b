import { matchRef } from "../../lib/ids.ts";
import type { RoundEnd } from "../announcements.ts";
import type { Envelope } from "../envelope.ts";
import type { GameInvite, MoveRequest } from "../messages.ts";

/** The payload of ROUND_RESULT, with the facts of the game. */
export type RoundFacts = Readonly<Record<string, unknown>> & { readonly moves: Readonly<Record<string, unknown>> };

interface MatchMemory {
  readonly invite: GameInvite;
  request: MoveRequest | null;
  readonly rounds: RoundFacts[];
}

interface LeagueMemory {
  /** The rounds that have ended and are not announced as completed. */
  ended: RoundEnd[];
  matchesCompleted: number;
}

/** The native messages to one player that later messages in another dialect refer to. The message of a dialect may contain facts of several native messages. */
export interface Memory {
  readonly matches: Map<string, MatchMemory>;
  readonly leagues: Map<string, LeagueMemory>;
}

export const newMemory = (): Memory => ({ matches: new Map(), leagues: new Map() });

/** The largest number of matches of one player that are remembered. A player has one match at a time. */
const MAX_MATCHES = 20;

/** Remembers a native message before it is translated. */
export function remember(memory: Memory, { type, payload }: Envelope): void {
  if (type === "GAME_INVITE") {
    const invite = payload as GameInvite;
    if (memory.matches.size >= MAX_MATCHES) memory.matches.delete(memory.matches.keys().next().value ?? "");
    const known = memory.matches.get(refOf(invite));
    const isSame = known?.invite.epoch === invite.epoch;
    memory.matches.set(refOf(invite), isSame && known ? known : { invite, request: null, rounds: [] });
  } else if (type === "MOVE_REQUEST") {
    const match = memory.matches.get(refOf(payload));
    if (match) match.request = payload as MoveRequest;
  } else if (type === "ROUND_RESULT") {
    memory.matches.get(refOf(payload))?.rounds.push(payload as RoundFacts);
  } else if (type === "ROUND_END") {
    const round = payload as RoundEnd;
    const league = leagueOf(memory, round.league_id);
    league.ended.push(round);
    league.matchesCompleted += round.matches_completed;
  }
}

/** Returns what is remembered about the match of a message; null if the match is not known. */
export const matchIn = (memory: Memory, payload: Readonly<Record<string, unknown>>): MatchMemory | null =>
  memory.matches.get(refOf(payload)) ?? null;

export function leagueOf(memory: Memory, leagueId: string): LeagueMemory {
  const league = memory.leagues.get(leagueId) ?? { ended: [], matchesCompleted: 0 };
  memory.leagues.set(leagueId, league);
  return league;
}

const refOf = (payload: object): string => {
  const { league_id, match_id } = payload as { readonly league_id?: unknown; readonly match_id?: unknown };
  return matchRef(String(league_id), String(match_id));
};
