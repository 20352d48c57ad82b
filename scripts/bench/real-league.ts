import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import type { SeveralPlayers } from "../../player/several.ts";
import { launch, type Measured, temporaryFolder } from "./process.ts";

/** The id of the league. */
export const LEAGUE = "bench";

interface RealLeagueOptions {
  /** The fields of the league in the config, without its id. */
  readonly league: object;
  /** The number of players, which share a process. */
  readonly players: number;
  /** The number of matches that the referee plays at the same time; default: 64. */
  readonly maxMatches?: number;
  /** Arguments of Node.js for all processes. */
  readonly nodeArgs?: readonly string[];
}

/** A league with a manager, a referee and players, each in a process. */
interface RealLeague {
  /** The origin of the manager. */
  readonly url: string;
  readonly manager: Measured;
  readonly referee: Measured;
  readonly players: Measured;
  /** Returns the number of moves that the referee has committed. */
  moves(): number;
  /** Returns the number of completed matches. */
  completed(): Promise<number>;
  stop(): Promise<void>;
}

/** Starts a league of players with the bot `random`. */
export async function startRealLeague({
  league,
  players: count,
  maxMatches = 64,
  nodeArgs = [],
}: RealLeagueOptions): Promise<RealLeague> {
  const data = temporaryFolder();
  const [managerPort = 0, refereePort = 0, ...ports] = await freePorts(2 + count);
  const url = `http://127.0.0.1:${managerPort}`;
  const config = join(data, "config.json");
  writeFileSync(config, JSON.stringify({ leagues: [{ league_id: LEAGUE, min_players: count, ...league }] }));
  const managerArgs = ["--config", config, "--data", data, "--port", String(managerPort)];
  const manager = await launch("league-manager/main.ts", managerArgs, { nodeArgs });
  const agentArgs = ["--manager", `${url}/mcp`, "--data", data];
  const refereeArgs = ["--port", String(refereePort), "--max-matches", String(maxMatches), ...agentArgs];
  const referee = await launch("referee/main.ts", refereeArgs, { nodeArgs });
  const players = await launchPlayers({ data, manager: `${url}/mcp`, ports, nodeArgs });
  const moves = moveCount(join(data, `referee-${refereePort}.sqlite`));
  return {
    url,
    manager,
    referee,
    players,
    moves,
    async completed() {
      const response = await fetch(`${url}/api/leagues/${LEAGUE}`);
      const { league: document } = (await response.json()) as { league: { completed: number } };
      return document.completed;
    },
    async stop() {
      moves.close();
      for (const one of [players, referee, manager]) await one.stop();
      rmSync(data, { recursive: true, force: true });
    },
  };
}

interface Players {
  /** The folder of their data. */
  readonly data: string;
  /** The endpoint of their manager. */
  readonly manager: string;
  /** A port for each player. */
  readonly ports: readonly number[];
  readonly nodeArgs?: readonly string[];
}

/** Starts one process with a player for each port, which have the bot `random`. */
export function launchPlayers({ data, manager, ports, nodeArgs = [] }: Players): Promise<Measured> {
  const several: SeveralPlayers = {
    name: "players",
    data,
    games: [],
    players: ports.map((port) => ({
      name: `player ${port}`,
      bot: "random",
      host: "127.0.0.1",
      ports: [port],
      manager,
      dataFolder: data,
    })),
  };
  return launch("player/several.ts", [JSON.stringify(several)], { nodeArgs });
}

/** The number of moves that a referee has committed to its file. */
interface MoveCount {
  (): number;
  close(): void;
}

/** Counts moves in the file of a referee. */
export function moveCount(file: string): MoveCount {
  const db = openSqlite(file, "");
  // Rows are never deleted, so the last rowid is the number of rows. One row of each session is not a move.
  const count = db.prepare(
    "SELECT (SELECT coalesce(max(rowid), 0) FROM log) - (SELECT count(*) FROM sessions) AS moves",
  );
  return Object.assign(() => Number(count.get()?.moves), { close: () => db.close() });
}
