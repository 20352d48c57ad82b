import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";

/** What a league.v2 message holds, as far as this player cares. */
interface Message {
  type: string;
  message_id: string;
  payload: { match_id: string; tick: number; legal_actions: unknown[] };
}

/** A whole player from PROTOCOL.md alone, without anything of this repository: `hand-written-player.ts MANAGER NAME PORT`. */
export async function startHandWrittenPlayer(manager: string, name: string, port: number, tokenFile: string) {
  let sender = `player:${name}`;
  const envelope = (type: string, payload: object, correlation_id?: string) => {
    const timestamp = new Date().toISOString();
    return { protocol: "league.v2", message_id: randomUUID(), type, sender, timestamp, payload, correlation_id };
  };

  const answer = ({ type, message_id, payload }: Message): object => {
    const { match_id, tick, legal_actions } = payload;
    if (type === "GAME_INVITE") return envelope("GAME_INVITE_RESPONSE", { match_id, accept: true }, message_id);
    if (type !== "MOVE_REQUEST") return envelope("ACK", {}, message_id);
    const move = legal_actions[Math.floor(Math.random() * legal_actions.length)];
    return envelope("MOVE_RESPONSE", { match_id, tick, move }, message_id);
  };

  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(404).end();
    const { id, params } = JSON.parse(await text(request));
    const result = { content: [{ type: "text", text: JSON.stringify(answer(params.arguments)) }] };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  });
  const address = await addressToward(manager);
  await once(server.listen(port, address), "listening");

  // The token gives a player that comes back its old id. It is written down before it is sent.
  if (!existsSync(tokenFile)) writeFileSync(tokenFile, randomBytes(32).toString("base64url"), { mode: 0o600 });
  const auth_token = readFileSync(tokenFile, "utf8").trim();
  const game_types = ["even_odd.v1", "rps.v1", "chess.v1", "tic_tac_toe.v1", "connect_four.v1", "kuhn_poker.v1"];
  const me = { display_name: name, version: "1.0.0", game_types, contact_endpoint: `http://${address}:${port}/mcp` };
  const params = { name: "league_message", arguments: { ...envelope("PLAYER_REGISTER_REQUEST", me), auth_token } };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const response = await fetch(manager, { method: "POST", headers: { "content-type": "application/json" }, body });
  const reply = (await response.json()) as { result: { content: { text: string }[] } };
  const { status, reason, player_id } = JSON.parse(reply.result.content[0]?.text ?? "").payload;
  if (status !== "ACCEPTED") throw new Error(`the league manager says no: ${reason}`);
  sender = `player:${player_id}`;
  return { stop: async () => void server.close().closeAllConnections() };
}

/** The IPv4 address of this machine in a connection to the manager, at which the manager's network reaches it. */
async function addressToward(manager: string): Promise<string> {
  const { hostname, port } = new URL(manager);
  const socket = connect({ host: hostname, port: Number(port) || 80, family: 4 });
  await once(socket, "connect").catch(() => setTimeout(1_000));
  const { localAddress } = socket;
  socket.destroy();
  if (localAddress) return localAddress;
  process.stderr.write(`no manager at ${manager} yet\n`);
  return addressToward(manager);
}

const [, , manager = "http://127.0.0.1:8000/mcp", name = "By hand", port = "8150"] = process.argv;
if (import.meta.main) await startHandWrittenPlayer(manager, name, Number(port), `${encodeURIComponent(name)}.token`);
if (import.meta.main) process.stdout.write(`${name} is registered; Ctrl-C ends it\n`);
