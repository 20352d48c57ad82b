import { createServer, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { newEnvelope } from "../../protocol/testing/envelope.ts";
import { freePort } from "../../runtime/process/free-ports.ts";
import { listenOnLoopback } from "../testing/loopback.ts";
import { peers, usePeers } from "../testing/peer.ts";
import { connectionFault, operatorText } from "./call.ts";

const ENVELOPE = newEnvelope("MOVE_REQUEST", "referee:REF01", { match_id: "R1M1" });
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
usePeers();

async function faultOf(endpoint: string) {
  const reply = await peers.message(endpoint, ENVELOPE, { timeoutMs: 20_000 });
  if (reply.ok) throw new Error("the endpoint has answered");
  return reply.error;
}

/** Starts a server that passes each connection to `onConnection`. Returns its port. */
async function startServer(onConnection: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    cleanups.push(() => socket.destroy());
    socket.on("error", () => {});
    onConnection(socket);
  });
  cleanups.push(() => server.close());
  await listenOnLoopback(server);
  const address = server.address();
  return typeof address === "object" && address ? address.port : 0;
}

describe("the public text of a fault names no address, and the text for the operator is the system's message", () => {
  test("if the connection is refused", async () => {
    const port = await freePort();
    const fault = await faultOf(`http://127.0.0.1:${port}/mcp`);
    expect(fault.detail).toBe("connection refused");
    expect(operatorText(fault)).toBe(`connect ECONNREFUSED 127.0.0.1:${port}`);
  });

  test("if the host is unknown", async () => {
    const fault = await faultOf("http://no-such-host.invalid/mcp");
    expect(fault.detail).toBe("host not found");
    expect(operatorText(fault)).toContain("no-such-host.invalid");
  });

  test("if the connection is reset", async () => {
    const port = await startServer((socket) => socket.once("data", () => socket.resetAndDestroy()));
    expect((await faultOf(`http://127.0.0.1:${port}/mcp`)).detail).toBe("connection reset");
  });

  test("if the connection is closed without an answer", async () => {
    const port = await startServer((socket) => socket.once("data", () => socket.end()));
    const { detail } = await faultOf(`http://127.0.0.1:${port}/mcp`);
    expect(detail).toBe("connection closed before the end of the answer");
  });

  test("if the answer is not HTTP", async () => {
    const port = await startServer((socket) => socket.end("SSH-2.0-OpenSSH_9.9\r\n"));
    expect((await faultOf(`http://127.0.0.1:${port}/mcp`)).detail).toBe("the answer is not HTTP");
  });

  test("if the server of an https URL has no TLS", async () => {
    const port = await startServer((socket) =>
      socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")),
    );
    expect((await faultOf(`https://127.0.0.1:${port}/mcp`)).detail).toMatch(/^TLS error [A-Z_]+$/);
  });

  test("if the endpoint is not an http URL", async () => {
    const fault = await faultOf("ftp://10.0.0.7/secret");
    expect(fault.detail).toBe("the endpoint is not an http URL");
    expect(operatorText(fault)).toContain("ftp://10.0.0.7/secret");
  });
});

const error = (message: string, code: string) => Object.assign(new Error(message), { code });

test.each([
  [error("certificate of bot.example", "ERR_TLS_CERT_ALTNAME_INVALID"), "TLS error ERR_TLS_CERT_ALTNAME_INVALID"],
  [error("open /home/ann/key", "EACCES"), "connection failed (EACCES)"],
  [error("connect to 10.0.0.7", "10.0.0.7:80"), "connection failed"],
  [new Error("10.0.0.7 is gone"), "connection failed"],
  ["10.0.0.7 is gone", "connection failed"],
  [new AggregateError([new Error("10.0.0.7"), error("10.0.0.8", "EHOSTUNREACH")]), "host unreachable"],
])("the public text of %s is %j", (thrown, text) => {
  expect(connectionFault(thrown).detail).toBe(text);
});
