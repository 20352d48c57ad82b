import { rmSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { freePort, freePorts } from "#shared/runtime/process/free-ports.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { launch, type Measured, measure, type Rate, sleep, temporaryFolder } from "../process.ts";
import { type BenchManager, startBenchManager, ToolCall } from "./manager.ts";

interface LeagueShape {
  readonly inFlight: number;
  /** Four player processes, or one with two seats. */
  readonly players: "four" | "pair";
  readonly warmupMs: number;
  readonly windowMs: number;
  /** Arguments of Node for the referee and for the first player. */
  readonly nodeArgs?: { readonly referee?: readonly string[]; readonly player?: readonly string[] };
}

export interface LeagueRate extends Rate {
  readonly faults: number;
  readonly firstFault: string | null;
}

/** How long matches may take to be of all ages. */
const STEADY_LIMIT_MS = 25_000;
const JSON_TYPE = { "content-type": "application/json" };

export interface LeagueUnderLoad {
  readonly manager: BenchManager;
  readonly referee: Measured;
  readonly players: readonly Measured[];
  /** Moves that the referee has committed. */
  moves(): number;
  stop(): Promise<void>;
}

export async function startLeague(
  shape: Pick<LeagueShape, "inFlight" | "players" | "nodeArgs">,
  endpointOf?: (endpoint: string) => string,
): Promise<LeagueUnderLoad> {
  const seats = shape.players === "four" ? 4 : 2;
  const [managerPort = 0, refereePort = 0, ...ports] = await freePorts(2 + seats);
  const data = temporaryFolder();
  const manager = await startBenchManager(managerPort, endpointOf);
  const url = `http://127.0.0.1:${managerPort}/mcp`;
  const common = ["--manager", url, "--data", data];
  const running: Measured[] = [];
  const start = async (...args: Parameters<typeof launch>): Promise<Measured> => {
    const one = await launch(...args);
    running.push(one);
    return one;
  };
  const refereeArgs = ["--port", String(refereePort), "--max-matches", "2000", ...common];
  const playerArgs = (port: number) => ["--bot", "random", "--port", String(port), ...common];
  const [referee, ...players] = (await Promise.all([
    start("referee/main.ts", refereeArgs, { nodeArgs: shape.nodeArgs?.referee ?? [] }),
    ...(shape.players === "pair"
      ? [start("scripts/bench/pair.ts", [data, url, ...ports.map(String)], { endpoints: 2 })]
      : ports.map((port, index) =>
          start("player/main.ts", playerArgs(port), { nodeArgs: (index === 0 && shape.nodeArgs?.player) || [] }),
        )),
  ])) as [Measured, ...Measured[]];
  await manager.registered(seats);
  const db = openSqlite(join(data, `referee-${refereePort}.sqlite`), "");
  // Rows are never deleted: the last rowid is how many there are, and each session has one that is no move.
  const rows = db.prepare(
    "SELECT (SELECT coalesce(max(rowid), 0) FROM log) - (SELECT count(*) FROM sessions) AS moves",
  );
  return {
    manager,
    referee,
    players,
    moves: () => Number(rows.get()?.moves),
    async stop() {
      db.close();
      await manager.close();
      await Promise.all(running.map((one) => one.stop()));
      rmSync(data, { recursive: true, force: true });
    },
  };
}

/** Moves per second that one real referee commits with real players, everything on. */
export async function leagueRate(shape: LeagueShape): Promise<LeagueRate> {
  const league = await startLeague(shape);
  const { manager, referee, players } = league;
  manager.keep(shape.inFlight);
  const begun = performance.now();
  await sleep(shape.warmupMs);
  while (!manager.isSteady() && performance.now() - begun < STEADY_LIMIT_MS) await sleep(50);
  const rate = await measure(shape.windowMs, league.moves, { referee: [referee], players });
  const { faults } = manager;
  const counted = { faults: faults.length, firstFault: faults[0] ?? null };
  await league.stop();
  return { ...rate, ...counted };
}

export interface Sizes {
  readonly request: number;
  readonly reply: number;
  /** Calls that the players got for each move, of which several may share a POST. */
  readonly callsPerMove: number;
}

/** Bytes of a MOVE_REQUEST call and of its reply, the mean over whole matches, read by a relay before each player; of each call of a batch. */
export async function messageSizes(): Promise<Sizes> {
  const seen = { request: 0, reply: 0, moves: 0, calls: 0 };
  const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
  const count = (asked: unknown, answered: unknown): void => {
    seen.calls++;
    if (ToolCall.parse(asked).params.arguments.type !== "MOVE_REQUEST") return;
    seen.request += bytes(asked);
    seen.reply += bytes(answered);
    seen.moves++;
  };
  const port = await freePort();
  const pass = async (path: string, body: Buffer): Promise<{ status: number; text: string }> => {
    const target = `http://127.0.0.1:${path.slice(1).replace("/mcp", "")}/mcp`;
    const answer = await fetch(target, { method: "POST", headers: JSON_TYPE, body: body.toString() });
    const text = await answer.text();
    const answers: readonly { readonly id: number }[] = [JSON.parse(text)].flat();
    for (const asked of [JSON.parse(body.toString())].flat()) {
      count(
        asked,
        answers.find(({ id }) => id === asked.id),
      );
    }
    return { status: answer.status, text };
  };
  const relay = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      // A league that is being stopped breaks off its last calls.
      pass(request.url ?? "/", Buffer.concat(chunks)).then(
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
  // The first match is cut to one round; the next ones are whole.
  league.manager.keep(1);
  while (seen.moves < 402) await sleep(20);
  await league.stop();
  relay.closeAllConnections();
  relay.close();
  const mean = (total: number): number => Math.round(total / seen.moves);
  return { request: mean(seen.request), reply: mean(seen.reply), callsPerMove: seen.calls / seen.moves };
}
