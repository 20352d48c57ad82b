import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { Clock } from "#shared/lib/clock.ts";
import { readInterfaces } from "#shared/rpc/http/machine-addresses.ts";
import { EXIT } from "#shared/runtime/process/exit.ts";
import { createSupervisor, type Supervisor } from "#shared/runtime/process/supervisor.ts";
import type { LiveEvent } from "../../league-manager/projections/live-events.ts";
import type { ResultsDocument } from "../../league-manager/projections/results-document.ts";
import { managerUrls } from "../commands/manager-addresses.ts";
import { managerUrlOf, startAgents } from "./agents.ts";
import type { PlayerProcess } from "./player-specs.ts";
import type { Progress } from "./progress.ts";
import type { RunFolder } from "./run-folder.ts";
import { sharedProcessorsWarning } from "./shared-processors.ts";
import { StuckLeagues } from "./stuck-leagues.ts";

interface RunOptions {
  readonly folder: RunFolder;
  readonly progress: Progress;
  readonly clock: Clock;
  /** Prints a warning or an error, even if no progress is shown. */
  readonly warn: (line: string) => void;
  /** Returns the options of the process of a player (default: none). */
  readonly processOf?: (player: string) => PlayerProcess;
  /** Whether the agents keep running after the last league until the command is interrupted. */
  readonly keep: boolean;
  /**
   * Called at most once: before the agents are stopped if every league is completed; after they are stopped if some leagues are completed and the
   * others cannot start.
   */
  readonly onCompleted: (document: ResultsDocument) => void;
}

/**
 * Plays the leagues of a run with one process for each agent, and stops all processes at the end. Resolves with the exit code: 0; 1 if an agent fails
 * repeatedly or a league cannot start; 3 if an agent is configured wrongly; 130 after a signal.
 */
export async function runLeagues(options: RunOptions): Promise<number> {
  const { folder, progress, warn } = options;
  const ended = Promise.withResolvers<number>();
  const leagues = new StuckLeagues(folder.config.leagues.length);
  let hasBegun = folder.isResumed;
  const registered = new Set<string>();
  let isFinished = false;
  const supervisor = createSupervisor({
    clock: options.clock,
    onEvent(event) {
      const live = event as LiveEvent;
      hasBegun ||= live.type === "league_started" || live.type === "match_completed";
      if (live.type === "registered") registered.add(live.name);
      progress.event(live);
      if (live.type === "all_completed") finish();
      else if (live.type === "league_stuck") warn(`${live.league_id} cannot start: ${live.why}`);
      leagues.event(live);
      if (leagues.isStuck && !options.keep) ended.resolve(EXIT.failed);
    },
    isAwaited: (agent) => !hasBegun && !registered.has(agent),
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
    // With --keep, a restarted manager reports the end again. The results are reported only once.
    if (isFinished) return;
    isFinished = true;
    folder.finish("completed");
    progress.end();
    report().then(() => !options.keep && ended.resolve(EXIT.ok), fail);
  };

  endOnSignals(ended.resolve);
  const processorsWarning = sharedProcessorsWarning(folder.config, availableParallelism());
  if (processorsWarning !== null) warn(processorsWarning);
  startAll(supervisor, options).catch(fail);
  // The module is loaded while the agents start.
  const loading = import("../../league-manager/projections/results-document.ts");
  const report = async (): Promise<void> => {
    const { storedDocument } = await loading;
    options.onCompleted(await storedDocument(folder.config, join(folder.path, "league-manager.sqlite")));
  };
  const exitCode = await ended.promise;
  // A run whose play has begun is not marked as failed: it can be resumed after a fault of its configuration is corrected.
  if (exitCode !== EXIT.ok && !hasBegun) folder.finish("failed");
  progress.end();
  await supervisor.stop();
  if (leagues.isStuck && leagues.completed > 0 && !options.keep && exitCode === EXIT.failed) await report();
  return exitCode;
}

/** Calls `end` at the first signal. A second signal exits immediately; the agents then stop because their parent has ended. */
function endOnSignals(end: (exitCode: number) => void): void {
  let signals = 0;
  const interrupt = (): void => {
    if (++signals > 1) process.exit(EXIT.interrupted);
    end(EXIT.interrupted);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, interrupt);
}

/** Starts the agents. Prints the address of the manager if the run is kept or players of the config start themselves. */
async function startAll(supervisor: Supervisor, { folder, keep, warn, processOf }: RunOptions): Promise<void> {
  const { config } = folder;
  const location = { dataFolder: folder.path, configFile: folder.configFile, managerUrl: managerUrlOf(config) };
  const { manager, others } = startAgents(supervisor, config, location, ["--seed", folder.seed, "--roster"], processOf);
  await manager;
  const [url] = managerUrls(config, readInterfaces());
  if (keep) {
    warn(`the league's page is ${url}/`);
    warn(`the operator token is in ${join(folder.path, "operator-token")}`);
  }
  const selfStarted = config.players.flatMap((player) => ("self" in player ? [player.name] : []));
  if (selfStarted.length > 0) {
    const seconds = config.timeouts.registration_ms / 1000;
    warn(`waiting for ${selfStarted.join(", ")} to register at ${url}/mcp, at most ${seconds} s`);
  }
  if (config.players.some((player) => "human" in player)) await invitePeople(folder, `${url}/`, warn);
  await Promise.all(others);
}

/** Prints and opens the links of the people of the config. */
async function invitePeople({ config, path }: RunFolder, url: string, warn: RunOptions["warn"]): Promise<void> {
  const { invitedPeople, openPage } = await import("../commands/people.ts");
  const seconds = config.timeouts.registration_ms / 1000;
  for (const { name, link } of invitedPeople(config, url, path)) {
    warn(`waiting for ${name} to open ${link} within ${seconds} s`);
    void openPage(link);
  }
}
