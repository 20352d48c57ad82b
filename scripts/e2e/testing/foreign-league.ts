/** A league of players of other dialects, whose manager and referees are separate processes. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import { storedState } from "../../../league-manager/testing/stored-state.ts";
import { type ForeignPlayer, type ForeignPlayerOptions, foreignPlayer } from "../../testing/foreign-player.ts";
import { newFolder, type Running, start } from "../../testing/processes.ts";

/** The processes that a test has not started yet, and the players, which run in the process of the test. */
export interface ForeignLeague {
  /** The nth player of the options has the id P0n. */
  readonly players: readonly ForeignPlayer[];
  startManager(): Promise<Running>;
  startReferee(number: 1 | 2): Promise<Running>;
  /** Starts the players: one after the other, so that their ids are in their order. Those that the config does not list with a dialect register. */
  startPlayers(): Promise<void>;
  /** The matches that the manager has stored. */
  matches(): Promise<readonly { matchId: string; epoch: number; termination: string | undefined }[]>;
}

/** Prepares the league `l`, which begins when all players are registered. Without `dialect` a player registers itself. */
export async function foreignLeague(game: object, options: readonly ForeignPlayerOptions[]): Promise<ForeignLeague> {
  const [managerPort = 0, firstReferee = 0, secondReferee = 0, ...ports] = await freePorts(3 + options.length);
  const programs = options.map(foreignPlayer);
  const folder = newFolder();
  const manager = `http://127.0.0.1:${managerPort}/mcp`;
  const base = ["--data", folder, "--port"];
  const config = {
    manager: { port: managerPort },
    referees: { count: 0 },
    players: programs.map(({ name, dialect }, index) => ({
      name,
      ...(dialect === undefined ? { self: true } : { dialect, endpoint: `http://127.0.0.1:${ports[index]}/mcp` }),
    })),
    leagues: [{ league_id: "l", ...game }],
    timeouts: { join_ms: 60_000, move_ms: 60_000 },
  };
  const file = join(folder, "league.json");
  writeFileSync(file, JSON.stringify(config));
  const players = `${programs.length}`;
  return {
    players: programs.map(({ player }) => player),
    async startManager() {
      const args = [...base, `${managerPort}`, "--config", file, "--players", players];
      const running = start("league-manager/main.ts", args);
      await running.line(/league manager at/);
      return running;
    },
    async startReferee(number) {
      const port = number === 1 ? firstReferee : secondReferee;
      const running = start("referee/main.ts", [...base, `${port}`, "--manager", manager]);
      await running.line(/registered as REF/);
      return running;
    },
    async startPlayers() {
      for (const [index, { start: startPlayer, name }] of programs.entries()) {
        const { stop } = await startPlayer({ name, port: ports[index] ?? 0, manager, dataFolder: folder });
        onTestFinished(stop);
      }
    },
    async matches() {
      const { leagues } = await storedState(folder, ["l"]);
      const matches = leagues.get("l")?.rounds.flatMap((round) => round.matches) ?? [];
      return matches.map(({ matchId, epoch, outcome }) => ({ matchId, epoch, termination: outcome?.termination }));
    },
  };
}

/** Ends a process as a crash does. */
export async function crash(running: Running): Promise<void> {
  running.signal("SIGKILL");
  await running.ended;
}
