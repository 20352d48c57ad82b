import type { Clock } from "#shared/lib/clock.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { asText, jsonOf } from "#shared/lib/text.ts";
import type { Contact } from "#shared/protocol/dialects/dialect.ts";
import { firstText, idOfSender } from "#shared/protocol/dialects/fields.ts";
import { readingOf } from "#shared/protocol/dialects/incoming-answers.ts";
import { errorReply, replyTo } from "#shared/protocol/dialects/incoming-requests.ts";
import { type Envelope, fieldFaults, type MessageType, newEnvelope } from "#shared/protocol/envelope.ts";
import { GameInviteResponse, MoveResponse } from "#shared/protocol/messages.ts";
import type { DialectPeers } from "#shared/rpc/dialects/dialect-peers.ts";
import type { ForeignHandler, ForeignHandlers } from "#shared/rpc/dialects/incoming.ts";
import type { AnswerKind, LateAnswers } from "#shared/rpc/dialects/late-answers.ts";
import type { CallFault } from "#shared/rpc/peer/call.ts";
import type { FaultCause } from "#shared/session/entry.ts";

/** A player of a match that is asked over the wire. */
export interface SeatedPlayer {
  readonly playerId: string;
  readonly role: string;
  readonly endpoint: string;
  readonly matchToken: string;
  readonly wantsLegalActions: boolean;
  readonly wantsRoundResults: boolean;
  /** Whether requests to the player leave out the part of the history in its views that it has received. */
  readonly wantsDeltaViews?: boolean;
  /** Set if the player speaks another dialect. */
  readonly contact?: Contact | null;
  /** Whether the player can be called over a WebSocket. */
  readonly offersWebSocket?: boolean;
  /** The time limit for a move, in milliseconds. */
  readonly moveMs: number;
  /** Aborted when the match is withdrawn. Ends the open request to the player. */
  readonly signal: AbortSignal;
}

/** The turn of a MOVE_REQUEST. The answer must have the same match and tick. */
interface AskedTurn {
  readonly match_id: string;
  readonly tick: number;
}

/** The result of one MOVE_REQUEST. */
type MoveReply = MoveAnswer & {
  /** The milliseconds for which the answer may have waited for this process to read it. They do not count as the player's time. */
  readonly lateMs: number;
};
type MoveAnswer =
  /** A move for the turn that was turn, not checked by the rules. `raw` returns the answer as text, for a fault. */
  | { readonly kind: "move"; readonly move: unknown; raw(): string }
  /** `unanswered`: no answer came within the limit. `unknown_match`: the player does not know the match, as after a restart of its process. */
  | { readonly kind: "faulty" | "unknown_match" | "unanswered"; readonly fault: AskFault };

/** Sends single requests and notifications about matches to players, each signed with the match token. It does not repeat requests after an answer. */
export interface Asker {
  /** Sends GAME_INVITE. Returns a fault unless the player accepts within `limitMs`. */
  invite(player: SeatedPlayer, invitation: object, limitMs: number): Promise<Result<null, AskFault>>;
  /** Sends one MOVE_REQUEST with `request` as its payload and waits up to `limitMs` for the answer. */
  requestMove(player: SeatedPlayer, request: AskedTurn, limitMs: number): Promise<MoveReply>;
  /**
   * Duration of the last MOVE_REQUEST to an endpoint with its answer, in whole milliseconds, without the time for which the answer waited to be read;
   * null if none is remembered.
   */
  lastRoundTripMs(endpoint: string): number | null;
  /**
   * Resolves when the player has answered the earlier notifications about its match, or after a short limit (`Deliveries`). null if it has answered all.
   * Never rejects.
   */
  inOrder(player: SeatedPlayer): Promise<void> | null;
  /**
   * Sends a notification after the earlier ones about the match, as `inOrder` says. Resolves when it was answered, has failed or `limitMs` have
   * passed since it was sent. Never rejects.
   */
  notify(player: SeatedPlayer, type: MessageType, payload: object, limitMs: number): Promise<void>;
}

