import { createServer } from "node:http";
import { afterEach, expect, test } from "vitest";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { callRpc, startTestLeague, type TestLeague } from "../../testing/in-process-league.ts";

let league: TestLeague | undefined;
afterEach(() => league?.stop());

test("a player whose endpoint forwards to the bot of another player loses its matches, and the other player is not charged", async () => {
  const rejections: unknown[] = [];
  league = await startTestLeague({
    leagues: [{ league_id: "rps", game: "rps.v1" }],
    players: [
      { name: "Victim", bot: "random" },
      {
        name: "Cheat",
        async start({ manager, name, port }) {
          const victimAddress = `127.0.0.1:${port - 1}/mcp`;
          const register = (endpoint: string) =>
            callRpc(manager, "tools/call", { name: "register_player", arguments: { player_name: name, endpoint } });
          for (const alias of [
            `http://${victimAddress}?x`,
            `http://${victimAddress}/`,
            `http://127.0.0.2:${port - 1}/mcp`,
          ]) {
            rejections.push(await register(alias));
          }
          const relay = createServer(async (request, response) => {
            const headers = { "content-type": "application/json" };
            const body = await new Response(request as never).text();
            const answer = await fetch(`http://${victimAddress}`, { method: "POST", headers, body });
            response.writeHead(answer.status, headers).end(await answer.text());
          });
          await listenOnLoopback(relay, port);
          await register(`http://127.0.0.1:${port}/mcp`);
          return { stop: async () => void relay.close().closeAllConnections() };
        },
      },
      { name: "Third", bot: "random" },
    ],
  });
  const [rps] = (await league.completed).leagues;
  expect(rejections).toMatchObject(rejections.map(() => ({ structuredContent: { error_code: "L003" } })));
  const forfeits = rps?.matches.filter(({ termination }) => termination === "forfeit");
  expect(forfeits?.map(({ points }) => points)).toEqual(
    expect.arrayContaining([
      { P01: 3, P02: 0 },
      { P02: 0, P03: 3 },
    ]),
  );
  const forfeitedMatches = await Promise.all((forfeits ?? []).map(({ match_id }) => league?.match("rps", match_id)));
  expect(forfeitedMatches.flatMap((match) => match?.result.faults.map((fault) => fault.player_id))).toEqual([
    "P02",
    "P02",
  ]);
});
