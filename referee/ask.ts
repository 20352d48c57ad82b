import { err, ok, type Result } from "#shared/lib/result.ts";
import { jsonOf, toldAs } from "#shared/lib/text.ts";
import { type Envelope, fieldFaults, newEnvelope } from "#shared/protocol/envelope.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import { GameInviteResponse, type MessageType, MoveResponse } from "#shared/protocol/messages.ts";
import type { Peers } from "#shared/rpc/peer.ts";
import type { CallFault } from "#shared/rpc/pending.ts";
import type { FaultCause } from "#shared/session/entry.ts";

/** A player as its referee calls it. */
export interface Seated {
  readonly playerId: string;
  readonly role: string;
  readonly endpoint: string;
  readonly matchToken: string;
  readonly wantsLegalActions: boolean;
  readonly wantsRoundResults: boolean;
  readonly takesBatches: boolean;
  /** Aborted when the match is withdrawn: whatever is being asked is given up. */
  readonly signal: AbortSignal;
}

/** Why a player did not give what was asked of it. */
export interface AskFault {
  readonly code: "G001" | "G002";
  readonly cause: FaultCause;
  readonly detail: string;
  readonly raw?: string;
}

/** Answers that one request may get before the turn is lost (PROTOCOL.md, section 2). */
export const MAX_ANSWERS = 3;

/** Players whose last round trip is remembered at once. */
const MAX_ENDPOINTS = 10_000;

/** How often a player that was started anew is told again of the match, within one move. */
const MAX_INVITATIONS = 10;

/** What is asked for one action: the request's payload, made anew for each try with what was wrong with the last answer. */
export interface MoveQuestion {
  readonly matchId: string;
  readonly tick: number;
  readonly limitMs: number;
  payload(error: ProtocolError | null, leftMs: number, lastRoundTripMs: number | null): object;
  /** Takes the action, or says why it is illegal; an accepted one is on disk when this resolves. */
  accept(move: unknown): Promise<Result<null, string>>;
  /** The invitation, said again when the player does not know the match (it was started anew). */
  invitation(): object;
}

/** Calls players about matches: invitations, moves and news, each signed with the match token. */
export interface Asker {
  invite(player: Seated, invitation: object, limitMs: number): Promise<Result<null, AskFault>>;
  /** Asks until an action is accepted, the answers are used up or one deadline over all of it has passed. */
  move(player: Seated, question: MoveQuestion): Promise<Result<null, AskFault>>;
  /** News that nobody answers; never fails. */
  tell(player: Seated, type: MessageType, payload: object, limitMs: number): Promise<void>;
}

/** `onFault` receives each fault as it will be published, and the message that caused it. */
export function createAsker(
  peers: Peers,
  sender: () => string,
  onFault: (player: Seated, fault: AskFault, request: string) => void = () => {},
): Asker {
  const roundTrips = new Map<string, number>();
  const ask = (
    player: Seated,
    type: MessageType,
    payload: object,
    timeoutMs: number,
  ): Promise<Result<Envelope, CallFault>> =>
    peers.message(player.endpoint, newEnvelope(type, sender(), payload, { authToken: player.matchToken }), {
      timeoutMs,
      retry: true,
      signal: player.signal,
      batch: player.takesBatches,
    });

  const invite: Asker["invite"] = async (player, invitation, limitMs) => {
    const reply = await ask(player, "GAME_INVITE", invitation, limitMs);
    if (!reply.ok) return err(faultOfCall(reply.error));
    const raw = rawOf(reply.value);
    if (reply.value.type !== "GAME_INVITE_RESPONSE") {
      const detail = `answered ${reply.value.type} to an invitation${errorTextIn(reply.value)}`;
      return err({ code: "G001", cause: "bad_reply", detail, raw });
    }
    const wrongSender = wrongSenderOf(reply.value, player);
    if (wrongSender !== null) return err({ code: "G001", cause: "bad_reply", detail: wrongSender, raw });
    const response = GameInviteResponse.safeParse(reply.value.payload);
    if (!response.success) {
      return err({
        code: "G001",
        cause: "bad_reply",
        detail: `a malformed GAME_INVITE_RESPONSE: ${firstFault(response)}`,
        raw,
      });
    }
    if (response.data.accept) return ok(null);
    return err({
      code: "G001",
      cause: "declined",
      detail: `declined: ${response.data.reason ?? "no reason given"}`,
      raw,
    });
  };

  const move: Asker["move"] = async (player, question) => {
    const deadline = performance.now() + question.limitMs;
    let last: AskFault | null = null;
    let invitations = 0;
    for (let answers = 0; answers < MAX_ANSWERS; answers++) {
      const leftMs = deadline - performance.now();
      if (leftMs <= 0 || player.signal.aborted) break;
      const error =
        last && protocolError("G001", last.detail, { match_id: question.matchId, tick: question.tick }, true);
      const begun = performance.now();
      const payload = question.payload(error, leftMs, roundTrips.get(player.endpoint) ?? null);
      const reply = await ask(player, "MOVE_REQUEST", payload, leftMs);
      if (roundTrips.size >= MAX_ENDPOINTS) roundTrips.clear();
      roundTrips.set(player.endpoint, Math.round(performance.now() - begun));
      if (!reply.ok && isFinal(reply.error)) return err(faultOfCall(reply.error));
      if (reply.ok && invitations < MAX_INVITATIONS && isUnknownMatch(reply.value)) {
        invitations++;
        answers--;
        await invite(player, question.invitation(), Math.max(1, deadline - performance.now()));
        continue;
      }
      const taken = reply.ok ? await take(reply.value, question, player) : err(faultOfCall(reply.error));
      if (taken.ok) return taken;
      last = taken.error;
    }
    const late = `no legal action within ${question.limitMs} ms`;
    return err(last ?? { code: "G002", cause: "timeout", detail: late });
  };

  const tell: Asker["tell"] = async (player, type, payload, limitMs) => {
    const envelope = newEnvelope(type, sender(), payload, { authToken: player.matchToken });
    await peers.notify(player.endpoint, envelope, { timeoutMs: limitMs, batch: player.takesBatches });
  };

  const reported = (request: string, player: Seated, result: Result<null, AskFault>): Result<null, AskFault> => {
    const shown = published(result, player);
    if (!shown.ok && !player.signal.aborted) onFault(player, shown.error, request);
    return shown;
  };

  return {
    invite: async (player, invitation, limitMs) =>
      reported("GAME_INVITE", player, await invite(player, invitation, limitMs)),
    move: async (player, question) =>
      reported(`MOVE_REQUEST ${question.matchId} tick ${question.tick}`, player, await move(player, question)),
    tell,
  };
}

