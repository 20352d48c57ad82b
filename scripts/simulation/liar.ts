import { sha256Hex } from "#shared/lib/hash.ts";
import { derivedMessageId } from "#shared/lib/ids.ts";
import { type MessageType, newEnvelope } from "#shared/protocol/envelope.ts";
import type { HttpReply } from "#shared/rpc/jsonrpc/http-context.ts";
import type { AgentProcess } from "#shared/runtime/agent.ts";
import { type CheckedEnvelope, envelopesIn } from "./checks/envelopes.ts";

/** Returns the answer that replaces the honest answer of a player to a request. */
export type Change = (request: string, honest: HttpReply) => HttpReply | Promise<HttpReply>;

/** The endpoints to which a liar or a hostile player sends messages. */
export interface Victims {
  readonly manager: string;
  readonly referees: readonly string[];
  readonly players: readonly string[];
  /** The names of the players. */
  readonly names: readonly string[];
}

/** A message that a liar sends. */
interface Forgery {
  readonly type: MessageType;
  /** The endpoints. One of them receives the message. */
  readonly to: readonly string[];
  /** The sender in the envelope; by default that of the MOVE_REQUEST. */
  readonly sender?: string;
  readonly payload: object;
}

/** The types of messages that a player must not send. */
export const FORGED: readonly MessageType[] = ["MATCH_RESULT", "MATCH_WITHDRAWN", "MOVE_REQUEST", "GAME_RESULT"];
const LIE_MS = 1_000;
/** The maximum number of forgeries without an answer. The limits of open resources (checks/load.ts) include it. */
export const MAX_PENDING = 24;
/** The delay of each answer. The other role of the turn chooses in this time. */
const ANSWER_MS = 200;

/**
 * Returns the change that makes a player lie. Before the answer to a MOVE_REQUEST it sends messages that only the manager or a referee may send, and
 * asks the referees about the match. The answer is honest or names another tick, match or player.
 */
export function createLiar({ network, clock }: AgentProcess, victims: Victims, closed: AbortSignal): Change {
  const peers = network.createPeers();
  closed.addEventListener("abort", () => peers.close());
  let pending = 0;
  const send = (forgery: Forgery, request: CheckedEnvelope): void => {
    const { type, to, payload } = forgery;
    const target = chosenBy(`${type} ${request.payload.tick}`, to);
    const envelope = newEnvelope(type, forgery.sender ?? request.sender, payload, {
      messageId: derivedMessageId(type, JSON.stringify(request)),
      authToken: request.auth_token,
      at: clock.iso(),
    });
    if (target === undefined || pending >= MAX_PENDING) return;
    pending++;
    void peers.notify(target, envelope, { timeoutMs: LIE_MS }).finally(() => pending--);
  };
  return async (body, honest) => {
    // The player rejects MOVE_REQUEST messages that other liars have forged.
    if (!honest.body.includes("MOVE_RESPONSE")) return honest;
    for (const request of envelopesIn(body)) {
      for (const forgery of forgeriesAbout(request, victims)) send(forgery, request);
    }
    await clock.pause(ANSWER_MS, closed);
    return { ...honest, body: chosenBy(body, CHANGES)?.(honest.body) ?? honest.body };
  };
}

/** Returns one of the items. The same text chooses the same item. */
const chosenBy = <T>(text: string, items: readonly T[]): T | undefined =>
  items[Number.parseInt(sha256Hex(text).slice(0, 8), 16) % items.length];

function forgeriesAbout({ payload }: CheckedEnvelope, { manager, referees, players }: Victims): readonly Forgery[] {
  const { league_id, match_id, epoch } = payload;
  const result = {
    ...{ league_id, match_id, round_id: 1, epoch, winner: null, final_scores: {}, match_points: {} },
    ...{ termination: "aborted", reason: "a lie", faults: [], log: [], log_head: "", seed: "" },
  };
  return [
    { type: "MATCH_RESULT", to: [manager], payload: result },
    {
      ...{ type: "MATCH_WITHDRAWN", sender: "league_manager:LM01", to: referees },
      payload: { league_id, match_id, epoch },
    },
    { type: "MOVE_REQUEST", to: players, payload },
    { type: "GAME_RESULT", to: players, payload: result },
    { type: "GET_GAME_STATE", to: referees, payload: { match_id } },
    { type: "VALIDATE_MOVE", to: referees, payload: { match_id, player_id: "P01", move: "rock" } },
  ];
}

/** The changes to the text of an answer, of which one is applied. */
const CHANGES: readonly ((answer: string) => string)[] = [
  (answer) => answer,
  (answer) => answer.replace(/(\\"tick\\":)(\d+)/, (_, name, tick) => `${name}${Number(tick) + 1}`),
  (answer) => answer.replace(/(\\"match_id\\":\\")[^"]*\\"/, '$1R9M9\\"'),
  (answer) => answer.replace(/(\\"sender\\":\\"player:)[^"]*\\"/, '$1P99\\"'),
];
