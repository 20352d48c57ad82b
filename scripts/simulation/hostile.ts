import { sha256Hex } from "#shared/lib/hash.ts";
import { derivedMessageId } from "#shared/lib/ids.ts";
import { type MessageType, newEnvelope } from "#shared/protocol/envelope.ts";
import type { HttpReply } from "#shared/rpc/jsonrpc/http-context.ts";
import type { AgentProcess } from "#shared/runtime/agent.ts";
import { type CheckedEnvelope, envelopesIn } from "./checks/messages.ts";

/** A request that a hostile player sends. */
interface Attack {
  readonly url: string;
  readonly body: string;
  readonly bearer?: string;
}

/** Types of messages that only the manager, a referee or an operator may send. */
export const FORBIDDEN: readonly MessageType[] = [
  ...(["START_GAME", "MATCH_WITHDRAWN", "GAME_INVITE", "MOVE_REQUEST", "GAME_RESULT", "REFEREE_LEAVE"] as const),
  ...(["REMOVE_PLAYER", "FORGET_PLAYER", "RESET_TOKEN", "END_LEAGUE", "ANNUL_MATCH"] as const),
];

const SEND_MS = 1_000;
/** The maximum number of attacks without an answer. */
const MAX_UNANSWERED = 24;
/** The number of requests of a flood: more than a caller of another machine may send to a player within a minute. */
const FLOOD = 20;
/** The number of attacks from one flood to the next. */
const FLOOD_EVERY = 12;
/** An endpoint at which nothing listens. */
const OWN_ENDPOINT = "http://10.0.0.66:8999/mcp";

/**
 * Returns the change of a player that plays honestly and attacks the other agents with what it knows: the messages that it has received and its own
 * tokens. It attacks at each invitation and each request for a move, in a different way each time.
 */
export function createHostile({ network, clock }: AgentProcess, victims: Victims, closed: AbortSignal): Change {
  const peers = network.createPeers();
  closed.addEventListener("abort", () => peers.close());
  /** What the player has received in earlier matches. */
  const seen: CheckedEnvelope[] = [];
  let [count, unanswered] = [0, 0];
  const send = ({ url, body, bearer }: Attack): void => {
    if (unanswered >= MAX_UNANSWERED) return;
    unanswered++;
    const options = { timeoutMs: SEND_MS, ...(bearer !== undefined && { bearer }) };
    void peers.post(url, body, options).finally(() => unanswered--);
  };
  return (body, honest) => {
    for (const request of envelopesIn(body)) {
      if (request.type !== "GAME_INVITE" && request.type !== "MOVE_REQUEST") continue;
      seen.push(request);
      const { match_id } = request.payload;
      const invitation = seen.findLast(({ type, payload }) => type === "GAME_INVITE" && payload.match_id === match_id);
      const knowledge: Knowledge = { victims, request, invitation, old: seen[0] ?? request, count, at: clock.iso() };
      const attack = ATTACKS[count % ATTACKS.length]?.(knowledge);
      if (attack) send(attack);
      if (request.type === "MOVE_REQUEST") send(answerForOpponent(knowledge));
      if (count % FLOOD_EVERY === 0) for (const one of flood(knowledge)) send(one);
      count++;
    }
    return honest;
  };
}

interface Knowledge {
  readonly victims: Victims;
  /** The message that has arrived now. */
  readonly request: CheckedEnvelope;
  /** The invitation to its match. */
  readonly invitation: CheckedEnvelope | undefined;
  /** The first message that has arrived. */
  readonly old: CheckedEnvelope;
  /** The number of earlier attacks. */
  readonly count: number;
  readonly at: string;
}

const oneOf = <T>(items: readonly T[], { count }: Knowledge): T | undefined =>
  items[Math.floor(count / ATTACKS.length) % items.length];

const call = (id: number, envelope: object): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "league_message", arguments: envelope } });

