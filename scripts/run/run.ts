import { availableParallelism } from "node:os";
import { join } from "node:path";
import { findFormat } from "#shared/formats/registry.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { readInterfaces } from "#shared/rpc/http/machine-addresses.ts";
import type { Config } from "#shared/runtime/config/config.ts";
import type { PlayerConfig } from "#shared/runtime/config/players.ts";
import { EXIT } from "#shared/runtime/process/exit.ts";
import { createSupervisor, type Supervisor } from "#shared/runtime/process/supervisor.ts";
import type { LiveEvent } from "../../league-manager/projections/live-events.ts";
import type { ResultsDocument } from "../../league-manager/projections/results-document.ts";
import { isBotFile } from "../../player/loaders/bot-files.ts";
import { managerUrls } from "../commands/manager-addresses.ts";
import { managerUrlOf, type PlayerProcess, startAgents } from "./agents.ts";
import type { Progress } from "./progress.ts";
import type { RunFolder } from "./run-folder.ts";

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

/** Tracks the leagues of a run that cannot start and those that are completed. */
class StuckLeagues {
  readonly #count: number;
  readonly #completed = new Set<string>();
  readonly #stuck = new Set<string>();

  /** `count` is the number of leagues of the run. */
  constructor(count: number) {
    this.#count = count;
  }

  /** Records a live event of the manager. */
  event(event: LiveEvent): void {
    if (event.type === "league_started") this.#stuck.delete(event.league_id);
    if (event.type === "league_completed") this.#completed.add(event.league_id);
    if (event.type === "league_stuck") this.#stuck.add(event.league_id);
  }

  get completed(): number {
    return this.#completed.size;
  }

  /** Whether some leagues cannot start and all others are completed, so that the run cannot continue. */
  get isStuck(): boolean {
    return this.#stuck.size > 0 && this.#stuck.size + this.#completed.size === this.#count;
  }
}

/**
 * Returns a warning if a run may have more matches with clocks at the same time than the machine has processors, and their players are engines and
 * programs of this machine; otherwise null. A clock also runs while its engine waits for a processor that another engine uses.
 */
export function sharedProcessorsWarning(
  { leagues, players, referees }: Pick<Config, "leagues" | "players" | "referees">,
  processors: number,
): string | null {
  const capacity = referees.count * referees.max_concurrent_matches;
  const perRound = Math.min(players.filter(usesProcessor).length, Math.floor(players.length / 2));
  if (perRound === 0) return null;
  // A player of a format that opens its rounds at once can have several matches at the same time.
  const matchesOf = ({ format }: Config["leagues"][number]): number =>
    findFormat(format)?.opensRounds === "at_once" ? capacity : perRound;
  const withClocks = leagues.filter(({ clock }) => clock !== undefined);
  const atOnce = Math.min(
    capacity,
    withClocks.reduce((sum, league) => sum + matchesOf(league), 0),
  );
  if (atOnce <= processors) return null;
  return `up to ${atOnce} matches with clocks are played at the same time on ${processors} processors, and a clock also runs while its engine or program waits for a processor. Limit the matches with --concurrency, or with max_concurrent_matches of the referees in a config`;
}

function usesProcessor(player: PlayerConfig): boolean {
  if ("bot" in player) return isBotFile(player.bot) || /^(uci|lines):/.test(player.bot);
  return "uci" in player || "command" in player;
}
