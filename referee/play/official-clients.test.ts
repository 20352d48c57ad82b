import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { clients } from "#shared/rpc/testing/mcp-clients.ts";
import { startTestHost, type TestHost } from "../rest/testing/host.ts";

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.remove());

const Seat = z.object({ game_id: z.string(), seat_token: z.string() });

interface ToolResult {
  readonly isError?: boolean;
  readonly content: readonly { readonly text?: string }[];
  readonly structuredContent?: unknown;
}

/** The clients check every result against the output schema of its tool. */
describe.each(Object.keys(clients))("an official MCP client at %s", (revision) => {
  it("calls every tool of a session host and reads every resource and template", async () => {
    const client = await clients[revision]?.(`${host.url}/mcp`);
    if (!client) throw new Error("no client");
    const called = new Set<string>();
    const call = async (name: string, args: object): Promise<ToolResult> => {
      called.add(name);
      return (await client.call(name, args)) as ToolResult;
    };
    try {
      const { game_id, seat_token } = Seat.parse((await call("createGame", { template: "chess" })).structuredContent);
      const white = { game_id, seat_token };
      const black = Seat.parse((await call("joinGame", { game_id })).structuredContent);
      expect(await call("finishTurn", { ...white, move: "e4" })).toMatchObject({ structuredContent: { tick: 1 } });
      const waited = await call("waitForNextTurn", { game_id, seat_token: black.seat_token });
      expect(waited).toMatchObject({ structuredContent: { next: "your_turn", last_action: { action: "e2e4" } } });
      expect(waited.content[0]?.text).toContain("4  . . . . P . . .");
      expect(await call("get_game_state", { match_id: game_id })).toMatchObject({ structuredContent: { tick: 1 } });
      expect(
        await call("league_message", newEnvelope("GET_GAME_STATE", "player:me", { match_id: game_id })),
      ).toBeTruthy();
      // Tools that need a league or an open game return an error.
      expect(await call("validate_move", { player_id: "P01", move: "e4" })).toMatchObject({ isError: true });
      const order = { player1_id: "a", player2_id: "b", match_id: "M", seed: "s" };
      const endpoints = { player1_endpoint: "http://127.0.0.1:9/mcp", player2_endpoint: "http://127.0.0.1:9/mcp" };
      expect(await call("start_game", { ...order, ...endpoints })).toMatchObject({ isError: true });
      expect(await call("continue_game", {})).toMatchObject({ isError: true });
      expect(await call("end_game", {})).toMatchObject({ structuredContent: { status: "no_game" } });
      const models = { red_spymaster: "llm", red_team: "llm", blue_spymaster: "llm", blue_team: "llm" };
      // This model gives no valid answer. The stateless client gives up after ten rounds.
      const led = await call("create_new_game", models).catch((error: Error) => error.message);
      if (typeof led === "string") expect(led).toContain("rounds");
      else expect(led.structuredContent).toMatchObject({ status: "completed", reason: "turn_limit" });
      // A session host accepts start_game and league_message and does not list them.
      expect([...called].filter((name) => !["start_game", "league_message"].includes(name)).sort()).toEqual(
        (await client.tools()).map(({ name }) => name).sort(),
      );

      for (const uri of await client.resources()) expect((await client.text(uri)).length, uri).toBeGreaterThan(10);
      const found: Record<string, string> = {
        "game://state/{match_id}": `game://state/${game_id}`,
        "game://rules/{game}": "game://rules/chess.v1",
      };
      for (const template of await client.templates()) {
        const uri = found[template];
        if (uri) expect((await client.text(uri)).length, uri).toBeGreaterThan(10);
        else await expect(client.text(template.replaceAll(/[{}]/g, "")), template).rejects.toThrow(/Unknown resource/);
      }
    } finally {
      await client.close();
    }
  });
});
