import type { Game } from "../games/game.ts";
import type { FormatMatch, FormatPlayer, FormatRound, LeagueView, NewRound } from "./format.ts";

/** The teams of a league and the sides of its game. */
export interface TeamPlay {
  /** The player ids of each team, in the order of the config. A player is in one team. */
  readonly teams: readonly (readonly string[])[];
  /** The indexes of the roles of each side: [[0, 1], [2, 3]] in Codenames, [[0], [1]] in chess. */
  readonly sides: readonly (readonly number[])[];
}

/** Returns the indexes of the roles of each side of a game. In a game without teams each role is a side. */
export const sidesOf = (game: Pick<Game, "info"> | undefined, roles: readonly string[]): TeamPlay["sides"] =>
  game?.info.teams?.map((team) => team.roles.map((role) => roles.indexOf(role))) ?? roles.map((_, index) => [index]);

/** Returns the player ids of these teams. */
export const membersOf = (teamIds: readonly string[], { teams }: TeamPlay): readonly string[] =>
  teamIds.flatMap((teamId) => teams[indexOfTeam(teamId)] ?? []);

/** The id of a team in the view of a format, by its number from 0. */
export const teamIdOf = (index: number): string => `T${index + 1}`;
const indexOfTeam = (teamId: string): number => Number(teamId.slice(1)) - 1;

/**
 * Returns the league as a format sees it whose competitors are teams: a match is between teams, with the points of each side. A team has left when fewer of
 * its players are in the league than a side has roles. It has entered late if one of its players has.
 */
export function teamView(view: LeagueView, play: TeamPlay): LeagueView {
  const players = new Map(view.players.map((player) => [player.playerId, player]));
  const teamOf = teamByPlayer(play.teams);
  return {
    get seed() {
      return view.seed;
    },
    roleCount: play.sides.length,
    players: play.teams.map((members, index): FormatPlayer => {
      const known = members.flatMap((id) => players.get(id) ?? []);
      const remaining = known.filter(({ hasLeft }) => !hasLeft).length;
      return {
        playerId: teamIdOf(index),
        enteredAfter: Math.max(0, ...known.map(({ enteredAfter }) => enteredAfter)),
        hasLeft: remaining < sideSize(play),
      };
    }),
    rounds: view.rounds.map((round) => teamRound(round, play, teamOf)),
  };
}

/**
 * Returns the rounds of teams as rounds of players. The members of a team take the roles of its side in turn: in each further match of the team every member
 * has the role after its last one, and in a team with more players than roles they sit out in turn. Members that have not entered or have left are passed over.
 */
export function seatedRounds(rounds: readonly NewRound[], view: LeagueView, play: TeamPlay): readonly NewRound[] {
  const teamOf = teamByPlayer(play.teams);
  const matchCounts = new Map<string, number>();
  const count = (teamId: string): void => void matchCounts.set(teamId, (matchCounts.get(teamId) ?? 0) + 1);
  for (const { matches } of view.rounds) {
    for (const match of matches) for (const teamId of teamsOfMatch(match, play, teamOf)) count(teamId);
  }
  const entered = new Set(view.players.flatMap(({ playerId, hasLeft }) => (hasLeft ? [] : [playerId])));
  const seatsOf = (teamId: string): readonly string[] => {
    const members = membersOf([teamId], play);
    const present = members.filter((id) => entered.has(id));
    const able = present.length >= sideSize(play) ? present : members;
    const turn = matchCounts.get(teamId) ?? 0;
    count(teamId);
    return Array.from({ length: sideSize(play) }, (_, seat) => able[(turn + seat) % able.length] as string);
  };
  return rounds.map(({ pairings, byes, ...round }) => ({
    ...round,
    pairings: pairings.map((teamIds) => {
      const players: string[] = [];
      for (const [side, roles] of play.sides.entries()) {
        const seats = seatsOf(teamIds[side] as string);
        for (const [seat, role] of roles.entries()) players[role] = seats[seat] as string;
      }
      return players;
    }),
    byes: membersOf(byes, play),
  }));
}

/** The number of roles of a side. All sides of a game have equally many. */
const sideSize = ({ sides }: TeamPlay): number => sides[0]?.length ?? 1;

/** Returns the ids of the teams by the ids of their players. */
export const teamByPlayer = (teams: TeamPlay["teams"]): ReadonlyMap<string, string> =>
  new Map(teams.flatMap((members, index) => members.map((id) => [id, teamIdOf(index)] as const)));

/** Returns the ids of the teams of a match, by side. */
export const teamsOfMatch = (
  { players }: Pick<FormatMatch, "players">,
  { sides }: TeamPlay,
  teamOf: ReadonlyMap<string, string>,
): readonly string[] => sides.map(([role = 0]) => teamOf.get(players[role] as string) ?? "");

function teamRound(round: FormatRound, play: TeamPlay, teamOf: ReadonlyMap<string, string>): FormatRound {
  const known = rounds.get(round);
  if (known !== undefined) return known;
  const converted: FormatRound = {
    roundId: round.roundId,
    matches: round.matches.map((match) => ({
      matchId: match.matchId,
      players: teamsOfMatch(match, play, teamOf),
      outcome: match.outcome && {
        ...match.outcome,
        points: bySide(match.outcome.points, play),
        scores: bySide(match.outcome.scores, play),
      },
    })),
    byes: [...new Set(round.byes.map((id) => teamOf.get(id) ?? ""))],
  };
  rounds.set(round, converted);
  return converted;
}
/** The converted rounds. Rounds are never changed in place, so an open league converts each round once for each of its results. */
const rounds = new WeakMap<FormatRound, FormatRound>();

/** The values of the sides: those of their first roles, because a team wins and loses together. */
const bySide = (values: readonly number[], { sides }: TeamPlay): readonly number[] =>
  values.length === 0 ? [] : sides.map(([role = 0]) => values[role] as number);
