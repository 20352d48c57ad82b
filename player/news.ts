import { winnersInWords } from "#shared/games/game.ts";
import { findGame } from "#shared/games/registry.ts";
import { inOneLine } from "#shared/lib/text.ts";
import type { GameError, GameResult, RoundEnd, StandingsUpdate } from "#shared/protocol/messages.ts";
import type { MatchInfo } from "./sdk.ts";

/** What the person who started a player is told of how it fares. */
export interface News {
  matchEnded(info: MatchInfo, result: GameResult): void;
  /** The referee has told this player its fault. */
  gameError(error: GameError): void;
  roundEnded(round: RoundEnd): void;
  standings(update: StandingsUpdate): void;
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

/** `playerId` is this player's id, once it has one. */
export function createNews(say: (line: string) => void, playerId: () => string): News {
  /** Leagues whose last round has ended: the standings that follow are the last. */
  const over = new Set<string>();
  return {
    matchEnded(info, result) {
      const { leagueId, matchId, role } = info;
      const winners = winnersOf(info, result);
      const nobody = result.termination === "normal" ? "drawn" : "no winner";
      const how = winners.length === 0 ? nobody : winners.includes(role) ? "won" : "lost";
      const game = findGame(info.game);
      const team = game && winners.length > 1 ? `, ${winnersInWords(game, winners)} wins` : "";
      say(inOneLine(`${leagueId} ${matchId} as ${role}: ${how}${team} (${result.reason.replaceAll("_", " ")})`));
    },
    gameError({ league_id, match_id, error_code, message }) {
      say(inOneLine(`${league_id} ${match_id}: ${error_code} ${message}`.slice(0, 500)));
    },
    roundEnded({ league_id, next_round_id }) {
      if (next_round_id === null) over.add(league_id);
    },
    standings({ league_id, round_id, standings }) {
      const mine = standings.find((row) => row.player_id === playerId());
      if (!mine) return;
      const when = over.has(league_id) ? "is over" : `after round ${round_id}`;
      say(inOneLine(`${league_id} ${when}: rank ${mine.rank} of ${standings.length}, points ${mine.points}`));
    },
  };
}
