import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { systemClock } from "#shared/lib/clock.ts";
import { createRandom, type Random } from "#shared/lib/rng.ts";
import { countOption, withUsageExit } from "#shared/runtime/cli/options.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { EXIT } from "#shared/runtime/process/exit.ts";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import { createSupervisor } from "#shared/runtime/process/supervisor.ts";
import type { LiveEvent } from "../../league-manager/projections/live.ts";
import { managerUrlOf, startAgents } from "../run/agents.ts";
import { beginRun, type RunFolder } from "../run/run-folder.ts";
import { afterCommits } from "../testing/commits.ts";
import { check } from "./check.ts";

/** Pauses between two kills, so that agents are hit while they start, register, play and report. */
const MIN_PAUSE_MS = 20;
const MAX_PAUSE_MS = 700;
/** A league manager is killed after 1 to 5 more events. */
const MAX_COMMITS = 5;
const MANAGER = "league manager";
/** A league that is not over by then hangs. */
const LEAGUE_LIMIT_MS = 300_000;
const PLAYERS = 4;
const REFEREES = 2;

interface ChaosReport {
  readonly kills: Readonly<Record<string, number>>;
  readonly leagues: number;
  readonly matches: number;
  readonly forfeits: number;
  /** Matches that were taken from a referee and played under another epoch. */
  readonly playedAgain: number;
  /** How often a match was aborted; each abort is a fault. */
  readonly aborts: number;
  readonly seenViews: number;
  readonly faults: readonly string[];
}

/**
 * Runs leagues one after the other, kills random agents (kill -9) of each at random moments, and checks afterwards what must
 * hold: every match has exactly one result, no match was aborted, all that players were shown is in the logs, every log replays to
 * its result, the standings add up. The moments depend on the machine; `seed` fixes who is hit and after what pause.
 */
export async function chaos(wanted: number, seed: string, tell: (line: string) => void): Promise<ChaosReport> {
  const random = createRandom(seed);
  const total = { leagues: 0, matches: 0, forfeits: 0, playedAgain: 0, aborts: 0, seenViews: 0 };
  const kills: Record<string, number> = { "league manager": 0, referee: 0, player: 0 };
  const killed = (): number => Object.values(kills).reduce((sum, count) => sum + count, 0);
  const faults: string[] = [];
  while (killed() < wanted) {
    const data = mkdtempSync(join(tmpdir(), "league-chaos-"));
    const folder = beginRun(await configOf(data), `${seed}/${total.leagues}`, systemClock);
    const seenFile = join(folder.path, "seen.jsonl");
    process.env.CHAOS_SEEN = seenFile;
    const isOver = await playUnderFire(
      folder,
      random,
      () => killed() < wanted,
      (name) => {
        const kind = name.replace(/ \d+$/, "");
        kills[kind in kills ? kind : "player"] = (kills[kind in kills ? kind : "player"] ?? 0) + 1;
      },
    );
    total.leagues++;
    if (!isOver) {
      faults.push(`league ${total.leagues} did not end within ${LEAGUE_LIMIT_MS / 1000} s; see ${folder.path}`);
      break;
    }
    const checked = await check(folder, seenFile);
    total.matches += checked.matches.length;
    total.forfeits += checked.matches.filter((match) => match.termination === "forfeit").length;
    total.playedAgain += checked.matches.filter((match) => match.epoch > 1).length;
    total.aborts += checked.aborts;
    total.seenViews += checked.seenViews;
    faults.push(...checked.faults.map((fault) => `${folder.path}: ${fault}`));
    tell(`league ${total.leagues}: ${killed()} of ${wanted} kills, ${total.matches} matches, ${faults.length} faults`);
    if (checked.faults.length === 0) rmSync(data, { recursive: true, force: true });
  }
  return { kills, ...total, faults };
}

async function configOf(data: string): Promise<Config> {
  const [manager, ...rest] = await freePorts(1 + REFEREES + PLAYERS);
  const bot = fileURLToPath(new URL("./bot.ts", import.meta.url));
  return Config.parse({
    manager: { port: manager },
    referees: { count: REFEREES, firstPort: rest[0] },
    playersFirstPort: rest[REFEREES],
    data,
    players: Array.from({ length: PLAYERS }, (_, index) => ({ name: `player ${index + 1}`, bot })),
    leagues: [
      { league_id: "rps", game: "rps.v1", options: { best_of: 25 } },
      { league_id: "even-odd", game: "even_odd.v1", options: { rounds_to_win: 15, max_rounds: 30 } },
      { league_id: "chess", game: "chess.v1" },
    ],
    // So long that a player that is killed again and again on a busy machine has time to start: it would forfeit its matches unplayed.
    timeouts: { move_ms: 60_000, join_ms: 60_000 },
  });
}

/** Plays one league while its agents are killed; false when it does not come to an end. */
async function playUnderFire(
  folder: RunFolder,
  random: Random,
  more: () => boolean,
  onKill: (name: string) => void,
): Promise<boolean> {
  const { config } = folder;
  const over = Promise.withResolvers<boolean>();
  const limit = setTimeout(() => over.resolve(false), LEAGUE_LIMIT_MS);
  const supervisor = createSupervisor({
    clock: systemClock,
    maxRestarts: Number.POSITIVE_INFINITY,
    onEvent: (event) => {
      if ((event as LiveEvent).type === "all_completed") over.resolve(true);
    },
    onLine: () => {},
    onFatal: () => over.resolve(false),
  });
  const place = { dataFolder: folder.path, configFile: folder.configFile, managerUrl: managerUrlOf(config) };
  startAgents(supervisor, config, place, ["--seed", folder.seed, "--roster"]);

  let timer: NodeJS.Timeout;
  let hasEnded = false;
  const store = join(folder.path, "league-manager.sqlite");
  const strike = async (): Promise<void> => {
    const [name] = random.pick([...supervisor.pids()].sort());
    // A manager is killed between two of its effects: right after it has committed so many more events.
    if (name === MANAGER) await afterCommits(store, random.int(1, MAX_COMMITS), AbortSignal.timeout(MAX_PAUSE_MS));
    if (hasEnded) return;
    const pid = supervisor.pids().get(name);
    if (more() && pid !== undefined) {
      process.kill(pid, "SIGKILL");
      onKill(name);
    }
    timer = setTimeout(strike, random.int(MIN_PAUSE_MS, MAX_PAUSE_MS));
  };
  timer = setTimeout(strike, random.int(MIN_PAUSE_MS, MAX_PAUSE_MS));
  const isOver = await over.promise;
  hasEnded = true;
  clearTimeout(timer);
  clearTimeout(limit);
  await supervisor.stop();
  return isOver;
}

if (import.meta.main) {
  const command = withUsageExit(new Command("chaos"))
    .description("Kills agents of running leagues at random, and checks that nothing was lost.")
    .option("--kills <n>", "how many agents to kill", countOption, 20)
    .option("--seed <seed>", "who is hit, and after what pauses", "chaos")
    .parse();
  const { kills, seed } = command.opts<{ kills: number; seed: string }>();
  const report = await chaos(kills, seed, (line) => process.stderr.write(`${line}\n`));
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`, () =>
    process.exit(report.faults.length === 0 ? EXIT.ok : EXIT.failed),
  );
}
