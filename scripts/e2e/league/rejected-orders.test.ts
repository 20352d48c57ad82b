import { createServer, request } from "node:http";
import { afterEach, expect, it, vi } from "vitest";
import { forwardClock } from "#shared/lib/testing/clock.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import type { LiveEvent } from "../../../league-manager/projections/live-events.ts";
import { startTestManager } from "../../../league-manager/testing/test-manager.ts";
import { startPlayer } from "../../../player/service.ts";
import { startReferee } from "../../../referee/service.ts";
import { SHORT_TIMEOUTS } from "../../testing/in-process-league.ts";
import { cleanUp, newFolder } from "../../testing/processes.ts";

const BATCH_SIZE = 8;
/** The time for which a referee may reject a match, in hand-over.ts. */
const REJECTED_MS = 3_000;
/** The time for which such a referee is then offered no match, in referees.ts. */
const UNFIT_MS = 10_000;

/** Functions that stop what the test has started, called in reverse order. */
const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
  await cleanUp();
});

/** Starts a reverse proxy that answers 503 to START_GAME until `accept` is called. It forwards all other requests. */
async function startProxy(port: number, target: number, onRejection: () => void): Promise<{ accept(): void }> {
  let isRejecting = true;
  const proxy = createServer(async (incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const body = Buffer.concat(await incoming.toArray());
    if (isRejecting && body.includes('"START_GAME"')) {
      onRejection();
      return void outgoing.writeHead(503).end();
    }
    const forwarded = request({ host: "127.0.0.1", port: target, method, path, headers }, (reply) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(outgoing);
    });
    forwarded.once("error", () => outgoing.destroy()).end(body);
  });
  await listenOnLoopback(proxy, port);
  stops.push(() => proxy.close().closeAllConnections());
  return {
    accept: () => {
      isRejecting = false;
    },
  };
}

it("a referee whose proxy rejects START_GAME loses its match, and gets matches again after the proxy forwards the messages", async () => {
  const events: LiveEvent[] = [];
  const awaitRegistration = (name: string) =>
    vi.waitFor(
      () => expect(events).toContainEqual(expect.objectContaining({ type: "registered", name })),
      WAIT_OPTIONS,
    );
  /** Maps each completed match to its referee. */
  const referees = (): ReadonlyMap<string, string | null> =>
    new Map(
      events.flatMap((event) =>
        event.type === "match_completed" ? [[event.match.match_id, event.match.referee_id] as const] : [],
      ),
    );

  const leagues = [{ league_id: "rps", game: "rps.v1", options: { best_of: 1 } }];
  const timeouts = { default_ms: 5_000, join_ms: 20_000, move_ms: 600_000 };
  const clock = forwardClock();
  const manager = await startTestManager(leagues, { timeouts }, (event) => events.push(event), { clock });
  stops.push(manager.stop);
  const dataFolder = newFolder();
  const base = { host: "127.0.0.1", manager: manager.url, dataFolder, ...SHORT_TIMEOUTS };

  /** Adds matches of P02 and P03 to the first round; resolves with their ids. */
  const schedule = async (): Promise<readonly string[]> => {
    const match = { league_id: "rps", round_id: 1, player1_id: "P02", player2_id: "P03" };
    const added = Array.from({ length: BATCH_SIZE }, () => manager.tool("schedule_match", match, manager.operator));
    return (await Promise.all(added)).map(({ match_id }) => match_id);
  };
  const [first = 0, second = 0, proxied = 0] = await freePorts(3);
  const proxy = await startProxy(proxied, second, () => clock.forward(REJECTED_MS));
  for (const [name, port, endpointPort] of [["REF01", first, first] as const, ["REF02", second, proxied] as const]) {
    const options = { name, ports: [port], endpoint: `http://127.0.0.1:${endpointPort}/mcp` };
    stops.push((await startReferee({ ...base, ...options }, silentProcess(name))).stop);
    await awaitRegistration(name);
  }
  // R1M1 of P01 and P04 does not end, because manual players make no moves. So the round stays open for the matches that the test adds.
  for (const [index, bot] of ["manual", "random", "random", "manual"].entries()) {
    const name = `P0${index + 1}`;
    stops.push((await startPlayer({ ...base, name, bot, ports: [0] }, silentProcess(name))).stop);
    await awaitRegistration(name);
  }
  expect(await manager.tool("start_league", { league_id: "rps" }, manager.operator)).toMatchObject({ matches: 6 });

  const message = expect.stringContaining("referee REF02 accepts no matches (HTTP 503)");
  await vi.waitFor(() => expect(events).toContainEqual({ type: "notice", message }), WAIT_OPTIONS);
  await vi.waitFor(() => expect(referees()).toEqual(new Map([["R1M2", "REF01"]])), WAIT_OPTIONS);

  proxy.accept();
  clock.forward(UNFIT_MS);
  await schedule();
  await vi.waitFor(() => expect([...referees().values()]).toContain("REF02"), WAIT_OPTIONS);

  const later = await schedule();
  await vi.waitFor(() => expect([...referees().keys()]).toEqual(expect.arrayContaining([...later])), WAIT_OPTIONS);
  expect(new Set(later.map((id) => referees().get(id)))).toEqual(new Set(["REF01", "REF02"]));
});
