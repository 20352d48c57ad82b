/** A league in this process: a real manager, a real referee and players that make their moves when a test requests it. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Envelope } from "#shared/protocol/envelope.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { serveTools } from "#shared/rpc/testing/loopback.ts";
import type { AgentProcess, RunningAgent } from "#shared/runtime/agent.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { openLog } from "#shared/runtime/process/logger.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import { startManager } from "../../../league-manager/service.ts";
import { tool } from "../../../referee/play/testing/play.ts";
import type { Place } from "../../../referee/play/testing/surfaces.ts";
import { callerOf } from "../../../referee/rest/testing/host.ts";
import { startReferee } from "../../../referee/service.ts";
import { type ControlledPlayer, controlledPlayer, type Received } from "../../testing/controlled-player.ts";

/** The texts that were read at one moment, by viewer and surface. */
export type Moment = ReadonlyMap<string, ReadonlyMap<string, string>>;

export const LEAGUE = "game";
/** The match with the hidden information. */
export const MATCH = "R1M1";
/** The time limit of a move. It is longer than a test, because players do not answer until the test requests it. */
const TIME_LIMIT_MS = 120_000;

interface LeagueOptions {
  readonly game: string;
  readonly options: object;
  /** The number of roles. There are three matches in a round. */
  readonly roles: number;
  readonly runSeed: string;
}

/** All lines that the process of an agent writes: its log, its terminal, and its reports to its parent. */
interface Output {
  /** Resolves with the lines since the last call. */
  drain(): Promise<readonly string[]>;
}

export interface ControlledLeague {
  readonly manager: Place;
  readonly managerOutput: Output;
  readonly managerPort: number;
  /** The referee of the match, which also plays `otherMatch`. */
  readonly referee: Place;
  readonly refereeOutput: Output;
  readonly refereePort: number;
  readonly refereeToken: string;
  /** A referee that has accepted another match and does not play it. */
  readonly otherReferee: { readonly token: string; readonly received: readonly Received[] };
  readonly operatorToken: string;
  readonly dataFolder: string;
  /** The players by their role in the match. */
  readonly seats: ReadonlyMap<string, ControlledPlayer>;
  /** The players by their role in another match at the same referee. */
  readonly others: ReadonlyMap<string, ControlledPlayer>;
  readonly otherMatch: string;
  close(): Promise<void>;
}

/** Starts a league. Resolves when the matches of its first round have begun. */
export async function startControlledLeague({
  game,
  options,
  roles,
  runSeed,
}: LeagueOptions): Promise<ControlledLeague> {
  const dataFolder = mkdtempSync(join(tmpdir(), "controlled-league-"));
  const ends: (() => unknown)[] = [() => rmSync(dataFolder, { recursive: true, force: true })];
  const count = 3 * roles;
  const config = Config.parse({
    leagues: [{ league_id: LEAGUE, game, options, min_players: count }],
    timeouts: { move_ms: TIME_LIMIT_MS, join_ms: TIME_LIMIT_MS },
  });
  const [managerProcess, refereeProcess] = [recorded("manager", dataFolder), recorded("referee", dataFolder)];
  const begun = async (agent: Promise<RunningAgent>, { ready }: Recorded): Promise<string> => {
    const running = await agent;
    ends.push(() => running.stop());
    return ready;
  };
  const { self, live } = managerProcess;
  const manager = await begun(
    startManager({ config, port: 0, dataFolder, seed: runSeed, onEvent: live }, self),
    managerProcess,
  );
  const place = { name: "Referee 1", host: "127.0.0.1", ports: [0], manager: `${manager}/mcp`, dataFolder };
  const referee = await begun(startReferee({ ...place, maxConcurrentMatches: 2 }, refereeProcess.self), refereeProcess);
  await refereeProcess.registered;
  const otherReferee = await acceptingReferee(manager);
  ends.push(otherReferee.close);
  const players: ControlledPlayer[] = [];
  // Every second player is called over WebSockets, so that both transports are compared.
  for (let n = 1; n <= count; n++) {
    players.push(await controlledPlayer(manager, `Player ${n}`, n % 2 === 0 ? ["websocket"] : undefined));
  }
  ends.push(...players.map(({ close }) => close));
  const matches = await playedMatches(players);
  const [otherMatch = ""] = [...matches.keys()].filter((matchId) => matchId !== MATCH);
  for (const player of players) await player.receives("ROUND_START");
  await otherReferee.ordered;
  const portOf = (url: string): number => Number(new URL(url).port);
  return {
    manager: { url: manager, call: callerOf(manager) },
    referee: { url: referee, call: callerOf(referee) },
    managerOutput: managerProcess,
    refereeOutput: refereeProcess,
    otherReferee,
    dataFolder,
    otherMatch,
    managerPort: portOf(manager),
    refereePort: portOf(referee),
    refereeToken: readFileSync(join(dataFolder, "tokens", `referee-${portOf(referee)}`), "utf8").trim(),
    operatorToken: readFileSync(join(dataFolder, "operator-token"), "utf8").trim(),
    seats: matches.get(MATCH) ?? new Map(),
    others: matches.get(otherMatch) ?? new Map(),
    async close() {
      for (const end of ends.reverse()) await end();
    },
  };
}

