import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "#shared/lib/clock.ts";
import { wildcardHost } from "#shared/rpc/http/machine-addresses.ts";
import { readInterfaces } from "#shared/rpc/http/network-interfaces.ts";
import { qrCode } from "#shared/runtime/cli/qr-code.ts";
import type { Config } from "#shared/runtime/config/config.ts";
import { lockStore } from "#shared/runtime/files/locked-store.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { createSupervisor } from "#shared/runtime/process/supervisor.ts";
import type { LiveEvent } from "../../league-manager/projections/live.ts";
import { writeWhole } from "../codenames/atomic-file.ts";
import { managerUrlOf, startAgents } from "../run/agents.ts";
import { createProgress, standingsTable } from "../run/progress.ts";
import { addressLines, isOpenToNetwork, managerUrls, startHint } from "./manager-addresses.ts";
import { readConfig } from "./run.ts";

interface ServeFlags {
  readonly players?: number;
  readonly seed?: string;
  /** Listen on every address, so that other machines can join. */
  readonly lan?: boolean;
  readonly joinCode?: string;
}

const OVER =
  'Every league is over; its standings stay on the page. New ones need another folder as "data" in the config.';

/** `league serve`: manager and referees until interrupted. Players of the config that it would have to start are left out. */
export async function serve(configFile: string, flags: ServeFlags): Promise<number> {
  const read = readConfig(configFile);
  const config: Config = {
    ...read,
    manager: {
      ...read.manager,
      ...(flags.lan && { host: wildcardHost(readInterfaces()) }),
      ...(flags.joinCode !== undefined && { join_code: flags.joinCode }),
    },
    players: read.players.filter((player) => "endpoint" in player || "self" in player),
  };
  // As in every agent: the files that this process creates are for its user only, also the lock of the config and its journal.
  process.umask(0o077);
  const served = join(config.data, "serve.json");
  mkdirSync(config.data, { recursive: true, mode: 0o700 });
  // Its manager, started again, reads this file: it is written by nobody else while this command runs.
  const lock = lockStore(served);
  if (!lock) throw new StartError(`${config.data} is served by another process`);
  writeWhole(served, config);

  const progress = createProgress(process.stderr, systemClock);
  let isOver = false;
  const ended = Promise.withResolvers<number>();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => ended.resolve(EXIT.interrupted));
  const supervisor = createSupervisor({
    clock: systemClock,
    onEvent(event) {
      const told = event as LiveEvent;
      progress.event(told);
      if (told.type === "league_completed") progress.line(standingsTable(told.league_id, told.standings));
      if (told.type === "all_completed") {
        isOver = true;
        progress.line(OVER);
      }
    },
    onLine: (agent, line) => progress.line(`${agent}: ${line}`),
    onFatal(message, exitCode) {
      progress.line(message);
      ended.resolve(exitCode);
    },
  });
  const place = { dataFolder: config.data, configFile: served, managerUrl: managerUrlOf(config) };
  const extra = [
    ...(flags.seed === undefined ? [] : ["--seed", flags.seed]),
    ...(flags.players === undefined ? [] : ["--players", String(flags.players)]),
  ];
  const start = async (): Promise<void> => {
    const { manager, others } = startAgents(supervisor, config, place, extra);
    await Promise.all(others);
    await manager;
    const interfaces = readInterfaces();
    const page = `${managerUrls(config, interfaces)[0]}/`;
    if (isOver) return progress.line(`Their page is ${page}`);
    for (const line of addressLines(config, interfaces)) progress.line(line);
    const code = isOpenToNetwork(config) ? await qrCode(page, process.stderr) : [];
    if (code.length > 0) progress.line(code.join("\n"));
    progress.line(`The operator token is in ${join(config.data, "operator-token")}`);
    if (isStartedByOperator(config, flags)) for (const line of startHint(config)) progress.line(line);
  };
  start().catch((thrown) => {
    progress.line(String(thrown));
    ended.resolve(EXIT.failed);
  });
  const exitCode = await ended.promise;
  progress.end();
  await supervisor.stop();
  lock.release();
  return exitCode;
}

/** Whether no number of players starts some league, neither that of the command nor that of the config. */
const isStartedByOperator = ({ players, leagues }: Config, flags: ServeFlags): boolean =>
  flags.players === undefined && players.length === 0 && leagues.some(({ min_players }) => min_players === undefined);
