import { createServer, type ServerResponse } from "node:http";
import { afterEach, expect, it } from "vitest";
import { manualClock } from "#shared/lib/testing/clock.ts";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { openEventStream } from "./event-stream.ts";

const server = createServer();
afterEach(async () => {
  server.removeAllListeners("request");
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Opens a stream of a server that answers requests with `answer`. `armed` resolves when the client waits for the next part. */
async function opened(answer: (response: ServerResponse) => void) {
  server.on("request", (_request, response) => answer(response));
  const port = await listenOnLoopback(server);
  const clock = manualClock();
  let next = Promise.withResolvers<void>();
  const after = (ms: number, run: () => void) => {
    next.resolve();
    next = Promise.withResolvers<void>();
    return clock.after(ms, run);
  };
  const { signal } = new AbortController();
  const limits = { clock: { after }, headersMs: 10_000, silenceMs: 45_000 };
  const stream = openEventStream(`http://127.0.0.1:${port}/`, { signal, limits });
  return { stream, clock, armed: () => next.promise };
}

it("a server that sends neither events nor comments is disconnected", async () => {
  let response: ServerResponse | undefined;
  const { stream, clock, armed } = await opened((answer) => {
    response = answer;
    answer.writeHead(200, { "content-type": "text/event-stream" });
    answer.write("data: 1\n\n");
  });
  const { events } = await stream;
  const iterator = events[Symbol.asyncIterator]();
  expect((await iterator.next()).value).toMatchObject({ data: "1" });
  const second = iterator.next();
  await clock.advance(44_000);
  const comment = armed();
  response?.write(":\n\n");
  await comment;
  await clock.advance(44_000);
  const event = armed();
  response?.write("data: 2\n\n");
  expect((await second).value).toMatchObject({ data: "2" });
  const third = iterator.next();
  await event;
  const ended = expect(third).rejects.toThrow("has sent nothing for 45000 ms");
  await clock.advance(45_000);
  await ended;
  expect(clock.timers()).toBe(0);
});

it("a server that does not begin its answer is disconnected", async () => {
  const asked = Promise.withResolvers<void>();
  const { stream, clock } = await opened(() => asked.resolve());
  await asked.promise;
  const ended = expect(stream).rejects.toThrow("has sent nothing for 10000 ms");
  await clock.advance(10_000);
  await ended;
});

it("an answer with another status has no events", async () => {
  const { stream, clock } = await opened((response) => response.writeHead(404).end("data: 1\n\n"));
  const { status, events } = await stream;
  expect(status).toBe(404);
  for await (const event of events) expect.unreachable(JSON.stringify(event));
  expect(clock.timers()).toBe(0);
});
