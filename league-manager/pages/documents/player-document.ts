import { reasonInWords, spoken } from "#shared/games/game.ts";
import { counted, cutTo } from "#shared/lib/text.ts";
import type { AnswerTimes } from "#shared/protocol/message-fields.ts";
import type {
  AnswerSummary,
  FormResult,
  OpponentRow,
  PlayerDocument,
  PlayerMatchRow,
} from "#shared/web/league-documents.ts";
import { matchOf } from "../../league/evolve.ts";
import type { League, Match } from "../../league/league.ts";
import { publicReason } from "../../league/outcome.ts";
import { markOf, opponentSeats, type PlayerMatches } from "../../projections/player-matches.ts";
import type { Projections, Views } from "../../projections/projections.ts";
import {
  type DocumentContext,
  type DocumentKind,
  type DocumentRequest,
  gameName,
  headerOf,
  MATCH_STATUS,
  pageOf,
  playerRef,
} from "./document.ts";
import { causeInWords, exchangeOf, remembered, stepAfter } from "./player-errors.ts";
import { hasRatings } from "./ratings-document.ts";
import { playerState } from "./standings-document.ts";

export const player = {
  page: "player",
  path: "players/:player",
  title: ({ player: { name }, league }: PlayerDocument) => `${name} – ${league.league_id}`,
  summary: ({ player: { name }, state, rank, points, wins, draws, losses }: PlayerDocument) => [
    name,
    state.text,
    `Rank ${rank}, ${counted(points, "point")}: ${wins} won, ${draws} drawn, ${losses} lost`,
  ],
  read: playerDocument,
} satisfies DocumentKind;

const MAX_FORM = 10;
const MAX_OPPONENTS = 100;
const MAX_OTHER_LEAGUES = 20;
/** The number of matches over which answer times are summarized. */
const MEASURED_MATCHES = 100;
const MAX_REASON_CHARACTERS = 200;

const rememberedExchange = remembered(exchangeOf);
const rememberedStep = remembered(stepAfter);

async function playerDocument(
  context: DocumentContext,
  { league, params: { player: playerId = "" }, query }: DocumentRequest,
): Promise<PlayerDocument | null> {
  const { views } = context;
  const { projections } = views;
  if (!league.entrants.has(playerId)) return null;
  const matches = projections.matchesOf(league, playerId);
  const standings = projections.standings(league);
  const row = standings.find(({ player_id }) => player_id === playerId);
  const ids = orderedIds(league, matches);
  const { rows, ...page } = pageOf(ids, query);
  const opponents = standings.flatMap(({ player_id, display_name }): readonly OpponentRow[] => {
    const results = matches.opponents.get(player_id);
    return results ? [{ player_id, name: display_name, ...results }] : [];
  });
  const shown = rows.map((matchId) => matchOf(league, matchId) as Match);
  const measured = lastCompleted(league, matches, MEASURED_MATCHES);
  const fault = lastFaultOf(projections, league, matches, playerId);
  // The state may change while the store is read, so everything that depends on the state is computed before.
  const document = {
    league: headerOf(context, league),
    ...page,
    player: playerRef(projections, playerId),
    state: playerState(league, playerId, projections.agent(playerId)),
    rank: row?.rank ?? 0,
    points: row?.points ?? 0,
    played: row?.played ?? 0,
    wins: row?.wins ?? 0,
    draws: row?.draws ?? 0,
    losses: row?.losses ?? 0,
    form: formOf(projections, league, matches, playerId),
    faults: [...matches.faults]
      .sort(([, one], [, other]) => other - one)
      .map(([cause, count]) => ({ ...causeInWords(cause), count })),
    opponents: opponents.slice(0, MAX_OPPONENTS),
    further_opponents: Math.max(0, opponents.length - MAX_OPPONENTS),
    other_leagues: otherLeagues(projections, league, playerId),
    rows: shown.map((match) => rowOf(projections, league, match, playerId)),
  };
  const completed = [...measured, ...shown.filter(({ outcome }) => outcome)].map(({ matchId }) => matchId);
  const [rating, times, exchange] = await Promise.all([
    ratingOf(projections, league, playerId),
    views.answerTimesOf(league.leagueId, playerId, completed),
    fault && rememberedExchange(views, league, fault.match, playerId),
  ]);
  return {
    ...document,
    rating,
    answers: await answersOf(views, league, measured, times),
    last_error: fault && exchange && { ...fault.shown, ...exchange },
    rows: document.rows.map((row) => ({ ...row, answers: answersIn(times.get(row.match_id)) })),
  };
}

const answersIn = (times: AnswerTimes | undefined): PlayerMatchRow["answers"] =>
  times ? { median_ms: times.median_ms, max_ms: times.max_ms } : null;

/** The ids of matches in the order of the page: played now, completed from the last to the first, and the next ones. */
function orderedIds(league: League, { matchIds, open }: PlayerMatches): readonly string[] {
  const openIds = open.map((position) => matchIds[position] as string);
  const isPlaying = (matchId: string): boolean => matchOf(league, matchId)?.status === "assigned";
  const isOpen = new Set(open);
  const completed = matchIds.filter((_, position) => !isOpen.has(position)).reverse();
  return [...openIds.filter(isPlaying), ...completed, ...openIds.filter((matchId) => !isPlaying(matchId))];
}

