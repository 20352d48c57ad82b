import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { PATIENCE } from "#shared/lib/testing/patience.ts";
import { clients, type TestClient } from "#shared/rpc/testing/mcp-clients.ts";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import { lastPlayer, startTestLeague, type TestLeague } from "../../testing/league.ts";
import { cleanUp, newFolder, type Running, root, start } from "../../testing/processes.ts";

/** Each test starts several processes, on whatever machine. */
vi.setConfig({ testTimeout: 120_000 });

/** `league mcp` as a process, spoken to by the official clients in both eras and by the bare wire. */
const connected: TestClient[] = [];
let testLeague: TestLeague | null = null;
afterEach(async () => {
  for (const client of connected.splice(0)) await client.close();
  await testLeague?.stop();
  testLeague = null;
  await cleanUp();
});

/** A client of the command `league mcp ARGS`, and the lines that the command says. */
async function connect(revision: string, args: readonly string[], env: Record<string, string> = {}) {
  const said: string[] = [];
  const target = {
    command: process.execPath,
    args: [`${root}scripts/league.ts`, "mcp", ...args],
    env: { PATH: process.env.PATH ?? "", ...env },
    onLine: (line: string) => void said.push(line),
  };
  const client = await clients[revision]?.(target);
  if (!client) throw new Error(`no client of ${revision}`);
  connected.push(client);
  return { client, said };
}

const FIXTURES = { NODE_OPTIONS: `--import=${new URL("../../conformance/preload.ts", import.meta.url)}` };
const REVISIONS = ["2024-11-05", "2025-11-25", "2025-11-25 of SDK 2", "2026-07-28"];

/** What holds of every server behind the command that has the conformance suite's fixtures. */
async function speaksFluently(client: TestClient): Promise<void> {
  expect((await client.tools()).map(({ name }) => name)).toEqual(expect.arrayContaining(["test_sampling"]));
  expect(await client.templates()).toContain("game://state/{match_id}");
  const heard: number[] = [];
  const onprogress = ({ progress }: { progress: number }): void => void heard.push(progress);
  await client.call("test_tool_with_progress", {}, { onprogress });
  // The SDK's clients drop what they read together with the result, as a busy one does; what they tell is in order.
  expect(heard).toEqual([0, 50, 100].slice(0, Math.max(1, heard.length)));
  expect(JSON.stringify(await client.call("test_sampling", { prompt: "?" }))).toContain("forty-two");
  expect(JSON.stringify(await client.call("test_elicitation", { message: "?" }))).toContain("a@example.org");
  await expect(client.read("test://nothing")).rejects.toThrow(/Unknown resource/);
}

describe.each(REVISIONS)("an official client at %s", (revision) => {
  it("of a command that hosts games itself", async () => {
    const port = await freePort();
    const args = ["--port", String(port), "--data", newFolder()];
    const { client, said } = await connect(revision, args, FIXTURES);
    await speaksFluently(client);
    expect(said[0]).toBe(
      `mcp: serving http://127.0.0.1:${port}/mcp on stdio; its pages are at http://127.0.0.1:${port}/`,
    );
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
    expect(client.errors).toEqual([]);
  });

  it("of a command that bridges to a host", async () => {
    const { url } = await startHost(FIXTURES);
    const { client } = await connect(revision, ["--url", url]);
    await speaksFluently(client);
    expect(client.errors).toEqual([]);
  });

  it("of two commands, one of which bridges to the other: two agents play each other", async () => {
    const port = await freePort();
    const { client: ann } = await connect(revision, ["--port", String(port), "--data", newFolder()]);
    const made = await taken(ann.call("createGame", { template: "tic_tac_toe.v1" }));
    const { client: bob } = await connect(revision, ["--url", `http://127.0.0.1:${port}`]);
    const joined = await taken(bob.call("joinGame", { game_id: made.game_id }));
    await bob.subscribe([`game://state/${made.game_id}`]);

    const { game_id, seat_token } = joined;
    const impatient = new AbortController();
    const waited = bob.call("waitForNextTurn", { game_id, seat_token }, { signal: impatient.signal });
    impatient.abort();
    await expect(waited).rejects.toThrow();
    const over = await Promise.all([playOut(ann, made), playOut(bob, joined)]);
    expect(over.map(({ status, result }) => [status, result?.termination])).toEqual([
      ["completed", "normal"],
      ["completed", "normal"],
    ]);
    await vi.waitFor(() => expect(bob.updated).toContain(`game://state/${game_id}`), PATIENCE);
    expect(await bob.read(`game://state/${game_id}`)).toMatchObject({ status: "completed" });
    expect((await fetch(`http://127.0.0.1:${port}/game/${game_id}`)).status).toBe(200);
    expect([ann.errors, bob.errors]).toEqual([[], []]);
  });
});

