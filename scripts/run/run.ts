import { join } from "node:path";
import type { Clock } from "#shared/lib/clock.ts";
import { readInterfaces } from "#shared/rpc/http/network-interfaces.ts";
import { EXIT } from "#shared/runtime/process/exit.ts";
import { createSupervisor, type Supervisor } from "#shared/runtime/process/supervisor.ts";
import type { ResultsDocument } from "../../league-manager/projections/document.ts";
import type { LiveEvent } from "../../league-manager/projections/live.ts";
import { managerUrls } from "../commands/manager-addresses.ts";
import { managerUrlOf, startAgents } from "./agents.ts";
import type { Progress } from "./progress.ts";
import type { RunFolder } from "./run-folder.ts";
import { StuckLeagues } from "./stuck-leagues.ts";

interface RunOptions {
  readonly folder: RunFolder;
  readonly progress: Progress;
  readonly clock: Clock;
  /** Lines that are shown even without progress: warnings and errors. */
  readonly warn: (line: string) => void;
  /** Stay up after the last league until interrupted. */
  readonly keep: boolean;
  /**
   * Called once: when every league is completed, before the agents are stopped; or after that, when some leagues are completed and the others
   * cannot start.
   */
  readonly onCompleted: (document: ResultsDocument) => void;
}

/**
 * Plays every league of a config with an agent process each, and stops them all however it ends.
 * Resolves with the exit code: 0, 1 when an agent could not be kept alive, 3 when one is set up wrongly, 130 when interrupted.
 */
export async function runLeagues(options: RunOptions): Promise<number> {
  const { folder, progress, warn } = options;
  const ended = Promise.withResolvers<number>();
  const leagues = new StuckLeagues(folder.config.leagues.length);
  let hasBegun = folder.isResumed;
  let isFinished = false;
  const supervisor = createSupervisor({
    clock: options.clock,
    onEvent(event) {
      const live = event as LiveEvent;
      hasBegun ||= live.type === "league_started" || live.type === "match_completed";
      progress.event(live);
      if (live.type === "all_completed") finish();
      else if (live.type === "league_stuck") warn(`${live.league_id} cannot start: ${live.why}`);
      leagues.event(live);
      if (leagues.isStuck && !options.keep) ended.resolve(EXIT.failed);
    },
    onLine: (agent, line) => warn(`${agent}: ${line}`),
    onFatal(message, exitCode) {
      warn(message);
      ended.resolve(exitCode);
    },
  });
  const fail = (thrown: unknown): void => {
    warn(String(thrown));
    ended.resolve(EXIT.failed);
  };
  const finish = (): void => {
    // With --keep a manager that is started again reports the end again. The results are reported once.
    if (isFinished) return;
    isFinished = true;
    folder.finish("completed");
    progress.end();
    report().then(() => !options.keep && ended.resolve(EXIT.ok), fail);
  };

  endOnSignals(ended.resolve);
  startAll(supervisor, options).catch(fail);
  // Loaded while the agents start.
  const reading = import("../../league-manager/projections/kept-document.ts");
  const report = async (): Promise<void> => {
    const { keptDocument } = await reading;
    options.onCompleted(keptDocument(folder.config, join(folder.path, "league-manager.sqlite")));
  };
  const exitCode = await ended.promise;
  // A run that has begun has not failed: it can be resumed, also after a fault of its setup has been corrected.
  if (exitCode !== EXIT.ok && !hasBegun) folder.finish("failed");
  progress.end();
  await supervisor.stop();
  if (leagues.isStuck && leagues.completed > 0 && !options.keep && exitCode === EXIT.failed) await report();
  return exitCode;
}

/** A second signal ends the command at once. Its agents stop because they lose their parent. */
function endOnSignals(end: (exitCode: number) => void): void {
  let signals = 0;
  const interrupt = (): void => {
    if (++signals > 1) process.exit(EXIT.interrupted);
    end(EXIT.interrupted);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, interrupt);
}

/** Starts the agents, and says where the manager is if people need to know. */
async function startAll(supervisor: Supervisor, { folder, keep, warn }: RunOptions): Promise<void> {
  const { config } = folder;
  const place = { dataFolder: folder.path, configFile: folder.configFile, managerUrl: managerUrlOf(config) };
  const { manager, others } = startAgents(supervisor, config, place, ["--seed", folder.seed, "--roster"]);
  await manager;
  const [url] = managerUrls(config, readInterfaces());
  if (keep) {
    warn(`the league's page is ${url}/`);
    warn(`the operator token is in ${join(folder.path, "operator-token")}`);
  }
  const guests = config.players.flatMap((player) => ("self" in player ? [player.name] : []));
  if (guests.length > 0) {
    const seconds = config.timeouts.registration_ms / 1000;
    warn(`waiting for ${guests.join(", ")} to register at ${url}/mcp, at most ${seconds} s`);
  }
  await Promise.all(others);
}
