import type { SeveralPlayers } from "../../player/several.ts";
import { launch, type Measured } from "./process.ts";

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
    ...{ name: "players", data, games: [] },
    players: ports.map((port) => ({
      ...{ name: `player ${port}`, bot: "random", host: "127.0.0.1", ports: [port] },
      ...{ manager, dataFolder: data },
    })),
  };
  return launch("player/several.ts", [JSON.stringify(several)], { nodeArgs });
}
