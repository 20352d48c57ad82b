import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { sha256Hex } from "#shared/lib/hash.ts";
import type { TimeControl } from "#shared/lib/time-control.ts";
import { WireFault } from "#shared/protocol/messages.ts";
import { rpcRequest } from "#shared/rpc/testing/json-rpc.ts";
import type { RunningAgent } from "#shared/runtime/agent.ts";
import type { BotPermissions } from "#shared/runtime/bot-permissions.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import type { LiveEvent } from "../../league-manager/projections/live-events.ts";
import { type ResultsDocument, storedDocument } from "../../league-manager/projections/results-document.ts";
import { startManager } from "../../league-manager/service.ts";
import { startPlayer } from "../../player/service.ts";
import { startReferee } from "../../referee/service.ts";

/** The arguments with which a player of a test league is started. */
export interface TestPlace {
  readonly name: string;
  /** The manager's endpoint. */
  readonly manager: string;
  readonly port: number;
  readonly dataFolder: string;
}

/** A player of a test league: a bot, or a player that `start` starts and registers. */
export type TestPlayer =
  | {
      readonly name: string;
      readonly bot: string;
      /** What the code of a bot file may use. */
      readonly allow?: Partial<BotPermissions>;
      readonly leagueIds?: string[];
    }
  /** `dialect`: the config lists its endpoint with this dialect, so that it does not register. */
  | { readonly name: string; readonly dialect?: string; start(place: TestPlace): Promise<RunningAgent> };

/** A league as in a config. */
interface TestLeagueConfig {
  readonly league_id: string;
  readonly game: string;
  readonly options?: object;
  readonly clock?: TimeControl;
  readonly format?: string;
  readonly format_options?: object;
  readonly openings?: readonly object[];
  readonly teams?: readonly (readonly string[])[];
}

export interface TestLeagueOptions {
  readonly leagues: readonly TestLeagueConfig[];
  readonly players: readonly TestPlayer[];
  readonly referees?: number;
  /** The number of matches that a referee plays concurrently. */
  readonly maxConcurrentMatches?: number;
  /** By default players have 20 s for each answer, so that no player loses a match because the machine is slow. */
  readonly timeouts?: {
    readonly move_ms?: number;
    readonly join_ms?: number;
    readonly match_ms?: number;
    readonly registration_ms?: number;
  };
  readonly onEvent?: (event: LiveEvent) => void;
  /** The seed of the run: at least 32 hexadecimal digits; `RUN_SEED` by default. */
  readonly seed?: string;
}

/** A league of real services in this process. The nth player of the options has the id P0n. */
export interface TestLeague {
  /** The manager's endpoint. */
  readonly manager: string;
  readonly dataFolder: string;
  readonly operatorToken: string;
  readonly refereeUrls: readonly string[];
  /** The endpoint of each player, in the order of the options. */
  readonly playerUrls: readonly string[];
  /** Resolves with the results when all leagues are completed. */
  readonly completed: Promise<ResultsDocument>;
  /** Reads the resource `match://league_id/match_id` over HTTP. */
  match(leagueId: string, matchId: string): Promise<MatchResource>;
  stop(): Promise<void>;
}

const MatchResource = z.looseObject({
  match_id: z.string(),
  roles: z.record(z.string(), z.string()),
  winner: z.string().nullable(),
  points: z.record(z.string(), z.number()),
  termination: z.string(),
  reason: z.string(),
  result: z.looseObject({ faults: z.array(WireFault) }),
  log: z.array(z.string()),
});
type MatchResource = z.infer<typeof MatchResource>;

/** The seed of the run of a league whose options name none. */
export const RUN_SEED = sha256Hex("test");

