import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rpcRequest } from "#shared/rpc/testing/json-rpc.ts";
import { startTestHost, type TestHost } from "../rest/testing/host.ts";
import { createGame, personTokens, type Wire } from "./testing/play.ts";

const SEAT = "agent-league/user_seat";
const APPS = { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } } };

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(() => host.remove());

/** Creates a game of an MCP client against a person. Resolves with the results of createGame and of waitForNextTurn. */
async function play(mode: "legacy" | { pin: string }, capabilities: object, template: string) {
  const client = new Client({ name: "test", version: "1.0.0" }, { capabilities, versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${host.url}/mcp`)));
  const call = (name: string, args: Record<string, unknown>): Promise<Wire> =>
    client.callTool({ name, arguments: args });
  const created = await call("createGame", { template, opponent: "human" });
  const { game_id, seat_token } = created.structuredContent;
  const waited = await call("waitForNextTurn", { game_id, seat_token, timeout_s: 0, showUi: true });
  await client.close();
  return { created, waited, tokens: personTokens(host, game_id) };
}

describe.each([
  ["a session", "legacy"],
  ["2026-07-28", { pin: "2026-07-28" }],
] as const)("the seat of a person that sees more than that of the agent, for a client in %s", (_era, mode) => {
  it("is in _meta for a client that declares MCP Apps, and nowhere else", async () => {
    const { created, waited, tokens } = await play(mode, APPS, "kuhn_poker");
    for (const { _meta, ...result } of [created, waited]) {
      expect(_meta[SEAT]).toMatchObject({ role: "player_2", token: tokens[0], view: { your_role: "spectator" } });
      expect(JSON.stringify(result)).not.toContain(tokens[0]);
    }
  });

  it.each(["kuhn_poker", "rps", "even_odd"])(
    "is not sent to a client that does not declare MCP Apps: %s",
    async (template) => {
      const { created, waited, tokens } = await play(
        mode,
        { elicitation: {}, extensions: { "example/other": {} } },
        template,
      );
      expect(tokens).toEqual([expect.stringMatching(/^.{40,}$/)]);
      for (const result of [created, waited]) {
        expect(result._meta ?? {}).not.toHaveProperty([SEAT]);
        expect(JSON.stringify(result)).not.toContain(tokens[0]);
      }
    },
  );

  it("is in _meta for every client if both seats see the same", async () => {
    const { created, waited } = await play(mode, {}, "chess");
    for (const { _meta } of [created, waited]) expect(_meta[SEAT]).toMatchObject({ role: "black" });
  });
});

it("a plain JSON caller receives no seat that sees more than its own, even if it declares MCP Apps", async () => {
  const agent = await createGame(host, { template: "kuhn_poker", opponent: "human" });
  const [token = ""] = personTokens(host, agent.gameId);
  expect(token).not.toBe("");
  const _meta = { "io.modelcontextprotocol/clientCapabilities": APPS };
  const { gameId: game_id, token: seat_token } = agent;
  const params = { name: "waitForNextTurn", arguments: { game_id, seat_token, timeout_s: 0 }, _meta };
  const body = rpcRequest("tools/call", params);
  for (const accept of ["application/json", "application/json, text/event-stream"]) {
    const { status, text } = await host.call("POST", "/mcp", {
      body,
      headers: { accept, "content-type": "application/json" },
    });
    expect([status, text]).toEqual([200, expect.stringContaining("your_role")]);
    expect(text).not.toContain(token);
  }
  expect(agent.answer.raw).not.toContain(token);
});
