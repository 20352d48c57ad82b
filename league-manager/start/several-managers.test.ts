import { once } from "node:events";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { WebSocket } from "ws";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import { answerTo, messageTo, roundOf } from "../inbox/testing/inbox.ts";
import { parseMetrics } from "../metrics/testing/parse.ts";
import { type ModelRun, modelRun } from "../shared-run/testing/model-run.ts";
import { rpcOf, startTestManager, type TestManager, type Wire } from "../testing/test-manager.ts";

const LEAGUES = [
  { league_id: "rps", game: "rps.v1" },
  { league_id: "ttt", game: "tic_tac_toe.v1" },
];
const NAMES = ["Ann", "Bob", "Cleo", "Dan", "Eve", "Finn"];

let run: ModelRun;
let managers: TestManager[] = [];
let notices: string[] = [];
/** The warnings of each manager. */
let warnings: string[][] = [];
/** The number of members that each manager has seen at its last heartbeat. */
let seen: Map<number, number>;

/** Starts a manager. `more` is merged into its config. */
async function startOne(leagues: readonly object[] = LEAGUES, more: object = {}): Promise<TestManager> {
  const number = seen.size;
  seen.set(number, 0);
  const onEvent = (event: { readonly type: string; readonly message?: string }): void => {
    if (event.type === "notice") notices.push(event.message ?? "");
  };
  const list: string[] = [];
  warnings.push(list);
  const warn = (line: string): void => void list.push(line);
  return startTestManager(leagues, more, onEvent, { warn }, async () => {
    const database = await run.connect();
    const heartbeat: typeof database.heartbeat = async (self) => {
      const members = await database.heartbeat(self);
      seen.set(number, members.length);
      return members;
    };
    return { run: { ...database, heartbeat }, queue: database.queue };
  });
}

/** Resolves when each manager knows this number of managers. */
const knowEachOther = (count: number) =>
  vi.waitFor(() => expect([...seen.values()].slice(-count)).toEqual(Array(count).fill(count)), WAIT_OPTIONS);

beforeEach(async () => {
  notices = [];
  warnings = [];
  seen = new Map();
  run = modelRun();
  managers = [];
  onTestFinished(async () => {
    await Promise.all(managers.map((manager) => manager.stop()));
    await run.close();
  });
  for (let number = 0; number < 3; number++) managers.push(await startOne());
  await knowEachOther(3);
});

const at = (index: number): TestManager => managers[index % managers.length] as TestManager;
const originOf = (manager: TestManager): string => `http://127.0.0.1:${manager.port}`;

async function post(url: string, body: unknown, token = "", headers: Record<string, string> = {}) {
  const all = { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }), ...headers };
  const response = await fetch(url, { method: "POST", headers: all, body: JSON.stringify(body) });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text.startsWith("{") ? (JSON.parse(text) as Wire) : null,
  };
}

/** Registers players with inboxes, each at another manager. */
async function registerPlayers(): Promise<{ readonly id: string; readonly token: string }[]> {
  const players: { id: string; token: string }[] = [];
  for (const [index, player_name] of NAMES.entries()) {
    const { player_id, auth_token } = await at(index).tool("register_player", { player_name });
    players.push({ id: player_id, token: auth_token });
  }
  return players;
}

