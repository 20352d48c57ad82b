import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import { type ControlledPlayer, controlledPlayer } from "../../testing/controlled-player.ts";
import { newFolder, type Running, start } from "../../testing/processes.ts";

/** A league of one round with real processes of the manager and the referee. The test makes the moves of its players. */
export interface WatchedLeague {
  readonly url: string;
  readonly refereeUrl: string;
  readonly players: readonly ControlledPlayer[];
  /** Answers the next move request of the player of a role in the first match. */
  play(role: string, ...moves: readonly unknown[]): Promise<void>;
  /** The tick of the open request for a move. */
  tick(): Promise<number>;
  /** Kills a process with SIGKILL. */
  kill(name: "manager" | "referee"): Promise<void>;
  /** Starts a process again. Resolves for the referee when it has repeated its request for a move. */
  restart(name: "manager" | "referee"): Promise<void>;
}

/** Starts a league of two players with these names. Resolves when both players are invited. */
export async function startWatchedLeague(league: object, names: readonly string[]): Promise<WatchedLeague> {
  const folder = newFolder();
  const [port = 0, refereePort = 0] = await freePorts(2);
  const url = `http://127.0.0.1:${port}`;
  const config = {
    manager: { port },
    leagues: [league],
    timeouts: { move_ms: 120_000, join_ms: 20_000, game_over_ms: 500, default_ms: 5_000 },
  };
  writeFileSync(join(folder, "league.json"), JSON.stringify(config));
  const data = ["--data", join(folder, "data")];
  const begin = {
    async manager(): Promise<Running> {
      const players = ["--players", String(names.length)];
      const manager = start("league-manager/main.ts", ["--config", join(folder, "league.json"), ...data, ...players]);
      await manager.line(/league manager at http/);
      return manager;
    },
    async referee(): Promise<Running> {
      const args = ["--port", String(refereePort), "--manager", `${url}/mcp`, ...data];
      const referee = start("referee/main.ts", args);
      await referee.line(/referee at http/);
      return referee;
    },
  };
  const running = { manager: await begin.manager(), referee: await begin.referee() };
  const players: ControlledPlayer[] = [];
  for (const name of names) {
    const player = await controlledPlayer(url, name);
    players.push(player);
    onTestFinished(() => player.close());
  }
  const roleOf = new Map<string, ControlledPlayer>();
  for (const player of players) roleOf.set((await player.invitation()).your_role, player);
  return {
    url,
    refereeUrl: `http://127.0.0.1:${refereePort}`,
    players,
    async play(role, ...moves) {
      for (const move of moves) await roleOf.get(role)?.answer(move);
    },
    tick: async () => (await Promise.any(players.map((player) => player.asked()))).tick,
    async kill(name) {
      running[name].signal("SIGKILL");
      await running[name].ended;
    },
    async restart(name) {
      const asked = players.map(({ received }) => received.filter(({ type }) => type === "MOVE_REQUEST").length);
      running[name] = await begin[name]();
      // The open request of the killed referee has no reader any more.
      if (name === "referee")
        await Promise.any(players.map((player, index) => player.receives("MOVE_REQUEST", (asked[index] ?? 0) + 1)));
    },
  };
}
