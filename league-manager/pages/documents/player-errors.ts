import { spoken } from "#shared/games/game.ts";
import { asText, cutTo } from "#shared/lib/text.ts";
import type { FaultCause } from "#shared/session/entry.ts";
import { replayTexts } from "#shared/session/replay.ts";
import type { Session } from "#shared/session/session.ts";
import type { LastError } from "#shared/web/documents/player.ts";
import type { League, Match } from "../../league/league.ts";
import type { Views } from "../../projections/views.ts";

/** Each cause of a fault in words, and what usually corrects it. */
const CAUSES: Readonly<Record<Exclude<FaultCause, "resigned">, readonly [text: string, advice: string]>> = {
  refused: [
    "The referee could not connect",
    "Check that the program runs during the whole league, and that the machine of the referee can reach its address.",
  ],
  timeout: [
    "No answer in time",
    "Answer within time_limit_seconds of the request. Look for endless loops and for searches without a limit.",
  ],
  clock: [
    "Lost on time",
    "The clock of the match was over. Each request has the remaining time: spend less of it on each move.",
  ],
  http_error: [
    "The answer had an HTTP error",
    "The program has probably failed while it answered. Its log has the error message.",
  ],
  bad_json: [
    "The answer was not JSON",
    "Print messages for yourself to the log and not into the answer, and answer with a JSON-RPC response.",
  ],
  bad_reply: [
    "The answer did not follow the protocol",
    "Compare the answer below with MOVE_RESPONSE in PROTOCOL.md: match_id and tick must be those of the request.",
  ],
  too_large: ["The answer was too large", "Send only the move. An answer may have at most 256 kB."],
  illegal_move: [
    "Illegal moves",
    "Choose one of legal_actions of the request. After an illegal move the request is repeated with the error, twice.",
  ],
  declined: ["Declined the invitation", "Answer GAME_INVITE with accept: true for every game of the league."],
};

/** The text and the advice for a cause. Referees of other authors may have other causes. */
export function causeInWords(cause: string): { readonly text: string; readonly advice: string } {
  const [text, advice] = Object.hasOwn(CAUSES, cause) ? CAUSES[cause as keyof typeof CAUSES] : [spoken(cause), ""];
  return { text, advice };
}

const MAX_STATE_CHARACTERS = 6_000;

type Exchange = Pick<LastError, "request" | "tick" | "detail" | "answer" | "position">;

/** Returns the exchange of messages in which a player lost a match. The session log of a completed match is public. */
export function exchangeOf(
  { logOf, seedOf }: Pick<Views, "logOf" | "seedOf">,
  league: League,
  match: Match,
  playerId: string,
): Exchange {
  const { leagueId } = league;
  const { matchId, epoch, outcome, players } = match;
  const fault = outcome?.faults.find(({ player_id, code }) => player_id === playerId && code);
  const detail = fault?.detail ?? "";
  const answer = fault?.raw ?? null;
  const log = logOf(leagueId, matchId);
  if (log.length === 0)
    return { request: "nothing, because the player was shut down", tick: null, detail, answer, position: null };
  const role = league.roles[players.indexOf(playerId)] as string;
  let asked: Session | null = null;
  replayTexts(log, seedOf(leagueId, matchId, epoch), (session, entry) => {
    if (entry.type !== "forfeited") asked = session;
  });
  const { turnTick: tick = 0 } = (asked as Session | null) ?? {};
  // Before the first move the log does not tell an invitation from a request for a move.
  const cause = fault?.cause ?? "";
  if (cause === "declined") return { request: "an invitation", tick, detail, answer, position: null };
  const isMove = tick > 0 || cause === "illegal_move" || cause === "clock";
  const request = isMove ? "a move" : "the invitation or the first move";
  return { request, tick, detail, answer, position: asked && positionOf(asked, role) };
}

/** What a role was to decide in a state of its session. */
function positionOf({ game, state }: Session, role: string): LastError["position"] {
  const json = (value: unknown): string => cutTo(MAX_STATE_CHARACTERS, JSON.stringify(value, null, 1) ?? "");
  return {
    text: cutTo(MAX_STATE_CHARACTERS, game.toText(state, role)),
    game_state: json(game.viewState(state, role)),
    legal_actions: cutTo(MAX_STATE_CHARACTERS, game.legalActions(state, role).map(asText).join(", ")),
  };
}

/** Remembers the exchanges that were read last, because a session log is replayed for each of them. */
export function exchangeCache(size = 200): typeof exchangeOf {
  const kept = new Map<string, Exchange>();
  return (views, league, match, playerId) => {
    const key = JSON.stringify([league.seedCommitment, league.leagueId, match.matchId, match.epoch, playerId]);
    const found = kept.get(key) ?? exchangeOf(views, league, match, playerId);
    kept.delete(key);
    kept.set(key, found);
    const [oldest] = kept.keys();
    if (kept.size > size && oldest !== undefined) kept.delete(oldest);
    return found;
  };
}
