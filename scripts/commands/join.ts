import { resolve } from "node:path";
import { runAgentProcess } from "#shared/runtime/agent.ts";
import { inspectAddress, type PermissionFlags, permissionsOf } from "#shared/runtime/command-options.ts";
import { loadGames } from "#shared/runtime/game-files.ts";
import { startPlayer } from "../../player/service.ts";

interface JoinFlags extends PermissionFlags {
  readonly manager: string;
  readonly name?: string;
  readonly port?: number;
  readonly league?: string[];
  readonly joinCode?: string;
  readonly pull?: boolean;
  readonly verbose?: boolean;
  readonly inspect?: boolean;
  readonly inspectPort: number;
  readonly data: string;
  readonly game: readonly string[];
}

/** `league join`: runs one player in this process until it is stopped. Without `--league` it enters each league that is opened when its leagues are over. */
export const join = (bot: string, flags: JoinFlags): Promise<void> =>
  runAgentProcess(flags.name ?? `player-${flags.port ?? process.pid}`, resolve(flags.data), async (self) => {
    await loadGames(flags.game);
    return startPlayer(
      {
        bot,
        name: flags.name,
        ports: flags.port === undefined ? undefined : [flags.port],
        manager: flags.manager,
        joinCode: flags.joinCode,
        pull: flags.pull,
        verbose: flags.verbose,
        inspect: inspectAddress(flags),
        allow: permissionsOf(flags),
        leagueIds: flags.league,
        entersLater: flags.league === undefined,
        dataFolder: resolve(flags.data),
      },
      self,
    );
  });
