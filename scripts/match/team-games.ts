import { type TeamPlay, teamByPlayer, teamsOfMatch } from "#shared/formats/teams.ts";
import type { Match, Round } from "../../league-manager/league/league.ts";

/** Returns the rounds of a league of teams as rounds of games between the teams: the players, points and faults of a game are those of the teams. */
export function gamesOfTeams(rounds: readonly Round[], play: TeamPlay): readonly Round[] {
  const teamOf = teamByPlayer(play.teams);
  return rounds.map((round) => ({ ...round, matches: round.matches.map((match) => gameOfTeams(match, play, teamOf)) }));
}

function gameOfTeams(match: Match, play: TeamPlay, teamOf: ReadonlyMap<string, string>): Match {
  const { outcome } = match;
  return {
    ...match,
    players: teamsOfMatch(match, play, teamOf),
    outcome: outcome && {
      ...outcome,
      points: outcome.points.length === 0 ? [] : play.sides.map(([role = 0]) => outcome.points[role] as number),
      faults: outcome.faults.map((fault) => ({ ...fault, player_id: teamOf.get(fault.player_id) ?? fault.player_id })),
    },
  };
}