/** Waits until the referee has begun its two matches. Returns their players by match and role. */
async function playedMatches(
  players: readonly ControlledPlayer[],
): Promise<Map<string, Map<string, ControlledPlayer>>> {
  const matches = new Map<string, Map<string, ControlledPlayer>>();
  const isBegun = async (player: ControlledPlayer): Promise<void> => {
    const { match_id, your_role } = await player.invitation();
    await player.receives("GAME_START");
    matches.set(match_id, (matches.get(match_id) ?? new Map()).set(your_role, player));
  };
  await new Promise<void>((resolve) => {
    const invited = players.length - players.length / 3;
    let begun = 0;
    for (const player of players) void isBegun(player).then(() => ++begun === invited && resolve());
  });
  if (!matches.has(MATCH)) throw new Error(`the first referee plays ${[...matches.keys()]}`);
  return matches;
}

/** Registers a referee that accepts each match and does not play it. */
async function acceptingReferee(manager: string) {
  const received: Received[] = [];
  const ordered = Promise.withResolvers<void>();
  const { url, close } = await serveTools(({ args, headers, body }) => {
    const { type, payload, auth_token } = Envelope.parse(args);
    received.push({ type, payload, signature: auth_token ?? "", bytes: JSON.stringify(headers) + body });
    const types = new Set(received.map((one) => one.type));
    if (types.has("START_GAME") && types.has("ROUND_START")) ordered.resolve();
    return newEnvelope("START_GAME_RESPONSE", "referee:REF02", { status: "ACCEPTED" });
  });
  const referee = { referee_name: "Referee 2", endpoint: url, max_concurrent_matches: 1 };
  const { value } = await tool({ url: manager }, "register_referee", referee);
  return { token: String(value.auth_token), received, ordered: ordered.promise, close };
}

interface Recorded extends Output {
  readonly self: AgentProcess;
  readonly ready: Promise<string>;
  readonly registered: Promise<void>;
  live(event: object): void;
}

/** The process of an agent whose output is recorded. */
function recorded(name: string, dataFolder: string): Recorded {
  const file = join(dataFolder, "logs", `${name}.log`);
  const log = openLog(file, name);
  const lines: string[] = [];
  const ready = Promise.withResolvers<string>();
  const registered = Promise.withResolvers<void>();
  const say = (line: string): void => {
    lines.push(line);
    if (line.startsWith("registered")) registered.resolve();
  };
  const self = silentProcess(name, {
    log,
    say,
    warn: say,
    report(report) {
      lines.push(JSON.stringify(report));
      if (report.type === "ready") ready.resolve(report.url);
    },
  });
  let read = 0;
  return {
    self,
    ready: ready.promise,
    registered: registered.promise,
    live: (event) => void lines.push(JSON.stringify(event)),
    async drain() {
      await new Promise((resolve) => log.flush(resolve));
      const logged = readFileSync(file, "utf8").split("\n").slice(0, -1);
      const newLines = [...logged.slice(read), ...lines.splice(0)];
      read = logged.length;
      return newLines;
    },
  };
}
