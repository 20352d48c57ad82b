import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { afterEach, expect, it, vi } from "vitest";
import { z } from "zod";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import { rpcResponse } from "#shared/rpc/testing/json-rpc.ts";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { callRpc, startTestLeague, type TestLeague, type TestPlace } from "../../testing/in-process-league.ts";

interface Message {
  readonly type: string;
  readonly payload: {
    readonly match_id: string;
    readonly round_id: number;
    readonly tick: number;
    readonly legal_actions: unknown[];
  };
}

const Reply = z.object({ content: z.tuple([z.object({ text: z.string() })]) });

let league: TestLeague | undefined;
afterEach(() => league?.stop());

/** Returns a function that starts a player. The player always chooses its first legal action and appends the messages that it receives to `received`. */
function recordingPlayer(received: Message[]) {
  return async ({ manager, name, port }: TestPlace) => {
    let sender = `player:${name}`;
    const envelope = (type: string, payload: object) => {
      const timestamp = new Date().toISOString();
      return { protocol: "league.v2", message_id: randomUUID(), type, sender, timestamp, payload };
    };
    const answer = (message: Message): object => {
      received.push(message);
      const { match_id, tick, legal_actions } = message.payload;
      if (message.type === "GAME_INVITE") return envelope("GAME_INVITE_RESPONSE", { match_id, accept: true });
      if (message.type !== "MOVE_REQUEST") return envelope("ACK", {});
      return envelope("MOVE_RESPONSE", { match_id, tick, move: legal_actions[0] });
    };
    const server = createServer(async (request, response) => {
      if (request.method !== "POST") return void response.writeHead(404).end();
      const { id, params } = JSON.parse(await text(request));
      const content = [{ type: "text", text: JSON.stringify(answer(params.arguments)) }];
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(rpcResponse(id, { content })));
    });
    await listenOnLoopback(server, port);
    const contact_endpoint = `http://127.0.0.1:${port}/mcp`;
    const me = { display_name: name, version: "1.0.0", game_types: ["tic_tac_toe.v1"], contact_endpoint };
    const params = { name: "league_message", arguments: envelope("PLAYER_REGISTER_REQUEST", me) };
    const { content } = Reply.parse(await callRpc(manager, "tools/call", params));
    sender = `player:${JSON.parse(content[0].text).payload.player_id}`;
    return { stop: async () => void server.close().closeAllConnections() };
  };
}

it("a player receives the GAME_RESULT of its match before the ROUND_END of that round", async () => {
  const received: Message[][] = [[], [], [], []];
  league = await startTestLeague({
    leagues: [{ league_id: "ttt", game: "tic_tac_toe.v1" }],
    players: received.map((messages, index) => ({ name: `P${index}`, start: recordingPlayer(messages) })),
  });
  await league.completed;
  const expectedOrder = [1, 2, 3].flatMap((round) => [`GAME_RESULT of R${round}`, `ROUND_END ${round}`]);
  const orderOf = (messages: readonly Message[]): readonly string[] =>
    messages.flatMap(({ type, payload }) => {
      if (type === "GAME_RESULT") return [`GAME_RESULT of ${payload.match_id.slice(0, 2)}`];
      return type === "ROUND_END" ? [`ROUND_END ${payload.round_id}`] : [];
    });
  await vi.waitFor(() => expect(received.map(orderOf)).toEqual(received.map(() => expectedOrder)), WAIT_OPTIONS);
});
