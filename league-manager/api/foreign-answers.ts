import { dialectToken, isDialectToken, NATIVE } from "#shared/protocol/dialects/dialect.ts";
import { first, firstText, idOfSender, isFields } from "#shared/protocol/dialects/fields.ts";
import { errorReply, replyTo } from "#shared/protocol/dialects/requests.ts";
import type { ForeignHandler, ForeignHandlers } from "#shared/rpc/dialects/incoming.ts";
import { asRefused, type Peers } from "#shared/rpc/peer/peer.ts";
import type { Agent } from "../agents/agent.ts";
import { currentMatches } from "../league/league.ts";
import type { Projections } from "../projections/projections.ts";
import type { Registration } from "./registration.ts";

export interface ForeignAnswersContext {
  readonly projections: Projections;
  readonly registration: Pick<Registration, "isFromEndpoint">;
  readonly post: Peers["post"];
}

/** The methods with which the answers are passed on. */
const ANSWER_METHODS = { join_ack: "receive_game_join_ack", move: "receive_parity_response" } as const;
const NOT_AWAITED = "no open request of this match waits for this answer";
/** The time in which a referee acknowledges an answer. */
const ACKNOWLEDGE_TIMEOUT_MS = 5_000;

/** A player of another dialect in an assigned match. */
interface Seated {
  readonly player: Agent;
  readonly matchId: string;
  readonly refereeEndpoint: string;
}

/**
 * The handlers of answers that players send in separate requests to the manager, because they know no other address. An answer is passed on to the referee of
 * its match, and the reply of the referee is returned. The token shows whose answer it is; without the right token the address of the player, and
 * the id in the answer if several players have this address, as at the referee.
 */
export function answersForReferees({ projections, registration, post }: ForeignAnswersContext): ForeignHandlers {
  const handler =
    (kind: keyof typeof ANSWER_METHODS): ForeignHandler =>
    async (request, head, { remoteAddress }) => {
      const { message } = request;
      const seats = seatsOf(projections, firstText([message], ["match_id", "game_id"]));
      const token = firstText([message], ["auth_token"]);
      const isOwner = ({ player }: Seated): boolean =>
        token !== null && isDialectToken(token, player.id, player.tokenHash);
      const seat = seats.find(isOwner) ?? (await seatAt(registration, seats, remoteAddress, senderIds(message)));
      if (!seat && seats.length > 0) {
        const reason =
          "auth_token is not the token of a player in this match; without it, the message must come from the address of one player only, or name its player_id";
        return errorReply(request, head, "E012", reason, { action: message.message_type });
      }
      const reason = seat ? await rejectionOf(seat, kind, message) : NOT_AWAITED;
      const status = reason === null ? "ACCEPTED" : "IGNORED";
      return replyTo(request, head, "ACK", { status, reason, success: reason === null });
    };
  /**
   * Passes an answer on with the token of its player. The other fields are left to the rules of the referee. Returns why the referee has not taken the answer, or
   * null.
   */
  const rejectionOf = async (
    { player, matchId, refereeEndpoint }: Seated,
    kind: keyof typeof ANSWER_METHODS,
    message: object,
  ): Promise<string | null> => {
    const params = { ...message, match_id: matchId, auth_token: dialectToken(player.id, player.tokenHash) };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: ANSWER_METHODS[kind], params });
    const reply = await post(refereeEndpoint, body, { timeoutMs: ACKNOWLEDGE_TIMEOUT_MS }).catch(asRefused);
    if (!reply.ok) return "the referee of this match does not answer";
    return statusIn(reply.value.text) === "ACCEPTED" ? null : NOT_AWAITED;
  };
  return { join_ack: handler("join_ack"), move: handler("move") };
}

/** The seats of players of other dialects in the matches that referees have; in the match of an id, if it is not null. */
function seatsOf(projections: Projections, matchId: string | null): readonly Seated[] {
  const running = projections.leagues().filter(({ status }) => status === "running");
  const matches = running.flatMap(currentMatches).filter((match) => matchId === null || match.matchId === matchId);
  return matches.flatMap((match) => {
    const refereeEndpoint = projections.agent(match.refereeId ?? "")?.endpoint;
    if (match.status !== "assigned" || refereeEndpoint === undefined) return [];
    return match.players.flatMap((id) => {
      const player = projections.agent(id);
      return player && player.dialect !== NATIVE ? [{ player, matchId: match.matchId, refereeEndpoint }] : [];
    });
  });
}

/** Returns the only seat whose player has the address of a message, or the one that the message names. */
async function seatAt(
  { isFromEndpoint }: Pick<Registration, "isFromEndpoint">,
  seats: readonly Seated[],
  remoteAddress: string,
  ids: readonly string[],
): Promise<Seated | undefined> {
  const isNear = await Promise.all(seats.map(({ player }) => isFromEndpoint(player.endpoint, remoteAddress)));
  const near = seats.filter((_, index) => isNear[index]);
  return near.find(({ player }) => ids.includes(player.id)) ?? (near.length === 1 ? near[0] : undefined);
}

const senderIds = (message: Readonly<Record<string, unknown>>): readonly string[] =>
  ["sender", "player_id"].flatMap((field) => {
    const named = firstText([message], [field]);
    return named === null ? [] : [idOfSender(named)];
  });

/** The status in the reply of a referee; null if it has none. */
function statusIn(text: string): unknown {
  try {
    const reply: unknown = JSON.parse(text);
    const result = isFields(reply) ? reply.result : null;
    return isFields(result) ? first([result], ["status"]) : null;
  } catch {
    return null;
  }
}
