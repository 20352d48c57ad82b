import { createServer, request } from "node:http";
import { afterEach, expect, it, vi } from "vitest";
import { forwardClock } from "#shared/lib/testing/clock.ts";
import { PATIENCE } from "#shared/lib/testing/patience.ts";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import type { LiveEvent } from "../../../league-manager/projections/live.ts";
import { startTestManager } from "../../../league-manager/testing/test-manager.ts";
import { startPlayer } from "../../../player/service.ts";
import { startReferee } from "../../../referee/service.ts";
import { SHORT_TIMEOUTS } from "../../testing/league.ts";
import { cleanUp, newFolder } from "../../testing/processes.ts";

const BATCH = 8;
/** How long a referee may reject a match (hand-over.ts), and for how long it is then offered none (referees.ts). */
const [REJECTED_MS, UNFIT_MS] = [3_000, 10_000];

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
  await cleanUp();
});

/** A reverse proxy that answers 503 to START_GAME until `accept` is called, and forwards everything else. */
async function startProxy(port: number, target: number, onRefusal: () => void): Promise<{ accept(): void }> {
  let isRefusing = true;
  const proxy = createServer(async (incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const body = Buffer.concat(await incoming.toArray());
    if (isRefusing && body.includes('"START_GAME"')) {
      onRefusal();
      return void outgoing.writeHead(503).end();
    }
    const forwarded = request({ host: "127.0.0.1", port: target, method, path, headers }, (reply) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(outgoing);
    });
    forwarded.once("error", () => outgoing.destroy()).end(body);
  });
  await new Promise<void>((resolve) => proxy.listen(port, "127.0.0.1", resolve));
  stops.push(() => proxy.close().closeAllConnections());
  return {
    accept: () => {
      isRefusing = false;
    },
  };
}

it("a referee whose proxy refuses START_GAME loses its match, and gets matches again once the proxy lets them through", async () => {
  const events: LiveEvent[] = [];
  const registered = (name: string) =>
    vi.waitFor(() => expect(events).toContainEqual(expect.objectContaining({ type: "registered", name })), PATIENCE);
  /** The referee of each completed match, by match. */
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
    const added = Array.from({ length: BATCH }, () => manager.tool("schedule_match", match, manager.operator));
    return (await Promise.all(added)).map(({ match_id }) => match_id);
  };
  const [first = 0, second = 0, proxied = 0] = await freePorts(3);
  const proxy = await startProxy(proxied, second, () => clock.forward(REJECTED_MS));
  for (const [name, port, contact] of [["REF01", first, first] as const, ["REF02", second, proxied] as const]) {
    const place = { name, ports: [port], endpoint: `http://127.0.0.1:${contact}/mcp` };
    stops.push((await startReferee({ ...base, ...place }, silentProcess(name))).stop);
    await registered(name);
  }
  // P01 and P04 play R1M1, which never ends because no moves are made. So the round lasts as long as the test adds matches.
  for (const [index, bot] of ["manual", "random", "random", "manual"].entries()) {
    const name = `P0${index + 1}`;
    stops.push((await startPlayer({ ...base, name, bot, ports: [0] }, silentProcess(name))).stop);
    await registered(name);
  }
  expect(await manager.tool("start_league", { league_id: "rps" }, manager.operator)).toMatchObject({ matches: 6 });

  const message = expect.stringContaining("referee REF02 takes no matches (HTTP 503)");
  await vi.waitFor(() => expect(events).toContainEqual({ type: "notice", message }), PATIENCE);
  await vi.waitFor(() => expect(referees()).toEqual(new Map([["R1M2", "REF01"]])), PATIENCE);

  proxy.accept();
  clock.forward(UNFIT_MS);
  await schedule();
  await vi.waitFor(() => expect([...referees().values()]).toContain("REF02"), PATIENCE);

  const later = await schedule();
  await vi.waitFor(() => expect([...referees().keys()]).toEqual(expect.arrayContaining([...later])), PATIENCE);
  expect(new Set(later.map((id) => referees().get(id)))).toEqual(new Set(["REF01", "REF02"]));
}, 120_000);
