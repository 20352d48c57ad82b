import { createInterface } from "node:readline";
import { afterEach, describe, expect, it } from "vitest";
import { rpcRequest } from "#shared/rpc/testing/json-rpc.ts";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import { cleanUp, newFolder, type Running, start } from "../../testing/processes.ts";

afterEach(cleanUp);

// biome-ignore lint/suspicious/noExplicitAny: JSON from the wire
type Answer = any;

/** A process `league mcp`. */
interface Command extends Running {
  /** Sends a request and resolves with its answer. */
  ask(method: string, params?: object): Promise<Answer>;
  /** Every line of stdout so far. */
  readonly lines: readonly string[];
}

const startCommand = (args: readonly string[]): Command => {
  const running = start("scripts/league.ts", ["mcp", ...args], {}, "pipe");
  const lines: string[] = [];
  const pending = new Map<number, (answer: Answer) => void>();
  createInterface({ input: running.stdout }).on("line", (line) => {
    lines.push(line);
    const answer = JSON.parse(line);
    pending.get(answer.id)?.(answer);
  });
  let last = 0;
  const ask: Command["ask"] = (method, params) =>
    new Promise((resolve, reject) => {
      const id = ++last;
      pending.set(id, resolve);
      running.stdin?.write(`${JSON.stringify(rpcRequest(method, params, id))}\n`);
      running.ended.then(({ stderr }) => reject(new Error(`ended without an answer to ${method}:\n${stderr}`)));
    });
  return { ...running, ask, lines };
};

/** Starts the command with a free port, so that it hosts games itself. */
const startHosting = async (data = newFolder()): Promise<{ command: Command; port: number; data: string }> => {
  const port = await freePort();
  return { command: startCommand(["--port", String(port), "--data", data]), port, data };
};

const INITIALIZE = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };

/** Calls a tool; resolves with its result. */
const call = async (command: Command, name: string, args: object): Promise<Answer> =>
  (await command.ask("tools/call", { name, arguments: args })).result;

