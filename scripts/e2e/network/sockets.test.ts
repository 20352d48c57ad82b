/** A league whose agents are called over WebSockets, through proxies that cut the connections. */
import { connect, createServer, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import { startPlayer } from "../../../player/service.ts";
import { SHORT_TIMEOUTS, startTestLeague, type TestLeague, type TestPlayer } from "../../testing/in-process-league.ts";

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** What a proxy does with the WebSockets to its player. */
interface Fault {
  /** The number of writes of the referee on a WebSocket until it is cut. */
  readonly afterWrites: number;
  /** Whether the last write reaches the player. The answer to it is lost in both cases. */
  readonly isDelivered: boolean;
}

interface Proxy {
  readonly url: string;
  /** The number of WebSockets and of POST requests that have arrived. */
  readonly arrived: { sockets: number; posts: number };
}

/** Starts a TCP proxy to a port of this machine, which cuts every WebSocket as the fault says. */
async function startProxy(port: number, fault: Fault | null): Promise<Proxy> {
  const arrived = { sockets: 0, posts: 0 };
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    const cut = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("error", cut);
      socket.on("close", () => {
        open.delete(socket);
        cut();
      });
    }
    let writes = -1; // of the WebSocket, without the request that opens it
    client.on("data", (chunk) => {
      if (chunk.toString("latin1").startsWith("GET /mcp")) writes = 0;
      else if (writes >= 0) writes++;
      else if (chunk.toString("latin1").startsWith("POST ")) arrived.posts++;
      if (writes === 0) arrived.sockets++;
      const isLast = writes > 0 && writes === fault?.afterWrites;
      if (!isLast) return void upstream.write(chunk);
      upstream.off("data", forward);
      if (!fault?.isDelivered) return cut();
      upstream.write(chunk);
      upstream.once("data", cut); // the answer of the player, which does not arrive
    });
    const forward = (chunk: Buffer): void => void client.write(chunk);
    upstream.on("data", forward);
  });
  const proxyPort = await listenOnLoopback(server);
  ends.push(() => {
    for (const socket of open) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${proxyPort}/mcp`, arrived };
}

/** A random bot behind a proxy. */
function playerBehind(name: string, fault: Fault | null, proxies: Proxy[]): TestPlayer {
  return {
    name,
    async start({ manager, port, dataFolder }) {
      const proxy = await startProxy(port, fault);
      proxies.push(proxy);
      const place = { name, host: "127.0.0.1", ports: [port], manager, dataFolder, bot: "random", ...SHORT_TIMEOUTS };
      return startPlayer({ ...place, endpoint: proxy.url }, silentProcess(name));
    },
  };
}

const ROUNDS = 40;

/** Plays a match of two random bots. Returns its result, the actions of each role in their order, and the proxies. */
async function playMatch(fault: Fault | null) {
  const proxies: Proxy[] = [];
  const league: TestLeague = await startTestLeague({
    leagues: [{ league_id: "rps", game: "rps.v1", options: { best_of: ROUNDS * 2 + 1 } }],
    players: ["Ann", "Bob"].map((name) => playerBehind(name, fault, proxies)),
  });
  ends.push(() => league.stop());
  await league.completed;
  const { termination, winner, points, result, log } = await league.match("rps", "R1M1");
  const acted = log.map((text) => JSON.parse(text)).filter(({ type }) => type === "acted");
  const actions = Object.groupBy(acted, ({ role }) => role);
  const actionsOf = (role: string): unknown[] | undefined => actions[role]?.map(({ action }) => action);
  const faults = result.faults;
  return {
    match: { termination, winner, points, faults, first: actionsOf("player_1"), second: actionsOf("player_2") },
    proxies,
  };
}

it("players of this project are called over one WebSocket, and never by POST", async () => {
  const { match, proxies } = await playMatch(null);
  expect(match).toMatchObject({ termination: "normal", faults: [] });
  expect(proxies.map(({ arrived }) => arrived.sockets)).toEqual([2, 2]); // of the referee and of the manager
  expect(proxies.map(({ arrived }) => arrived.posts)).toEqual([0, 0]);
});

it.each<[string, Fault]>([
  ["before a request arrives", { afterWrites: 10, isDelivered: false }],
  ["after a request has arrived", { afterWrites: 10, isDelivered: true }],
])("a match whose WebSockets are cut %s goes on by POST and has the same moves", async (_, fault) => {
  const expected = await playMatch(null);
  for (const end of ends.splice(0).reverse()) await end();
  const { match, proxies } = await playMatch(fault);
  expect(match.first?.length).toBeGreaterThanOrEqual(ROUNDS);
  expect(match).toEqual(expected.match);
  for (const { arrived } of proxies) {
    expect(arrived.sockets).toBeGreaterThan(0);
    expect(arrived.posts).toBeGreaterThan(0);
  }
});
