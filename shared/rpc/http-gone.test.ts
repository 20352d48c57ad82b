import { once } from "node:events";
import { request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { httpEndpoint } from "./http-endpoint.ts";
import { goneSignal } from "./http-request.ts";

test("a caller is known to be gone, whether it goes before or after somebody asks", async () => {
  const signals: AbortSignal[] = [];
  const waiting = httpEndpoint({
    door: () => new Promise(() => {}),
    web: () => Promise.reject(new Error("no pages here")),
    bodyLimit: () => 1_000,
    allowedHosts: [],
  });
  await once(waiting.listen(0, "127.0.0.1"), "listening");
  const { port } = waiting.address() as AddressInfo;
  const headers = { "content-type": "application/json" };
  const request = httpRequest({ port, method: "POST", path: "/mcp", headers });
  request.on("error", () => {}); // it is broken off on purpose
  request.end("{}");
  const [, response] = await once(waiting, "request");
  signals.push(goneSignal(response));
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
  request.destroy();
  await once(response, "close");
  signals.push(goneSignal(response));
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  await new Promise((resolve) => waiting.close(resolve));
});
