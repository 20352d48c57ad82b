import { join } from "node:path";
import type { Clock } from "#shared/lib/clock.ts";
import { readInterfaces } from "#shared/rpc/http/this-machine.ts";
import { EXIT } from "#shared/runtime/process/exit.ts";
import { createSupervisor } from "#shared/runtime/process/supervisor.ts";
import type { ResultsDocument } from "../../league-manager/projections/document.ts";
import type { LiveEvent } from "../../league-manager/projections/live.ts";
import { managerUrls } from "../commands/manager-addresses.ts";
import { managerUrlOf, startAgents } from "./agents.ts";
import type { Progress } from "./progress.ts";
import type { RunFolder } from "./run-folder.ts";

interface RunOptions {
  readonly folder: RunFolder;
  readonly progress: Progress;
  readonly clock: Clock;
  /** Lines that must be seen even without progress: warnings and what went wrong. */
  readonly warn: (line: string) => void;
  /** Stay up after the last league until interrupted. */
  readonly keep: boolean;
  /** Called once: when every league is completed, before the agents are stopped; or after that, when some are and the rest cannot start. */
  readonly onCompleted: (document: ResultsDocument) => void;
}

/**
 * Plays every league of a config with an agent process each, and stops them all however it ends.
 * Resolves with the exit code: 0, 1 when an agent could not be kept alive, 3 when one is set up wrongly, 130 when interrupted.
 */
export async function runLeagues(options: RunOptions): Promise<number> {
  const { folder, progress, warn } = options;
  const { config } = folder;
  const ended = Promise.withResolvers<number>();
  let hasBegun = options.folder.isResumed;
  const supervisor = createSupervisor({
    clock: options.clock,
    onEvent(event) {
      const told = event as LiveEvent;
      hasBegun ||= told.type === "league_started" || told.type === "match_completed";
      progress.event(told);
      if (told.type === "all_completed") finish();
      else endWhereStuck(told);
    },
    onLine: (agent, line) => warn(`${agent}: ${line}`),
    onFatal(message, exitCode) {
      warn(message);
      ended.resolve(exitCode);
    },
  });
  let isFinished = false;
  const finish = (): void => {
    // A manager that is started again after the end, under --keep, says so once more; the results are told once.
    if (isFinished) return;
    isFinished = true;
    folder.finish("completed");
    progress.end();
    report().then(() => !options.keep && ended.resolve(EXIT.ok), fail);
  };
  const fail = (thrown: unknown): void => {
    warn(String(thrown));
    ended.resolve(EXIT.failed);
  };

  const over = new Set<string>();
  const stuck = new Set<string>();
  let isStuck = false;
  /** A league that cannot start holds up no other; but when all others are over nothing is left to wait for. */
  const endWhereStuck = (event: LiveEvent): void => {
    if (event.type === "league_started") stuck.delete(event.league_id);
    if (event.type === "league_completed") over.add(event.league_id);
    if (event.type === "league_stuck") {
      warn(`${event.league_id} cannot start: ${event.why}`);
      stuck.add(event.league_id);
    }
    isStuck = stuck.size > 0 && stuck.size + over.size === config.leagues.length && !options.keep;
    if (isStuck) ended.resolve(EXIT.failed);
  };

  let signals = 0;
  const interrupt = (): void => {
    // Asked twice: whoever is left loses its parent, and stops for that.
    if (++signals > 1) process.exit(EXIT.interrupted);
    ended.resolve(EXIT.interrupted);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, interrupt);

  const place = { dataFolder: folder.path, configFile: folder.configFile, managerUrl: managerUrlOf(config) };
  const start = async (): Promise<void> => {
    const { manager, others } = startAgents(supervisor, config, place, ["--seed", folder.seed, "--roster"]);
    await manager;
    const [url] = managerUrls(config, readInterfaces());
    if (options.keep) {
      warn(`the league's page is ${url}/`);
      warn(`the operator token is in ${join(folder.path, "operator-token")}`);
    }
    const guests = config.players.flatMap((player) => ("self" in player ? [player.name] : []));
    if (guests.length > 0) {
      const seconds = config.timeouts.registration_ms / 1000;
      warn(`waiting for ${guests.join(", ")} to register at ${url}/mcp, at most ${seconds} s`);
    }
    await Promise.all(others);
  };
  start().catch(fail);
  // Loaded while the agents start.
  const reading = import("../../league-manager/projections/kept-document.ts");
  const report = async (): Promise<void> => {
    const { keptDocument } = await reading;
    options.onCompleted(keptDocument(config, join(folder.path, "league-manager.sqlite")));
  };
  const exitCode = await ended.promise;
  // A run that has begun is not failed: it can be resumed, also after a fault of its setup has been corrected.
  if (exitCode !== EXIT.ok && !hasBegun) folder.finish("failed");
  progress.end();
  await supervisor.stop();
  if (isStuck && over.size > 0 && exitCode === EXIT.failed) await report();
  return exitCode;
}
