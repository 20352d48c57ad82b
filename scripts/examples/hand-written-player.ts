import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { json } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";

const JSON_TYPE = { "content-type": "application/json" };

/** The fields that this player reads, of a league.v2 message and of the request that contains it. */
type Message = { type: string; message_id: string; payload: { match_id: string; tick: number; legal_actions?: [] } };
type Call = { id: number; params?: { arguments?: Message } };

/** Starts a complete player that uses no code of this repository. PROTOCOL.md describes the messages. */
export async function startHandWrittenPlayer(manager: string, name: string, port: number, tokenFile: string) {
  let sender = `player:${name}`;
  const envelope = (type: string, payload: object, correlation_id?: string) => {
    const timestamp = new Date().toISOString();
    return { protocol: "league.v2", message_id: randomUUID(), type, sender, timestamp, payload, correlation_id };
  };

  const answer = ({ type, message_id, payload: { match_id, tick, legal_actions = [] } }: Message): object => {
    if (type === "GAME_INVITE") return envelope("GAME_INVITE_RESPONSE", { match_id, accept: true }, message_id);
    if (type !== "MOVE_REQUEST") return envelope("ACK", {}, message_id);
    // A repeated request has the same random message id, and gets the same move.
    const move = legal_actions[Number.parseInt(message_id.slice(0, 8), 16) % legal_actions.length];
    return envelope("MOVE_RESPONSE", { match_id, tick, move }, message_id);
  };

  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(404).end();
    const call = (await json(request).catch(() => null)) as Call | null;
    const message = call?.params?.arguments;
    const result = message?.payload && { content: [{ type: "text", text: JSON.stringify(answer(message)) }] };
    const reply = result
      ? { id: call?.id, result }
      : { id: null, error: { code: call ? -32600 : -32700, message: "no call" } };
    response.writeHead(result ? 200 : 400, JSON_TYPE).end(JSON.stringify({ jsonrpc: "2.0", ...reply }));
  });
  const address = await addressToward(manager);
  await once(server.listen(port, address), "listening");

  // With the same token, a player that is started again gets its former id. The token is stored before it is sent.
  if (!existsSync(tokenFile)) writeFileSync(tokenFile, randomBytes(32).toString("base64url"), { mode: 0o600 });
  const auth_token = readFileSync(tokenFile, "utf8").trim();
  const game_types = ["even_odd.v1", "rps.v1", "chess.v1", "tic_tac_toe.v1", "connect_four.v1", "kuhn_poker.v1"];
  const me = { display_name: name, version: "1.0.0", game_types, contact_endpoint: `http://${address}:${port}/mcp` };
  const params = { name: "league_message", arguments: { ...envelope("PLAYER_REGISTER_REQUEST", me), auth_token } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const response = await fetch(manager, { method: "POST", headers: JSON_TYPE, body });
  const reply = (await response.json()) as { result: { content: { text: string }[] } };
  const { status, reason, player_id } = JSON.parse(reply.result.content[0]?.text ?? "").payload;
  if (status !== "ACCEPTED") throw new Error(`the league manager rejected the registration: ${reason}`);
  sender = `player:${player_id}`;
  return { stop: async () => void server.close().closeAllConnections() };
}

/** Returns the IPv4 address of this machine at which the manager's network reaches it: that of a connection to the manager. */
async function addressToward(manager: string): Promise<string> {
  const { hostname, port } = new URL(manager);
  const socket = connect({ host: hostname, port: Number(port) || 80, family: 4 });
  await once(socket, "connect").catch(() => setTimeout(1_000));
  const { localAddress } = socket;
  socket.destroy();
  if (localAddress) return localAddress;
  process.stderr.write(`waiting for the manager at ${manager}\n`);
  return addressToward(manager);
}

if (import.meta.main) {
  const [, , manager = "http://127.0.0.1:8000/mcp", name = "By hand", port = "8150"] = process.argv;
  await startHandWrittenPlayer(manager, name, Number(port), `${encodeURIComponent(name)}.token`);
  process.stdout.write(`${name} is registered; Ctrl-C ends it\n`);
}
