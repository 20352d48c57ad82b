import { isDeepStrictEqual } from "node:util";
import type { Game } from "#shared/games/game.ts";
import { type List, listSummary, SharedList } from "#shared/lib/list.ts";
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

/** The name of a team for people: the names of its members. */
export const teamName = (members: readonly string[], nameOf: (playerId: string) => string): string =>
  members.map(nameOf).join(" & ");

/** The id of a team in the view of a format, by its number from 0. */
export const teamIdOf = (index: number): string => `T${index + 1}`;
const indexOfTeam = (teamId: string): number => Number(teamId.slice(1)) - 1;

/**
 * Returns the league as a format sees it whose competitors are teams: a match is between teams, with the points of each side. A team has left when fewer of
 * its players are in the league than a side has roles. It has entered late if one of its players has.
 */
export function teamView(view: LeagueView, play: TeamPlay): LeagueView {
  return {
    get seed() {
      return view.seed;
    },
    roleCount: play.sides.length,
    ...(view.isEnded && { isEnded: true }),
    players: teamPlayers(view.players, play),
    rounds: teamRounds(view.rounds, play),
  };
}

/** The teams of each list of players, so that formats get the same objects until a player enters or leaves. */
const keptTeams = new WeakMap<
  LeagueView["players"],
  { readonly play: TeamPlay; readonly teams: LeagueView["players"] }
>();

/** Returns the teams as players of a format. */
function teamPlayers(members: LeagueView["players"], play: TeamPlay): LeagueView["players"] {
  const kept = keptTeams.get(members);
  if (kept && kept.play.teams === play.teams && isDeepStrictEqual(kept.play.sides, play.sides)) return kept.teams;
  const players = new Map(members.map((player) => [player.playerId, player]));
  const teams = play.teams.map((ids, index): FormatPlayer => {
    const known = ids.flatMap((id) => players.get(id) ?? []);
    const remaining = known.filter(({ hasLeft }) => !hasLeft).length;
    return {
      playerId: teamIdOf(index),
      enteredAfter: Math.max(0, ...known.map(({ enteredAfter }) => enteredAfter)),
      hasLeft: remaining < sideSize(play),
    };
  });
  keptTeams.set(members, { play, teams });
  return teams;
}

/**
 * Returns the rounds of teams as rounds of players. The members of a team take the roles of its side in turn: in each further round of the team every member
 * has the role after its last one, and in a team with more players than roles they sit out in turn. The legs of a pairing have the same members with other
 * roles. Members that have not entered or have left are passed over.
 */
export function seatedRounds(rounds: readonly NewRound[], view: LeagueView, play: TeamPlay): readonly NewRound[] {
  /** The number of rounds in which a team has played. */
  const roundCounts = new Map(playedRounds(teamRounds(view.rounds, play)));
  const count = (teamIds: Iterable<string>): void => {
    for (const teamId of new Set(teamIds)) roundCounts.set(teamId, (roundCounts.get(teamId) ?? 0) + 1);
  };
  const entered = new Set(view.players.flatMap(({ playerId, hasLeft }) => (hasLeft ? [] : [playerId])));
  return rounds.map(({ pairings, byes, ...round }) => {
    const legs = new Map<string, number>();
    const seated = pairings.map((teamIds) => {
      const players: string[] = [];
      for (const [side, roles] of play.sides.entries()) {
        const teamId = teamIds[side] as string;
        const leg = legs.get(teamId) ?? 0;
        legs.set(teamId, leg + 1);
        const members = membersInRound(membersOf([teamId], play), entered, roundCounts.get(teamId) ?? 0, roles.length);
        for (const [seat, role] of roles.entries()) players[role] = members[(seat + leg) % members.length] as string;
      }
      return players;
    });
    count(pairings.flat());
    return { ...round, pairings: seated, byes: membersOf(byes, play) };
  });
}

/** Returns the members of a team that play in a round, in the order of the roles of its first match. */
function membersInRound(
  members: readonly string[],
  entered: ReadonlySet<string>,
  turn: number,
  size: number,
): readonly string[] {
  const present = members.filter((id) => entered.has(id));
  const able = present.length >= size ? present : members;
  return Array.from({ length: size }, (_, seat) => able[(turn + seat) % able.length] as string);
}

/** The number of roles of a side. All sides of a game have equally many. */
const sideSize = ({ sides }: TeamPlay): number => (sides[0] as readonly number[]).length;

/** Returns the ids of the teams by the ids of their players. */
export const teamByPlayer = (teams: TeamPlay["teams"]): ReadonlyMap<string, string> =>
  new Map(teams.flatMap((members, index) => members.map((id) => [id, teamIdOf(index)] as const)));

/** Returns the ids of the teams of a match, by side. */
export const teamsOfMatch = (
  { players }: Pick<FormatMatch, "players">,
  { sides }: TeamPlay,
  teamOf: ReadonlyMap<string, string>,
): readonly string[] => sides.map(([role = 0]) => teamOf.get(players[role] as string) ?? "");

/** The number of rounds in which each team has a match. */
const playedRounds = listSummary<FormatRound, Map<string, number>>({
  empty: () => new Map(),
  add(sum, { matches }, times) {
    for (const teamId of new Set(matches.flatMap(({ players }) => players)))
      sum.set(teamId, (sum.get(teamId) ?? 0) + times);
  },
});

/** Converts the rounds of a league. A round is converted once, so that rounds that have not changed remain the same objects. */
interface Conversion {
  readonly sides: TeamPlay["sides"];
  readonly round: (round: FormatRound) => FormatRound;
  readonly list: (rounds: SharedList<FormatRound>) => SharedList<FormatRound>;
}
/** The conversions of the leagues, by their teams. */
const conversions = new WeakMap<TeamPlay["teams"], Conversion>();

/** Returns rounds of players as rounds of teams. */
function teamRounds(rounds: List<FormatRound>, play: TeamPlay): List<FormatRound> {
  const known = conversions.get(play.teams);
  const conversion = known && isDeepStrictEqual(known.sides, play.sides) ? known : conversionOf(play);
  conversions.set(play.teams, conversion);
  return rounds instanceof SharedList ? conversion.list(rounds) : rounds.map(conversion.round);
}

function conversionOf(play: TeamPlay): Conversion {
  const convert = teamRound(play);
  const known = new WeakMap<FormatRound, FormatRound>();
  const round = (one: FormatRound): FormatRound => {
    const converted = known.get(one) ?? convert(one);
    known.set(one, converted);
    return converted;
  };
  return { sides: play.sides, round, list: SharedList.mapping(round) };
}

function teamRound(play: TeamPlay): (round: FormatRound) => FormatRound {
  const teamOf = teamByPlayer(play.teams);
  return (round) => ({
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
  });
}

/** The values of the sides: those of their first roles, because a team wins and loses together. */
const bySide = (values: readonly number[], { sides }: TeamPlay): readonly number[] =>
  values.length === 0 ? [] : sides.map(([role = 0]) => values[role] as number);
