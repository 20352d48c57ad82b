import type { Standing, StandingsPlayer } from "#shared/standings/standings.ts";
import { type League, type Match, roundOf } from "../../league/league.ts";
import { winnerOf } from "../../league/outcome.ts";
import type { ManagerState } from "../../ledger.ts";
import { RoundStandings } from "./round-standings.ts";

const announcementTypes = ["ROUND_END", "LEAGUE_STANDINGS_UPDATE", "ROUND_ANNOUNCEMENT", "ROUND_START"] as const;
export type AnnouncementType = (typeof announcementTypes)[number];

/** A queued announcement. Its payload is created when it is sent. */
export interface Announcement {
  readonly type: AnnouncementType;
  readonly leagueId: string;
  readonly roundId: number;
  /** Whether it was sent before and the referees of the matches may have changed since. */
  readonly isRepeated?: boolean;
}

/** A longer list is reduced to the entries that concern the recipient. */
const MAX_ENTRIES = 100;

/** The last list of a league and type, cached so that the recipients of one announcement share it. */
interface SharedList {
  readonly roundId: number;
  readonly total: number;
  /** The payload with the complete list; null for a list that is too long. */
  readonly payload: object | null;
  /** The entries of a list that is too long, by the agent that they concern. */
  readonly entriesByAgent: ReadonlyMap<string, readonly unknown[]>;
}

/** The list of an announcement. */
interface List<T> {
  readonly all: () => readonly T[];
  /** The agents that an entry concerns. */
  readonly ownersOf: (entry: T) => readonly string[];
  readonly payload: (entries: readonly T[]) => object;
  readonly resource: string;
}

/** Creates the payloads of announcements from the state at the time of sending. */
export class AnnouncementMessages {
  readonly #state: () => ManagerState;
  readonly #shared = new Map<string, SharedList>();
  readonly #standings = new RoundStandings();

  constructor(state: () => ManagerState) {
    this.#state = state;
  }

  /** Returns the payload for one recipient, or null if the league or round does not exist. */
  payload(announcement: Announcement, recipientId: string): object | null {
    const { type, leagueId, roundId } = announcement;
    const league = this.#state().leagues.get(leagueId);
    const round = roundOf(league, roundId);
    if (!league || !round) return null;
    const head = { league_id: leagueId, round_id: roundId };
    switch (type) {
      case "ROUND_START":
        return head;
      case "ROUND_ANNOUNCEMENT":
        return this.#list(announcement, recipientId, {
          all: () => round.matches,
          ownersOf: agentsOf,
          payload: (matches) => ({
            ...head,
            ...(round.label !== null && { label: round.label }),
            matches: matches.map((match) => this.#scheduled(league, match)),
            ...(round.byes.length > 0 && round.byes.length <= MAX_ENTRIES && { byes: round.byes }),
          }),
          resource: `league://${leagueId}/schedule/${roundId}`,
        });
      case "ROUND_END":
        return this.#list(announcement, recipientId, {
          all: () => round.matches,
          ownersOf: agentsOf,
          payload: (matches) => ({
            ...head,
            matches_completed: round.matches.length,
            next_round_id: !league.isEnded && league.rounds.at(roundId) ? roundId + 1 : null,
            summary: {
              winners: Object.fromEntries(matches.map((match) => [match.matchId, winnerOf(match)])),
            },
          }),
          resource: `league://${leagueId}/schedule/${roundId}`,
        });
      case "LEAGUE_STANDINGS_UPDATE":
        return this.#list(announcement, recipientId, {
          all: () => this.#standings.after(league, roundId, this.#playersOf(league)),
          ownersOf: ({ player_id }) => [player_id],
          payload: (rows) => ({ ...head, standings: rows.map((row) => this.#withState(row)) }),
          resource: `league://${leagueId}/standings`,
        });
    }
  }

  #list<T>({ type, leagueId, roundId, isRepeated = false }: Announcement, recipientId: string, list: List<T>): object {
    const key = `${leagueId}/${type}`;
    let shared = this.#shared.get(key);
    if (shared?.roundId !== roundId || isRepeated) {
      shared = { roundId, ...sharedOf(list) };
      this.#shared.set(key, shared);
    }
    if (shared.payload) return shared.payload;
    const entries = (shared.entriesByAgent.get(recipientId) ?? []) as readonly T[];
    return { ...list.payload(entries), truncated: true, total: shared.total, resource: list.resource };
  }

  #scheduled(league: League, { matchId, players, refereeId }: Match): object {
    return {
      match_id: matchId,
      game: league.game,
      roles: Object.fromEntries(league.roles.map((role, index) => [role, players[index] ?? ""])),
      referee_endpoint: refereeId === null ? null : (this.#state().agents.get(refereeId)?.endpoint ?? null),
    };
  }

  #withState(row: Standing): object {
    return { ...row, state: this.#state().agents.get(row.player_id)?.state ?? null };
  }

  #playersOf({ entrants }: League): readonly StandingsPlayer[] {
    const { agents } = this.#state();
    return [...entrants.keys()].map((player_id) => ({
      player_id,
      display_name: agents.get(player_id)?.name ?? player_id,
    }));
  }
}

function sharedOf<T>({ all, ownersOf, payload }: List<T>): Omit<SharedList, "roundId"> {
  const list = all();
  const total = list.length;
  if (total <= MAX_ENTRIES) return { total, payload: payload(list), entriesByAgent: new Map() };
  const entriesByAgent = new Map<string, T[]>();
  for (const entry of list) {
    for (const id of ownersOf(entry)) entriesByAgent.set(id, [...(entriesByAgent.get(id) ?? []), entry]);
  }
  return { total, payload: null, entriesByAgent };
}

const agentsOf = ({ players, refereeId }: Match): readonly string[] =>
  refereeId === null ? players : [...players, refereeId];
