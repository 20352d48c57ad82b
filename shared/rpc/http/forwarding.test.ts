import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { describe, expect, it } from "vitest";
import { CALLER_HEADER, leave, serviceOfTwo } from "../testing/forwarding-servers.ts";

const service = serviceOfTwo();

const post = (path: string, body: string, headers: Record<string, string> = {}, signal?: AbortSignal) =>
  fetch(`http://127.0.0.1:${service.ports[0]}${path}`, {
    method: "POST",
    body,
    headers: { "content-type": "application/json", ...headers },
    ...(signal && { signal }),
  });

describe("a request that belongs to another server of the service", () => {
  it("is answered there, with the address and the origin of its caller", async () => {
    const headers = { "x-forwarded-for": "203.0.113.9", authorization: "Bearer T" };
    const reply = await post("/far/post?after=3", "x".repeat(100_000), headers);
    expect([reply.status, await reply.json()]).toEqual([201, { length: 100_000 }]);
    expect(service.received).toMatchObject([
      {
        bearer: "T",
        remoteAddress: "203.0.113.9",
        target: "/far/post?after=3",
        isPassedOn: true,
        origin: `http://127.0.0.1:${service.ports[0]}`,
      },
    ]);
  });

  it("is not /health, by which each server names itself", async () => {
    const health = (port: number) => fetch(`http://127.0.0.1:${port}/health`).then((reply) => reply.json());
    expect(await Promise.all(service.ports.map(health))).toEqual([
      { status: "ok", server_id: "first" },
      { status: "ok", server_id: "second" },
    ]);
  });

  it("is rejected by the first server if its Host is wrong", async () => {
    const request = httpRequest({ port: service.ports[0], path: "/far/page", headers: { host: "evil.example" } });
    const [reply] = (await once(request.end(), "response")) as [IncomingMessage];
    reply.resume();
    expect([reply.statusCode, service.received]).toEqual([403, []]);
  });

  it("with a Host or an Origin that only the first server knows is answered", async () => {
    const headers = { host: "league.example", origin: "http://league.example" };
    const request = httpRequest({ port: service.ports[0], path: "/far/page", headers });
    const [reply] = (await once(request.end(), "response")) as [IncomingMessage];
    reply.resume();
    expect(reply.statusCode).toBe(200);
  });

  it("of a page of another site counts there as such, and the page may read the answer", async () => {
    const headers = { "mcp-session-id": "far", origin: "https://app.example" };
    const reply = await post("/mcp", "{}", headers);
    expect([reply.status, reply.headers.get("access-control-allow-origin")]).toEqual([200, "https://app.example"]);
    expect(service.received).toMatchObject([{ isCrossOrigin: true, isPassedOn: true }]);
    expect((await post("/mcp", "{}", { ...headers, origin: "https://evil.example" })).status).toBe(403);
    expect(service.received).toHaveLength(1);
  });

  it("that another server has passed on is not passed on again", async () => {
    const caller = JSON.stringify({ remoteAddress: "203.0.113.9", origin: "" });
    await post("/far/post", "{}", { [CALLER_HEADER]: caller });
    expect(service.received).toHaveLength(1);
    expect(service.received[0]).toMatchObject({ remoteAddress: "203.0.113.9", origin: "", isPassedOn: true });
  });

  it("has a streamed answer, whose parts arrive when they are sent", async () => {
    const second = Promise.withResolvers<void>();
    service.web = async (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
      response.write("data: 1\n\n");
      await second.promise;
      response.end("data: 2\n\n");
    };
    const reply = await fetch(`http://127.0.0.1:${service.ports[0]}/far/stream`);
    const reader = (reply.body as ReadableStream<Uint8Array>).getReader();
    const nextPart = async () => Buffer.from((await reader.read()).value ?? []).toString();
    expect(reply.headers.get("content-type")).toBe("text/event-stream");
    expect(await nextPart()).toBe("data: 1\n\n");
    second.resolve();
    expect(await nextPart()).toBe("data: 2\n\n");
    expect((await reader.read()).done).toBe(true);
  });

  it("is cancelled there when its caller disconnects", async () => {
    const isCancelled = Promise.withResolvers<void>();
    const hasArrived = Promise.withResolvers<void>();
    service.answer = async (_, { abortSignal }) => {
      abortSignal?.().addEventListener("abort", () => isCancelled.resolve());
      hasArrived.resolve();
      return new Promise(() => {});
    };
    const caller = new AbortController();
    const failed = post("/far/post", "{}", {}, caller.signal).catch(() => "aborted");
    await hasArrived.promise;
    caller.abort();
    await isCancelled.promise;
    expect(await failed).toBe("aborted");
  });

  it("ends when the other server has left the service without closing its connections", async () => {
    const hasArrived = Promise.withResolvers<void>();
    service.answer = () => {
      hasArrived.resolve();
      return new Promise(() => {});
    };
    service.web = (_, response) => response.writeHead(200).flushHeaders();
    const waiting = post("/far/post", "{}");
    const stream = await fetch(`http://127.0.0.1:${service.ports[0]}/far/stream`);
    await hasArrived.promise;
    leave(service);
    await expect(waiting).rejects.toThrow("fetch failed");
    await expect(stream.text()).rejects.toThrow("terminated");
  });

  it("fails alone if the other server closes the connection before it has read the body and ended the answer", async () => {
    const part = Promise.withResolvers<void>();
    service.web = async (_, response) => {
      response.writeHead(200).flushHeaders();
      await part.promise;
      response.destroy();
    };
    const headers = { "content-length": 1_000 };
    const request = httpRequest({ port: service.ports[0], path: "/far/page", method: "POST", headers });
    request.on("error", () => {}).write("part");
    const [reply] = (await once(request, "response")) as [IncomingMessage];
    reply.on("error", () => {}).resume();
    const closed = new Promise((resolve) => reply.once("close", resolve));
    part.resolve();
    await closed;
    expect([reply.statusCode, reply.complete]).toEqual([200, false]);
    expect((await fetch(`http://127.0.0.1:${service.ports[0]}/far/page`)).status).toBe(200);
  });

  it.each(["GET", "HEAD", "DELETE"])("is passed on without its body if it is a %s", async (method) => {
    let passedOn: unknown[] = [];
    service.web = (request, response) => {
      passedOn = [request.method, request.headers["content-length"], request.headers["transfer-encoding"]];
      response.end();
    };
    const headers = { "content-length": 4 };
    const request = httpRequest({ port: service.ports[0], path: "/far/page", method, headers });
    const [reply] = (await once(request.end("body"), "response")) as [IncomingMessage];
    reply.resume();
    expect([reply.statusCode, passedOn]).toEqual([200, [method, undefined, undefined]]);
  });

  it("is refused if the other server refuses it or does not listen", async () => {
    service.answer = async () => ({ status: 503, body: "", isRefused: true });
    await expect(post("/far/post", "{}")).rejects.toThrow("fetch failed");
    await new Promise((resolve) => service.servers[1]?.server.close(resolve).closeAllConnections());
    await expect(post("/far/post", "{}")).rejects.toThrow("fetch failed");
    expect(service.gone).toEqual([`http://127.0.0.1:${service.ports[1]}`]);
    service.whenGone = { status: 404, body: '{"gone":true}' };
    const reply = await post("/far/post", "{}");
    expect([reply.status, await reply.json()]).toEqual([404, { gone: true }]);
  });
});