/** Returns a native message with the token of a message that the player has received. */
function message(knowledge: Knowledge, type: MessageType, sender: string, payload: object, token?: string): string {
  const { request, count, at } = knowledge;
  const messageId = derivedMessageId("attack", type, JSON.stringify(request), `${count}`);
  return call(count + 1, newEnvelope(type, sender, payload, { messageId, authToken: token ?? request.auth_token, at }));
}

type AttackKind = (knowledge: Knowledge) => Attack | null;

const to = (url: string | undefined, body: string): Attack | null => (url === undefined ? null : { url, body });

const registration = (display_name: string, contact_endpoint: string): object => ({
  display_name,
  contact_endpoint,
  version: "1.0.0",
  game_types: ["*"],
});
/** A token that no agent has. */
const NEW_TOKEN = "hostile-token-hostile-token-hostile-token-x";

/** Registers under the name of another player. */
const takeName: AttackKind = (knowledge) => {
  const name = oneOf(knowledge.victims.names, knowledge) ?? "";
  const payload = registration(name, OWN_ENDPOINT);
  const body = message(knowledge, "PLAYER_REGISTER_REQUEST", `player:${name}`, payload, NEW_TOKEN);
  return to(knowledge.victims.manager, body);
};

/** Registers with the endpoint of another player. */
const takeEndpoint: AttackKind = (knowledge) => {
  const payload = registration("Mallory", oneOf(knowledge.victims.players, knowledge) ?? OWN_ENDPOINT);
  const body = message(knowledge, "PLAYER_REGISTER_REQUEST", "player:Mallory", payload, NEW_TOKEN);
  return to(knowledge.victims.manager, body);
};

/** Registers in a dialect with the endpoint of another player, as if that player had returned. */
const takeDialectPlayer: AttackKind = (knowledge) => {
  const { victims, at } = knowledge;
  const meta = { display_name: oneOf(victims.names, knowledge), contact_endpoint: oneOf(victims.players, knowledge) };
  const params = {
    protocol: "league.v2",
    message_type: "LEAGUE_REGISTER_REQUEST",
    sender: "player:unregistered",
    timestamp: at,
    conversation_id: "c1",
    player_meta: { ...meta, version: "1.0.0", game_types: [] },
  };
  return to(victims.manager, JSON.stringify({ jsonrpc: "2.0", id: 1, method: "register_player", params }));
};

/** Registers under the name of the only referee. Of several ones another may not be registered yet, so that its name is free. */
const takeReferee: AttackKind = (knowledge) => {
  if (knowledge.victims.referees.length > 1) return null;
  const payload = { display_name: "R1", version: "1.0.0", game_types: ["rps.v1"], contact_endpoint: OWN_ENDPOINT };
  const body = message(knowledge, "REFEREE_REGISTER_REQUEST", "referee:R1", payload, NEW_TOKEN);
  return to(knowledge.victims.manager, body);
};

/** Polls the inbox of the opponent. */
const pollInbox: AttackKind = ({ victims, request, old }) => {
  const { roles = {}, your_role } = old.payload as { roles?: Record<string, string>; your_role?: string };
  const opponent = Object.entries(roles).find(([role]) => role !== your_role)?.[1];
  const url = new URL(`/inbox/${opponent}?after=0&wait_s=0`, victims.manager).href;
  return { url, body: "[]", bearer: request.auth_token ?? "" };
};

/** Sends a message that it has received to another player. */
const replay: AttackKind = (knowledge) => {
  const { id, ...envelope } = knowledge.request;
  return to(oneOf(knowledge.victims.players, knowledge), call(id, envelope));
};

/** Sends a message about a match of others with a token of another match. */
const askAboutOthers: AttackKind = (knowledge) => {
  const { old, victims } = knowledge;
  const payload = { league_id: old.payload.league_id, match_id: "R1M2" };
  const body = message(knowledge, "GET_GAME_STATE", old.sender, payload, old.auth_token);
  return to(oneOf(victims.referees, knowledge), body);
};

