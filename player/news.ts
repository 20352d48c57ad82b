import { winnersInWords } from "#shared/games/game.ts";
import { findGame } from "#shared/games/registry.ts";
import { inOneLine } from "#shared/lib/text.ts";
import { type AgentEvent, type AgentState, transition } from "#shared/protocol/lifecycle.ts";
import type { GameError, GameResult, RoundEnd, StandingsUpdate } from "#shared/protocol/messages.ts";
import type { MatchInfo } from "./sdk.ts";

/** How a player fares, as the manager and the referees tell it: lines for the person who started it, and the facts of get_my_state. */
export interface News {
  registered(playerId: string, leagueIds: readonly string[]): void;
  /** A match has begun, in which the player has this id; a player that does not register itself learns it so. */
  matchBegun(playerId: string): void;
  matchEnded(info: MatchInfo, result: GameResult): void;
  /** The referee has told this player its fault. */
  gameError(error: GameError): void;
  roundStarted(): void;
  roundEnded(round: RoundEnd): void;
  standings(update: StandingsUpdate): void;
  facts(): Facts;
}

export interface Facts {
  /** null until it is known. */
  readonly player_id: string | null;
  /** As far as the player knows: the manager tells it after each round. */
  readonly state: AgentState;
  /** Of all its leagues together. */
  readonly points: number;
  readonly leagues: readonly { readonly league_id: string; readonly points: number; readonly rank: number | null }[];
}

/** The roles that have won: where a team does, `winner` names none of it, and the points tell. */
export function winnersOf(
  { roles }: Pick<MatchInfo, "roles">,
  { winner, match_points }: GameResult,
): readonly string[] {
  const pointsOf = (id: string): number => match_points[id] ?? 0;
  const points = Object.values(roles).map(pointsOf);
  const [least, most] = [Math.min(...points), Math.max(...points)];
  const hasWon = (id: string): boolean => (winner === null ? most > least && pointsOf(id) === most : id === winner);
  return Object.keys(roles).filter((role) => hasWon(roles[role] ?? ""));
}

export function createNews(say: (line: string) => void): News {
  let playerId: string | null = null;
  let state: AgentState = "INIT";
  const leagues = new Map<string, { points: number; rank: number | null }>();
  /** Leagues whose last round has ended: the standings that follow are the last. */
  const over = new Set<string>();
  const leagueOf = (leagueId: string) => {
    const league = leagues.get(leagueId) ?? { points: 0, rank: null };
    leagues.set(leagueId, league);
    return league;
  };
  const step = (event: AgentEvent): void => {
    const next = transition(state, event);
    if (next.ok) state = next.value;
  };
  return {
    registered(id, leagueIds) {
      playerId = id;
      step("register_success");
      for (const leagueId of leagueIds) leagueOf(leagueId);
    },
    matchBegun(id) {
      playerId = id;
      // A player that others register may play for one league after the other.
      if (state === "INIT" || state === "SHUTDOWN") state = "REGISTERED";
      step("league_start");
    },
    matchEnded(info, result) {
      const { leagueId, matchId, role, roles } = info;
      leagueOf(leagueId).points += result.match_points[roles[role] ?? ""] ?? 0;
      const winners = winnersOf(info, result);
      const nobody = result.termination === "normal" ? "drawn" : "no winner";
      const how = winners.length === 0 ? nobody : winners.includes(role) ? "won" : "lost";
      const teams = findGame(info.game)?.info.teams;
      const team = teams && winners.length > 1 ? `, ${winnersInWords(teams, winners)} wins` : "";
      say(inOneLine(`${leagueId} ${matchId} as ${role}: ${how}${team} (${result.reason.replaceAll("_", " ")})`));
    },
    gameError({ league_id, match_id, error_code, message }) {
      say(inOneLine(`${league_id} ${match_id}: ${error_code} ${message}`.slice(0, 500)));
    },
    roundStarted: () => step("league_start"),
    roundEnded({ league_id, next_round_id }) {
      if (next_round_id === null) over.add(league_id);
      else over.delete(league_id);
    },
    standings({ league_id, round_id, standings }) {
      const mine = standings.find((row) => row.player_id === playerId);
      if (!mine) return;
      const { rank, points } = mine;
      leagues.set(league_id, { rank, points });
      state = mine.state ?? state;
      if ([...leagues.keys()].every((leagueId) => over.has(leagueId))) step("league_end");
      const when = over.has(league_id) ? "is over" : `after round ${round_id}`;
      say(inOneLine(`${league_id} ${when}: rank ${rank} of ${standings.length}, points ${points}`));
    },
    facts: () => ({
      player_id: playerId,
      state,
      points: [...leagues.values()].reduce((sum, league) => sum + league.points, 0),
      leagues: [...leagues].map(([league_id, { points, rank }]) => ({ league_id, points, rank })),
    }),
  };
}
