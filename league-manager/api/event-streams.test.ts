import { describe, expect, test, vi } from "vitest";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import { ids, oneMatch, players, reader, startStream } from "./testing/streams.ts";

describe("GET /leagues/{league_id}/events", () => {
  test("sends the events after a version and then each committed event, with the version as the id", async () => {
    const { append, url } = await startStream();
    await append(...players(1, 2));
    const all = await reader(`${url}?from=0`);
    const fromTwo = await reader(`${url}?from=2`);
    const current = await reader(url);
    expect(ids(await all.next(3))).toEqual([1, 2, 3]);
    await append(...players(3, 1));
    for (const [client, count] of [
      [all, 1],
      [fromTwo, 2],
      [current, 1],
    ] as const) {
      const last = (await client.next(count)).at(-1);
      expect(last).toMatchObject({ id: 4, event: "player_entered" });
      expect(last?.data).toMatchObject({ league_id: "first", version: 4, type: "player_entered", player_id: "P3" });
    }
  });

  test("continues after the last event of a reader that reconnects, without missing or repeating an event", async () => {
    const { append, url } = await startStream();
    const receivedIds: number[] = [];
    for (let round = 0; round < 5; round++) {
      const client = await reader(`${url}?from=0`, receivedIds.at(-1));
      await append(...players(1 + 3 * round, 3));
      receivedIds.push(...ids(await client.next(round === 0 ? 2 : 3)));
      client.leave();
      await client.ended;
    }
    const last = await reader(url, receivedIds.at(-1));
    receivedIds.push(...ids(await last.next(2)));
    expect(receivedIds).toEqual(Array.from({ length: 16 }, (_, index) => index + 1));
  });

  test("reads and renders each event once for all readers of a league", async () => {
    const { append, bodiesRead, url } = await startStream();
    for (let batch = 0; batch < 10; batch++) await append(...players(1 + batch * 100, 100));
    const first = await reader(`${url}?from=0`);
    expect(ids(await first.next(1_001))).toEqual(Array.from({ length: 1_001 }, (_, index) => index + 1));
    expect(bodiesRead).toHaveLength(1_001);
    const second = await reader(`${url}?from=0`);
    expect(ids(await second.next(1_001))).toEqual(Array.from({ length: 1_001 }, (_, index) => index + 1));
    const near = await reader(`${url}?from=960`);
    expect(ids(await near.next(41))).toEqual(Array.from({ length: 41 }, (_, index) => 961 + index));
    expect(bodiesRead).toHaveLength(1_001);
    await append(...players(1_001, 1));
    for (const client of [first, second, near]) expect(ids(await client.next(1))).toEqual([1_002]);
    expect(bodiesRead).toHaveLength(1_002);
  });

  test("leaves the event loop to other work after about 256 kB of events", async () => {
    const turns: (() => void)[] = [];
    const { append, bodiesRead, url } = await startStream({ defer: (run) => void turns.push(run) });
    const pad = "x".repeat(30_000);
    const game = { game: "rps.v1", roles: ["a", "b"], format: "round-robin" } as const;
    await append(...Array.from({ length: 200 }, () => ({ type: "reconfigured", ...game, options: { pad } }) as const));
    const [first, second] = [await reader(`${url}?from=0`), await reader(`${url}?from=0`)];
    let turnCount = 0;
    while (Math.min(first.received.length, second.received.length) < 201) {
      const before = bodiesRead.length;
      turns.shift()?.();
      turnCount++;
      expect(bodiesRead.length - before).toBeLessThan(40);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(turnCount).toBeGreaterThan(20);
    expect(ids(first.received)).toEqual(Array.from({ length: 201 }, (_, index) => index + 1));
  });

  test("sends neither run ids, name commitments nor the reasons of a referee", async () => {
    const { append, url } = await startStream();
    const client = await reader(`${url}?from=0`);
    const assigned = { match_id: "R1M1", epoch: 1, referee_id: "REF01" };
    await append(
      ...players(1, 2),
      { type: "started" },
      { type: "round_paired", round_id: 1, pairings: [{ match_id: "R1M1", players: ["P1", "P2"] }], byes: [] },
      { type: "round_opened", round_id: 1, absent: [] },
      { type: "match_assigned", ...assigned },
      { type: "match_released", ...assigned, reason: "refused", detail: "connect ECONNREFUSED 10.0.0.7:8001" },
      { type: "match_assigned", ...assigned, epoch: 2 },
      { type: "match_aborted", ...assigned, epoch: 2, reason: "connect ECONNREFUSED 10.0.0.7:8001", log_head: "" },
    );
    const text = JSON.stringify(await client.next(10));
    for (const secret of ["run_id", "name_commitment", "10.0.0.7", "endpoint"]) expect(text).not.toContain(secret);
  });

  test("rejects an unknown league, an invalid version and a future version; answers 503 to too many readers", async () => {
    const { url } = await startStream({ maxReaders: 1 });
    const status = async (address: string): Promise<number> => (await fetch(address)).status;
    expect(await status(url.replace("first", "second"))).toBe(404);
    for (const from of ["-1", "1.5", "x", "", "2"]) expect(await status(`${url}?from=${from}`)).toBe(400);
    const client = await reader(`${url}?from=0`);
    expect(await status(`${url}?from=0`)).toBe(503);
    client.leave();
  });

  test("limits the readers of one remote network", async () => {
    const { url } = await startStream({ maxReadersOfNetwork: 1 });
    const from = (address: string) => fetch(`${url}?from=0`, { headers: { "x-forwarded-for": address } });
    const client = await from("2001:db8::1");
    const statuses = [(await from("2001:db8::2")).status, (await from("203.0.113.9")).status];
    expect([client.status, ...statuses]).toEqual([200, 503, 200]);
    for (let local = 0; local < 2; local++) await reader(`${url}?from=0`);
    await client.body?.cancel();
    await vi.waitFor(async () => expect((await from("2001:db8::2")).status).toBe(200), WAIT_OPTIONS);
  });

  test("ends with the league, and answers 204 to a reader that has every event", async () => {
    const { append, url } = await startStream();
    const client = await reader(`${url}?from=0`);
    await append(...oneMatch(), { type: "completed" });
    expect((await client.next(8)).at(-1)).toMatchObject({ id: 8, event: "completed" });
    await client.ended;
    expect((await fetch(`${url}?from=8`)).status).toBe(204);
    expect(ids(await (await reader(`${url}?from=6`)).next(2))).toEqual([7, 8]);
  });
});

test("a reader that takes no data is disconnected after 30 s and resumes where it stopped", async () => {
  const { append, clock, url } = await startStream();
  const slow = await reader(`${url}?from=0`);
  slow.response.pause();
  // More data than the buffers of both sockets hold.
  const pad = "x".repeat(100_000);
  const game = { game: "rps.v1", roles: ["a", "b"], format: "round-robin" } as const;
  for (let sent = 0; sent < 300; sent++) await append({ type: "reconfigured", ...game, options: { pad, sent } });
  await clock.advance(60_000);
  slow.response.resume();
  await slow.ended;
  const last = slow.received.at(-1)?.id ?? 0;
  expect(last).toBeLessThan(301);
  expect(ids(slow.received)).toEqual(Array.from({ length: last }, (_, index) => index + 1));
  const again = await reader(url, last);
  const missed = 301 - last;
  expect(ids(await again.next(missed))).toEqual(Array.from({ length: missed }, (_, index) => last + 1 + index));
});
