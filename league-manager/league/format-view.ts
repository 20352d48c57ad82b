import type { Format, FormatPlayer, FormatResult, LeagueView, NewRound } from "#shared/formats/format.ts";
import { findFormat } from "#shared/formats/registry.ts";
import { membersOf, seatedRounds, sidesOf, type TeamPlay, teamName, teamView } from "#shared/formats/teams.ts";
import { findGame } from "#shared/games/registry.ts";
import { compareIds } from "#shared/lib/ids.ts";
import type { List } from "#shared/lib/list.ts";
import { invariant } from "#shared/lib/result.ts";
import type { League, Round, Seed } from "./league.ts";

/** The format of a league. Throws if this program does not know it. */
export function formatOf({ leagueId, format }: Pick<League, "leagueId" | "format">): Format {
  const found = findFormat(format);
  invariant(found, `league ${leagueId} has the unknown format ${format}`);
  return found;
}

/** Whether the rounds of a league are opened as soon as they are paired. */
export const opensAtOnce = ({ format }: Pick<League, "format">): boolean =>
  findFormat(format)?.opensRounds === "at_once";

const keptOptions = new WeakMap<object, { readonly format: string; readonly options: unknown }>();

/** The options of the format with their defaults. */
export function parsedOptions(league: Pick<League, "leagueId" | "format" | "formatOptions">): unknown {
  const kept = keptOptions.get(league.formatOptions);
  if (kept?.format === league.format) return kept.options;
  const options = formatOf(league).options.parse(league.formatOptions);
  keptOptions.set(league.formatOptions, { format: league.format, options });
  return options;
}

/** Whether the format has matches for players that enter after the start. */
export function acceptsLateEntries(
  league: Pick<League, "leagueId" | "format" | "formatOptions" | "roles" | "teams">,
): boolean {
  const { takesLateEntries } = formatOf(league);
  if (league.teams) return false;
  return takesLateEntries?.(parsedOptions(league), league.roles.length) ?? true;
}

/** A league with the rounds that a format is to see: all, or only the opened ones. */
type ViewedLeague = Omit<League, "rounds"> & { readonly rounds: List<Round> };

/** What a format knows of a league. In a league of teams the competitors are the teams. */
export function viewOf(league: ViewedLeague, seed: Seed): LeagueView {
  const play = teamPlayOf(league);
  return play ? teamView(playerView(league, seed), play) : playerView(league, seed);
}

/** Returns rounds of competitors as rounds of players. In a league of teams the members take the roles. */
export function withPlayers(league: League, rounds: readonly NewRound[]): readonly NewRound[] {
  const play = teamPlayOf(league);
  return play ? seatedRounds(rounds, playerView(league, ""), play) : rounds;
}

/** The order of a format that does not rank by points, by groups of competitors of equal rank; undefined for other formats. */
export function competitorRanking(
  league: League,
  rounds: () => List<Round> = () => league.rounds,
): readonly (readonly string[])[] | undefined {
  const format = findFormat(league.format);
  return format?.ranking?.(viewOf({ ...league, rounds: rounds() }, ""), parsedOptions(league));
}

/** The order of a format that does not rank by points, by groups of players of equal rank after these rounds; undefined for other formats. */
export function rankingOf(league: League, rounds: () => List<Round>): readonly (readonly string[])[] | undefined {
  const ranking = competitorRanking(league, rounds);
  const play = teamPlayOf(league);
  return play ? ranking?.map((group) => membersOf(group, play)) : ranking;
}

/** The teams of a league and the sides of its game; null if each player plays for itself. */
export function teamPlayOf({ game, roles, teams }: Pick<League, "game" | "roles" | "teams">): TeamPlay | null {
  return teams && { teams, sides: sidesOf(findGame(game), roles) };
}

/** The league with its players as competitors. The rounds are those of the league, so that a view of thousands of rounds costs nothing. */
const playerView = (league: ViewedLeague, seed: Seed): LeagueView => ({
  get seed() {
    return typeof seed === "string" ? seed : seed();
  },
  roleCount: league.roles.length,
  players: playersOf(league),
  rounds: league.rounds,
  ...(league.isEnded && { isEnded: true }),
});

/** The players of each league, until a player enters or leaves. A late entry is also a new entrant. */
const keptPlayers = new WeakMap<
  League["entrants"],
  { readonly departed: readonly string[]; readonly format: string; readonly players: readonly FormatPlayer[] }
>();

