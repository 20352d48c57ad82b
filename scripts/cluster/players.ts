import { resolve } from "node:path";
import { runAgentProcess } from "#shared/runtime/agent.ts";
import { LOOPBACK_HOST } from "#shared/runtime/defaults.ts";
import { startPlayer } from "../../player/service.ts";

/** The players of one process. */
export interface PlayersProcess {
  readonly name: string;
  readonly data: string;
  /** The endpoint of the managers. */
  readonly manager: string;
  readonly players: readonly { readonly name: string; readonly port: number; readonly leagueIds: readonly string[] }[];
}

/** A process with many players of the bot `random` on separate ports: `node scripts/cluster/players.ts JSON`. */
const { name, data, manager, players } = JSON.parse(process.argv[2] ?? "") as PlayersProcess;
const dataFolder = resolve(data);

await runAgentProcess(name, dataFolder, async (self) => {
  const started = await Promise.all(
    players.map(({ name, port, leagueIds }) =>
      startPlayer({ bot: "random", name, host: LOOPBACK_HOST, ports: [port], manager, leagueIds, dataFolder }, self),
    ),
  );
  return {
    async stop() {
      await Promise.all(started.map((player) => player.stop()));
    },
  };
});