/** The number of endpoints whose last round trip is remembered. */
const MAX_ENDPOINTS = 10_000;

/** Creates an asker. `sender` returns the sender of the messages, `referee:` and the id; the id changes when the referee is registered. */
export function createAsker(peers: DialectPeers, sender: () => string, clock: Clock, ids: Ids): Asker {
  const roundTrips = new Map<string, number>();
  const deliveries = new Deliveries(clock);

  const envelopeFor = (player: SeatedPlayer, type: MessageType, payload: object): Envelope =>
    newEnvelope(type, sender(), payload, {
      messageId: ids.uuid(),
      authToken: player.matchToken,
      at: clock.iso(),
    });

  const request = (
    player: SeatedPlayer,
    type: MessageType,
    payload: object,
    timeoutMs: number,
    onResponse: (lateMs: number) => void = () => {},
  ): Promise<Result<Envelope, CallFault>> =>
    peers.message(player.endpoint, envelopeFor(player, type, payload), {
      timeoutMs,
      onResponse,
      retry: true,
      signal: player.signal,
      contact: player.contact ?? null,
      socket: player.offersWebSocket ?? false,
    });

  return {
    async invite(player, invitation, limitMs) {
      const reply = await request(player, "GAME_INVITE", invitation, limitMs);
      return reply.ok ? acceptanceIn(reply.value, player) : err(faultOfCall(reply.error));
    },
    async requestMove(player, turn, limitMs) {
      const sentAt = clock.monotonic();
      let lateMs = 0;
      const reply = await request(player, "MOVE_REQUEST", turn, limitMs, (ms) => {
        lateMs = ms;
      });
      if (roundTrips.size >= MAX_ENDPOINTS) roundTrips.clear();
      roundTrips.set(player.endpoint, Math.round(clock.monotonic() - sentAt - lateMs));
      if (reply.ok) return { ...moveIn(reply.value, turn, player), lateMs };
      const kind = isUnanswered(reply.error) ? "unanswered" : "faulty";
      return { kind, fault: faultOfCall(reply.error), lateMs };
    },
    lastRoundTripMs: (endpoint) => roundTrips.get(endpoint) ?? null,
    inOrder: ({ matchToken, signal }) => deliveries.answered(matchToken, signal),
    notify: (player, type, payload, limitMs) =>
      deliveries.deliver(player.matchToken, async () => {
        await peers.notify(player.endpoint, envelopeFor(player, type, payload), {
          timeoutMs: limitMs,
          contact: player.contact ?? null,
          socket: player.offersWebSocket ?? false,
        });
      }),
  };
}

/** Returns null if an answer accepts the invitation, otherwise the fault. */
function acceptanceIn(reply: Envelope, player: SeatedPlayer): Result<null, AskFault> {
  if (reply.type !== "GAME_INVITE_RESPONSE") {
    return err(badReply(reply, `answered ${reply.type} to an invitation${errorTextIn(reply)}`));
  }
  const wrongSender = wrongSenderOf(reply, player);
  if (wrongSender !== null) return err(badReply(reply, wrongSender));
  const response = GameInviteResponse.safeParse(reply.payload);
  if (!response.success) return err(badReply(reply, `a malformed GAME_INVITE_RESPONSE: ${firstFault(response)}`));
  if (response.data.accept) return ok(null);
  const detail = `declined: ${response.data.reason ?? "no reason given"}`;
  return err({ code: "G001", cause: "declined", detail, raw: textOf(reply) });
}