/** The players in the order of their ids, which is that of the config for the players of a config. */
function playersOf({ entrants, departed, format, lateEntries }: Omit<League, "rounds">): readonly FormatPlayer[] {
  const kept = keptPlayers.get(entrants);
  if (kept?.departed === departed && kept.format === format) return kept.players;
  // The Berger numbers of earlier logs follow the order of the code units.
  const ids = format === "round-robin" ? [...entrants.keys()].sort() : [...entrants.keys()].sort(compareIds);
  const gone = new Set(departed);
  const all = ids.map((playerId) => ({
    playerId,
    enteredAfter: lateEntries[playerId] ?? 0,
    hasLeft: gone.has(playerId),
  }));
  const isLate = ({ playerId }: FormatPlayer): boolean => lateEntries[playerId] !== undefined;
  const ordered = [...all.filter((player) => !isLate(player)), ...all.filter(isLate)];
  keptPlayers.set(entrants, { departed, format, players: ordered });
  return ordered;
}

/** The name of the format with the options that a config has chosen, for people: "Swiss system, 5 rounds". Null for a round robin without options, which is the default. */
export function formatText({ format, formatOptions }: Pick<League, "format" | "formatOptions">): string | null {
  const found = findFormat(format);
  const chosen = Object.entries(formatOptions).filter(([option, value]) => value !== found?.optionsOfNew?.[option]);
  const options = chosen.map(([option, value]) => {
    const meaning = found?.switches?.[option];
    if (meaning) return value === true ? meaning.on : meaning.off;
    const name = option.replaceAll("_", " ");
    if (typeof value !== "number" || !name.endsWith("s")) return `${name} ${value}`;
    return `${value} ${value === 1 ? name.replace(/(?<=ch)es$|s$/, "") : name}`;
  });
  const shown = options.filter((text) => text !== "");
  return format === "round-robin" && shown.length === 0 ? null : [found?.name ?? format, ...shown].join(", ");
}

/** The number of rounds that the league has at its end; null if it is not known. */
export function plannedRounds(league: League): number | null {
  if (league.isPairingComplete) return league.rounds.length;
  return findFormat(league.format)?.plannedRounds?.(viewOf(league, ""), parsedOptions(league)) ?? null;
}

/** The lines about the end of the pairing: by the operator, or by the format before the number of rounds that was planned. */
export function endOfPairing(league: League, isByFormat: boolean): readonly string[] {
  if (!isByFormat) return [`the operator has ended ${league.leagueId}; its open matches are cancelled`];
  const format = findFormat(league.format);
  const planned = format?.plannedRounds?.(viewOf(league, ""), parsedOptions(league)) ?? 0;
  if (!format?.earlyEnd || planned <= league.rounds.length) return [];
  return [`${league.leagueId} ends after round ${league.rounds.length} of ${planned}: ${format.earlyEnd}`];
}

/** The number of matches that the league has at its end at most; null if the format never ends by itself. */
export function expectedMatches(league: League): number | null {
  if (league.isPairingComplete || league.status === "completed") return league.matchCount;
  const remaining = findFormat(league.format)?.remaining(viewOf(league, ""), parsedOptions(league)) ?? null;
  return remaining === null ? null : league.completedCount + remaining;
}

/** The maximum number of matches that are still to be played. For a format that never ends by itself: the number of paired matches that are not completed. */
export const openMatchCount = (league: League): number =>
  (league.status === "open" ? 0 : (expectedMatches(league) ?? league.matchCount)) - league.completedCount;

/** The result so far of a league whose format tests a hypothesis; null for other formats and before the start. `nameOf` returns the name of a player. */
export function formatResultOf(league: League, nameOf: (playerId: string) => string): FormatResult | null {
  const result = findFormat(league.format)?.result;
  if (!result || league.status === "open") return null;
  const play = teamPlayOf(league);
  const nameOfCompetitor = play ? (teamId: string) => teamName(membersOf([teamId], play), nameOf) : nameOf;
  return result(viewOf(league, ""), parsedOptions(league), nameOfCompetitor);
}

/**
 * Whether the format may add rounds. A format that opens its rounds in order is asked after the last match of its rounds, so that its pairings do not
 * depend on the order of the results.
 */
export const canPair = (league: League): boolean =>
  league.status === "running" &&
  !league.isPaused &&
  !league.isPairingComplete &&
  (league.currentRound === null || opensAtOnce(league));

/** Whether a league is running and not paused, its format adds no more rounds and all its matches are completed. */
export const isPlayed = ({ status, isPaused, isPairingComplete, currentRound }: League): boolean =>
  status === "running" && !isPaused && isPairingComplete && currentRound === null;
