import type { AgentKind } from "../agents/agent.ts";
import type { League, Match } from "../league/league.ts";
import { createTally, type Standing } from "../league/standings.ts";
import type { ManagerState } from "../ledger.ts";

export const announcementTypes = ["ROUND_END", "LEAGUE_STANDINGS_UPDATE", "ROUND_ANNOUNCEMENT", "ROUND_START"] as const;
export type AnnouncementType = (typeof announcementTypes)[number];

/** One announcement to come, without its content: that is made when it is sent. */
export interface Announcement {
  readonly type: AnnouncementType;
  readonly leagueId: string;
  readonly roundId: number;
}

interface Recipient {
  readonly id: string;
  readonly kind: AgentKind;
}

/** Lists of more entries are sent as the recipient's own entries. */
export const MAX_ENTRIES = 100;

/** The last list of each league and type, so that the recipients of one announcement share it. */
interface Shared {
  readonly roundId: number;
  readonly list: readonly unknown[];
  /** The payload with the whole list; null for a list that is too long. */
  readonly payload: object | null;
}

/** Makes the payloads of announcements from the state at the time they are sent. */
export class AnnouncementMessages {
  readonly #state: () => ManagerState;
  readonly #shared = new Map<string, Shared>();

  constructor(state: () => ManagerState) {
    this.#state = state;
  }

  /** The payload for one recipient; null when the league or round is not there. */
  payload({ type, leagueId, roundId }: Announcement, recipient: Recipient): object | null {
    const league = this.#state().leagues.get(leagueId);
    const round = league?.rounds[roundId - 1];
    if (!league || !round) return null;
    const head = { league_id: leagueId, round_id: roundId };
    switch (type) {
      case "ROUND_START":
        return head;
      case "ROUND_ANNOUNCEMENT":
        return this.#list(type, league, roundId, {
          all: () => round.matches,
          isOwn: ownMatch(recipient),
          payload: (matches) => ({ ...head, matches: matches.map((match) => this.#scheduled(league, match)) }),
          resource: `league://${leagueId}/schedule`,
        });
      case "ROUND_END":
        return this.#list(type, league, roundId, {
          all: () => round.matches,
          isOwn: ownMatch(recipient),
          payload: (matches) => ({
            ...head,
            matches_completed: round.matches.length,
            next_round_id: league.rounds[roundId] ? roundId + 1 : null,
            summary: {
              winners: Object.fromEntries(matches.map(({ matchId, outcome }) => [matchId, outcome?.winner ?? null])),
            },
          }),
          resource: `league://${leagueId}/schedule`,
        });
      case "LEAGUE_STANDINGS_UPDATE":
        return this.#list(type, league, roundId, {
          all: () => this.#standings(league, roundId),
          isOwn: (row: Standing) => row.player_id === recipient.id,
          payload: (rows) => ({ ...head, standings: rows.map((row) => this.#withState(row)) }),
          resource: `league://${leagueId}/standings`,
        });
    }
  }

  #list<T>(
    type: AnnouncementType,
    { leagueId }: League,
    roundId: number,
    list: {
      readonly all: () => readonly T[];
      readonly isOwn: (entry: T) => boolean;
      readonly payload: (entries: readonly T[]) => object;
      readonly resource: string;
    },
  ): object {
    const key = `${leagueId}/${type}`;
    let shared = this.#shared.get(key);
    if (shared?.roundId !== roundId) {
      const all = list.all();
      shared = { roundId, list: all, payload: all.length <= MAX_ENTRIES ? list.payload(all) : null };
      this.#shared.set(key, shared);
    }
    if (shared.payload) return shared.payload;
    const own = (shared.list as readonly T[]).filter(list.isOwn);
    return { ...list.payload(own), truncated: true, resource: list.resource };
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

  /** The standings after a round: without forfeits of the next round, which are in the state already. */
  #standings({ rounds, entrants }: League, roundId: number): readonly Standing[] {
    const { agents } = this.#state();
    const tally = createTally();
    for (const { matches } of rounds.slice(0, roundId)) for (const match of matches) tally.addMatch(match);
    return tally.standings(
      [...entrants.keys()].map((player_id) => ({ player_id, display_name: agents.get(player_id)?.name ?? player_id })),
    );
  }
}

const ownMatch =
  ({ id, kind }: Recipient) =>
  ({ players, refereeId }: Match): boolean =>
    kind === "referee" ? refereeId === id : players.includes(id);
