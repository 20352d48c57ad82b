import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rpcRequest } from "#shared/rpc/testing/json-rpc.ts";
import { canCreateNetworks, createNetwork, type TestHost, type TestNetwork } from "#shared/rpc/testing/network.ts";
import { cleanUp, newFolder, start } from "../../testing/processes.ts";

const INITIALIZE = rpcRequest("initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "flood", version: "1" },
});
const MCP_CLIENT = { accept: "application/json, text/event-stream" };

describe.skipIf(!canCreateNetworks)("attacks from another machine (needs root and iproute2)", () => {
  let network: TestNetwork<"server" | "attacker" | "other">;
  let server: TestHost;
  let attacker: TestHost;
  let other: TestHost;
  let folder: string;
  let stopManager: () => Promise<void>;
  let stopHost: () => Promise<void>;

  /** Starts a service on the server and waits for its ready line. Resolves with a function that stops the service. */
  async function serve(script: string, readyLine: RegExp, ...args: string[]): Promise<() => Promise<void>> {
    const running = start(script, args, {}, "ignore", server);
    await running.line(readyLine);
    return async () => {
      running.signal("SIGTERM");
      await running.ended;
    };
  }

  /** Starts a server at the endpoint of the listed player. It answers every request. */
  async function startListedPlayer(): Promise<void> {
    const answer = `require("node:http").createServer((_, reply) => reply.end("{}")).listen(9000, "::", () => console.log("up"))`;
    const child = other.spawn([process.execPath, "--eval", answer], { stdio: ["ignore", "pipe", "inherit"] });
    await once(child.stdout as Readable, "data");
  }

  beforeAll(async () => {
    network = await createNetwork("server", "attacker", "other");
    ({ server, attacker, other } = network.hosts);
    folder = newFolder();
    const config = {
      manager: { port: 8000, host: "::" },
      players: [{ name: "Listed", endpoint: `http://${other.address}:9000/mcp` }],
      leagues: [{ league_id: "rps", game: "rps.v1", min_players: 9 }],
      allowed_hosts: ["league.example"],
    };
    writeFileSync(join(folder, "league.json"), JSON.stringify(config));
    await startListedPlayer();
    const files = ["--config", join(folder, "league.json"), "--data", folder];
    stopManager = await serve("league-manager/main.ts", /league manager at/, ...files);
    stopHost = await serve(
      "referee/main.ts",
      /session host at/,
      "--alone",
      "--host",
      "::",
      "--port",
      "8001",
      "--data",
      folder,
    );
  });
  afterAll(async () => {
    await network.close();
    await cleanUp();
  });

  it("one machine can open at most 500 connections; other machines can still connect, and it can connect again after it has closed them", async () => {
    const open = `
      const [count, host] = process.argv.slice(1);
      const sockets = Array.from({ length: Number(count) }, () => require("node:net").connect(8001, host));
      const closed = (socket) => new Promise((resolve) => socket.on("error", () => {}).once("close", resolve));
      const beyond = sockets.slice(500).map(closed);
      Promise.all(beyond).then(() => console.log(sockets.filter((socket) => !socket.closed).length));
      process.stdin.once("data", () => process.exit());`;
    const command = [process.execPath, "--eval", open, "520", server.address];
    const child = attacker.spawn(command, { stdio: ["pipe", "pipe", "inherit"] });
    const [openCount] = await once(child.stdout as Readable, "data");
    expect(Number(openCount)).toBe(500);
    await expect(attacker.request(`http://${server.address}:8001/health`)).rejects.toThrow();
    expect((await other.request(`http://${server.address}:8001/health`)).status).toBe(200);
    child.stdin?.write("end");
    await expect.poll(async () => (await attacker.request(`http://${server.address}:8001/health`)).status).toBe(200);
  });

  it("the endpoint of a listed player does not allow registrations with other ports and paths of its host", async () => {
    const register = async (endpoint: string) => {
      const params = { name: "register_player", arguments: { player_name: "Cheat", endpoint } };
      const { text } = await attacker.request(`http://${server.address}:8000/mcp`, {
        body: rpcRequest("tools/call", params),
      });
      return JSON.parse(text).result.structuredContent;
    };
    const rejection = { status: "REJECTED", error_code: "L001" };
    for (const target of [":9001/mcp", ":9000/admin", ":9000/mcp?delete=all", "/mcp"]) {
      expect(await register(`http://${other.address}${target}`), target).toMatchObject(rejection);
    }
    expect(await register(`http://${other.address}:9000/mcp`)).toMatchObject({ error_code: "L003" });
    expect(await register(`http://${attacker.address}:9000/mcp`)).toMatchObject({ status: "ACCEPTED" });
  });

  it("a web page of another origin or with a rebound host name cannot call a server that listens on all addresses", async () => {
    const body = JSON.stringify({ template: "chess" });
    const statusOf = async (headers: Record<string, string>) =>
      (await other.request(`http://${server.address}:8001/api/games`, { method: "POST", headers, body })).status;
    const json = { "content-type": "application/json" };
    const serverHost = `${server.address}:8001`;
    expect(await statusOf({ ...json, host: "evil.example:8001" })).toBe(403);
    expect(await statusOf({ ...json, host: `${other.address}:8001` })).toBe(403);
    for (const origin of [`http://${other.address}`, `http://${server.address}:8000`, "http://evil.example", "null"]) {
      expect(await statusOf({ ...json, origin }), origin).toBe(403);
    }
    expect(await statusOf({ "content-type": "text/plain", origin: `http://${serverHost}` })).toBe(415);
    expect(await statusOf({ ...json, origin: `http://${serverHost}` })).toBe(201);
    expect(await statusOf({ ...json })).toBe(201);
    expect(await statusOf({})).toBe(201);
    const named = { headers: { host: "league.example" } };
    expect((await other.request(`http://${server.address}:8000/leagues`, named)).status).toBe(200);
    expect((await other.request(`http://[${server.prefix6}::1]:8000/leagues`)).status).toBe(200);
  });

  it("all addresses of an IPv6 /64 share one rate limit, and a rejection contains the id of its request", async () => {
    const url = `http://[${server.prefix6}::1]:8000/mcp`;
    const replies = await Promise.all(
      Array.from({ length: 120 }, (_, n) =>
        attacker.request(url, {
          from: `${attacker.prefix6}::${(n + 1).toString(16)}`,
          body: rpcRequest("ping", {}, `id ${n}`),
        }),
      ),
    );
    const limited = replies.flatMap((reply, n) =>
      reply.status === 429 ? [[JSON.parse(reply.text).id, `id ${n}`]] : [],
    );
    expect(limited).toHaveLength(20);
    for (const [id, sentId] of limited) expect(id).toBe(sentId);
    const join = await attacker.request(url.replace("/mcp", "/play/api/leagues"), {
      from: `${attacker.prefix6}::ffff`,
      method: "POST",
      body: "{}",
      headers: { "content-type": "application/json" },
    });
    expect(join.status).toBe(429);
    // Pages are counted separately.
    expect((await attacker.request(url.replace("/mcp", "/leagues"))).status).toBe(200);
    expect((await attacker.request(url.replace("/mcp", "/health"))).status).toBe(200);
    expect((await other.request(url, { body: rpcRequest("ping") })).status).toBe(200);
  });

  it("requests without a token that are no reads are limited, and do not count as reads of pages", async () => {
    const paths = ["/", "/sessions", "/openapi.json", "/api/games/none/moves", "/nothing"];
    const base = `http://${server.address}:8001`;
    const send = (path = "") => attacker.request(`${base}${path}`, { method: "POST", body: "{}" });
    const requests = Array.from({ length: 60 }, (_, n) => send(paths[n % paths.length]));
    const statuses = (await Promise.all(requests)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
    for (const path of paths) expect((await send(path)).status).toBe(429);
    for (const path of ["/", "/metrics", "/openapi.json"])
      expect((await attacker.request(`${base}${path}`)).status).toBe(200);
  });

  it("a flood of sessions from one /64, with a token, evicts only sessions of that /64", async () => {
    const url = `http://[${server.prefix6}::1]:8001`;
    const { token } = JSON.parse((await attacker.request(`${url}/agents`, { method: "POST" })).text);
    const open = async (host: TestHost, headers: Record<string, string>, from?: string): Promise<string> => {
      const request = { headers: { ...MCP_CLIENT, ...headers }, body: INITIALIZE, ...(from && { from }) };
      const reply = await host.request(`${url}/mcp`, request);
      expect(reply.status, reply.text).toBe(200);
      return String(reply.headers["mcp-session-id"]);
    };
    const statusOf = async (host: TestHost, session: string, headers: Record<string, string> = {}) =>
      (
        await host.request(`${url}/mcp`, {
          headers: { ...MCP_CLIENT, ...headers, "mcp-session-id": session },
          body: rpcRequest("ping"),
        })
      ).status;
    const otherSession = await open(other, {});
    const bearer = { authorization: `Bearer ${token}` };
    const sessions: string[] = [];
    for (let n = 1; n <= 205; n++)
      sessions.push(await open(attacker, bearer, `${attacker.prefix6}::${n.toString(16)}`));
    const statuses = await Promise.all(sessions.map((session) => statusOf(attacker, session, bearer)));
    expect(statuses.filter((status) => status === 404)).toHaveLength(5);
    expect(statuses.slice(0, 5)).toEqual([404, 404, 404, 404, 404]);
    expect(await statusOf(other, otherSession)).toBe(200);
  });

  it("the services log rejected requests and omit the tokens", async () => {
    const headers = { authorization: "Bearer made-up" };
    expect((await other.request(`http://${server.address}:8001/sessions`, { headers })).status).toBe(401);
    await Promise.all([stopManager(), stopHost()]);
    const rejectionsIn = (name: string) => {
      const lines = readFileSync(join(folder, "logs", `${name}.log`), "utf8")
        .trim()
        .split("\n");
      return lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === "rejected");
    };
    const manager = rejectionsIn("league-manager");
    expect(new Set(manager.map(({ code }) => code))).toEqual(new Set(["L001", "L003", 429]));
    expect(manager.filter(({ code }) => code === 429)).toHaveLength(5);
    expect(manager[0]).toMatchObject({ from: `::ffff:${attacker.address}`, request: "register_player" });
    const host = rejectionsIn("host-8001");
    expect(new Set(host.map(({ code }) => code))).toEqual(new Set([403, 415, 429, 404, "NOT_FOUND", "UNAUTHORIZED"]));
    expect(host.at(-1)).toMatchObject({ code: "UNAUTHORIZED", request: "GET /sessions", agent: null });
    expect(JSON.stringify(host)).not.toContain("made-up");
  });
});
