import { createServer, get } from "node:http";
import { expect, it } from "vitest";
import { rps } from "#shared/games/rps.ts";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { testWriter } from "#shared/store/testing/writer.ts";
import { createHost } from "../sessions/host.ts";
import { SESSION_SCHEMA, sessionStore } from "../sessions/session-store.ts";
import { restState } from "../views.ts";
import { Streams } from "./streams.ts";

it("a client that disconnects before its stream is opened leaves no open stream", async () => {
  const db = openSqlite(":memory:", SESSION_SCHEMA);
  const host = createHost(sessionStore(db, testWriter(db)), systemClock, systemIds);
  const seats = rps.roles.map((role) => ({ role, agentId: role, tokenHash: role }));
  const session = await host.create({
    game: rps as never,
    options: rps.options.parse({}),
    seed: "s",
    seats,
    actedBy: "seats",
  });
  const streams = new Streams(host, { event: "state", view: restState }, systemClock);
  const opened = Promise.withResolvers<number>();
  const server = createServer((_request, response) => {
    response.once("close", () => {
      const stored = host.read(session.id);
      if (stored) streams.open(stored, "spectator", null, response);
      opened.resolve(streams.count());
    });
    request.destroy();
  });
  const request = get({ port: await listenOnLoopback(server), host: "127.0.0.1" });
  request.on("error", () => {});
  expect(await opened.promise).toBe(0);
  streams.close();
  server.close();
});

it("each event of a long log is created from its last entries only", async () => {
  const db = openSqlite(":memory:", SESSION_SCHEMA);
  const host = createHost(sessionStore(db, testWriter(db)), systemClock, systemIds);
  const seats = rps.roles.map((role) => ({ role, agentId: role, tokenHash: role }));
  const options = rps.options.parse({ best_of: 9 });
  const { id } = await host.create({ game: rps as never, options, seed: "s", seats, actedBy: "seats" });
  for (let turn = 0; turn < 8; turn++)
    for (const role of rps.roles) await host.submit(id, { role, action: "rock", expectedTick: null });
  const stored = host.read(id);
  if (!stored) throw new Error("no session");
  const given: number[][] = [];
  const view = (_session: unknown, _viewer: unknown, rows: (typeof stored)["rows"]) => {
    given.push(rows.map(({ seq }) => seq));
    return {};
  };
  const streams = new Streams(host, { event: "match", view }, systemClock);
  const client = { send: () => {}, end: () => {}, keepAlive: () => {}, onClose: () => {} };
  streams.connect(stored, "spectator", -1, client);
  expect(given.map((seqs) => seqs.at(-1))).toEqual([0, 2, 4, 6, 8, 10, 12, 14, 16]);
  expect(Math.max(...given.map((seqs) => seqs.length))).toBe(6);
  streams.close();
  db.close();
});
