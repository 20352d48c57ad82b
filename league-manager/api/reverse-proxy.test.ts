import { createServer, request } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { rpcOf, startTestManager, type TestManager } from "../testing/test-manager.ts";

const CALLER = "203.0.113.9";

/** Starts a reverse proxy on loopback that works like nginx with `proxy_add_x_forwarded_for`. All its callers have the address `CALLER`. */
async function startProxy(port: number) {
  const proxy = createServer((incoming, outgoing) => {
    const { "x-forwarded-for": before, ...others } = incoming.headers;
    const headers = { ...others, "x-forwarded-for": before === undefined ? CALLER : `${before}, ${CALLER}` };
    const forwarded = request({ port, method: incoming.method, path: incoming.url, headers }, (reply) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(outgoing);
    });
    incoming.pipe(forwarded);
  });
  return { url: `http://127.0.0.1:${await listenOnLoopback(proxy)}`, close: () => proxy.close() };
}

describe("a manager behind a reverse proxy on the same machine", () => {
  let manager: TestManager;
  let proxy: Awaited<ReturnType<typeof startProxy>>;
  beforeEach(async () => {
    const endpoint = "https://league.example/mcp";
    manager = await startTestManager([{ league_id: "rps", game: "rps.v1" }], { manager: { endpoint } });
    proxy = await startProxy(manager.port);
  });
  afterEach(async () => {
    proxy.close();
    await manager.stop();
  });

  const post = async (body: string, headers: Record<string, string> = {}) => {
    const sent = { "content-type": "application/json", ...headers };
    const reply = await fetch(`${proxy.url}/mcp`, { method: "POST", headers: sent, body });
    return { status: reply.status, text: await reply.text() };
  };
  /** Sends a request like nginx with `proxy_set_header Host $host`. `fetch` cannot set this header. */
  const postTo = (host: string, body: string) =>
    new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const headers = { "content-type": "application/json", "x-forwarded-for": CALLER, host };
      const sent = request({ port: manager.port, method: "POST", path: "/mcp", headers }, async (reply) => {
        const parts: Buffer[] = await reply.toArray();
        resolve({ status: reply.statusCode, text: Buffer.concat(parts).toString() });
      });
      sent.once("error", reject).end(body);
    });
  const register = (headers: Record<string, string> = {}) => {
    const args = { player_name: "Eve", endpoint: manager.endpointOf("Eve") };
    return post(rpcOf("tools/call", { name: "register_player", arguments: args }), headers);
  };

  it("rejects a remote caller that registers an endpoint on the manager's machine", async () => {
    expect((await register()).text).toContain(`at the address you register from (${CALLER})`);
  });

  it("accepts requests for the host of its endpoint, and rejects registered endpoints on that host", async () => {
    expect(await postTo("league.example", rpcOf("ping"))).toMatchObject({ status: 200 });
    expect(await postTo("other.example", rpcOf("ping"))).toMatchObject({ status: 403 });
    for (const endpoint of ["http://league.example:22/", "https://league.example/mcp"]) {
      const args = { player_name: "Eve", endpoint };
      const { text } = await postTo(
        "league.example",
        rpcOf("tools/call", { name: "register_player", arguments: args }),
      );
      expect(text, endpoint).toContain("L001");
    }
  });

  it("ignores a loopback address that a caller writes into X-Forwarded-For", async () => {
    expect((await register({ "x-forwarded-for": "127.0.0.1" })).text).toContain(`(${CALLER})`);
  });

  it("applies the rate limit to remote callers", async () => {
    const statuses = await Promise.all(Array.from({ length: 101 }, async () => (await post(rpcOf("ping"))).status));
    expect(statuses.filter((status) => status === 429)).toHaveLength(1);
  });
});
