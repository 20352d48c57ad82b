import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { clients, type TestClient } from "#shared/rpc/testing/mcp-clients.ts";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import { sharedPostgres } from "#shared/store/testing/postgres-server.ts";
import { callTool, cleanUp, eventually, league, newFolder, type Running, start } from "../../testing/processes.ts";
import { SocketPlayer } from "../testing/inbox-player.ts";
import { PROXIES, startProxy } from "../testing/proxy.ts";

afterEach(cleanUp);

/** Three managers behind a proxy, and two referees that call the managers through it. */
/** The time after which a model repeats a call without an answer. */
const ANSWER_MS = 8_000;

async function startLeague(kind: (typeof PROXIES)[number]) {
  const database = await (await sharedPostgres()).createDatabase();
  const migrated = await league(["db", "migrate"], { DATABASE_URL: database });
  expect([migrated.code, migrated.stderr]).toEqual([0, ""]);
  const folder = newFolder();
  const ports = await freePorts(10);
  const [proxyPort = 0, ...others] = ports;
  const managerPorts = others.slice(0, 3);
  const endpoint = `http://127.0.0.1:${proxyPort}/mcp`;
  const file = join(folder, "league.json");
  const config = {
    manager: { endpoint },
    // The model notices the loss of its manager after `ANSWER_MS`, and then needs time for its move, also on a slow machine.
    timeouts: { move_ms: 30 * ANSWER_MS },
    leagues: [{ league_id: "rps", game: "rps.v1", format_options: { cycles: 4 }, options: { best_of: 5 } }],
  };
  writeFileSync(file, JSON.stringify(config));
  const managers = managerPorts.map((port, index) => {
    const args = ["--config", file, "--data", join(folder, `manager-${index}`), "--port", String(port)];
    return start("league-manager/main.ts", args, { DATABASE_URL: database });
  });
  for (const manager of managers) await manager.line(/league manager at/);
  const proxy = await startProxy(kind, { folder, port: proxyPort, managers: managerPorts });
  onTestFinished(() => proxy.stop());
  const startAgent = (name: string, script: string, port: number, args: readonly string[]): Running =>
    start(script, [
      ...args,
      "--name",
      name,
      "--manager",
      endpoint,
      "--data",
      join(folder, name),
      ...(port === 0 ? [] : ["--port", String(port)]),
    ]);
  const referees = [1, 2].map((index) => startAgent(`Ref${index}`, "referee/main.ts", others[2 + index] ?? 0, []));
  for (const referee of referees) await referee.line(/registered/);
  return {
    database,
    folder,
    endpoint,
    managers,
    managerPorts,
    proxyUrl: endpoint.replace("/mcp", ""),
    operator: readFileSync(join(folder, "manager-0", "operator-token"), "utf8"),
    join: (name: string, port: number, ...more: readonly string[]) =>
      startAgent(name, "scripts/league.ts", port, ["join", "random", ...more]),
    playerPorts: others.slice(5),
  };
}

/** Counts the results on a stream of the events of the league, until the stream ends. */
function countResults(port: number) {
  const results = new Set<string>();
  const read = async (): Promise<void> => {
    const response = await fetch(`http://127.0.0.1:${port}/leagues/rps/events?from=0&types=match_completed`);
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      for (const [, id] of decoder.decode(chunk as Uint8Array, { stream: true }).matchAll(/"match_id":"(\w+)"/g))
        results.add(id ?? "");
    }
  };
  return { results, ended: read().catch(() => {}) };
}

