import { once } from "node:events";
import { type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { listenOnLoopback } from "../testing/loopback.ts";
import { httpEndpoint } from "./endpoint.ts";

const CLIENT = { "content-type": "application/json", accept: "application/json, text/event-stream" };

async function textOf(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  return text;
}

describe("a connection on which nothing moves", () => {
  let answer: PromiseWithResolvers<string>;
  let quick: Server;
  let port = 0;
  beforeEach(async () => {
    answer = Promise.withResolvers();
    quick = httpEndpoint({
      handler: async () => ({ status: 200, body: await answer.promise }),
      web: () => Promise.reject(),
      bodyLimit: () => 64 * 1024,
      allowedHosts: [],
      unreadMs: 20,
    });
    port = await listenOnLoopback(quick);
  });
  afterEach(() => void quick.close().closeAllConnections());

  const ask = async () => {
    const asked = once(quick, "request");
    const sent = request({
      port,
      path: "/mcp",
      method: "POST",
      headers: CLIENT,
    });
    sent.on("error", () => {}); // it is broken off on purpose
    sent.end("{}");
    const [, response] = (await asked) as [IncomingMessage, ServerResponse];
    return { sent, response };
  };

  it("is kept while its answer takes its time", async () => {
    const { sent, response } = await ask();
    await once(response, "timeout");
    answer.resolve('"late"');
    const [received] = await once(sent, "response");
    expect(await textOf(received)).toBe('"late"');
  });

  it("is closed when its peer reads no more", async () => {
    const { sent, response } = await ask();
    const closed = once(response, "close");
    sent.socket?.pause();
    answer.resolve(JSON.stringify("x".repeat(64 * 1024 * 1024)));
    await closed;
    expect(response.writableFinished).toBe(false);
  });
});
