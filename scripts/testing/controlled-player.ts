/** A player of a league that answers a move request when its test calls `answer`. */
import { EventEmitter } from "node:events";
import { z } from "zod";
import { knownGameIds } from "#shared/games/registry.ts";
import type { MessageType } from "#shared/protocol/envelope.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { serveTools } from "#shared/rpc/testing/loopback.ts";
import { tool } from "../../referee/play/testing/play.ts";

/** A message that an agent of the test has received. */
export interface Received {
  readonly type: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** The `auth_token` of the message; empty if it has none. */
  readonly signature: string;
  /** Headers and body. Over a WebSocket the headers are those of the request that opened it. */
  readonly bytes: string;
}

export interface ControlledPlayer {
  readonly id: string;
  readonly token: string;
  readonly received: readonly Received[];
  /** Resolves with the invitation to its match, and the token of the match. */
  invitation(): Promise<Invitation>;
  /** Resolves when the player has received this many messages of a type. */
  receives(type: MessageType, count?: number): Promise<void>;
  /** Resolves with the open move request, when there is one. */
  asked(): Promise<MoveRequest>;
  /** Answers the open move request. Waits for one if there is none. */
  answer(move: unknown): Promise<void>;
  close(): void;
}

const Invitation = z.object({
  match_id: z.string(),
  your_role: z.string(),
  bot_seed: z.string(),
  roles: z.record(z.string(), z.string()),
});
const Message = z.object({
  type: z.string(),
  message_id: z.string(),
  auth_token: z.string().optional(),
  payload: z.record(z.string(), z.unknown()),
});
const MoveRequest = z.object({ match_id: z.string(), tick: z.int() });
const Registered = z.object({ player_id: z.string(), auth_token: z.string() });

type Invitation = z.infer<typeof Invitation> & { readonly matchToken: string };
type MoveRequest = z.infer<typeof MoveRequest>;

/** Starts a player and registers it with the manager at `url`. With `transports: ["websocket"]` it is called over WebSockets. */
export async function controlledPlayer(
  url: string,
  name: string,
  transports?: readonly string[],
): Promise<ControlledPlayer> {
  const received: Received[] = [];
  const arrived = new EventEmitter().setMaxListeners(0);
  let invitation: Invitation | null = null;
  let open: { readonly request: MoveRequest; readonly move: PromiseWithResolvers<unknown> } | null = null;
  let id = name;
  const until = async <T>(value: () => T | null | undefined): Promise<T> => {
    for (let found = value(); ; found = value()) {
      if (found != null) return found;
      await new Promise((resolve) => arrived.once("message", resolve));
    }
  };
  const server = await serveTools(async ({ args, headers, body }) => {
    const { type, payload, message_id, auth_token = "" } = Message.parse(args);
    const { "sec-websocket-key": _random, ...comparable } = headers;
    received.push({ type, payload, signature: auth_token, bytes: JSON.stringify(comparable) + body });
    const reply = (answer: MessageType, content: object) =>
      newEnvelope(answer, `player:${id}`, content, { correlationId: message_id });
    if (type === "GAME_INVITE") {
      invitation = { ...Invitation.parse(payload), matchToken: auth_token };
      arrived.emit("message");
      return reply("GAME_INVITE_RESPONSE", { match_id: invitation.match_id, accept: true });
    }
    if (type !== "MOVE_REQUEST") {
      arrived.emit("message");
      return reply("ACK", {});
    }
    const request = MoveRequest.parse(payload);
    const move = Promise.withResolvers<unknown>();
    open = { request, move };
    arrived.emit("message");
    return reply("MOVE_RESPONSE", { ...request, move: await move.promise });
  });
  const request = {
    display_name: name,
    game_types: knownGameIds(),
    contact_endpoint: server.url,
    ...(transports && { transports }),
  };
  const envelope = newEnvelope("PLAYER_REGISTER_REQUEST", `player:${name}`, request);
  const registered = await tool({ url }, "league_message", envelope);
  const { player_id, auth_token } = Registered.parse(JSON.parse(registered.text).payload);
  id = player_id;
  return {
    id,
    token: auth_token,
    received,
    invitation: () => until(() => invitation),
    receives: async (type, count = 1) =>
      void (await until(() => received.filter((one) => one.type === type).length >= count || null)),
    asked: () => until(() => open?.request),
    async answer(move) {
      const { move: answered } = await until(() => open);
      open = null;
      answered.resolve(move);
    },
    close: server.close,
  };
}