/** A fault becomes public after the match: tokens are removed from what the player said, then it is cut. */
function published(result: Result<null, AskFault>, player: Seated): Result<null, AskFault> {
  if (result.ok) return result;
  const { detail, raw, ...fault } = result.error;
  // As a part of a stream: a character that is cut in two is left out.
  const cut = (text: string): string =>
    new TextDecoder().decode(Buffer.from(text).subarray(0, SAID_BYTES), { stream: true });
  const clean = (text: string): string => cut(withoutTokens(text, player));
  return err({ ...fault, detail: clean(detail), ...(raw !== undefined && { raw: clean(raw) }) });
}

/** The text of an error message after a colon; empty for any other message. */
const errorTextIn = ({ type, payload }: Envelope): string =>
  type === "GAME_ERROR" || type === "LEAGUE_ERROR" ? `: ${toldAs(payload.message).slice(0, 200)}` : "";

/** A description of the fault if an answer was not sent by the player that was asked, else null. */
const wrongSenderOf = ({ type, sender }: Envelope, { playerId }: Seated): string | null =>
  sender === `player:${playerId}` ? null : `the sender of ${type} is ${sender}, not player:${playerId}`;

/** Checks that an answer is to this question and hands its move to the session. */
async function take(reply: Envelope, question: MoveQuestion, player: Seated): Promise<Result<null, AskFault>> {
  const malformed = (detail: string) => err({ code: "G001", cause: "bad_reply", detail, raw: rawOf(reply) } as const);
  if (reply.type !== "MOVE_RESPONSE") {
    return malformed(`answered ${reply.type}${errorTextIn(reply) || " to a move request"}`);
  }
  const wrongSender = wrongSenderOf(reply, player);
  if (wrongSender !== null) return malformed(wrongSender);
  const response = MoveResponse.safeParse(reply.payload);
  if (!response.success) return malformed(`a malformed MOVE_RESPONSE: ${firstFault(response)}`);
  const { match_id, tick, move } = response.data;
  if (match_id !== question.matchId) return malformed(`answered match ${match_id}, not ${question.matchId}`);
  if (tick !== question.tick) return malformed(`answered tick ${tick}, not ${question.tick}`);
  const accepted = await question.accept(move);
  if (accepted.ok) return accepted;
  return err({ code: "G001", cause: "illegal_move", detail: `illegal move: ${accepted.error}`, raw: rawOf(reply) });
}

/** Time is over: nothing that could be asked again. */
const isFinal = (fault: CallFault): boolean => fault.cause === "timeout" || fault.cause === "refused";

const isUnknownMatch = (reply: Envelope): boolean => reply.type === "GAME_ERROR" && reply.payload.error_code === "G003";

function faultOfCall(fault: CallFault): AskFault {
  const { cause, detail, raw } = fault;
  const code = isFinal(fault) ? "G002" : "G001";
  return { code, cause, detail, ...(raw !== undefined && { raw }) };
}

/** What a player said is kept up to so many bytes (PROTOCOL.md, section 2). */
const SAID_BYTES = 2_000;

const rawOf = (reply: Envelope): string => jsonOf({ ...reply, auth_token: undefined });

/** Whatever looks like a secret is cut out. */
function withoutTokens(raw: string, player: Seated): string {
  const { matchToken } = player;
  return (matchToken === "" ? raw : raw.replaceAll(matchToken, "[removed]")).replace(
    /(\\?"[a-z_]*token\\?"\s*:\s*\\?")[^"\\]*/gi,
    "$1[removed]",
  );
}

const firstFault = (parsed: { error?: Parameters<typeof fieldFaults>[0] | undefined }): string => {
  const fault = parsed.error ? fieldFaults(parsed.error)[0] : undefined;
  return fault ? `${fault.path}: ${fault.message}` : "";
};
