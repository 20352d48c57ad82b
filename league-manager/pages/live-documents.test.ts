import { once } from "node:events";
import { createServer, get, type IncomingMessage } from "node:http";
import { expect, onTestFinished, test, vi } from "vitest";
import { manualClock } from "#shared/lib/testing/clock.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { LiveDocuments } from "./live-documents.ts";

/** Starts a server of one live document, whose state the test sets. `readMs`: the time that a read takes. */
async function startDocument({ maxReaders = 10, readMs = 0 } = {}) {
  const clock = manualClock();
  const errors: unknown[] = [];
  const live = new LiveDocuments({
    clock,
    onError: (thrown) => errors.push(thrown),
    maxReaders,
    maxReadersOfNetwork: 1,
  });
  let changed: (() => void) | null = null;
  const state = { value: "first" as unknown };
  const document = {
    key: "/document",
    async read(): Promise<object> {
      if (readMs > 0) await clock.advance(readMs);
      if (state.value === "broken") throw new Error("cannot be read");
      return { value: state.value };
    },
    watch(call: () => void): () => void {
      changed = call;
      return () => {
        changed = null;
      };
    },
  };
  const server = createServer((_request, response) => {
    if (!live.open(document, response)) response.writeHead(503).end();
  });
  const port = await listenOnLoopback(server);
  onTestFinished(() => {
    live.close();
    server.close().closeAllConnections();
  });
  return {
    clock,
    errors,
    live,
    url: `http://127.0.0.1:${port}/`,
    isWatched: () => changed !== null,
    /** Changes the document without announcing it. */
    set(value: unknown): void {
      state.value = value;
    },
    /** Changes the document and lets its timers fire that are due. */
    async change(value: unknown): Promise<void> {
      state.value = value;
      changed?.();
      await clock.advance(0);
    },
  };
}

/** Reads the stream of a document. `values` are the received states, `ids` their ids. */
async function reader(url: string, headers: Readonly<Record<string, string>> = {}) {
  const request = get(url, { headers });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  onTestFinished(() => void request.destroy());
  const ids: string[] = [];
  const values: unknown[] = [];
  let text = "";
  response.setEncoding("utf8").on("data", (chunk: string) => {
    const blocks = (text + chunk).split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const [, id, data] = /^id: (.*)\nevent: document\ndata: (.*)$/.exec(block) ?? [];
      if (id === undefined || data === undefined) continue;
      ids.push(id);
      values.push(JSON.parse(data).value);
    }
  });
  response.on("error", () => {}); // one side has closed the connection
  const shows = (expected: readonly unknown[]) => vi.waitFor(() => expect(values).toEqual(expected), WAIT_OPTIONS);
  return { response, ids, values, shows, leave: () => void request.destroy() };
}

test("a reader receives the document, and immediately each change after a quiet time, with an id for each state", async () => {
  const { clock, url, change } = await startDocument();
  const client = await reader(url);
  await clock.advance(0);
  await client.shows(["first"]);
  await clock.advance(150);
  await change("second");
  await client.shows(["first", "second"]);
  expect(new Set(client.ids).size).toBe(2);
});

test("changes in quick succession are sent as one event with the last state", async () => {
  const { clock, url, change } = await startDocument();
  const client = await reader(url);
  await clock.advance(0);
  await change("second");
  await change("third");
  await clock.advance(149);
  await client.shows(["first"]);
  await clock.advance(1);
  await client.shows(["first", "third"]);
});

test("a change that does not change the document is not sent", async () => {
  const { clock, url, change } = await startDocument();
  const client = await reader(url);
  await clock.advance(0);
  await clock.advance(150);
  await change("first");
  await clock.advance(150);
  await change("second");
  await client.shows(["first", "second"]);
});

test("a document in which only the elapsed time of a turn has changed is not sent, and a new reader receives the current time", async () => {
  const { clock, url, set, change } = await startDocument();
  set({ move: 1, elapsed_ms: 0 });
  const client = await reader(url);
  await clock.advance(0);
  await clock.advance(150);
  await change({ move: 1, elapsed_ms: 150 });
  await (await reader(url)).shows([{ move: 1, elapsed_ms: 150 }]);
  await clock.advance(150);
  await change({ move: 2, elapsed_ms: 0 });
  await clock.advance(150);
  await client.shows([
    { move: 1, elapsed_ms: 0 },
    { move: 2, elapsed_ms: 0 },
  ]);
});