/** The last completed matches that fulfil a condition, the latest first. */
function lastCompleted(
  league: League,
  { matchIds }: PlayerMatches,
  count: number,
  accepts: (match: Match) => boolean = () => true,
): readonly Match[] {
  const found: Match[] = [];
  for (let index = matchIds.length - 1; index >= 0 && found.length < count; index--) {
    const match = matchOf(league, matchIds[index] as string);
    if (match?.outcome && accepts(match)) found.push(match);
  }
  return found;
}

function formOf(
  projections: Projections,
  league: League,
  matches: PlayerMatches,
  playerId: string,
): readonly FormResult[] {
  const counts = (match: Match): boolean => markOf(match, match.players.indexOf(playerId)) !== "none";
  return lastCompleted(league, matches, MAX_FORM, counts)
    .map((match) => {
      const seat = match.players.indexOf(playerId);
      const opponents = refsOf(projections, match, opponentSeats(league, seat));
      return { match_id: match.matchId, mark: markOf(match, seat), opponents };
    })
    .reverse();
}

const refsOf = (projections: Projections, { players }: Match, seats: readonly number[]) =>
  seats.map((seat) => playerRef(projections, players[seat] as string));

async function ratingOf(projections: Projections, league: League, playerId: string): Promise<PlayerDocument["rating"]> {
  if (league.completedCount === 0 || !hasRatings(league)) return null;
  const { players } = await projections.ratings(league);
  const row = players.find(({ player_id }) => player_id === playerId);
  return row && row.matches > 0 ? { rating: row.rating, error: row.error } : null;
}

async function answersOf(
  views: Views,
  league: League,
  matches: readonly Match[],
  timesOf: ReadonlyMap<string, AnswerTimes>,
): Promise<AnswerSummary | null> {
  const measured = matches.flatMap((match) => {
    const times = timesOf.get(match.matchId);
    return times ? [{ match, ...times }] : [];
  });
  const slowest = measured.reduce<(typeof measured)[number] | null>(
    (found, one) => (found && found.max_ms >= one.max_ms ? found : one),
    null,
  );
  if (!slowest) return null;
  const { match, max_ms, max_tick } = slowest;
  return {
    matches: measured.length,
    turns: sum(measured.map(({ turns }) => turns)),
    median_ms: medianOf(measured.map(({ median_ms }) => median_ms)),
    p95_ms: medianOf(measured.map(({ p95_ms }) => p95_ms)),
    slowest: { ms: max_ms, match_id: match.matchId, step: await rememberedStep(views, league, match, max_tick) },
    invalid: sum(measured.map(({ invalid }) => invalid)),
  };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const medianOf = (values: readonly number[]): number =>
  [...values].sort((one, other) => one - other)[Math.ceil(values.length / 2) - 1] as number;

/** Returns the last match that a player has lost by a fault, and what is shown of it besides the exchange of messages. */
function lastFaultOf(projections: Projections, league: League, { lastFault }: PlayerMatches, playerId: string) {
  const match = lastFault === null ? null : matchOf(league, lastFault);
  const fault = match?.outcome?.faults.find(({ player_id, code }) => player_id === playerId && code);
  if (!match || !fault) return null;
  const seat = match.players.indexOf(playerId);
  const opponents = refsOf(projections, match, opponentSeats(league, seat));
  return {
    match,
    shown: { ...causeInWords(fault.cause), match_id: match.matchId, opponents, role: spoken(fault.role) },
  };
}

const otherLeagues = (projections: Projections, { leagueId }: League, playerId: string) =>
  projections
    .leagues()
    .filter((league) => league.leagueId !== leagueId && league.entrants.has(playerId))
    .slice(0, MAX_OTHER_LEAGUES)
    .map(({ leagueId: league_id, game }) => ({ league_id, game_name: gameName(game) }));

function rowOf(
  projections: Projections,
  league: League,
  match: Match,
  playerId: string,
): Omit<PlayerMatchRow, "answers"> {
  const { matchId, roundId, status, players, outcome } = match;
  const seat = players.indexOf(playerId);
  const against = opponentSeats(league, seat);
  const partners = players.map((_, other) => other).filter((other) => other !== seat && !against.includes(other));
  const faults = outcome?.faults.filter(({ code }) => code) ?? [];
  return {
    match_id: matchId,
    round_id: roundId,
    status: MATCH_STATUS[status],
    role: spoken(league.roles[seat] ?? ""),
    opponents: refsOf(projections, match, against),
    partners: refsOf(projections, match, partners),
    mark: outcome && markOf(match, seat),
    reason: outcome ? reasonOf(publicReason(outcome), faults) : "",
    is_own_fault: faults.some(({ player_id }) => player_id === playerId),
  };
}

/** How a match ended: the causes of its faults, or the reason of its result. */
const reasonOf = (reason: string, faults: readonly { readonly cause: string }[]): string =>
  cutTo(
    MAX_REASON_CHARACTERS,
    faults.length > 0 ? faults.map(({ cause }) => causeInWords(cause).text).join(", ") : reasonInWords(reason),
  );