/** Plays as a model would: by tools in MCP sessions through the proxy. A session that is lost is opened again. */
async function playByTools(endpoint: string, isOver: () => boolean): Promise<{ moves: number; sessions: number }> {
  let client: TestClient | null = null;
  let token: string | undefined;
  let [moves, sessions] = [0, 0];
  while (!isOver()) {
    try {
      if (!client) {
        client = (await clients["2025-11-25"]?.(endpoint)) as TestClient;
        sessions++;
      }
      const call = async (name: string, args: object) => {
        // The SDK does not notice that the stream with its answer is lost.
        const answer = await client?.call(name, args, { signal: AbortSignal.timeout(ANSWER_MS) });
        const { structuredContent, isError } = (answer ?? {}) as { structuredContent?: object; isError?: boolean };
        if (isError) throw new Error("the tool has rejected the call");
        return structuredContent as { player_token?: string; turns: { match_id: string; league_id: string }[] };
      };
      token ??= (await call("join_league", { player_name: "Model" })).player_token;
      const { turns } = await call("wait_for_turn", { player_token: token, timeout_s: 2 });
      for (const { league_id, match_id } of turns) {
        await call("make_move", { player_token: token, match_id: `${league_id}/${match_id}`, move: "rock" });
        moves++;
      }
    } catch {
      await client?.close().catch(() => {});
      client = null;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
  await client?.close().catch(() => {});
  return { moves, sessions };
}

describe.each(PROXIES)("three managers behind %s", (kind) => {
  it("run a league whose every match has one result, although a manager is killed", async () => {
    const run = await startLeague(kind);
    const { endpoint, managers, managerPorts, operator, playerPorts, proxyUrl } = run;
    const [first = 0, second = 0, third = 0] = managerPorts;
    const tool = async (port: number, name: string, args: object = {}) =>
      (await callTool(port, name, args, operator)).value;

    // Players of all kinds register, at any manager.
    const bots = ["Ann", "Bob"].map((name, index) => run.join(name, playerPorts[index] ?? 0));
    const puller = run.join("Pull", 0, "--pull");
    for (const player of [...bots, puller]) await player.line(/registered as P\d+ in rps/);
    const registered = await callTool(second, "register_player", { player_name: "Sock", game_types: ["rps.v1"] });
    expect(String(registered.value.inbox)).toMatch(new RegExp(`^${proxyUrl}/inbox/P`));
    const socket = new SocketPlayer(registered.value as unknown as ConstructorParameters<typeof SocketPlayer>[0]);
    onTestFinished(() => socket.stop());
    let isOver = false;
    const played = playByTools(endpoint, () => isOver);
    await eventually("five players at each manager", async () => {
      const leagues = await Promise.all(managerPorts.map((port) => tool(port, "list_leagues")));
      return leagues.every((listed) => JSON.stringify(listed).includes('"players":5'));
    });

    // Each manager reports every result, also those that arrive at another one.
    const readers = managerPorts.map(countResults);
    const subscribers: TestClient[] = [];
    for (const port of managerPorts) {
      const client = (await clients["2025-11-25"]?.(`http://127.0.0.1:${port}/mcp`)) as TestClient;
      await client.subscribe(["league://rps/standings"]);
      subscribers.push(client);
    }
    expect(await tool(third, "start_league", { league_id: "rps" })).toMatchObject({ matches: expect.any(Number) });
    await eventually("ten results at each manager", () => readers.every(({ results }) => results.size >= 10));
    expect(subscribers.every(({ updated }) => updated.includes("league://rps/standings"))).toBe(true);

    // An operator's command at one manager is seen at the others.
    await tool(first, "pause_league", { league_id: "rps" });
    await eventually("the pause at each manager", async () => {
      const leagues = await Promise.all(managerPorts.map((port) => tool(port, "league_status")));
      return leagues.every((status) => JSON.stringify(status).includes('"status":"paused"'));
    });
    await tool(second, "resume_league", { league_id: "rps" });
    await tool(third, "extend_league", { league_id: "rps", format_options: { cycles: 6 } });
    const annulled = { league_id: "rps", match_id: "R1M1", reason: "a test" };
    expect(await tool(first, "annul_match", annulled)).toMatchObject({ status: "ANNULLED" });

    managers[2]?.signal("SIGKILL");
    await managers[2]?.ended;
    const survivors = [first, second];
    const isCompleted = async (port: number): Promise<boolean> => {
      const { leagues } = (await tool(port, "list_leagues")) as { leagues: { status: string }[] };
      return leagues[0]?.status === "completed";
    };
    await eventually("the end of the league", async () =>
      (await Promise.all(survivors.map(isCompleted))).every(Boolean),
    );
    isOver = true;

    const { schedule } = (await tool(second, "get_schedule", { league_id: "rps" })) as {
      schedule: { match_id: string; status: string; termination: string; reason: string }[];
    };
    expect(schedule.filter(({ status }) => status === "completed")).toHaveLength(60);
    expect(schedule.find(({ match_id }) => match_id === "R1M1")).toMatchObject({ reason: "annulled" });
    // A player whose manager is killed connects to another one before its time for a move is over.
    const forfeits = schedule.filter(({ termination }) => termination === "forfeit");
    expect(forfeits.map(({ match_id, reason }) => `${match_id} ${reason}`)).toEqual([]);
    const matchIds = schedule.map(({ match_id }) => match_id).sort();
    for (const { results, ended } of readers.slice(0, 2)) {
      await ended;
      expect([...results].sort()).toEqual(matchIds);
    }
    const standings = await Promise.all(survivors.map((port) => tool(port, "get_standings", { league_id: "rps" })));
    expect(standings[1]).toEqual(standings[0]);
    const page = async (port: number): Promise<string> =>
      (await fetch(`http://127.0.0.1:${port}/api/leagues/rps`)).text();
    expect(await page(second)).toBe(await page(first));
    expect((await fetch(`${proxyUrl}/leagues/rps`)).status).toBe(200);
    const { moves, sessions } = await played;
    expect([moves > 20, socket.moves > 20, sessions >= 1, socket.connections >= 1]).toEqual(Array(4).fill(true));
    for (const player of [...bots, puller]) await player.line(/rps is over: rank \d of 5/);

    const exported = join(run.folder, "export");
    const { code, stderr } = await league(["export", "--database", run.database, "--out", exported]);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    const verified = await league(["verify", exported]);
    expect([verified.code, verified.stderr]).toEqual([0, ""]);
    for (const client of subscribers) await client.close().catch(() => {});
  });
});