test("a reader that reconnects with the current id receives the next state only, and with an older id the current one", async () => {
  const { clock, url, change } = await startDocument();
  const other = await reader(url);
  await clock.advance(0);
  await other.shows(["first"]);
  await clock.advance(150);
  await change("second");
  await other.shows(["first", "second"]);
  const [older, current] = await Promise.all(other.ids.map((id) => reader(url, { "last-event-id": id })));
  await older?.shows(["second"]);
  await clock.advance(150);
  await change("third");
  await clock.advance(150);
  await older?.shows(["second", "third"]);
  await current?.shows(["third"]);
});

test("a reader that reconnects to a server that was started again receives the state only if it differs", async () => {
  const first = await startDocument();
  const client = await reader(first.url);
  await first.clock.advance(0);
  await client.shows(["first"]);
  const again = await startDocument();
  const returning = await reader(again.url, { "last-event-id": client.ids[0] ?? "" });
  await again.clock.advance(0);
  await again.clock.advance(150);
  await again.change("second");
  await again.clock.advance(150);
  await returning.shows(["second"]);
});

test("a new reader receives a change that no event has announced", async () => {
  const { clock, url, set } = await startDocument();
  const client = await reader(url);
  await clock.advance(0);
  await client.shows(["first"]);
  set("second");
  const late = await reader(url);
  await clock.advance(150);
  await client.shows(["first", "second"]);
  await vi.waitFor(() => expect(late.values.at(-1)).toBe("second"), WAIT_OPTIONS);
});

test("documents whose reads take long are read less often after a while", async () => {
  const { clock, url, change } = await startDocument({ readMs: 100 });
  const client = await reader(url);
  await clock.advance(0);
  await client.shows([1].map(() => "first"));
  for (let number = 1; number <= 40; number++) {
    await change(number);
    await clock.advance(500);
  }
  await vi.waitFor(() => expect(client.values.at(-1)).toBeGreaterThan(10), WAIT_OPTIONS);
  // 20 s at 1% are two reads of 100 ms; a few more are allowed at first.
  expect(client.values.length).toBeGreaterThan(2);
  expect(client.values.length).toBeLessThan(8);
});

test("documents wait for at most five seconds after a read that took very long", async () => {
  const { clock, url, change } = await startDocument({ readMs: 60_000 });
  const client = await reader(url);
  await clock.advance(0);
  await client.shows(["first"]);
  await change("second");
  await clock.advance(4_999);
  expect(client.values).toEqual(["first"]);
  await clock.advance(1);
  await client.shows(["first", "second"]);
});

test("a reader that takes no data receives the current state when it reads again, without the states in between", async () => {
  const { clock, url, change } = await startDocument();
  const client = await reader(url);
  await clock.advance(0);
  await client.shows(["first"]);
  client.response.pause();
  const large = "x".repeat(8_000_000);
  for (let number = 1; number <= 5; number++) {
    await clock.advance(10_000);
    await change(`${number}${large}`);
  }
  client.response.resume();
  await vi.waitFor(() => expect(client.values.at(-1)).toBe(`5${large}`), WAIT_OPTIONS);
  expect(client.values.length).toBeLessThan(6);
});

test("a document is watched while it has readers", async () => {
  const { clock, url, isWatched } = await startDocument();
  expect(isWatched()).toBe(false);
  const [one, two] = [await reader(url), await reader(url)];
  await clock.advance(0);
  expect(isWatched()).toBe(true);
  one.leave();
  two.leave();
  await vi.waitFor(() => expect(isWatched()).toBe(false), WAIT_OPTIONS);
  const three = await reader(url);
  await clock.advance(0);
  await three.shows(["first"]);
});

test("a document that cannot be read is reported, and sent after the next change", async () => {
  const { clock, errors, url, change } = await startDocument();
  const client = await reader(url);
  await clock.advance(0);
  await clock.advance(150);
  await change("broken");
  await vi.waitFor(() => expect(errors).toHaveLength(1), WAIT_OPTIONS);
  await clock.advance(150);
  await change("second");
  await client.shows(["first", "second"]);
});

test("readers are limited in total, and those of a remote network separately", async () => {
  const { url, live } = await startDocument({ maxReaders: 2 });
  const statusFrom = async (): Promise<number> => {
    const response = await fetch(url);
    onTestFinished(() => response.body?.cancel());
    return response.status;
  };
  expect([await statusFrom(), await statusFrom(), await statusFrom()]).toEqual([200, 200, 503]);
  live.close();
});