/** Answers in the name of its opponent, as a program of a dialect whose answer comes later. */
function answerForOpponent(knowledge: Knowledge): Attack {
  const { invitation, request, victims, at } = knowledge;
  const ids = Object.values((invitation?.payload as { roles?: Record<string, string> } | undefined)?.roles ?? {});
  const params = {
    protocol: "league.v2",
    message_type: "GAME_MOVE_RESPONSE",
    timestamp: at,
    auth_token: "",
    player_id: ids[0],
    sender: `player:${ids[1]}`,
    match_id: request.payload.match_id,
    move_data: { choice: "rock" },
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "receive_parity_response", params });
  return { url: victims.referees[knowledge.count % victims.referees.length] ?? "", body };
}

/** Gives an order of the manager to a referee: to play a match again, or to stop it. */
const orderReferee =
  (type: MessageType): AttackKind =>
  (knowledge) => {
    const { victims, old } = knowledge;
    const { epoch, roles = {} } = old.payload as { epoch?: number; roles?: Record<string, string> };
    const seats = Object.entries(roles).map(([role, player_id], n) => {
      const endpoint = victims.players[n] ?? OWN_ENDPOINT;
      return [role, { player_id, endpoint, match_token: `hostile ${role}` }] as const;
    });
    const limits = { join_ms: 1_000, move_ms: 1_000, game_over_ms: 1_000 };
    const payload = {
      ...old.payload,
      epoch: Number(epoch ?? 1) + 1,
      seed: "a",
      roles: Object.fromEntries(seats),
      timeouts: limits,
    };
    return to(oneOf(victims.referees, knowledge), message(knowledge, type, "league_manager:LM01", payload));
  };

/** Gives an order of a referee or of an operator to the manager. */
const orderManager =
  (type: MessageType): AttackKind =>
  (knowledge) => {
    const { victims, old } = knowledge;
    const { league_id, match_id, roles = {} } = old.payload as Record<string, unknown>;
    const payload = { league_id, match_id, player_id: Object.values(roles as object)[0] ?? "P01", reason: "a lie" };
    const sender = type === "REFEREE_LEAVE" ? "referee:REF01" : old.sender;
    return to(victims.manager, message(knowledge, type, sender, payload));
  };

const ATTACKS: readonly AttackKind[] = [
  takeName,
  takeEndpoint,
  takeDialectPlayer,
  takeReferee,
  pollInbox,
  replay,
  askAboutOthers,
  ...(["START_GAME", "MATCH_WITHDRAWN"] as const).map(orderReferee),
  ...(["REFEREE_LEAVE", "REMOVE_PLAYER", "FORGET_PLAYER"] as const).map(orderManager),
  ...(["RESET_TOKEN", "END_LEAGUE", "ANNUL_MATCH"] as const).map(orderManager),
];

/** Many requests without a token to one agent. */
function flood(knowledge: Knowledge): readonly Attack[] {
  const { manager, referees, players } = knowledge.victims;
  const agents = [...players, manager, ...referees];
  const url = agents[(knowledge.count / FLOOD_EVERY) % agents.length] ?? manager;
  const body = message(knowledge, "GET_STANDINGS", "player:Mallory", { league_id: "sim" }, "");
  return Array.from({ length: FLOOD }, () => ({ url, body }));
}

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
    void peers.notify(target, envelope, { timeoutMs: SEND_MS }).finally(() => pending--);
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
    league_id,
    match_id,
    round_id: 1,
    epoch,
    winner: null,
    final_scores: {},
    match_points: {},
    termination: "aborted",
    reason: "a lie",
    faults: [],
    log: [],
    log_head: "",
    seed: "",
  };
  return [
    { type: "MATCH_RESULT", to: [manager], payload: result },
    {
      type: "MATCH_WITHDRAWN",
      sender: "league_manager:LM01",
      to: referees,
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
