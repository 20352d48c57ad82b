import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import { clients, type TestClient } from "#shared/rpc/testing/mcp-clients.ts";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import { lastPlayer, startTestLeague, type TestLeague } from "../../testing/in-process-league.ts";
import { cleanUp, newFolder, type Running, root, start } from "../../testing/processes.ts";

const connected: TestClient[] = [];
let testLeague: TestLeague | null = null;
afterEach(async () => {
  for (const client of connected.splice(0)) await client.close();
  await testLeague?.stop();
  testLeague = null;
  await cleanUp();
});

/** Connects a client to the command `league mcp ARGS`. `stderrLines` receives the lines that the command prints on stderr. */
async function connect(revision: string, args: readonly string[], env: Record<string, string> = {}) {
  const stderrLines: string[] = [];
  const target = {
    command: process.execPath,
    args: [`${root}scripts/league.ts`, "mcp", ...args],
    env: { PATH: process.env.PATH ?? "", ...env },
    onLine: (line: string) => void stderrLines.push(line),
  };
  const client = await clients[revision]?.(target);
  if (!client) throw new Error(`no client of ${revision}`);
  connected.push(client);
  return { client, stderrLines };
}

/** The environment that adds the fixtures of the conformance suite to a server. */
const FIXTURES = { NODE_OPTIONS: `--import=${new URL("../../conformance/preload.ts", import.meta.url)}` };
const REVISIONS = ["2024-11-05", "2025-11-25", "2025-11-25 of SDK 2", "2026-07-28"];

/** Checks tools, templates, progress, sampling, elicitation and errors of a server with the fixtures of the conformance suite. */
async function expectCompleteServer(client: TestClient): Promise<void> {
  expect((await client.tools()).map(({ name }) => name)).toEqual(expect.arrayContaining(["test_sampling"]));
  expect(await client.templates()).toContain("game://state/{match_id}");
  const received: number[] = [];
  const onprogress = ({ progress }: { progress: number }): void => void received.push(progress);
  await client.call("test_tool_with_progress", {}, { onprogress });
  // Clients of the SDK drop progress notifications that they read together with the result.
  expect(received).toEqual([0, 50, 100].slice(0, Math.max(1, received.length)));
  expect(JSON.stringify(await client.call("test_sampling", { prompt: "?" }))).toContain("forty-two");
  expect(JSON.stringify(await client.call("test_elicitation", { message: "?" }))).toContain("a@example.org");
  await expect(client.read("test://nothing")).rejects.toThrow(/Unknown resource/);
}

describe.each(REVISIONS)("an official client of revision %s", (revision) => {
  it("uses a command that hosts games", async () => {
    const port = await freePort();
    const args = ["--port", String(port), "--data", newFolder()];
    const { client, stderrLines } = await connect(revision, args, FIXTURES);
    await expectCompleteServer(client);
    expect(stderrLines[0]).toBe(
      `mcp: serving http://127.0.0.1:${port}/mcp on stdio; its pages are at http://127.0.0.1:${port}/`,
    );
    expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
    expect(client.errors).toEqual([]);
  });

  it("uses a command that bridges to a session host", async () => {
    const { url } = await startHost(FIXTURES);
    const { client } = await connect(revision, ["--url", url]);
    await expectCompleteServer(client);
    expect(client.errors).toEqual([]);
  });

  it("plays against a client of a second command that bridges to the first", async () => {
    const port = await freePort();
    const { client: ann } = await connect(revision, ["--port", String(port), "--data", newFolder()]);
    const created = await answerOf(ann.call("createGame", { template: "tic_tac_toe.v1" }));
    const { client: bob } = await connect(revision, ["--url", `http://127.0.0.1:${port}`]);
    const joined = await answerOf(bob.call("joinGame", { game_id: created.game_id }));
    await bob.subscribe([`game://state/${created.game_id}`]);

    const { game_id, seat_token } = joined;
    const cancelled = new AbortController();
    const waited = bob.call("waitForNextTurn", { game_id, seat_token }, { signal: cancelled.signal });
    cancelled.abort();
    await expect(waited).rejects.toThrow();
    const endings = await Promise.all([playOut(ann, created), playOut(bob, joined)]);
    expect(endings.map(({ status, result }) => [status, result?.termination])).toEqual([
      ["completed", "normal"],
      ["completed", "normal"],
    ]);
    await vi.waitFor(() => expect(bob.updated).toContain(`game://state/${game_id}`), WAIT_OPTIONS);
    expect(await bob.read(`game://state/${game_id}`)).toMatchObject({ status: "completed" });
    expect((await fetch(`http://127.0.0.1:${port}/game/${game_id}`)).status).toBe(200);
    expect([ann.errors, bob.errors]).toEqual([[], []]);
  });
});

/** One client of each era. The servers behave in the same way for all clients. */
describe.each(["2025-11-25 of SDK 2", "2026-07-28"])(
  "an official client of revision %s whose server ends or starts",
  (revision) => {
    it("continues with a restarted host, and receives updates of its subscribed resources", async () => {
      const { url, host, run } = await startHost();
      const { client } = await connect(revision, ["--url", url]);
      await client.subscribe(["game://state/R1M1"]);
      expect(client.updated).toEqual([]);
      host.signal("SIGKILL");
      await host.ended;
      await expect(client.tools()).rejects.toThrow(/cannot be reached/);
      await run();
      expect((await client.tools()).map(({ name }) => name)).toContain("finishTurn");
      await vi.waitFor(() => expect(client.updated).toEqual(["game://state/R1M1"]), WAIT_OPTIONS);
      expect(client.errors).toEqual([]);
    });

    it("receives updates of a running league through commands that bridge to a manager and a referee", async () => {
      const subscribed: TestClient[] = [];
      const watch = async (url: string, uri: string): Promise<void> => {
        const { client } = await connect(revision, ["--url", url]);
        await client.subscribe([uri]);
        subscribed.push(client);
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
      const [manager, referee] = subscribed;
      await vi.waitFor(() => expect(manager?.updated).toContain("league://standings"), WAIT_OPTIONS);
      await vi.waitFor(() => expect(referee?.updated).toContain("game://state/R1M1"), WAIT_OPTIONS);
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
const answerOf = async (answer: Promise<unknown>) => Answer.parse(await answer).structuredContent;

/** Makes the first legal move in each turn of a seat until the game is over; resolves with the last answer. */
async function playOut(client: TestClient, { game_id, seat_token }: Awaited<ReturnType<typeof answerOf>>) {
  for (;;) {
    const turn = await answerOf(client.call("waitForNextTurn", { game_id, seat_token }));
    if (turn.next === "game_over") return turn;
    const move = turn.legal_actions[0];
    if (turn.next === "your_turn") await client.call("finishTurn", { game_id, seat_token, move });
  }
}

/** Starts a session host. `run` starts it again with the same port and data. */
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
