import { resolve } from "node:path";
import { runAgentProcess } from "#shared/runtime/agent.ts";
import { startPlayer } from "../../player/service.ts";

/** A process with players on separate ports: `node scripts/bench/pair.ts DATA MANAGER PORT…`. */
const [data = "", manager = "", ...ports] = process.argv.slice(2);
const dataFolder = resolve(data);

await runAgentProcess("pair", dataFolder, async (self) => {
  const players = await Promise.all(
    ports.map((port) =>
      startPlayer(
        {
          name: `pair-${port}`,
          host: "127.0.0.1",
          ports: [Number(port)],
          manager,
          dataFolder,
        },
        self,
      ),
    ),
  );
  return {
    async stop() {
      await Promise.all(players.map((player) => player.stop()));
    },
  };
});
