import { expect, test } from "vitest";
import { ok } from "#shared/lib/result.ts";
import { entered, ledgerOn } from "../store/testing/ledger.ts";
import { ids, oneMatch, players, reader, startStream } from "./testing/streams.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("readers receive each event once and in order, also if reads of the store take longer than commits", async () => {
  let reads = 0;
  const beforeRead = async (): Promise<void> => {
    for (let turns = ++reads % 7; turns > 0; turns--) await turn();
  };
  const { append, url } = await startStream({ beforeRead, maxReaders: 20, maxReadersOfNetwork: 20 });
  const clients = [0, 0, 1].map((from) => ({ from, connected: reader(`${url}?from=${from}`) }));
  for (let count = 1; count <= 100; count++) {
    await append(...players(count, 1));
    if (count % 10 === 0) clients.push({ from: count - 5, connected: reader(`${url}?from=${count - 5}`) });
    if (count % 3 === 0) await turn();
  }
  await append(...oneMatch().slice(2), { type: "completed" });
  for (const { from, connected } of clients) {
    const client = await connected;
    await client.ended;
    expect(ids(client.received)).toEqual(Array.from({ length: 106 - from }, (_, index) => from + 1 + index));
  }
});

test("the events of a league that ends during a read are sent before the end of the stream", async () => {
  const held = Promise.withResolvers<void>();
  let isHeld = false;
  const { append, url } = await startStream({ beforeRead: () => (isHeld ? held.promise : Promise.resolve()) });
  const client = await reader(`${url}?from=0`);
  expect(ids(await client.next(1))).toEqual([1]);
  isHeld = true;
  await append(...players(1, 1));
  await append(...oneMatch().slice(1), { type: "completed" });
  held.resolve();
  await client.ended;
  expect(ids(client.received)).toEqual([2, 3, 4, 5, 6, 7, 8]);
});

test("a manager that stops during a read sends the events and ends the stream", async () => {
  const held = Promise.withResolvers<void>();
  const reading = Promise.withResolvers<void>();
  let isHeld = false;
  const { append, streams, url } = await startStream({
    beforeRead() {
      if (!isHeld) return Promise.resolve();
      reading.resolve();
      return held.promise;
    },
  });
  const client = await reader(`${url}?from=0`);
  expect(ids(await client.next(1))).toEqual([1]);
  isHeld = true;
  await append(...players(1, 3));
  await reading.promise;
  const closed = streams.close();
  held.resolve();
  await closed;
  await client.ended;
  expect(ids(client.received)).toEqual([2, 3, 4]);
});

test("a reader can continue after an event that another manager has sent and this one does not know yet", async () => {
  const { file, url } = await startStream();
  const other = await ledgerOn(file);
  const event = entered("P1");
  await other.ledger.execute(() => ok({ leagueEvents: [{ leagueId: "first", event }], reply: null }));
  other.db.close();
  const client = await reader(url, 2);
  expect(client.response.statusCode).toBe(200);
  expect((await fetch(`${url}?from=3`)).status).toBe(400);
});