/** One client of each era: the servers are the same for all. */
describe.each(["2025-11-25 of SDK 2", "2026-07-28"])(
  "an official client at %s, of servers that come and go",
  (revision) => {
    it("of a command whose host is killed: it goes on with the next one, and is told to read again", async () => {
      const { url, host, run } = await startHost();
      const { client } = await connect(revision, ["--url", url]);
      await client.subscribe(["game://state/R1M1"]);
      expect(client.updated).toEqual([]);
      host.signal("SIGKILL");
      await host.ended;
      await expect(client.tools()).rejects.toThrow(/cannot be reached/);
      await run();
      expect((await client.tools()).map(({ name }) => name)).toContain("finishTurn");
      await vi.waitFor(() => expect(client.updated).toEqual(["game://state/R1M1"]), { timeout: 10_000 });
      expect(client.errors).toEqual([]);
    });

    it("of commands that bridge to a manager and a referee: it is told of a running league", async () => {
      const watching: TestClient[] = [];
      const watch = async (url: string, uri: string): Promise<void> => {
        const { client } = await connect(revision, ["--url", url]);
        await client.subscribe([uri]);
        watching.push(client);
      };
      testLeague = await startTestLeague({
        leagues: [{ league_id: "rps", game: "rps.v1" }],
        players: [
          { name: "One", bot: "random" },
          lastPlayer(async ({ manager }) => {
            await watch(manager, "league://standings");
            await watch(
              manager.replace(/\d+(?=.mcp)/, (port) => String(Number(port) + 1)),
              "game://state/R1M1",
            );
          }),
        ],
      });
      await testLeague.completed;
      const [manager, referee] = watching;
      await vi.waitFor(() => expect(manager?.updated).toContain("league://standings"), PATIENCE);
      await vi.waitFor(() => expect(referee?.updated).toContain("game://state/R1M1"), PATIENCE);
      expect(await manager?.call("list_leagues", {})).toMatchObject({
        structuredContent: { leagues: [{ league_id: "rps", status: "completed" }] },
      });
      expect(await referee?.read("game://state/R1M1")).toMatchObject({ match_id: "R1M1", status: "completed" });
      expect([manager?.errors, referee?.errors]).toEqual([[], []]);
    });
  },
);

const Answer = z.object({
  structuredContent: z.looseObject({
    game_id: z.string(),
    seat_token: z.string().optional(),
    status: z.string(),
    next: z.string(),
    legal_actions: z.array(z.unknown()),
    result: z.looseObject({ termination: z.string() }).nullable(),
  }),
});
const taken = async (answer: Promise<unknown>) => Answer.parse(await answer).structuredContent;

/** Makes the first legal move at each turn of a seat, to the end of its game. */
async function playOut(client: TestClient, { game_id, seat_token }: Awaited<ReturnType<typeof taken>>) {
  for (;;) {
    const seen = await taken(client.call("waitForNextTurn", { game_id, seat_token }));
    if (seen.next === "game_over") return seen;
    const move = seen.legal_actions[0];
    if (seen.next === "your_turn") await client.call("finishTurn", { game_id, seat_token, move });
  }
}

async function startHost(env: Record<string, string> = {}) {
  const port = await freePort();
  const data = newFolder();
  const run = async (): Promise<Running> => {
    const host = start("referee/main.ts", ["--alone", "--port", String(port), "--data", data], env);
    await host.line(/session host at/);
    return host;
  };
  return { url: `http://127.0.0.1:${port}/mcp`, host: await run(), run };
}