/** Starts the manager, the referees and then the players. The league begins when all players are registered. */
export async function startTestLeague(options: TestLeagueOptions): Promise<TestLeague> {
  const { players, referees = 1, maxConcurrentMatches, leagues, timeouts, seed = RUN_SEED } = options;
  const ports = await freePorts(1 + referees + players.length);
  const [managerPort = 0, firstRefereePort = 0] = ports;
  const manager = `http://127.0.0.1:${managerPort}/mcp`;
  const dataFolder = mkdtempSync(join(tmpdir(), "test-league-"));
  const config = Config.parse({
    manager: { port: managerPort },
    referees: { count: referees, firstPort: firstRefereePort },
    players: players.map((player, index) => ({
      name: player.name,
      ...formOf(player, ports[1 + referees + index] ?? 0),
    })),
    leagues,
    timeouts: { move_ms: 20_000, join_ms: 20_000, game_over_ms: 500, default_ms: 1_000, ...timeouts },
  });
  const completed = Promise.withResolvers<ResultsDocument>();
  const onEvent = (event: LiveEvent): void => {
    options.onEvent?.(event);
    if (event.type === "all_completed")
      completed.resolve(storedDocument(config, join(dataFolder, "league-manager.sqlite")));
  };
  const agents: RunningAgent[] = [];
  const stop = async (): Promise<void> => {
    for (const agent of agents.splice(0).reverse()) await agent.stop();
    rmSync(dataFolder, { recursive: true, force: true });
  };
  const base = { host: "127.0.0.1", manager, dataFolder };
  try {
    agents.push(
      await startManager(
        { config, host: base.host, port: managerPort, dataFolder, seed, startWhen: "roster", onEvent },
        silentProcess("manager"),
      ),
    );
    for (const [index, port] of ports.slice(1, 1 + referees).entries()) {
      const name = `Referee ${index + 1}`;
      agents.push(
        await startReferee(
          { ...base, name, ports: [port], maxConcurrentMatches, ...SHORT_TIMEOUTS },
          silentProcess(name),
        ),
      );
    }
    for (const [index, port] of ports.slice(1 + referees).entries()) {
      agents.push(await startTestPlayer(players[index] as TestPlayer, port, base));
    }
  } catch (thrown) {
    await stop();
    throw thrown;
  }
  return {
    manager,
    dataFolder,
    operatorToken: readFileSync(join(dataFolder, "operator-token"), "utf8").trim(),
    refereeUrls: ports.slice(1, 1 + referees).map((port) => `http://127.0.0.1:${port}/mcp`),
    playerUrls: ports.slice(1 + referees).map((port) => `http://127.0.0.1:${port}/mcp`),
    completed: completed.promise,
    match: async (leagueId, matchId) =>
      MatchResource.parse(await readResource(manager, `match://${leagueId}/${matchId}`)),
    stop,
  };
}

function startTestPlayer(
  player: TestPlayer,
  port: number,
  base: { readonly host: string; readonly manager: string; readonly dataFolder: string },
): Promise<RunningAgent> {
  const { name } = player;
  if ("start" in player) return player.start({ ...base, name, port });
  const { bot, allow, leagueIds } = player;
  return startPlayer({ ...base, bot, allow, name, ports: [port], leagueIds, ...SHORT_TIMEOUTS }, silentProcess(name));
}

/** The form of a player in the config. */
function formOf(player: TestPlayer, port: number): object {
  if ("bot" in player) return { bot: player.bot };
  const { dialect } = player;
  return dialect === undefined ? { self: true } : { endpoint: `http://127.0.0.1:${port}/mcp`, dialect };
}

/** A random bot that starts after `before` has resolved. As the last player of a league it delays the start of the league until then. */
export const lastPlayer = (before: (place: TestPlace) => Promise<void>): TestPlayer => ({
  name: "Last",
  async start(place) {
    await before(place);
    const { name, port, manager, dataFolder } = place;
    const options = { name, host: "127.0.0.1", ports: [port], manager, dataFolder };
    return startPlayer({ ...options, ...SHORT_TIMEOUTS }, silentProcess(name));
  },
});

/** Timeouts that are shorter than the defaults, so that agents repeat a request sooner after a test has ended the manager. */
export const SHORT_TIMEOUTS = { registerTimeoutMs: 2_000, reportTimeoutMs: 2_000 };

const Reply = z.object({ result: z.unknown() });

/** Sends a JSON-RPC request over HTTP; resolves with its result. */
export async function callRpc(url: string, method: string, params: object): Promise<unknown> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(rpcRequest(method, params)),
  });
  return Reply.parse(await response.json()).result;
}

const Contents = z.object({ contents: z.array(z.object({ text: z.string() })).min(1) });

async function readResource(url: string, uri: string): Promise<unknown> {
  const { contents } = Contents.parse(await callRpc(url, "resources/read", { uri }));
  return JSON.parse(contents[0]?.text ?? "null");
}