/** Returns the move in an answer to the MOVE_REQUEST of a turn, or the fault. */
function moveIn(reply: Envelope, turn: AskedTurn, player: SeatedPlayer): MoveAnswer {
  const faulty = (detail: string): MoveAnswer => ({ kind: "faulty", fault: badReply(reply, detail) });
  if (reply.type === "GAME_ERROR" && !isMatchUnknown(reply)) return { kind: "faulty", fault: botError(reply) };
  if (reply.type !== "MOVE_RESPONSE") {
    const fault = badReply(reply, `answered ${reply.type}${errorTextIn(reply) || " to a move request"}`);
    return { kind: isMatchUnknown(reply) ? "unknown_match" : "faulty", fault };
  }
  const wrongSender = wrongSenderOf(reply, player);
  if (wrongSender !== null) return faulty(wrongSender);
  const response = MoveResponse.safeParse(reply.payload);
  if (!response.success) return faulty(`a malformed MOVE_RESPONSE: ${firstFault(response)}`);
  const { match_id, tick, move } = response.data;
  if (match_id !== turn.match_id) return faulty(`answered match ${match_id}, not ${turn.match_id}`);
  if (tick !== turn.tick) return faulty(`answered tick ${tick}, not ${turn.tick}`);
  return { kind: "move", move, raw: () => textOf(reply) };
}

const badReply = (reply: Envelope, detail: string): AskFault => ({
  code: "G001",
  cause: "bad_reply",
  detail,
  raw: textOf(reply),
});

/** The fault of a player whose bot has chosen no action. */
function botError(reply: Envelope): AskFault {
  const message = asText(reply.payload.message ?? "").slice(0, 200);
  return { code: "G001", cause: "bot_error", detail: message || "no action, and no message", raw: textOf(reply) };
}

const textOf = (reply: Envelope): string => jsonOf({ ...reply, auth_token: undefined });

/** The text of an error message after a colon; empty for any other message. */
const errorTextIn = ({ type, payload }: Envelope): string =>
  type === "GAME_ERROR" || type === "LEAGUE_ERROR" ? `: ${asText(payload.message).slice(0, 200)}` : "";

/** A description of the fault if an answer was not sent by the player that was asked, else null. */
const wrongSenderOf = ({ type, sender }: Envelope, { playerId }: SeatedPlayer): string | null =>
  sender === `player:${playerId}` ? null : `the sender of ${type} is ${sender}, not player:${playerId}`;

const isMatchUnknown = ({ type, payload }: Envelope): boolean => type === "GAME_ERROR" && payload.error_code === "G003";

/** Whether a call has used up its time limit. Refused connections are retried until the limit. */
const isUnanswered = ({ cause }: CallFault): boolean => cause === "timeout" || cause === "refused";

function faultOfCall(fault: CallFault): AskFault {
  const { cause, detail, raw, systemMessage } = fault;
  const code = isUnanswered(fault) ? "G002" : "G001";
  return { code, cause, detail, ...(raw !== undefined && { raw }), ...(systemMessage && { systemMessage }) };
}

/** The first wrong field of a payload, with its path. */
function firstFault({ error }: { readonly error?: Parameters<typeof fieldFaults>[0] | undefined }): string {
  const fault = error ? fieldFaults(error)[0] : undefined;
  return fault ? `${fault.path}: ${fault.message}` : "";
}

/** The fault of a player that did not answer an invitation or a move request, or answered it wrongly. */
export interface AskFault {
  /** G001: the answer was wrong. G002: no answer came in time. */
  readonly code: "G001" | "G002";
  readonly cause: FaultCause;
  /** The reason, for people. */
  readonly detail: string;
  /** The answer as text. */
  readonly raw?: string;
  /** The message of the system about a failed connection. It may contain addresses, so it is only written to the log of the process. */
  readonly systemMessage?: string;
}

/** The size to which `detail` and `raw` of a published fault are cut (PROTOCOL.md, section 2). */
const MAX_BYTES = 2_000;

/** Returns the fault for the session log, which is public after the match: without tokens and the system message, and cut to 2,000 bytes. */
export function publishedFault({ code, cause, detail, raw }: AskFault, matchToken: string): AskFault {
  const clean = (text: string): string => cut(withoutTokens(text, matchToken));
  return { code, cause, detail: clean(detail), ...(raw !== undefined && { raw: clean(raw) }) };
}

