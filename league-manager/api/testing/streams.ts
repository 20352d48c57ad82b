import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, get, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { ok } from "#shared/lib/result.ts";
import { manualClock } from "#shared/lib/testing/clock.ts";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { webApp } from "#shared/runtime/agent-server.ts";
import { openLog } from "#shared/runtime/process/logger.ts";
import { type LeagueEvent, leagueStream } from "../../league/events.ts";
import type { NewLeagueEvent } from "../../league/league.ts";
import { createProjections } from "../../projections/projections.ts";
import { entered, ledgerOn, opened } from "../../store/testing/ledger.ts";
import { leagueStreams, streamRoutes } from "../event-streams.ts";

interface Received {
  readonly id: number;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Starts a server with the event stream of the open league `first`. `bodiesRead` collects the events that are read from the store. */
export async function startStream({
  maxReaders = 10,
  maxReadersOfNetwork = 5,
  defer = systemClock.defer,
  /** Called before each read of the store, which waits for the result. */
  beforeRead = async (): Promise<void> => {},
} = {}) {
  const folder = mkdtempSync(join(tmpdir(), "streams-"));
  const file = join(folder, "league-manager.sqlite");
  const { ledger, store, db } = await ledgerOn(file);
  const clock = { ...manualClock(), defer };
  const append = async (...events: readonly NewLeagueEvent[]): Promise<void> => {
    await ledger.execute(() =>
      ok({ leagueEvents: events.map((event) => ({ leagueId: "first", event })), reply: null }),
    );
  };
  await append(opened("first"));
  const bodiesRead: string[] = [];
  const read = async (leagueId: string, after: number, limit: number) => {
    await beforeRead();
    const events = await store.readEvents(leagueStream(leagueId), after, limit);
    return events.map(({ body }) => {
      bodiesRead.push(body);
      return JSON.parse(body) as LeagueEvent;
    });
  };
  const streams = leagueStreams({ ledger, read, clock, maxReaders, maxReadersOfNetwork });
  const app = await webApp(openLog(null, "test"), streamRoutes(createProjections(ledger), streams))();
  const server = createServer(app);
  const port = await listenOnLoopback(server);
  onTestFinished(async () => {
    await streams.close();
    server.close().closeAllConnections();
    db.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return { append, clock, file, bodiesRead, streams, url: `http://127.0.0.1:${port}/leagues/first/events` };
}

/** Connects to a stream. `next(n)` resolves with the next n events. */
export async function reader(url: string, lastEventId?: number) {
  const headers = lastEventId === undefined ? {} : { "last-event-id": String(lastEventId) };
  const request = get(url, { headers });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  onTestFinished(() => void request.destroy());
  const received: Received[] = [];
  let text = "";
  let lastId = 0;
  let wake = (): void => {};
  response.setEncoding("utf8").on("data", (chunk: string) => {
    const blocks = (text + chunk).split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const [, id, event, data] = /^id: (\d+)(?:\nevent: (\w+)\ndata: (.*))?$/.exec(block) ?? [];
      if (id !== undefined) lastId = Number(id);
      if (event !== undefined) received.push({ id: lastId, event, data: JSON.parse(data ?? "null") });
    }
    wake();
  });
  response.on("error", () => {}); // one side has closed the connection
  const ended = new Promise<void>((resolve) => void response.once("close", resolve));
  return {
    response,
    ended,
    received,
    /** The last received id, with or without an event. */
    lastId: () => lastId,
    leave: () => void request.destroy(),
    async next(count: number): Promise<readonly Received[]> {
      while (received.length < count) await new Promise<void>((resolve) => (wake = resolve));
      return received.splice(0, count);
    },
  };
}

export const ids = (events: readonly Received[]): readonly number[] => events.map(({ id }) => id);
export const players = (from: number, count: number): readonly NewLeagueEvent[] =>
  Array.from({ length: count }, (_, index) => entered(`P${from + index}`));

/** The events of a league of P1 and P2 from the first entry to the end of its only match. */
export const oneMatch = (): readonly NewLeagueEvent[] => [
  ...players(1, 2),
  { type: "started" },
  { type: "round_paired", round_id: 1, pairings: [{ match_id: "R1M1", players: ["P1", "P2"] }], byes: [] },
  { type: "round_opened", round_id: 1, absent: [] },
  {
    type: "match_completed",
    match_id: "R1M1",
    epoch: 1,
    referee_id: null,
    termination: "forfeit",
    winner: null,
    final_scores: {},
    match_points: {},
    faults: [],
    log_head: "",
    reason: "shut_down",
  },
];
