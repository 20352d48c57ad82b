import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Forwarder, startForwarder } from "./forwarder.ts";

/** A server that answers each text with the same text in upper case, and ends its connection after the client. */
let server: Server;
let forwarder: Forwarder;
const sockets = new Set<Socket>();

beforeEach(async () => {
  server = createServer((socket) => {
    sockets.add(socket.setEncoding("utf8"));
    socket.on("data", (text: string) => socket.write(text.toUpperCase()));
    socket.on("error", () => {});
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  forwarder = await startForwarder((server.address() as AddressInfo).port);
});
afterEach(async () => {
  await forwarder.close();
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  server.close();
});

async function connected(): Promise<Socket> {
  const client = connect(forwarder.port, "127.0.0.1").setEncoding("utf8");
  sockets.add(client);
  await once(client, "connect");
  return client;
}
const nextText = async (socket: Socket): Promise<string> => String((await once(socket, "data"))[0]);

/** Resolves after a text has gone through another forwarder to the server and back: later than every text that was sent before. */
async function roundTrip(): Promise<void> {
  const other = await startForwarder((server.address() as AddressInfo).port);
  const client = connect(other.port, "127.0.0.1").setEncoding("utf8");
  for (const _ of [1, 2, 3]) {
    client.write("ping");
    await nextText(client);
  }
  client.destroy();
  await other.close();
}

describe("a forwarder", () => {
  it("passes bytes in both directions and the end of a connection", async () => {
    const client = await connected();
    client.write("one");
    expect(await nextText(client)).toBe("ONE");
    client.end();
    await once(client, "end");
  });

  it("holds bytes of open connections while it is cut, and passes them afterwards", async () => {
    const client = await connected();
    client.write("one");
    await nextText(client);
    forwarder.cut();
    let received = "";
    client.on("data", (text) => {
      received += text;
    });
    client.write("two");
    await roundTrip();
    expect(received).toBe("");
    expect(client.readyState).toBe("open");
    forwarder.restore();
    await once(client, "data");
    expect(received).toBe("TWO");
  });

  it("accepts connections while it is cut, which are answered afterwards", async () => {
    forwarder.cut();
    const client = await connected();
    client.write("three");
    const answer = nextText(client);
    await roundTrip();
    expect(client.bytesRead).toBe(0);
    forwarder.restore();
    expect(await answer).toBe("THREE");
  });

  it("does not report the end of the other side while it is cut", async () => {
    const client = await connected();
    client.write("one");
    await nextText(client);
    const [remote] = [...sockets].filter((socket) => socket !== client);
    forwarder.cut();
    remote?.destroy();
    await roundTrip();
    expect(client.readableEnded).toBe(false);
    const ended = once(client, "close");
    client.resume();
    forwarder.restore();
    await ended;
  });

  it("closes a connection if its target refuses it", async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
    await once(server, "close");
    const client = connect(forwarder.port, "127.0.0.1");
    client.on("error", () => {});
    await once(client, "close");
  });
});
