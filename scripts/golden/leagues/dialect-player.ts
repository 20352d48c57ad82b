import type { DialectId } from "#shared/protocol/dialects/dialect.ts";
import type { ListenOptions } from "#shared/rpc/http/http-server.ts";
import type { AgentProcess, RunningAgent } from "#shared/runtime/agent.ts";
import type { AskManager } from "./world.ts";

/** The fields of the messages of both dialects that the player reads. */
interface Received {
  readonly message_type?: string;
  readonly match_id?: string;
  readonly game_round?: number;
  readonly move_request?: { readonly valid_options?: readonly unknown[] };
  readonly game_state?: { readonly legal_actions?: readonly unknown[]; readonly valid_options?: readonly unknown[] };
}

interface Request {
  readonly id?: number | string;
  readonly params?: Received & { readonly arguments?: Received };
}

/** Starts a small player of a dialect. It registers itself and answers move requests with the first option that they list, or with 1. */
export async function startDialectPlayer(
  dialect: DialectId,
  { name, game, port }: { readonly name: string; readonly game: string; readonly port: number },
  self: AgentProcess,
  askManager: AskManager,
): Promise<RunningAgent> {
  const identity = { id: "unknown", token: "" };
  const options: Pick<ListenOptions, "ports" | "handler" | "isReady"> = {
    ports: [port],
    isReady: () => true,
    async handler(body) {
      const { id, params } = JSON.parse(body) as Request;
      const result = answerTo(dialect, params?.arguments ?? params ?? {}, identity);
      return { status: 200, body: JSON.stringify({ jsonrpc: "2.0", id, result }) };
    },
  };
  const listening = await self.network.listen(options as ListenOptions);
  if (!listening.ok) throw new Error(listening.error);
  const answer = await askManager(JSON.stringify(registrationOf(dialect, name, game, port)));
  const { result } = JSON.parse(answer ?? "{}") as {
    readonly result?: { readonly player_id?: string; readonly auth_token?: string };
  };
  identity.id = result?.player_id ?? identity.id;
  identity.token = result?.auth_token ?? identity.token;
  return { stop: () => listening.value.close() };
}

function registrationOf(dialect: DialectId, name: string, game: string, port: number): object {
  const message = {
    protocol: dialect === "league.v1" ? "league.v1" : "league.v2",
    message_type: "LEAGUE_REGISTER_REQUEST",
    conversation_id: "0f8fad5b-d9cb-469f-a165-70867728950e",
    sender: "player:new_player",
    timestamp: "2026-01-01T00:00:00Z",
    player_meta: {
      display_name: name,
      version: "1.0.0",
      game_types: [game.replace(/\.v\d+$/, "")],
      contact_endpoint: `http://127.0.0.1:${port}/mcp`,
    },
  };
  return dialect === "league.v1"
    ? { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "register_player", arguments: message } }
    : { jsonrpc: "2.0", id: 1, method: "register_player", params: message };
}

function answerTo(dialect: DialectId, message: Received, { id, token }: { id: string; token: string }): object {
  const { message_type: type, match_id } = message;
  const head = { protocol: dialect === "league.v1" ? "league.v1" : "league.v2", sender: `player:${id}`, match_id };
  const choice =
    [message.move_request, message.game_state].flatMap(
      (place) => place?.valid_options ?? (place && "legal_actions" in place ? place.legal_actions : []) ?? [],
    )[0] ?? 1;
  switch (type) {
    case "GAME_INVITATION":
      return { ...head, auth_token: token, message_type: "GAME_JOIN_ACK", player_id: id, accept: true };
    case "CHOOSE_PARITY_CALL":
      return {
        ...head,
        auth_token: token,
        message_type: "CHOOSE_PARITY_RESPONSE",
        player_id: id,
        parity_choice: "even",
      };
    case "GAME_MOVE_CALL":
      return { ...head, auth_token: token, message_type: "GAME_MOVE_RESPONSE", move_data: { choice } };
    case "MOVE_REQUEST":
      return { ...head, message_type: "MOVE_RESPONSE", game_round: message.game_round, move: { number: choice } };
    default:
      return { status: "OK" };
  }
}
