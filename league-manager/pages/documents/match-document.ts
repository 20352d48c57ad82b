import { spoken } from "#shared/games/game.ts";
import { findGame } from "#shared/games/registry.ts";
import { counted } from "#shared/lib/text.ts";
import type { Frame } from "#shared/web/game-view.ts";
import type { FaultOfMatch, LogOfMatch, MatchDocument } from "#shared/web/league-documents.ts";
import { originOf } from "#shared/web/site-links.ts";
import { faultInWords } from "#shared/web/texts/game-texts.ts";
import type { Agent } from "../../agents/registered-agent.ts";
import { matchOf } from "../../league/evolve.ts";
import { type League, type Match, roundOf } from "../../league/league.ts";
import { rolesOf } from "../../league/outcome.ts";
import type { RelayedMatch } from "../matches/match-relay.ts";
import { replayedGame } from "../matches/match-replay.ts";
import type { CheckedMatch } from "../matches/stored-match.ts";
import {
  type DocumentContext,
  type DocumentKind,
  type DocumentRequest,
  gameName,
  headerOf,
  matchRow,
  playerRef,
} from "./document.ts";
import { answerOf } from "./player-errors.ts";

export const match = {
  page: "match",
  path: "matches/:match",
  title: ({ match: { players, match_id }, league }: MatchDocument) =>
    `${players.map(({ name }) => name).join(" – ")}, ${match_id} – ${league.league_id}`,
  summary: ({ match: { match_id, round_id, players, result } }: MatchDocument) => [
    `Match ${match_id}, round ${round_id}`,
    ...players.map(({ name, role }) => `${name} (${role})`),
    result ?? "This match has no result yet.",
  ],
  read: matchDocument,
  watch({ matches }, request, changed) {
    const found = matchOfRequest(request);
    if (!found || found.outcome !== null) return () => {};
    return matches.relay.watch(request.league.leagueId, found.matchId, changed);
  },
} satisfies DocumentKind;

/** Returns the match that a request names. */
export const matchOfRequest = ({ league, params }: DocumentRequest): Match | null =>
  matchOf(league, params.match ?? "");

async function matchDocument(context: DocumentContext, request: DocumentRequest): Promise<MatchDocument | null> {
  const { league } = request;
  const found = matchOfRequest(request);
  if (!found) return null;
  const { projections } = context.views;
  // The state may change while the log is read, so everything that depends on the state is computed before.
  const names = new Map(found.players.map((id) => [id, playerRef(projections, id).name]));
  const referee = projections.agent(found.refereeId ?? "");
  const document = {
    league: headerOf(context, league),
    match: {
      ...matchRow(projections, league, found),
      round_label: roundOf(league, found.roundId)?.label ?? null,
      epoch: found.epoch,
      clock: league.clock ?? null,
    },
    faults: (found.outcome?.faults ?? []).map(
      (fault): FaultOfMatch => ({
        ...playerRef(projections, fault.player_id),
        role: spoken(fault.role),
        cause: faultInWords(fault.cause),
        detail: fault.detail,
        raw: answerOf(fault),
      }),
    ),
  };
  const shown = await shownOf(context, league, found);
  const game = findGame(league.game);
  const nameOf = (id: string): string => names.get(id) ?? id;
  return {
    ...document,
    game: shown.session && game ? replayedGame(game, shown.session, rolesOf(league, found), nameOf) : null,
    current: shown.last && { index: shown.length - 1, frame: shown.last },
    source: shown.source,
    referee_pages: shown.source === "referee" ? pagesOf(referee) : null,
    problem: shown.problem,
    log: shown.checked && logOf(shown.checked, league, found),
  };
}

const pagesOf = (referee: Agent | null): string | null => (referee?.hasPages ? originOf(referee.endpoint) : null);

/** What is shown of a match: the last of its frames, and where they come from. */
interface Shown {
  readonly session: string | null;
  /** The number of frames. */
  readonly length: number;
  readonly last: Frame | null;
  readonly source: MatchDocument["source"];
  readonly problem: string;
  readonly checked: CheckedMatch | null;
}

const NOTHING: Shown = { session: null, length: 0, last: null, source: null, problem: "", checked: null };

/** Returns what can be shown of a match: what its referee shows to spectators or, when it is completed, its replay. */
async function shownOf({ matches }: Pick<DocumentContext, "matches">, league: League, match: Match): Promise<Shown> {
  if (match.status === "scheduled") return NOTHING;
  if (match.status === "assigned") {
    const { session, frames, elapsedMs, state } = matches.relay.read(league.leagueId, match.matchId);
    const { length } = frames;
    const last = withElapsed(frames.at(-1) ?? null, elapsedMs);
    return { ...NOTHING, session, length, last, source: "referee", problem: PROBLEMS[state] };
  }
  const checked = await matches.stored.find(league, match);
  if (!checked) return NOTHING;
  const { session, length, last } = checked;
  const problem = length === 0 ? "The log of this match cannot be replayed." : "";
  return { session, length, last, source: "log", problem, checked };
}

const withElapsed = (frame: Frame | null, elapsed_ms: number): Frame | null =>
  frame?.clock ? { ...frame, clock: { ...frame.clock, elapsed_ms } } : frame;

/** Returns all frames of a match, from the same source as the last one in `shownOf`. */
export async function framesOf(
  { matches }: Pick<DocumentContext, "matches">,
  league: League,
  match: Match,
): Promise<Pick<RelayedMatch, "session" | "frames">> {
  if (match.status === "assigned") return matches.relay.read(league.leagueId, match.matchId);
  const replayed = await matches.stored.replay(league, match);
  return { session: replayed?.checked.session ?? null, frames: replayed?.frames ?? [] };
}

const PROBLEMS: Readonly<Record<RelayedMatch["state"], string>> = {
  connecting: "",
  live: "",
  lost: "The referee of this match does not answer. The board shows the last known position.",
  absent: "The referee does not show this match yet.",
  large:
    "This match is too large to be shown completely while it is played. The complete match appears when it is completed.",
  limit: "Too many matches are watched at the moment. The board appears when the match is completed.",
};

/** Returns the log of a match with what its check has shown. */
function logOf({ entries: count, fault }: CheckedMatch, league: League, match: Match): LogOfMatch {
  const entries = counted(count, "entry", "entries");
  return {
    entries: count,
    head: match.logHead ?? "",
    is_proven: fault === null,
    verified:
      fault === null
        ? `Verified: replaying the log by the rules of ${gameName(league.game)} gives the recorded result, and the hashes match (${entries}).`
        : `The stored log does not prove the recorded result: ${fault}.`,
    unverified:
      "Not verifiable: the referee alone reports who sent an answer and how long it took. To check the whole league, ask the operator for an export and run “npm run league -- verify FOLDER”.",
    has_pgn: league.game === "chess.v1" && fault === null,
  };
}
