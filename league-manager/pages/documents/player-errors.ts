import { asText, cutTo } from "#shared/lib/text.ts";
import type { Entry, FaultCause } from "#shared/session/entry.ts";
import { replayTexts } from "#shared/session/replay.ts";
import type { Session } from "#shared/session/session.ts";
import type { LastError } from "#shared/web/league-documents.ts";
import { faultInWords } from "#shared/web/texts/game-texts.ts";
import type { League, Match } from "../../league/league.ts";
import type { Views } from "../../projections/projections.ts";

/** What usually corrects each cause of a fault, in a bot file and in a program with its own HTTP server. */
const ADVICE: Readonly<Record<Exclude<FaultCause, "resigned">, string>> = {
  refused:
    "Check that the program runs during the whole league, and that the machine of the referee can reach its address.",
  timeout:
    "Answer before the deadline of the turn (clock.deadline of a bot file, deadline of MOVE_REQUEST). Look for endless loops and for searches without a limit.",
  clock: "Use less of the remaining time for each move (clock.match of a bot file, clock of MOVE_REQUEST).",
  http_error: "The program has probably failed while it answered. Its log has the error message.",
  bad_json: "Answer with a JSON-RPC response only. Write messages for yourself to the log.",
  bad_reply: "Compare the answer with MOVE_RESPONSE in PROTOCOL.md: match_id and tick must be those of the request.",
  bot_error:
    "The terminal of the player and its log (data/logs/NAME.log) show the error with file and line. After an error the bot is asked again, as after an illegal move, at most twice.",
  too_large: "Send only the move. An answer may have at most 256 kB.",
  illegal_move:
    "Return one of the legal actions (legal of a bot file, legal_actions of MOVE_REQUEST). After an illegal move the referee repeats the request with the error, at most twice.",
  declined:
    "Accept the invitations to all games of the league (games of a bot file, accept: true in the answer to GAME_INVITE).",
};

/** The text and the advice for a cause. Referees of other authors may have other causes. */
export const causeInWords = (cause: string): { readonly text: string; readonly advice: string } => ({
  text: faultInWords(cause),
  advice: Object.hasOwn(ADVICE, cause) ? ADVICE[cause as keyof typeof ADVICE] : "",
});

const MAX_STATE_CHARACTERS = 6_000;

type Exchange = Pick<LastError, "request" | "step" | "detail" | "answer" | "position">;

/** Returns the exchange of messages in which a player lost a match. The session log of a completed match is public. */
export async function exchangeOf(
  { logOf, seedOf }: Pick<Views, "logOf" | "seedOf">,
  league: League,
  match: Match,
  playerId: string,
): Promise<Exchange> {
  const { leagueId } = league;
  const { matchId, epoch, outcome, players } = match;
  const fault = outcome?.faults.find(({ player_id, code }) => player_id === playerId && code);
  const detail = fault?.detail ?? "";
  const answer = fault?.cause === "bot_error" ? "an error instead of a move" : (fault?.raw ?? null);
  const log = await logOf(leagueId, matchId);
  if (log.length === 0)
    return { request: "nothing, because the player was shut down", step: null, detail, answer, position: null };
  const role = league.roles[players.indexOf(playerId)] as string;
  let asked: Session | null = null;
  let step = 0;
  replayTexts(log, seedOf(leagueId, matchId, epoch), (session, entry) => {
    if (entry.type !== "forfeited") asked = session;
    if (closesTurn(session, entry)) step++;
  });
  // Before the first move the log does not tell an invitation from a request for a move.
  const cause = fault?.cause ?? "";
  if (cause === "declined") return { request: "an invitation", step, detail, answer, position: null };
  const isMove = step > 0 || ["illegal_move", "bot_error", "clock"].includes(cause);
  const request = isMove ? "a move" : "the invitation or the first move";
  return { request, step, detail, answer, position: asked && positionOf(asked, role) };
}

/** The answer of a player at fault, as the referee received it. The answer of a bot that has failed only repeats `detail` in an envelope. */
export const answerOf = ({ cause, raw }: { readonly cause: string; readonly raw?: string | undefined }) =>
  cause === "bot_error" ? null : (raw ?? null);

/** What a role was to decide in a state of its session. */
function positionOf({ game, state }: Session, role: string): LastError["position"] {
  const json = (value: unknown): string => cutTo(MAX_STATE_CHARACTERS, JSON.stringify(value, null, 1) ?? "");
  return {
    text: cutTo(MAX_STATE_CHARACTERS, game.toText(state, role)),
    game_state: json(game.viewState(state, role)),
    legal_actions: cutTo(MAX_STATE_CHARACTERS, game.legalActions(state, role).map(asText).join(", ")),
  };
}

/** Whether an entry ends a turn, so that the page of the match has one more step. */
const closesTurn = ({ tick, turnTick }: Session, { type }: Entry): boolean => type === "acted" && turnTick === tick;

/** Returns the step of a match's page to which the turn of a tick led; null for a match without a log. */
export async function stepAfter(
  { logOf, seedOf }: Pick<Views, "logOf" | "seedOf">,
  { leagueId }: League,
  { matchId, epoch }: Match,
  tick: number,
): Promise<number | null> {
  const log = await logOf(leagueId, matchId);
  if (log.length === 0) return null;
  let step = 1;
  replayTexts(log, seedOf(leagueId, matchId, epoch), (session, entry) => {
    if (session.tick <= tick && closesTurn(session, entry)) step++;
  });
  return step;
}

type OfMatch<Key extends string | number, Value> = (
  views: Pick<Views, "logOf" | "seedOf">,
  league: League,
  match: Match,
  key: Key,
) => Promise<Value>;

/** Remembers the values that were read last, because a session log is replayed for each of them. */
export function remembered<Key extends string | number, Value>(
  read: OfMatch<Key, Value>,
  size = 200,
): OfMatch<Key, Value> {
  const kept = new Map<string, Value>();
  return async (views, league, match, part) => {
    const key = JSON.stringify([league.seedCommitment, league.leagueId, match.matchId, match.epoch, part]);
    const found = kept.has(key) ? (kept.get(key) as Value) : await read(views, league, match, part);
    kept.delete(key);
    kept.set(key, found);
    const [oldest] = kept.keys();
    if (kept.size > size && oldest !== undefined) kept.delete(oldest);
    return found;
  };
}