describe("league mcp", () => {
  it("answers all requests and exits with 0 when stdin ends, and prints only protocol messages on stdout", async () => {
    const { command, port } = await startHosting();
    const ping = (id: number): string => `{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`;
    command.stdin?.end(`garbage\n${ping(1)}{}\n\n${"x".repeat(11_000_000)}\n${ping(2)}`);
    const { code, stdout, stderr } = await command.ended;
    expect(code).toBe(0);
    const answers = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    for (const answer of answers) expect(answer).toMatchObject({ jsonrpc: "2.0" });
    expect(answers.map(({ id, error }) => error?.code ?? id).sort()).toEqual([-32600, -32600, -32700, 1, 2]);
    expect(stderr.split("\n")).toEqual([
      `mcp: serving http://127.0.0.1:${port}/mcp on stdio; its pages are at http://127.0.0.1:${port}/`,
      "mcp: stopped",
      "",
    ]);
  });

  it.each([
    ["SIGTERM", 0],
    ["SIGINT", 130],
  ] as const)("stops after %s; the next process continues with its sessions", async (signal, code) => {
    const { command, port, data } = await startHosting();
    await command.ask("tools/list");
    const register = async () => (await fetch(`http://127.0.0.1:${port}/agents`, { method: "POST" })).json();
    const { token } = (await register()) as { token: string };
    command.signal(signal);
    expect((await command.ended).code).toBe(code);

    const next = startCommand(["--port", String(port), "--data", data]);
    await next.ask("ping");
    const sessions = await fetch(`http://127.0.0.1:${port}/sessions`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(sessions.status).toBe(200);
    next.stdin?.end();
    expect((await next.ended).code).toBe(0);
  });

  it("stops when its stdout is closed", async () => {
    const { command } = await startHosting();
    await command.ask("ping");
    command.stdout.destroy();
    command.stdin?.write('{"jsonrpc":"2.0","id":9,"method":"ping"}\n');
    expect((await command.ended).code).toBe(0);
  });

  it("two processes with one data folder use separate ports and data files", async () => {
    const data = newFolder();
    const both = [startCommand(["--data", data]), startCommand(["--data", data])];
    await Promise.all(both.map((command) => command.ask("ping")));
    const pages = await Promise.all(both.map((command) => command.line(/serving/)));
    expect(new Set(pages).size).toBe(2);
    for (const command of both) command.stdin?.end();
    for (const { ended } of both) expect((await ended).code).toBe(0);
  });

  it("continues games whose data file is used by another process, and games whose data file is not in use", async () => {
    const data = newFolder();
    const connect = async () => {
      const command = startCommand(["--data", data]);
      await command.ask("initialize", INITIALIZE);
      command.stdin?.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
      return command;
    };
    const createGame = async (command: Command): Promise<{ game_id: string; seat_token: string }> => {
      const made = await call(command, "createGame", { template: "chess", opponent: "agent" });
      return made.structuredContent;
    };
    const end = async (command: Command) => {
      command.stdin?.end();
      expect((await command.ended).code).toBe(0);
    };
    const first = await connect();
    const ofFirst = await createGame(first);
    const second = await connect();
    const ofSecond = await createGame(second);
    await end(first);
    await end(second);

    const expectPlayable = async (command: Command, { game_id, seat_token }: typeof ofFirst, move: string) => {
      const joined = await call(command, "joinGame", { game_id });
      expect(joined.structuredContent).toMatchObject({ game_id, your_role: "black" });
      const answer = await call(command, "finishTurn", { game_id, seat_token, move });
      expect(answer.structuredContent).toMatchObject({ game_id, last_action: { action: move } });
      const read = await command.ask("resources/read", { uri: `game://state/${game_id}` });
      expect(JSON.parse(read.result.contents[0].text)).toMatchObject({ session_id: game_id, tick: 1 });
    };
    // The second command now starts first and uses the file of the first one.
    const secondAgain = await connect();
    await expectPlayable(secondAgain, ofSecond, "e2e4");
    const firstAgain = await connect();
    await expectPlayable(firstAgain, ofFirst, "d2d4");
    await end(secondAgain);
    await end(firstAgain);
  });

  it("continues games of a session host that has used its data folder", async () => {
    const data = newFolder();
    const port = await freePort();
    const host = start("referee/main.ts", ["--alone", "--port", String(port), "--data", data]);
    await host.line(/session host at/);
    const params = { name: "createGame", arguments: { template: "rps", opponent: "agent" } };
    const response = await fetch(`http://127.0.0.1:${port}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(rpcRequest("tools/call", params)),
    });
    const { game_id, seat_token } = ((await response.json()) as Answer).result.structuredContent;
    const command = startCommand(["--data", data]);
    const wait = { game_id, seat_token, timeout_s: 0 };
    const rejected = await command.ask("tools/call", { name: "waitForNextTurn", arguments: wait });
    expect(rejected.error.message).toMatch(/referee-\d+\.sqlite is in use by a process that does not share its games/);
    host.signal("SIGTERM");
    await host.ended;
    expect((await call(command, "waitForNextTurn", wait)).structuredContent).toMatchObject({ game_id });
  });

  it("names a port in use in one line", async () => {
    const { command, port, data } = await startHosting();
    await command.ask("ping");
    const { code, stdout, stderr } = await startCommand(["--port", String(port), "--data", data]).ended;
    expect([code, stdout, stderr]).toEqual([
      1,
      "",
      `mcp: port ${port} on 127.0.0.1 is already in use; set another one with --port\n`,
    ]);
  });

  it.each([
    ["ftp://127.0.0.1/mcp", "give a URL such as"],
    ["nonsense", "give a URL such as"],
  ])("rejects the endpoint %s", async (url, expected) => {
    const { code, stdout, stderr } = await startCommand(["--url", url]).ended;
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(expected);
  });

  it("rejects --url together with --port", async () => {
    const { code, stderr } = await startCommand(["--url", "http://127.0.0.1:9", "--port", "1"]).ended;
    expect(code).toBe(2);
    expect(stderr).toContain("cannot be used with option");
  });
});

describe("league mcp --url", () => {
  it("answers requests with an error while the server is down, and continues the session after each restart", async () => {
    const port = await freePort();
    const host = ["--alone", "--port", String(port), "--data", newFolder()];
    const command = startCommand(["--url", `http://127.0.0.1:${port}`]);
    expect((await command.ask("initialize", INITIALIZE)).error.message).toMatch(/cannot be reached/);
    for (const run of [1, 2, 3]) {
      const server = start("referee/main.ts", host);
      await server.line(/session host at/);
      if (run === 1) {
        expect((await command.ask("initialize", INITIALIZE)).result.serverInfo.name).toBe("session-host");
        command.stdin?.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
      }
      expect((await command.ask("tools/list")).result.tools).not.toEqual([]);
      server.signal("SIGKILL");
      await server.ended;
      expect((await command.ask("tools/list")).error.message).toMatch(/cannot be reached/);
    }
    command.stdin?.end();
    expect(await command.ended).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/a new session has been opened/),
    });
    for (const line of command.lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
  });
});
