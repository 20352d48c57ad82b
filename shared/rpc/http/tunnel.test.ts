import { spawn } from "node:child_process";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { leave, serviceOfTwo } from "../testing/forwarding-servers.ts";

const service = serviceOfTwo();

describe("a WebSocket that belongs to another server of the service", () => {
  const open = (path: string) =>
    new WebSocket(`ws://127.0.0.1:${service.ports[0]}${path}`, ["league.v2"], {
      perMessageDeflate: false,
      maxPayload: 1_000,
    } as const);

  it("is opened there and carries messages in both directions", async () => {
    const socket = open("/far/echo");
    const upgraded = once(socket, "upgrade");
    await once(socket, "open");
    const [{ headers }] = (await upgraded) as [IncomingMessage];
    expect(headers["sec-websocket-protocol"]).toBe("league.v2");
    socket.send("one");
    const [message] = await once(socket, "message");
    expect(String(message)).toBe("echo one");
    expect(service.received).toMatchObject([{ isPassedOn: true, remoteAddress: "127.0.0.1" }]);
    service.servers[1]?.close();
    const [code] = await once(socket, "close");
    expect(code).toBe(1001);
  });

  it("is closed with its connection to the other server", async () => {
    const socket = open("/far/echo");
    await once(socket, "open");
    service.servers[0]?.close();
    const [code] = await once(socket, "close");
    expect(code).toBe(1006);
  });

  it("is closed when the other server has left the service without closing its connections", async () => {
    const socket = open("/far/echo");
    await once(socket, "open");
    leave(service);
    const [code] = await once(socket, "close");
    expect(code).toBe(1006);
  });

  it("is refused if the other server accepts no connection", async () => {
    service.ports[1] = await startHungServer();
    await expect(once(open("/far/echo"), "open")).rejects.toThrow("socket hang up");
  });

  it("is refused with the answer of the other server", async () => {
    const headers = {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    };
    const request = httpRequest({ port: service.ports[0], path: "/far/secret", headers });
    const [reply] = (await once(request.end(), "response")) as [IncomingMessage];
    reply.resume();
    expect(reply.statusCode).toBe(401);
  });
});

/** Starts a server whose process is stopped and whose queue of connections is full. Returns its port. */
async function startHungServer(): Promise<number> {
  const listen = "listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () { console.log(this.address().port) })";
  const server = spawn(process.execPath, ["--eval", `require("node:net").createServer().${listen}`]);
  onTestFinished(() => void server.kill("SIGKILL"));
  const [line] = (await once(server.stdout, "data")) as [Buffer];
  server.kill("SIGSTOP");
  for (let count = 0; count < 8; count++) {
    const queued = connect(Number(line), "127.0.0.1").on("error", () => {});
    onTestFinished(() => void queued.destroy());
  }
  return Number(line);
}
