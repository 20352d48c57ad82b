import { once } from "node:events";
import { afterEach, expect, it, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { rpcResourceRead } from "#shared/rpc/testing/json-rpc.ts";
import { createGame, tool, twoSeats } from "../../../referee/play/testing/play.ts";
import { gameIn, startGameHost } from "../../testing/game-host.ts";
import { cleanUp, newFolder } from "../../testing/processes.ts";

afterEach(cleanUp);

const JSON_TYPE = { "content-type": "application/json" };

const MESSAGE =
  "The game nim.v1 of this session is not loaded. The session is kept: start this server again with --game and the file of the game";

it("a host without the file of a game names the game and the option on every interface, and continues its sessions with the file", async () => {
  const file = gameIn(newFolder());
  const host = await startGameHost([file]);
  const { call } = host;
  const agents = [(await call("POST", "/agents")).json, (await call("POST", "/agents")).json];
  const [token, other] = agents.map((agent) => agent.token);
  const [first_player, second_player] = agents.map((agent) => agent.agent_id);
  const body = { template: "nim.v1", participants: { first_player, second_player }, spectators: "public" };
  const created = await call("POST", "/sessions", { token, body });
  const path = `/sessions/${created.json.session_id}`;
  const act = (action: number, expected_tick: number, as: string) =>
    call("POST", `${path}/actions`, { token: as, body: { action, expected_tick } });
  expect((await act(2, 0, token)).status).toBe(200);
  const [one, two] = await twoSeats(host, "nim");
  await one.move(1);
  const withBot = await createGame(host, { template: "nim", opponent: "random" });

  const restarted = await host.restart([]);
  expect(await restarted.line(/cannot be continued/)).toContain(
    "3 sessions of nim.v1 cannot be continued: start this server again with --game and the file of the game",
  );
  const unavailable = { status: 503, json: { error: { code: "UNAVAILABLE", message: MESSAGE } } };
  for (const route of ["state", "log", "events"])
    expect(await call("GET", `${path}/${route}`, { token })).toMatchObject(unavailable);
  expect(await act(2, 1, other)).toMatchObject(unavailable);
  expect((await call("GET", "/sessions", { token })).json.sessions).toMatchObject([{ status: "active", tick: 1 }]);
  expect(await refusalOf(`${host.url}${path}/socket`, token)).toMatchObject([503, unavailable.json]);

  for (const answer of [await two.move(2), await two.wait({ timeout_s: 0 }), await withBot.move(1)])
    expect([answer.isError, answer.text]).toEqual([true, MESSAGE]);
  const message = await tool(host, "get_game_state", { match_id: one.gameId });
  expect(JSON.parse(message.text)).toMatchObject({ error_code: "G003", message: MESSAGE, context: { game: "nim.v1" } });
  const resource = rpcResourceRead(`game://state/${one.gameId}`);
  expect((await call("POST", "/mcp", { body: resource, headers: JSON_TYPE })).json.error).toMatchObject({
    message: MESSAGE,
  });

  const game = `/api/games/${one.gameId}`;
  for (const route of [game, `${game}/events`]) expect(await call("GET", route)).toMatchObject(unavailable);
  expect((await call("GET", `/game/${one.gameId}`)).status).toBe(503);
  const { games } = (await call("GET", "/api/games")).json;
  expect(games.find(({ game_id }: { game_id: string }) => game_id === withBot.gameId)).toMatchObject({
    template: "nim.v1",
    status: "active",
    players: { second_player: "random" },
  });
  expect((await tool(host, "createGame", { template: "chess", opponent: "agent" })).isError).toBe(false);

  await host.restart([file]);
  expect((await act(2, 1, other)).status).toBe(200);
  expect((await act(1, 2, token)).status).toBe(200);
  expect((await call("GET", `${path}/state`, { token })).json).toMatchObject({ status: "completed", tick: 3 });
  await two.move(2);
  expect((await one.move(2)).value).toMatchObject({ next: "game_over", result: { winner: "first_player" } });
  await withBot.move(2);
  expect((await withBot.wait({ timeout_s: 30 })).value).toMatchObject({ next: "your_turn" });
  await host.stop();
});

/** Resolves with the status and the body of a WebSocket that is refused. */
async function refusalOf(url: string, token: string): Promise<readonly [number | undefined, unknown]> {
  const socket = new WebSocket(url.replace("http:", "ws:"), [], {
    perMessageDeflate: false,
    maxPayload: 1_000_000,
    headers: { authorization: `Bearer ${token}` },
  });
  onTestFinished(() => socket.terminate());
  socket.on("error", () => {}); // terminate() before the socket is open
  const [, response] = await once(socket, "unexpected-response");
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return [response.statusCode, JSON.parse(Buffer.concat(chunks).toString())];
}