/** Removes the match token, and the value of each field whose name ends in "token", also in JSON text within JSON text. */
const withoutTokens = (text: string, matchToken: string): string =>
  (matchToken === "" ? text : text.replaceAll(matchToken, "[removed]")).replace(
    /(\\?"[a-z_]*token\\?"\s*:\s*\\?")[^"\\]*/gi,
    "$1[removed]",
  );

/** Returns the first 2,000 bytes of a text. The option `stream` omits a character that is cut in two. */
const cut = (text: string): string =>
  new TextDecoder().decode(Buffer.from(text).subarray(0, MAX_BYTES), { stream: true });

/** How long a message waits for the answers to the earlier notifications to its player about the match. */
export const IN_ORDER_WITHIN_MS = 250;

/** The notifications to one player about one match that are not answered yet. */
interface Open {
  count: number;
  /** Resolves when all of them are answered or have failed. */
  answered: Promise<unknown>;
  /** Whether a message has waited for them until its limit. */
  isLate: boolean;
}

/**
 * The notifications under way, by match token. A message about a match waits for the answers to the earlier ones, because a player with several threads could
 * handle the messages in another order otherwise. A player that does not answer must not delay its opponents at each turn: when a message has
 * waited until its limit, the following ones are sent immediately until the player has answered all notifications.
 */
class Deliveries {
  readonly #clock: Pick<Clock, "after">;
  readonly #open = new Map<string, Open>();

  constructor(clock: Pick<Clock, "after">) {
    this.#clock = clock;
  }

  /** Resolves when the earlier notifications are answered, the limit has passed or `signal` is aborted. null if a message need not wait for them. */
  answered(token: string, signal?: AbortSignal): Promise<void> | null {
    const open = this.#open.get(token);
    return !open || open.isLate || signal?.aborted ? null : this.#wait(open, signal);
  }

  #wait(open: Open, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        signal?.removeEventListener("abort", end);
        resolve();
      };
      const cancel = this.#clock.after(IN_ORDER_WITHIN_MS, () => {
        open.isLate = true;
        end();
      });
      signal?.addEventListener("abort", end);
      void open.answered.then(end);
    });
  }

  /** Sends a notification after the earlier ones. `send` must not reject. Resolves when it has resolved. */
  deliver(token: string, send: () => Promise<void>): Promise<void> {
    const earlier = this.#open.get(token);
    const sent = this.answered(token)?.then(send) ?? send();
    const open = earlier ?? { count: 0, answered: sent, isLate: false };
    open.count++;
    open.answered = Promise.all([open.answered, sent]);
    this.#open.set(token, open);
    return sent.then(() => {
      if (--open.count === 0) this.#open.delete(token);
    });
  }
}

/** The handlers of answers that players of other dialects send in separate requests. */
export function answerHandlers(lateAnswers: LateAnswers): ForeignHandlers {
  const handler =
    (kind: AnswerKind): ForeignHandler =>
    async (request, head, { remoteAddress }) => {
      const { message } = request;
      const senders = ["sender", "player_id"].flatMap((field) => firstText([message], [field]) ?? []);
      const playerIds = senders.map(idOfSender);
      const matchId = firstText([message], ["match_id", "game_id"]);
      const token = firstText([message], ["auth_token"]);
      const reading = readingOf({ status: 200, text: JSON.stringify(message) });
      const delivery = await lateAnswers.deliver({ kind, playerIds, matchId, token, remoteAddress, reading });
      if (delivery === "forbidden") {
        const fault = token === null ? "is missing" : "is not that of a player that is asked";
        const reason = `auth_token ${fault}, and the message does not come from the address of such a player`;
        return errorReply(request, head, "E012", reason, { action: message.message_type });
      }
      const status = delivery === "delivered" ? "ACCEPTED" : "IGNORED";
      const reason = delivery === "delivered" ? null : "no open request of this match waits for this answer";
      return replyTo(request, head, "ACK", { status, reason, success: delivery === "delivered" });
    };
  return { join_ack: handler("join_ack"), move: handler("move") };
}
