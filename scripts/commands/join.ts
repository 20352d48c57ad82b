import { resolve } from "node:path";
import { runAgentProcess } from "#shared/runtime/agent.ts";
import { startPlayer } from "../../player/service.ts";

interface JoinFlags {
  readonly manager: string;
  readonly name?: string;
  readonly port?: number;
  readonly league?: string[];
  readonly joinCode?: string;
  readonly data: string;
}

/** `league join`: runs one player in this process until it is stopped. */
export const join = (bot: string, flags: JoinFlags): Promise<void> =>
  runAgentProcess(flags.name ?? `player-${flags.port ?? process.pid}`, resolve(flags.data), (self) =>
    startPlayer(
      {
        bot,
        name: flags.name,
        ports: flags.port === undefined ? undefined : [flags.port],
        manager: flags.manager,
        joinCode: flags.joinCode,
        leagueIds: flags.league,
        dataFolder: resolve(flags.data),
      },
      self,
    ),
  );
