import { once } from "node:events";
import { type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listenOnLoopback } from "../testing/loopback.ts";
import { httpEndpoint } from "./http-server.ts";

const CLIENT = { "content-type": "application/json", accept: "application/json, text/event-stream" };

async function textOf(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  return text;
}

describe("a connection without traffic", () => {
  let answer: PromiseWithResolvers<string>;
  let server: Server;
  let port = 0;
  beforeEach(async () => {
    answer = Promise.withResolvers();
    server = httpEndpoint({
      handler: async () => ({ status: 200, body: await answer.promise }),
      web: () => Promise.reject(),
      bodyLimit: () => 64 * 1024,
      allowedHosts: [],
    });
    port = await listenOnLoopback(server);
  });
  afterEach(() => void server.close().closeAllConnections());

  const sendRequest = async () => {
    const received = once(server, "request");
    const sent = request({
      port,
      path: "/mcp",
      method: "POST",
      headers: CLIENT,
    });
    sent.on("error", () => {}); // the server closes the connection
    sent.end("{}");
    const [, response] = (await received) as [IncomingMessage, ServerResponse];
    // Set after the request has arrived, because a busy machine may need longer than this for its arrival.
    expect(response.socket?.timeout).toBe(5 * 60_000);
    response.socket?.setTimeout(20);
    return { sent, response };
  };

  it("stays open while its request has no answer", async () => {
    const { sent, response } = await sendRequest();
    await once(response, "timeout");
    answer.resolve('"late"');
    const [reply] = await once(sent, "response");
    expect(await textOf(reply)).toBe('"late"');
  });

  it("is closed if the client does not read the answer", async () => {
    const { sent, response } = await sendRequest();
    const closed = once(response, "close");
    sent.socket?.pause();
    answer.resolve(JSON.stringify("x".repeat(64 * 1024 * 1024)));
    await closed;
    expect(response.writableFinished).toBe(false);
  });
});
