import { resolve } from "node:path";
import { Timeouts } from "#shared/protocol/timeouts.ts";
import { runAgentProcess } from "#shared/runtime/agent.ts";
import { PORT_RANGES, portsFrom } from "#shared/runtime/ports.ts";
import { startPlayer } from "../player/service.ts";

export interface JoinFlags {
  readonly manager: string;
  readonly name?: string;
  readonly port?: number;
  readonly league?: string[];
  readonly joinCode?: string;
  readonly data: string;
}

/** `league join`: this process becomes one player, until it is stopped. */
export const join = (bot: string, flags: JoinFlags): Promise<void> =>
  runAgentProcess(flags.name ?? `player-${flags.port ?? process.pid}`, resolve(flags.data), (self) =>
    startPlayer(
      {
        bot,
        name: flags.name ?? null,
        host: null,
        ports: flags.port === undefined ? portsFrom(PORT_RANGES.player) : [flags.port],
        manager: flags.manager,
        joinCode: flags.joinCode ?? null,
        leagueIds: flags.league ?? null,
        registerTimeoutMs: Timeouts.parse({}).league_register_ms,
        limitLoopback: false,
        dataFolder: resolve(flags.data),
      },
      self,
    ),
  );
