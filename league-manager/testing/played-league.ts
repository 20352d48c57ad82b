import { decideLeague } from "../league/decide.ts";
import { evolveLeague, matchOf } from "../league/evolve.ts";
import type { League, LeagueCommand, LeagueSettings, Match, NewLeagueEvent } from "../league/league.ts";
import { entered, open, pair, SETTINGS, START, stored } from "../league/testing/leagues.ts";
import type { ManagerState } from "../ledger.ts";
import type { DocumentContext, DocumentKind, Matches } from "../pages/documents/document.ts";
import { StoredMatches } from "../pages/matches/stored-match.ts";
import { createProjections, type Views } from "../projections/projections.ts";

/** The points of a match of two players, by seat. */
export const WON = [3, 0] as const;
export const DRAWN = [1, 1] as const;
export const LOST = [0, 3] as const;

/** A league in memory whose matches are completed by events, without sessions. */
export class PlayedLeague {
  #league: League | null = null;

  /** Enters the players and starts the league, with its first round open. */
  constructor(playerIds: readonly string[], settings: Partial<LeagueSettings> = {}) {
    for (const command of [...entered(playerIds, { ...SETTINGS, ...settings }), START]) this.command(command);
    this.openRounds();
  }

  get league(): League {
    return this.#league as League;
  }

  command(command: LeagueCommand): void {
    const decided = decideLeague(this.#league, command);
    if (!decided.ok) throw new Error(`${command.type}: ${decided.error.message}`);
    this.apply(...decided.value);
  }

  apply(...events: readonly NewLeagueEvent[]): void {
    for (const event of events) this.#league = evolveLeague(this.#league, stored(event));
  }

  /** Pairs the next rounds if there is no open one, and opens the next one. */
  openRounds(slots = 1): void {
    if (this.#openRound() === undefined && !this.league.isPairingComplete) this.command(pair(slots));
    const next = this.#openRound();
    if (next && !next.isOpened) this.command(open(next.roundId));
  }

  /** Completes a match with these points, by a forfeit if `fault` is the id of a player. */
  complete(matchId: string, points: readonly number[], fault?: string): void {
    const match = matchOf(this.league, matchId) as Match;
    const identifiers = { match_id: matchId, epoch: 1, referee_id: "REF01" };
    const match_points = Object.fromEntries(points.map((value, seat) => [match.players[seat] ?? "", value]));
    const winner = match.players.find((id) => match_points[id] === 3) ?? null;
    const seat = match.players.indexOf(fault ?? "");
    const faults =
      fault === undefined
        ? []
        : [
            {
              ...({ player_id: fault, role: this.league.roles[seat] ?? "", code: "G002", cause: "timeout" } as const),
              detail: "no answer within 30 s",
            },
          ];
    const details = { final_scores: {}, faults, reason: "rounds_won", log_head: "head" };
    const termination = fault === undefined ? "normal" : "forfeit";
    if (match.status === "scheduled") this.apply({ type: "match_assigned", ...identifiers });
    this.apply({ type: "match_completed", ...identifiers, ...details, winner, match_points, termination });
  }

  /** Completes all matches of the open round and opens the next one. The better player is the one with the lower id. */
  playRound(): void {
    for (const { matchId, players } of this.#openRound()?.matches ?? [])
      this.complete(matchId, (players[0] ?? "") < (players[1] ?? "") ? WON : LOST);
    if (!this.league.isPairingComplete || this.#openRound()) this.openRounds();
  }

  /** Reads a document of the league. The agents are named "name of ID". */
  async read<T>(kind: DocumentKind, query = ""): Promise<T> {
    const request = { league: this.league, params: {}, query: new URLSearchParams(query) };
    return (await kind.read(this.context(), request)) as T;
  }

  context(): DocumentContext {
    const ids = [...this.league.entrants.keys(), "REF01"];
    const agents = new Map(ids.map((id) => [id, { id, name: `name of ${id}`, tokenHash: "" }]));
    const state = { leagues: new Map([[this.league.leagueId, this.league]]), agents } as unknown as ManagerState;
    const none = () => "";
    const views: Views = {
      projections: createProjections({ state }),
      awaited: () => null,
      logOf: async () => [],
      answerTimesOf: async () => new Map(),
      leagueSeedOf: none,
      seedOf: none,
    };
    const relay: Matches["relay"] = {
      watch: () => () => {},
      read: () => ({ session: null, frames: [], elapsedMs: 0, state: "absent" }),
    };
    return {
      views,
      matches: { relay, stored: new StoredMatches(views) },
      joining: { needsJoinCode: false, takesPlayers: () => false, addresses: () => [] },
    };
  }

  #openRound() {
    return [...this.league.rounds].find((round) => round.open > 0);
  }
}

/** The ids P01, P02, … of players. */
export const playerIds = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `P${String(index + 1).padStart(2, "0")}`);
