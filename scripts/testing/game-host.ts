import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import { callerOf, type TestHost } from "../../referee/rest/testing/host.ts";
import { newFolder, type Running, root, start } from "./processes.ts";

export const STARTER_GAME = readFileSync(join(root, "scripts/starters/game/game.ts"), "utf8");

/** Writes the starter of a game, whose id is nim.v1, into a folder. Returns its path. */
export function gameIn(folder: string): string {
  const file = join(folder, "nim.ts");
  writeFileSync(file, STARTER_GAME);
  return file;
}

/** A session host as a real process. */
interface GameHost extends Pick<TestHost, "url" | "call"> {
  /** Stops the process and starts it again with the same data and these files of games. Resolves with the new process. */
  restart(games: readonly string[]): Promise<Running>;
  stop(): Promise<void>;
}

/** Starts a session host with files of games on a free port of loopback. `cleanUp` removes its data folder. */
export async function startGameHost(games: readonly string[]): Promise<GameHost> {
  const port = await freePort();
  const data = newFolder();
  const url = `http://127.0.0.1:${port}`;
  const run = async (files: readonly string[]): Promise<Running> => {
    const args = ["--alone", "--port", String(port), "--data", data, ...files.flatMap((file) => ["--game", file])];
    const host = start("referee/main.ts", args);
    await host.line(/session host at/);
    // fetch may have open connections to the previous host at this port. Each of them fails once.
    while (!(await fetch(`${url}/health`).catch(() => null)));
    return host;
  };
  let host = await run(games);
  const stop = async (): Promise<void> => {
    host.signal("SIGINT");
    await host.ended;
  };
  return {
    url,
    call: callerOf(url),
    async restart(files) {
      await stop();
      host = await run(files);
      return host;
    },
    stop,
  };
}
