import { afterEach, describe, expect, it, vi } from "vitest";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { clients, type TestClient } from "#shared/rpc/testing/mcp-clients.ts";
import { lastPlayer, startTestLeague, type TestLeague } from "../../testing/in-process-league.ts";

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

/** The clients validate every answer against the output schema of the tool. */
describe.each(["2025-11-25", "2026-07-28"])(
  "answers of tools match their output schemas in revision %s",
  (revision) => {
    it("for the tools of the league manager", async () => {
      const answers: unknown[] = [];
      league = await startTestLeague({
        leagues: [{ league_id: "rps", game: "rps.v1" }],
        players: [
          { name: "One", bot: "random" },
          lastPlayer(async ({ manager }) => {
            const client = await connect(revision, manager);
            const guest = { player_name: "Guest", endpoint: "http://127.0.0.1:9/mcp" };
            answers.push(await client.call("register_player", guest));
            answers.push(
              await client.call("register_referee", { referee_name: "R", endpoint: "http://127.0.0.1:9/mcp" }),
            );
            answers.push(
              await client.call("list_leagues", {}),
              await client.call("get_schedule", { league_id: "rps" }),
            );
            const envelope = newEnvelope("LIST_LEAGUES", "player:guest", {});
            answers.push(await client.call("league_message", envelope));
          }),
        ],
      });
      await league.completed;
      expect(answers).toHaveLength(5);
      for (const answer of answers) expect(answer).toMatchObject({ structuredContent: expect.any(Object) });
    });

    it("for the tools of a manual player", async () => {
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
        WAIT_OPTIONS,
      );
      const { leagues } = await league.completed;
      expect(leagues[0]?.matches[0]?.termination).toBe("normal");
      expect(await client.call("get_my_state", {})).toMatchObject({
        structuredContent: { bot: "manual", matches_begun: 1 },
      });
    });
  },
);

describe.each(Object.keys(clients))("an official MCP client of revision %s", (revision) => {
  it("lists and calls the manager's tools, reads its resources and receives updates of a running league", async () => {
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
    const subscribed = client as TestClient | null;
    if (!subscribed) throw new Error("not connected");
    expect(revision.startsWith(subscribed.revision)).toBe(true);
    await league.completed;
    const all = ["league://rps/standings", "league://schedule", "league://standings"];
    await vi.waitFor(() => expect([...new Set(subscribed.updated)].sort()).toEqual(all), WAIT_OPTIONS);

    const tools = await subscribed.tools();
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["register_player", "get_standings", "list_leagues", "league_message"]),
    );
    expect(await subscribed.call("list_leagues", {})).toMatchObject({
      structuredContent: { leagues: [{ league_id: "rps", status: "completed", players: 3 }] },
    });
    expect(await subscribed.call("get_standings", { league_id: "rps" })).toMatchObject({
      structuredContent: { standings: [{ rank: 1, played: 2 }, { played: 2 }, { played: 2 }] },
    });
    expect(await subscribed.call("get_standings", { league_id: "no" })).toMatchObject({ isError: true });
    expect(await subscribed.call("get_standings", {})).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/^Invalid arguments. league_id: /) }],
    });

    expect(await subscribed.resources()).toEqual(["league://standings", "league://schedule"]);
    expect(await subscribed.templates()).toContain("match://{league_id}/{match_id}");
    expect(await subscribed.read("league://rps/standings")).toMatchObject({ standings: [{}, {}, {}] });
    expect(await subscribed.read("match://rps/R1M1")).toMatchObject({ match_id: "R1M1", termination: "normal" });
    await expect(subscribed.read("league://nowhere")).rejects.toThrow(/Unknown resource/);
    for (const uri of ["league://nowhere", "league://nowhere/standings", "match://nowhere/R1M1"]) {
      await expect(subscribed.subscribe([uri]), uri).rejects.toThrow(/Unknown resource/);
    }
  });
});
