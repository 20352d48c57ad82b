import { mkdirSync } from "node:fs";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { systemClock } from "#shared/lib/clock.ts";
import type { TimeControl } from "#shared/lib/time-control.ts";
import { readInterfaces, wildcardHost } from "#shared/rpc/http/machine-addresses.ts";
import type { Config } from "#shared/runtime/config/config.ts";
import { isStartedElsewhere } from "#shared/runtime/config/players.ts";
import { lockStore } from "#shared/runtime/files/locked-store.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { createSupervisor } from "#shared/runtime/process/supervisor.ts";
import { qrCode } from "#shared/runtime/qr-code.ts";
import type { LiveEvent } from "../../league-manager/projections/live-events.ts";
import { managerUrlOf, startAgents } from "../run/agents.ts";
import { type FormatFlags, withClock, withFormat } from "../run/config-overrides.ts";
import { writeJsonAtomically } from "../run/json-file.ts";
import { createProgress } from "../run/progress.ts";
import { standingsTable, withResult } from "../run/tables.ts";
import { addressLines, isOpenToNetwork, managerUrls, openCommand, startHint } from "./manager-addresses.ts";
import { assertDatabaseUrl } from "./open-database.ts";
import { readConfig } from "./run.ts";

interface ServeFlags extends FormatFlags {
  /** Replaces the clocks of all leagues of the config. */
  readonly clock?: TimeControl;
  readonly players?: number;
  readonly seed?: string;
  /** Whether the manager listens on every address, so that other machines can join. */
  readonly lan?: boolean;
  readonly joinCode?: string;
  /** The data folder; absent for the config's. */
  readonly data?: string;
  /** The PostgreSQL database that several managers share; absent for a file in the data folder. */
  readonly database?: string;
  /** The address at which the other managers reach this one. */
  readonly url?: string;
  readonly port?: number;
  readonly host?: string;
  /** The number of referees; absent for the config's. */
  readonly referees?: number;
}

const URL_WITHOUT_DATABASE =
  "--url is for several managers on one database, and no database is named: set DATABASE_URL or --database";
const ALL_OVER = "Every league is over. The standings stay on the page.";
/** How the operator of a manager whose leagues are over plays another one. */
const newLeagues = (config: Config): string =>
  `To play another one, enter in another terminal: ${openCommand(config)}. To play leagues with other settings, enter this command again, with another league_id in the config or with --data FOLDER.`;

/**
 * `league serve`: runs a manager and referees until it is interrupted. It starts no players: those of the config with a bot are ignored. Resolves with
 * the exit code. Rejects with StartError if the config is wrong or its data folder is in use.
 */
export async function serve(configFile: string, flags: ServeFlags): Promise<number> {
  if (flags.url !== undefined && !flags.database) throw new StartError(URL_WITHOUT_DATABASE, EXIT.usage);
  if (flags.database) await assertDatabaseUrl(flags.database);
  const config = await servedConfig(configFile, flags);
  // As in every agent, only the user of this process may read the files that it creates.
  process.umask(0o077);
  const servedConfigFile = join(config.data, "serve.json");
  mkdirSync(config.data, { recursive: true, mode: 0o700 });
  // A manager that is restarted reads this file, so no other process may write it while this command runs.
  const lock = lockServed(servedConfigFile, config.data);
  writeJsonAtomically(servedConfigFile, config);

  const progress = createProgress(process.stderr, systemClock, { showsRegistrations: true });
  let areAllOver = false;
  const over = new Set<string>();
  const ended = Promise.withResolvers<number>();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => ended.resolve(EXIT.interrupted));
  const supervisor = createSupervisor({
    clock: systemClock,
    onEvent(event) {
      const live = event as LiveEvent;
      progress.event(live);
      if (live.type === "league_completed") {
        over.add(live.league_id);
        progress.line(withResult(standingsTable(live.league_id, live.standings), live.result));
      }
      if (live.type === "all_completed") {
        areAllOver = true;
        progress.line(flags.database ? ALL_OVER : `${ALL_OVER} ${newLeagues(config)}`);
      }
    },
    onLine: (agent, line) => progress.line(`${agent}: ${line}`),
    onFatal(message, exitCode) {
      progress.line(message);
      ended.resolve(exitCode);
    },
  });
  const location = {
    dataFolder: config.data,
    configFile: servedConfigFile,
    managerUrl: managerUrlOf(config),
    // Referees of all managers of a database have different names.
    ...(flags.database && { database: flags.database, refereeNames: `Referee ${hostname()}:${config.manager.port}` }),
  };
  const managerArgs = [
    ...(flags.seed === undefined ? [] : ["--seed", flags.seed]),
    ...(flags.players === undefined ? [] : ["--players", String(flags.players)]),
    ...(flags.url === undefined ? [] : ["--url", flags.url]),
  ];
  const start = async (): Promise<void> => {
    const { manager, others } = startAgents(supervisor, config, location, managerArgs);
    await Promise.all(others);
    await manager;
    const interfaces = readInterfaces();
    const page = `${managerUrls(config, interfaces)[0]}/`;
    if (areAllOver) return progress.line(`The page is ${page}`);
    for (const line of addressLines(config, interfaces)) progress.line(line);
    const code = isOpenToNetwork(config) ? await qrCode(page, process.stderr) : [];
    if (code.length > 0) progress.line(code.join("\n"));
    progress.line(`The operator token is in ${join(config.data, "operator-token")}`);
    if (isStartedByOperator(config, flags)) for (const line of startHint(config, over)) progress.line(line);
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

/** Locks the config of a served folder. Throws StartError if another process serves the folder. */
function lockServed(file: string, data: string): NonNullable<ReturnType<typeof lockStore>> {
  const lock = lockStore(file);
  if (lock) return lock;
  throw new StartError(
    `${data} is served by another process: end it with Ctrl-C in its terminal, or name another folder with --data FOLDER`,
  );
}

/** Returns the config with the options of the command, and only with the players that join by themselves. */
async function servedConfig(
  configFile: string,
  { data, lan, joinCode, port, host, referees, ...flags }: ServeFlags,
): Promise<Config> {
  const read = await readConfig(configFile);
  for (const notice of read.notices) process.stderr.write(`${notice}\n`); // it runs until it is stopped
  const config = withFormat(withClock(read.config, flags.clock), flags);
  return {
    ...config,
    ...(data !== undefined && { data: resolve(data) }),
    manager: {
      ...config.manager,
      ...(port !== undefined && { port }),
      ...(host !== undefined && { host }),
      ...(lan && { host: wildcardHost(readInterfaces()) }),
      ...(joinCode !== undefined && { join_code: joinCode }),
    },
    ...(referees !== undefined && { referees: { ...config.referees, count: referees } }),
    players: config.players.filter(isStartedElsewhere),
  };
}

/** Whether the operator must start a league, because neither the command nor the config sets a number of players for it. */
const isStartedByOperator = ({ players, leagues }: Config, flags: ServeFlags): boolean =>
  flags.players === undefined && players.length === 0 && leagues.some(({ min_players }) => min_players === undefined);
