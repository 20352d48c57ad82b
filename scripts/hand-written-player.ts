import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { setTimeout } from "node:timers/promises";

/** What a league.v2 message holds, as far as this player cares. */
interface Message {
  type: string;
  message_id: string;
  payload: { match_id: string; tick: number; legal_actions: unknown[] };
}

/** A whole player from PROTOCOL.md alone, without anything of this repository: `hand-written-player.ts MANAGER NAME PORT`. */
export async function startHandWrittenPlayer(manager: string, name: string, port: number) {
  let sender = `player:${name}`;
  const envelope = (type: string, payload: object, correlation_id?: string) => {
    const timestamp = new Date().toISOString();
    return { protocol: "league.v2", message_id: randomUUID(), type, sender, timestamp, payload, correlation_id };
  };

  const answer = ({ type, message_id, payload }: Message): object => {
    const { match_id, tick, legal_actions } = payload;
    if (type === "GAME_INVITE") return envelope("GAME_INVITE_RESPONSE", { match_id, accept: true }, message_id);
    if (type !== "MOVE_REQUEST") return {};
    const move = legal_actions[Math.floor(Math.random() * legal_actions.length)];
    return envelope("MOVE_RESPONSE", { match_id, tick, move }, message_id);
  };

  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(404).end();
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const { id, params } = JSON.parse(body);
    const result = { content: [{ type: "text", text: JSON.stringify(answer(params.arguments)) }] };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));

  const game_types = ["even_odd.v1", "rps.v1", "chess.v1", "tic_tac_toe.v1", "connect_four.v1", "kuhn_poker.v1"];
  const me = { display_name: name, version: "1.0.0", game_types, contact_endpoint: `http://127.0.0.1:${port}/mcp` };
  const params = { name: "league_message", arguments: envelope("PLAYER_REGISTER_REQUEST", me) };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const ask = () => fetch(manager, { method: "POST", headers: { "content-type": "application/json" }, body });
  let response = await ask().catch(() => null);
  while (!response) {
    await setTimeout(500); // no manager yet
    response = await ask().catch(() => null);
  }
  const reply = (await response.json()) as { result: { content: { text: string }[] } };
  const { status, reason, player_id } = JSON.parse(reply.result.content[0]?.text ?? "").payload;
  if (status !== "ACCEPTED") throw new Error(`the league manager says no: ${reason}`);
  sender = `player:${player_id}`;
  return { stop: async () => void server.close().closeAllConnections() };
}

const [, , manager = "http://127.0.0.1:8000/mcp", name = "By hand", port = "8150"] = process.argv;
if (import.meta.main) await startHandWrittenPlayer(manager, name, Number(port));
if (import.meta.main) process.stdout.write(`${name} is registered; Ctrl-C ends it\n`);
