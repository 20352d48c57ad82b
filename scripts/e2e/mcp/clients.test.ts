import { afterEach, describe, expect, it, vi } from "vitest";
import { PATIENCE } from "#shared/lib/testing/patience.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { clients, type TestClient } from "#shared/rpc/testing/mcp-clients.ts";
import { lastPlayer, startTestLeague, type TestLeague } from "../../testing/league.ts";

let league: TestLeague | null = null;
const connected: TestClient[] = [];
afterEach(async () => {
  for (const client of connected.splice(0)) await client.close();
  await league?.stop();
  league = null;
});

const connect = async (revision: string, url: string): Promise<TestClient> => {
  const client = await clients[revision]?.(url);
  if (!client) throw new Error(`no client of ${revision}`);
  connected.push(client);
  return client;
};

/** The clients check every answer against the tool's output schema. */
describe.each(["2025-11-25", "2026-07-28"])("what the tools answer fits their output schemas, at %s", (revision) => {
  it("the league manager's", async () => {
    const called: unknown[] = [];
    league = await startTestLeague({
      leagues: [{ league_id: "rps", game: "rps.v1" }],
      players: [
        { name: "One", bot: "random" },
        lastPlayer(async ({ manager }) => {
          const client = await connect(revision, manager);
          const guest = { player_name: "Guest", endpoint: "http://127.0.0.1:9/mcp" };
          called.push(await client.call("register_player", guest));
          called.push(await client.call("register_referee", { referee_name: "R", endpoint: "http://127.0.0.1:9/mcp" }));
          called.push(await client.call("list_leagues", {}), await client.call("get_schedule", { league_id: "rps" }));
          const envelope = newEnvelope("LIST_LEAGUES", "player:guest", {});
          called.push(await client.call("league_message", envelope));
        }),
      ],
    });
    await league.completed;
    expect(called).toHaveLength(5);
    for (const answer of called) expect(answer).toMatchObject({ structuredContent: expect.any(Object) });
  });

  it("a player's, run by hand through make_move", async () => {
    league = await startTestLeague({
      leagues: [{ league_id: "rps", game: "rps.v1" }],
      timeouts: { move_ms: 10_000 },
      players: [
        { name: "One", bot: "random" },
        { name: "Hand", bot: "manual" },
      ],
    });
    const client = await connect(revision, league.playerUrls[1] ?? "");
    await vi.waitFor(
      async () =>
        expect(await client.call("make_move", { move: "rock" })).toMatchObject({
          structuredContent: { status: "SENT" },
        }),
      { timeout: 8_000 },
    );
    const { leagues } = await league.completed;
    expect(leagues[0]?.matches[0]?.termination).toBe("normal");
    expect(await client.call("get_my_state", {})).toMatchObject({
      structuredContent: { bot: "manual", matches_begun: 1 },
    });
  });
});

describe.each(Object.keys(clients))("an official MCP client at %s", (revision) => {
  it("lists and calls the manager's tools, reads its resources, and is told of every change of a running league", async () => {
    let client: TestClient | null = null;
    league = await startTestLeague({
      leagues: [{ league_id: "rps", game: "rps.v1" }],
      players: [
        { name: "One", bot: "random" },
        { name: "Two", bot: "cycle" },
        lastPlayer(async ({ manager }) => {
          client = await connect(revision, manager);
          await client.subscribe(["league://standings", "league://schedule", "league://rps/standings"]);
        }),
      ],
    });
    const watching = client as TestClient | null;
    if (!watching) throw new Error("not connected");
    expect(revision.startsWith(watching.revision)).toBe(true);
    await league.completed;
    const all = ["league://rps/standings", "league://schedule", "league://standings"];
    await vi.waitFor(() => expect([...new Set(watching.updated)].sort()).toEqual(all), PATIENCE);

    const tools = await watching.tools();
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["register_player", "get_standings", "list_leagues", "league_message"]),
    );
    expect(await watching.call("list_leagues", {})).toMatchObject({
      structuredContent: { leagues: [{ league_id: "rps", status: "completed", players: 3 }] },
    });
    expect(await watching.call("get_standings", { league_id: "rps" })).toMatchObject({
      structuredContent: { standings: [{ rank: 1, played: 2 }, { rank: 2 }, { rank: 3 }] },
    });
    expect(await watching.call("get_standings", { league_id: "no" })).toMatchObject({ isError: true });
    expect(await watching.call("get_standings", {})).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^Invalid arguments. league_id: /) }],
    });

    expect(await watching.resources()).toEqual(["league://standings", "league://schedule"]);
    expect(await watching.templates()).toContain("match://{league_id}/{match_id}");
    expect(await watching.read("league://rps/standings")).toMatchObject({ standings: [{}, {}, {}] });
    expect(await watching.read("match://rps/R1M1")).toMatchObject({ match_id: "R1M1", termination: "normal" });
    await expect(watching.read("league://nowhere")).rejects.toThrow(/Unknown resource/);
    for (const uri of ["league://nowhere", "league://nowhere/standings", "match://nowhere/R1M1"]) {
      await expect(watching.subscribe([uri]), uri).rejects.toThrow(/Unknown resource/);
    }
  });
});
