import { createServer } from "node:http";
import { afterEach, expect, it } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import type { Envelope } from "#shared/protocol/envelope.ts";
import { GameInvite, MoveRequest } from "#shared/protocol/messages.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";
import { rpcResponse, textResult } from "#shared/rpc/testing/json-rpc.ts";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { startTestLeague, type TestLeague } from "../../testing/in-process-league.ts";

let league: TestLeague | null = null;
afterEach(async () => {
  await league?.stop();
  league = null;
});

interface Call {
  readonly id: number;
  readonly params: { readonly arguments: Envelope };
}

/** Returns a function that starts and registers a bot on node:http with `batch` in its registration. `posts` receives the requests of each POST. */
function httpBot(batch: boolean | undefined, posts: Call[][]) {
  let self = "player:new";
  const answer = ({ type, payload }: Envelope): Envelope => {
    if (type === "GAME_INVITE") {
      const { match_id, roles, your_role } = GameInvite.parse(payload);
      self = `player:${roles[your_role]}`;
      return newEnvelope("GAME_INVITE_RESPONSE", self, { match_id, accept: true });
    }
    if (type !== "MOVE_REQUEST") return newEnvelope("ACK", self, {});
    const { match_id, tick, legal_actions } = MoveRequest.parse(payload);
    return newEnvelope("MOVE_RESPONSE", self, { match_id, tick, move: legal_actions?.[0] });
  };
  const reply = ({ id, params }: Call) => rpcResponse(id, textResult(answer(params.arguments)));
  return async ({ manager, name, port }: { manager: string; name: string; port: number }) => {
    const server = createServer(async (request, response) => {
      let text = "";
      for await (const chunk of request.setEncoding("utf8")) text += chunk;
      const calls: Call | Call[] = JSON.parse(text || "null");
      if (!calls) return void response.end();
      posts.push([calls].flat());
      // The answers of a batch may have any order and no line breaks.
      response.end(JSON.stringify(Array.isArray(calls) ? calls.map(reply).reverse() : reply(calls)));
    });
    await listenOnLoopback(server, port);
    const peers = createPeers({ clock: systemClock });
    const me = {
      display_name: name,
      game_types: ["rps.v1", "connect_four.v1"],
      contact_endpoint: `http://127.0.0.1:${port}/mcp`,
      batch,
    };
    const request = newEnvelope("PLAYER_REGISTER_REQUEST", `player:${name}`, me);
    await peers.message(manager, request, { timeoutMs: 10_000, retry: true });
    await peers.close();
    return {
      async stop() {
        server.closeAllConnections();
        server.close();
      },
    };
  };
}

it("a league sends batches to a player that has declared them, and single requests to the other players", async () => {
  const [batchPosts, singlePosts]: [Call[][], Call[][]] = [[], []];
  league = await startTestLeague({
    leagues: ["rps.v1", "connect_four.v1"].map((game) => ({ league_id: game, game })),
    players: [
      { name: "Batches", start: httpBot(true, batchPosts) },
      { name: "One by one", start: httpBot(undefined, singlePosts) },
      { name: "House", bot: "random" },
    ],
  });
  const document = await league.completed;
  const matches = document.leagues.flatMap((one) => one.matches).filter(({ roles }) => Object.keys(roles).length > 1);
  expect(matches.map(({ termination }) => termination)).toEqual(matches.map(() => "normal"));
  expect(matches.length).toBeGreaterThanOrEqual(6);
  expect(Math.max(...singlePosts.map((calls) => calls.length))).toBe(1);
  const batches = batchPosts.filter((calls) => calls.length > 1);
  expect(batches.length).toBeGreaterThan(0);
  const types = batches.flat().map(({ params }) => params.arguments.type);
  expect(types).toEqual(expect.arrayContaining(["GAME_START", "MOVE_REQUEST"]));
});
