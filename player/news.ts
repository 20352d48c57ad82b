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

/** `playerId` is this player's id, once it has one. */
export function createNews(say: (line: string) => void, playerId: () => string): News {
  /** Leagues whose last round has ended: the standings that follow are the last. */
  const over = new Set<string>();
  return {
    matchEnded({ leagueId, matchId, role, roles }, { winner, termination, reason }) {
      const how =
        winner === null ? (termination === "normal" ? "drawn" : "no winner") : winner === roles[role] ? "won" : "lost";
      say(inOneLine(`${leagueId} ${matchId} as ${role}: ${how} (${reason.replaceAll("_", " ")})`));
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
