import { join } from "node:path";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import { newFolder, type Running, start } from "./processes.ts";

/** A session host as a real process. */
interface KillableHost {
  readonly url: string;
  /** The path of its database file. */
  readonly database: string;
  /** Kills the host with SIGKILL and starts it again with the same data. */
  kill(): Promise<void>;
  /** Stops the host with SIGTERM. */
  stop(): Promise<void>;
}

/** Starts a session host on a free port of loopback. `cleanUp` removes its data folder. */
export async function startKillableHost(): Promise<KillableHost> {
  const port = await freePort();
  const data = newFolder();
  const run = async (): Promise<Running> => {
    const host = start("referee/main.ts", ["--alone", "--port", String(port), "--data", data]);
    await host.line(/session host at/);
    return host;
  };
  let host = await run();
  const endWith = async (signal: NodeJS.Signals): Promise<void> => {
    host.signal(signal);
    await host.ended;
  };
  return {
    url: `http://127.0.0.1:${port}`,
    database: join(data, `referee-${port}.sqlite`),
    async kill() {
      await endWith("SIGKILL");
      host = await run();
    },
    stop: () => endWith("SIGTERM"),
  };
}
