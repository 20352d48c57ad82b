import { rmSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { freePort, freePorts } from "#shared/runtime/process/free-ports.ts";
import { launch, type Measured, measure, type Rate, sleep, temporaryFolder } from "../process.ts";
import { launchPlayers, moveCount } from "../real-league.ts";
import { type BenchManager, startBenchManager, ToolCall } from "./manager.ts";

interface LeagueShape {
  /** The number of concurrent matches. */
  readonly inFlight: number;
  /** Four player processes, or one process with two players. */
  readonly players: "four" | "pair";
  readonly warmupMs: number;
  readonly windowMs: number;
  /** Arguments of Node.js for the referee and for the first player. */
  readonly nodeArgs?: { readonly referee?: readonly string[]; readonly player?: readonly string[] };
}

/** The rate of committed moves of a league. */
export interface LeagueRate extends Rate {
  /** The number of matches without a normal end and of failed calls. */
  readonly faults: number;
  readonly firstFault: string | null;
}

/** The longest wait for the load to become steady. */
const STEADY_LIMIT_MS = 25_000;
const JSON_TYPE = { "content-type": "application/json" };

/** A manager that only produces load, with a real referee and real players. */
export interface LeagueUnderLoad {
  readonly manager: BenchManager;
  readonly referee: Measured;
  readonly players: readonly Measured[];
  /** Returns the number of moves that the referee has committed. */
  moves(): number;
  stop(): Promise<void>;
}

/** Starts the processes of a league. `endpointOf` returns the address at which the referee reaches a player. */
export async function startLeague(
  shape: Pick<LeagueShape, "inFlight" | "players" | "nodeArgs">,
  endpointOf?: (endpoint: string) => string,
): Promise<LeagueUnderLoad> {
  const playerCount = shape.players === "four" ? 4 : 2;
  const [managerPort = 0, refereePort = 0, ...ports] = await freePorts(2 + playerCount);
  const data = temporaryFolder();
  const manager = await startBenchManager(managerPort, endpointOf);
  const url = `http://127.0.0.1:${managerPort}/mcp`;
  const commonArgs = ["--manager", url, "--data", data];
  const running: Measured[] = [];
  const started = async (launched: Promise<Measured>): Promise<Measured> => {
    const agent = await launched;
    running.push(agent);
    return agent;
  };
  const refereeArgs = ["--port", String(refereePort), "--max-matches", "2000", ...commonArgs];
  const playerArgs = (port: number) => ["--bot", "random", "--port", String(port), ...commonArgs];
  const [referee, ...players] = (await Promise.all([
    started(launch("referee/main.ts", refereeArgs, { nodeArgs: shape.nodeArgs?.referee ?? [] })),
    ...(shape.players === "pair"
      ? [started(launchPlayers({ data, manager: url, ports }))]
      : ports.map((port, index) => {
          const nodeArgs = (index === 0 && shape.nodeArgs?.player) || [];
          return started(launch("player/main.ts", playerArgs(port), { nodeArgs }));
        })),
  ])) as [Measured, ...Measured[]];
  await manager.registered(playerCount);
  const moves = moveCount(join(data, `referee-${refereePort}.sqlite`));
  return {
    manager,
    referee,
    players,
    moves,
    async stop() {
      moves.close();
      await manager.close();
      await Promise.all(running.map((agent) => agent.stop()));
      rmSync(data, { recursive: true, force: true });
    },
  };
}

/** Measures the moves per second that one referee commits with its players. */
export async function leagueRate(shape: LeagueShape): Promise<LeagueRate> {
  const league = await startLeague(shape);
  const { manager, referee, players } = league;
  manager.keep(shape.inFlight);
  const begun = performance.now();
  await sleep(shape.warmupMs);
  while (!manager.isSteady() && performance.now() - begun < STEADY_LIMIT_MS) await sleep(50);
  const rate = await measure(shape.windowMs, league.moves, { referee: [referee], players });
  const [faults, firstFault = null] = [manager.faults.length, manager.faults[0]];
  await league.stop();
  return { ...rate, faults, firstFault };
}

/** Mean sizes in bytes of a MOVE_REQUEST call and its reply. */
export interface Sizes {
  readonly request: number;
  readonly reply: number;
  /** Calls to players per move. Several calls may share one POST. */
  readonly callsPerMove: number;
}

/** Measures the sizes of MOVE_REQUEST calls and their replies with a relay between the referee and the players. Calls of a batch count separately. */
export async function messageSizes(): Promise<Sizes> {
  const totals = { request: 0, reply: 0, moves: 0, calls: 0 };
  const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
  const count = (request: unknown, reply: unknown): void => {
    totals.calls++;
    if (ToolCall.parse(request).params.arguments.type !== "MOVE_REQUEST") return;
    totals.request += bytes(request);
    totals.reply += bytes(reply);
    totals.moves++;
  };
  const port = await freePort();
  const forward = async (path: string, body: Buffer): Promise<{ status: number; text: string }> => {
    const target = `http://127.0.0.1:${path.slice(1).replace("/mcp", "")}/mcp`;
    const response = await fetch(target, { method: "POST", headers: JSON_TYPE, body: body.toString() });
    const text = await response.text();
    const replies: readonly { readonly id: number }[] = [JSON.parse(text)].flat();
    for (const call of [JSON.parse(body.toString())].flat()) {
      count(
        call,
        replies.find(({ id }) => id === call.id),
      );
    }
    return { status: response.status, text };
  };
  const relay = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      // A league that is stopping aborts its last calls.
      forward(request.url ?? "/", Buffer.concat(chunks)).then(
        ({ status, text }) => response.writeHead(status, JSON_TYPE).end(text),
        () => response.destroy(),
      );
    });
  });
  relay.listen(port, "127.0.0.1");
  const league = await startLeague(
    { inFlight: 1, players: "four" },
    (endpoint) => `http://127.0.0.1:${port}/${new URL(endpoint).port}/mcp`,
  );
  // The first match has only one round; later matches have full length.
  league.manager.keep(1);
  while (totals.moves < 402) await sleep(20);
  await league.stop();
  relay.closeAllConnections();
  relay.close();
  const mean = (total: number): number => Math.round(total / totals.moves);
  return { request: mean(totals.request), reply: mean(totals.reply), callsPerMove: totals.calls / totals.moves };
}

/** Calls with the client and the endpoint of this project, without a game, over each transport. */
export type TransportRates = Readonly<Record<"post" | "socket", Rate>>;

const ENDPOINTS = 4;

/** Measures the calls per second of one process to four others, by POST and over WebSockets. */
export async function transportRates(
  { warmupMs, windowMs }: { readonly warmupMs: number; readonly windowMs: number },
  sizes: Sizes,
  inFlight: number,
): Promise<TransportRates> {
  const rateOver = async (transport: "post" | "socket"): Promise<Rate> => {
    const ports = await freePorts(ENDPOINTS);
    const servers = await Promise.all(
      ports.map((port) => launch("scripts/bench/matches/calls.ts", ["serve", String(port), String(sizes.reply)])),
    );
    const urls = servers.flatMap((server) => server.urls);
    const args = ["call", transport, String(sizes.request), String(inFlight), ...urls];
    const client = await launch("scripts/bench/matches/calls.ts", args);
    await sleep(warmupMs);
    const rate = await measure(windowMs, () => client.ask<number>("count"), { client: [client], servers });
    await client.stop();
    await Promise.all(servers.map((server) => server.stop()));
    return rate;
  };
  return { post: await rateOver("post"), socket: await rateOver("socket") };
}