describe("three managers of a run", () => {
  it("have one operator token and the same leagues, players and standings", async () => {
    const players = await registerPlayers();
    expect(players.map(({ id }) => id)).toEqual(["P01", "P02", "P03", "P04", "P05", "P06"]);
    expect(new Set(managers.map(({ operator }) => operator)).size).toBe(1);
    const { auth_token } = await at(2).tool("reset_token", { player_id: "P01", auth_token: at(0).operator });
    expect(auth_token).toMatch(/^[\w-]{43}$/);
    // The new token is valid at once at each manager, and the old one no longer is.
    for (const manager of managers) {
      const polled = await post(`${originOf(manager)}/inbox/P01?wait_s=0`, [], auth_token);
      expect(polled.status).toBe(200);
      const withOld = await post(`${originOf(manager)}/inbox/P01?wait_s=0`, [], players[0]?.token);
      expect(withOld.status).toBe(401);
    }
    await vi.waitFor(async () => {
      const leagues = await Promise.all(managers.map((manager) => manager.leagues()));
      expect(leagues[0]).toMatchObject([
        { league_id: "rps", players: 6 },
        { league_id: "ttt", players: 6 },
      ]);
      expect(leagues[1]).toEqual(leagues[0]);
      expect(leagues[2]).toEqual(leagues[0]);
    }, WAIT_OPTIONS);
  });

  it("have metrics that show whether they can commit, the newest commit and the other managers", async () => {
    await registerPlayers();
    const figures = async () => {
      const texts = await Promise.all(managers.map(async (one) => (await fetch(`${originOf(one)}/metrics`)).text()));
      const names = ["league_database_available", "league_managers", "league_commit_number"];
      return texts.map(parseMetrics).map((values) => names.map((name) => values.get(name)));
    };
    await vi.waitFor(async () => {
      const [first = [], ...others] = await figures();
      expect(first).toEqual([1, 3, expect.any(Number)]);
      expect(others).toEqual([first, first]);
    }, WAIT_OPTIONS);
    const [[, , before = 0] = []] = await figures();
    await at(1).tool("register_player", { player_name: "Gus" });
    const [, [, , after = 0] = []] = await figures();
    expect(after).toBeGreaterThan(before);
  });

  it("pass messages to the inbox of a player and its answers, whichever manager is called", async () => {
    const players = await registerPlayers();
    for (const [index, { id, token }] of players.entries()) {
      const polled = post(`${originOf(at(index + 1))}/inbox/${id}?wait_s=20`, [], token);
      const answered = messageTo(`${originOf(at(index + 2))}/inbox/${id}`, token, index + 1);
      const [request] = (await polled).body.requests;
      expect(roundOf(request)).toBe(index + 1);
      const { body } = await post(`${originOf(at(index))}/inbox/${id}?wait_s=0`, [answerTo(request, id)], token);
      expect(body.ignored).toEqual([]);
      expect((await answered).result).toBe(id);
    }
  });

  it("pass the WebSocket of an inbox on", async () => {
    const players = await registerPlayers();
    for (const [index, { id, token }] of players.entries()) {
      const url = `ws://127.0.0.1:${at(index).port}/inbox/${id}`;
      const options = { perMessageDeflate: false, maxPayload: 1_000_000 } as const;
      const socket = new WebSocket(url, ["league.v2", `bearer.${token}`], options);
      onTestFinished(() => socket.terminate());
      await once(socket, "open");
      const answered = messageTo(`${originOf(at(index + 1))}/inbox/${id}`, token);
      const [data] = (await once(socket, "message")) as [Buffer];
      socket.send(JSON.stringify(answerTo(JSON.parse(data.toString()), id)));
      expect((await answered).result).toBe(id);
    }
  });

  it("show a hosted player the same matches by tools and by the page, whichever manager is called", async () => {
    for (const [index, player_name] of NAMES.entries()) {
      const joined = await at(index).message("JOIN_LEAGUE", `player:${player_name}`, { player_name });
      const { player_id, player_token } = joined.payload;
      expect(joined.payload).toMatchObject({ name: player_name, next: "waiting", turns: [] });
      for (const manager of managers) {
        const waited = await manager.message("WAIT_FOR_TURN", `player:${player_name}`, { player_token, timeout_s: 0 });
        expect(waited.payload).toMatchObject({ player_id, name: player_name, next: "waiting", timed_out: true });
        const page = await post(`${originOf(manager)}/play/api/state`, { wait_s: 0 }, player_token);
        expect(page.body).toMatchObject({ player_id, name: player_name, is_over: false });
        const moved = await manager.message("MAKE_MOVE", `player:${player_name}`, { player_token, move: "a1" });
        expect(moved.payload.message).toMatch(/turn/);
      }
    }
  });

  it("pass requests in an MCP session to the manager that has opened it, until it ends", async () => {
    const accept = { accept: "application/json, text/event-stream" };
    const initialize = JSON.parse(
      rpcOf("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } }),
    );
    const opened = await post(`${originOf(at(0))}/mcp`, initialize, "", accept);
    const session = { ...accept, "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
    const list = JSON.parse(rpcOf("tools/list"));
    for (const manager of managers) {
      const { status, text } = await post(`${originOf(manager)}/mcp`, list, "", session);
      expect([status, text.includes('"join_league"')]).toEqual([200, true]);
    }
    const [first] = managers.splice(0, 1);
    await first?.stop();
    await vi.waitFor(async () => {
      const { status, body } = await post(`${originOf(at(0))}/mcp`, list, "", session);
      expect([status, body.error.message]).toEqual([404, "Session not found"]);
    }, WAIT_OPTIONS);
  });

  it("take over the inboxes of a manager that stops", async () => {
    const players = await registerPlayers();
    const [first] = managers.splice(0, 1);
    await first?.stop();
    for (const { id, token } of players) {
      const polled = vi.waitFor(async () => post(`${originOf(at(0))}/inbox/${id}?wait_s=20`, [], token), WAIT_OPTIONS);
      const answered = vi.waitFor(() => messageTo(`${originOf(at(1))}/inbox/${id}`, token), WAIT_OPTIONS);
      const [request] = (await polled).body.requests;
      await post(`${originOf(at(1))}/inbox/${id}?wait_s=0`, [answerTo(request, id)], token);
      expect((await answered).result).toBe(id);
    }
  });

  it("are not ready before they stop, while they still answer, except the last one", async () => {
    const ready = async (manager: TestManager) => {
      const response = await fetch(`${originOf(manager)}/ready`);
      return { status: response.status, body: await response.json() };
    };
    const [first, second, third] = managers as [TestManager, TestManager, TestManager];
    let isOver = false;
    const left = first.leave().then(() => {
      isOver = true;
    });
    expect(await ready(first)).toEqual({ status: 503, body: { status: "stopping" } });
    expect(isOver).toBe(false);
    expect((await ready(second)).status).toBe(200);
    expect(await first.leagues()).toHaveLength(2);
    await left;
    managers = [third];
    await Promise.all([first.stop(), second.stop()]);
    await vi.waitFor(() => expect(seen.get(2)).toBe(1), WAIT_OPTIONS);
    await third.leave();
    expect((await ready(third)).status).toBe(200);
  });

  it("are not ready while the database is away, show what they know, and say so once", async () => {
    await registerPlayers();
    const ready = () =>
      Promise.all(managers.map(async (manager) => (await fetch(`${originOf(manager)}/ready`)).status));
    expect(await ready()).toEqual([200, 200, 200]);
    await vi.waitFor(async () => expect((await at(0).leagues())[0].players).toBe(6), WAIT_OPTIONS);
    await run.cut();
    await vi.waitFor(async () => expect(await ready()).toEqual([503, 503, 503]), WAIT_OPTIONS);
    const readiness = await (await fetch(`${originOf(at(0))}/ready`)).json();
    expect(readiness).toEqual({ status: "the database does not answer" });
    await vi.waitFor(() => expect(notices).toHaveLength(3), WAIT_OPTIONS);
    expect((await at(0).leagues())[0]).toMatchObject({ players: 6 });
    const late = at(1).tool("register_player", { player_name: "Late" });
    await run.restore();
    expect((await late).player_id).toBe("P07");
    await vi.waitFor(async () => expect(await ready()).toEqual([200, 200, 200]), WAIT_OPTIONS);
    const back = Array(3).fill("the database answers again");
    await vi.waitFor(() => expect(notices.slice(3)).toEqual(back), WAIT_OPTIONS);
  });
});

/** The warning about the config of a manager. */
const otherConfig = (manager: TestManager, parts: string): string =>
  `the manager at ${originOf(manager)} has another config: ${parts}. Start every manager with the same config`;

describe("a manager with another config", () => {
  it("changes the open leagues for all managers, and warns", async () => {
    const other = [{ league_id: "rps", game: "even_odd.v1" }, LEAGUES[1] as object];
    managers.push(await startOne(other));
    const own = "league rps has new settings from this config: start every manager with the same config";
    expect(warnings[3]?.[0]).toBe(own);
    await vi.waitFor(async () => expect((await at(0).leagues())[0].game).toBe("even_odd.v1"), WAIT_OPTIONS);
  });

  it("is named by each other manager with the parts that differ, and names each of them, once", async () => {
    const more = { timeouts: { join_ms: 20_000, default_ms: 300 }, manager: { join_code: "other", port: 8765 } };
    const other = await startOne([...LEAGUES, { league_id: "more", game: "rps.v1" }], more);
    const before = [...managers];
    managers.push(other);
    const differing = "leagues, manager.join_code, timeouts.join_ms differ";
    const ofBefore = before.map((manager) => otherConfig(manager, differing)).sort();
    const expected = [...before.map(() => [otherConfig(other, differing)]), ofBefore];
    const seenWarnings = () => warnings.map((lines) => lines.filter((line) => !line.startsWith("league ")).sort());
    await vi.waitFor(() => expect(seenWarnings()).toEqual(expected), WAIT_OPTIONS);
    // A manager with the same config as the last one warns of the first three only. Its start changes none of the earlier warnings.
    const same = await startOne([...LEAGUES, { game: "rps.v1", league_id: "more" }], more);
    managers.push(same);
    const later = [...before.map(() => [otherConfig(other, differing), otherConfig(same, differing)].sort())];
    await vi.waitFor(() => expect(seenWarnings()).toEqual([...later, ofBefore, ofBefore]), WAIT_OPTIONS);
  });
});
