import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rpcResourceRead } from "#shared/rpc/testing/json-rpc.ts";
import { clients } from "#shared/rpc/testing/mcp-clients.ts";
import { startTestHost, type TestHost } from "../rest/testing/host.ts";
import { createGame, joinGame, tool, watchGame } from "./testing/play.ts";

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.remove());

const WAITING = "waiting_for_players";
const stateOf = async (gameId: string) => (await tool(host, "get_game_state", { match_id: gameId })).value;
const viewOf = async (gameId: string) => (await host.call("GET", `/api/games/${gameId}`)).json;
const resourceOf = async (gameId: string) => {
  const body = rpcResourceRead(`game://state/${gameId}`);
  const { json } = await host.call("POST", "/mcp", { body, headers: { "content-type": "application/json" } });
  return JSON.parse(json.result.contents[0].text);
};
const listed = async (gameId: string) => {
  const { games } = (await host.call("GET", "/api/games")).json;
  return games.find(({ game_id }: { game_id: string }) => game_id === gameId);
};

describe("a game with an open seat", () => {
  it("shows waiting_for_players in get_game_state, game://state, the list and the game's view until the seat is taken", async () => {
    const white = await createGame(host, { template: "chess" });
    const views = () => Promise.all([stateOf, viewOf, resourceOf, listed].map((read) => read(white.gameId)));
    for (const view of await views()) expect(view).toMatchObject({ status: WAITING });
    expect(white.answer.value).toMatchObject({ status: WAITING, legal_actions: [], to_act: [] });
    await joinGame(host, white.gameId);
    for (const view of await views()) expect(view).toMatchObject({ status: "active" });
  });

  it("has the phase WAITING_FOR_PLAYERS in even/odd", async () => {
    const odd = await createGame(host, { template: "even_odd" });
    const phases = async () =>
      (await Promise.all([stateOf, viewOf, resourceOf].map((read) => read(odd.gameId)))).map(
        ({ state }) => state.phase,
      );
    expect(await phases()).toEqual(Array(3).fill("WAITING_FOR_PLAYERS"));
    await joinGame(host, odd.gameId);
    expect(await phases()).toEqual(Array(3).fill("COLLECTING_CHOICES"));
  });

  it("rejects moves at every interface with the reason, and its REST status is active", async () => {
    const white = await createGame(host, { template: "chess" });
    const reason = "Waiting for players: black has not joined yet. Moves are accepted once every seat is taken";
    expect(await white.move("e4")).toMatchObject({ isError: true, text: reason });
    const { token } = white;
    const rest = `/sessions/${white.gameId}`;
    const acted = await host.call("POST", `${rest}/actions`, { token, body: { action: "e2e4", expected_tick: 0 } });
    expect([acted.status, acted.json.error]).toEqual([400, { code: "INVALID_ACTION", message: reason }]);
    const moved = await host.call("POST", `/api/games/${white.gameId}/moves`, { token, body: { move: "e4" } });
    expect([moved.status, moved.json.error.message]).toEqual([409, reason]);
    const validated = await tool(host, "validate_move", { match_id: white.gameId, player_id: "white", move: "e4" });
    expect(validated.value).toMatchObject({ valid: false, reason });
    expect((await host.call("GET", `${rest}/state`, { token })).json).toMatchObject({ status: "active", tick: 0 });
    await joinGame(host, white.gameId);
    expect((await white.move("e4")).value).toMatchObject({ tick: 1, status: "active" });
  });

  it("ends the wait of the first role to move when the last of several seats is taken", async () => {
    const first = await createGame(host, { template: "codenames", options: { starting_team: "red" } });
    const waited = first.wait({ timeout_s: 30 });
    for (const role of ["red_team", "blue_spymaster"]) await joinGame(host, first.gameId, { role });
    expect((await first.wait({ timeout_s: 0 })).value).toMatchObject({ status: WAITING, timed_out: true });
    await joinGame(host, first.gameId, { role: "blue_team" });
    expect((await waited).value.status).toBe("active");
    expect((await waited).value.timed_out).toBe(false);
  });

  it("sends an event to the streams of its page when the seat is taken", async () => {
    const white = await createGame(host, { template: "chess" });
    const stream = await watchGame(host, white.gameId);
    expect((await stream.next())?.data.status).toBe(WAITING);
    await joinGame(host, white.gameId);
    expect((await stream.next())?.data).toMatchObject({ status: "active", tick: 0 });
    stream.close();
    // A client that reconnects also receives the change.
    const resumed = await watchGame(host, white.gameId, undefined, "0");
    expect((await resumed.next())?.data.status).toBe("active");
    resumed.close();
  });

  it("notifies MCP clients that have subscribed to game://state when the seat is taken", async () => {
    const client = await clients["2025-11-25"]?.(`${host.url}/mcp`);
    if (!client) throw new Error("no client");
    try {
      const white = await createGame(host, { template: "chess" });
      const uri = `game://state/${white.gameId}`;
      await client.subscribe([uri]);
      await joinGame(host, white.gameId);
      await expect.poll(() => client.updated).toEqual([uri]);
    } finally {
      await client.close();
    }
  });
});

it("a game against a bot or a person has all its seats taken from the beginning", async () => {
  for (const opponent of ["random", "human"]) {
    const white = await createGame(host, { template: "chess", opponent });
    expect(white.answer.value).toMatchObject({ status: "active", next: "your_turn" });
  }
});
