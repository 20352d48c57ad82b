import { describe, expect, test } from "vitest";
import { LEAGUE_EVENT_TYPES } from "../league/events.ts";
import { ids, oneMatch, players, reader, startStream } from "./testing/streams.ts";

describe("GET /leagues/{league_id}/events?types=", () => {
  test("sends the events of these types only, each with its version as its id", async () => {
    const { append, url } = await startStream();
    await append(...oneMatch());
    const client = await reader(`${url}?from=0&types=match_completed,started`);
    const received = await client.next(2);
    expect(received.map(({ id, event }) => [id, event])).toEqual([
      [4, "started"],
      [7, "match_completed"],
    ]);
    await append({ type: "completed" });
    await client.ended;
    expect(client.received).toEqual([]);
  });

  test("sends the id of an omitted event, so that a reader resumes after it", async () => {
    const { append, url } = await startStream();
    await append(...players(1, 200));
    const client = await reader(`${url}?from=0&types=player_left`);
    await append({ type: "player_left", player_id: "P200" });
    expect(ids(await client.next(1))).toEqual([202]);
    await append(...oneMatch().slice(2), { type: "completed" });
    await client.ended;
    expect([client.received, client.lastId()]).toEqual([[], 207]);
    const again = await fetch(`${url}?types=player_left`, { headers: { "last-event-id": String(client.lastId()) } });
    expect(again.status).toBe(204);
  });

  test("sends a reader that reconnects each event exactly once", async () => {
    const { append, url } = await startStream();
    const expectedIds: number[] = [];
    const receivedIds: number[] = [];
    let version = 1;
    let lastId = 0;
    for (let round = 0; round < 8; round++) {
      const client = await reader(`${url}?from=0&types=player_left`, lastId);
      const first = 1 + 3 * round;
      await append(...players(first, 1), { type: "player_left", player_id: `P${first}` }, ...players(first + 1, 2));
      expectedIds.push(version + 2);
      version += 4;
      receivedIds.push(...ids(await client.next(1)));
      client.leave();
      await client.ended;
      lastId = client.lastId();
    }
    expect(receivedIds).toEqual(expectedIds);
  });

  test("reads events of all types once for all readers", async () => {
    const { append, bodiesRead, url } = await startStream();
    await append(...players(1, 500), { type: "player_left", player_id: "P1" });
    for (const query of ["from=0", "from=0&types=player_left", "from=0&types=started,player_left"]) {
      const client = await reader(`${url}?${query}`);
      await client.next(query === "from=0" ? 502 : 1);
    }
    expect(bodiesRead).toHaveLength(502);
  });

  test("leaves the event loop to other work while it skips events", async () => {
    const turns: (() => void)[] = [];
    const { append, bodiesRead, url } = await startStream({ defer: (run) => void turns.push(run) });
    const pad = "x".repeat(30_000);
    const game = { game: "rps.v1", roles: ["a", "b"], format: "round-robin" } as const;
    await append(...Array.from({ length: 200 }, () => ({ type: "reconfigured", ...game, options: { pad } }) as const));
    await append(...players(1, 1));
    const client = await reader(`${url}?from=0&types=player_entered`);
    let turnCount = 0;
    while (client.received.length === 0) {
      const before = bodiesRead.length;
      turns.shift()?.();
      turnCount++;
      expect(bodiesRead.length - before).toBeLessThan(40);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(turnCount).toBeGreaterThan(10);
    expect(ids(client.received)).toEqual([202]);
  });

  test.each(["match_complete", "", "started,", "started,all", "Started"])(
    "rejects %j with the list of known types",
    async (types) => {
      const { url } = await startStream();
      const response = await fetch(`${url}?from=0&types=${types}`);
      const { error } = (await response.json()) as { error: { code: string; message: string } };
      expect([response.status, error.code]).toEqual([400, "INVALID_REQUEST"]);
      expect(error.message).toContain(`"${types.split(",").find((type) => type !== "started")}"`);
      for (const type of LEAGUE_EVENT_TYPES) expect(error.message).toContain(type);
    },
  );

  test("rejects more than one list", async () => {
    const { url } = await startStream();
    expect((await fetch(`${url}?types=started&types=completed`)).status).toBe(400);
  });
});
