import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { Command } from "commander";
import { findGame } from "#shared/games/registry.ts";
import { systemClock } from "#shared/lib/clock.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { createRandom, type Random } from "#shared/lib/rng.ts";
import { countOption, withUsageExit } from "#shared/runtime/command-options.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { EXIT } from "#shared/runtime/process/exit.ts";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import { createSupervisor } from "#shared/runtime/process/supervisor.ts";
import { type Entry, parseEntry } from "#shared/session/entry.ts";
import { evolve, evolveCreated, type Session } from "#shared/session/session.ts";
import { parseLeagueEvent } from "../../league-manager/league/events.ts";
import type { LiveEvent } from "../../league-manager/projections/live-events.ts";
import { exportOf } from "../archive/export-store.ts";
import { type ExportedMatch, leagueLogFile, writeExport } from "../archive/format.ts";
import { findStore } from "../archive/stored-run.ts";
import { verifyExport } from "../archive/verify/verify.ts";
import { managerUrlOf, startAgents } from "../run/agents.ts";
import { beginRun, type RunFolder } from "../run/run-folder.ts";
import { afterCommits } from "../testing/commits.ts";
import type { Seen } from "./bot.ts";

/** The pauses between two kills vary, so that agents are killed while they start, register, play and report. */
const MIN_PAUSE_MS = 20;
const MAX_PAUSE_MS = 700;
/** A league manager is killed after 1 to 5 more events. */
const MAX_COMMITS = 5;
const MANAGER = "league manager";
/** A league that has not ended after this time is reported as a fault. */
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
  /** The number of aborts. Each abort is a fault. */
  readonly aborts: number;
  /** The number of views of players that were compared with the logs. */
  readonly seenViews: number;
  readonly faults: readonly string[];
}

/**
 * Runs leagues one after the other until `killCount` agents have been killed with SIGKILL at random moments. Checks after each league that every match
 * has exactly one result, no match was aborted, every view of a player is in the logs, every log replays to its result, and the standings are correct.
 * `seed` determines the agents and the pauses; the exact moments depend on the machine.
 */
async function chaos(killCount: number, seed: string, log: (line: string) => void): Promise<ChaosReport> {
  const random = createRandom(seed);
  const total = { leagues: 0, matches: 0, forfeits: 0, playedAgain: 0, aborts: 0, seenViews: 0 };
  const kills: Record<string, number> = { "league manager": 0, referee: 0, player: 0 };
  const killed = (): number => Object.values(kills).reduce((sum, count) => sum + count, 0);
  const faults: string[] = [];
  while (killed() < killCount) {
    const data = mkdtempSync(join(tmpdir(), "league-chaos-"));
    const folder = beginRun(await configOf(data), `${seed}/${total.leagues}`, systemClock);
    const seenFile = join(folder.path, "seen.jsonl");
    process.env.CHAOS_SEEN = seenFile;
    const hasEnded = await playWithKills(
      folder,
      random,
      () => killed() < killCount,
      (name) => {
        const kind = name.replace(/ \d+$/, "");
        kills[kind in kills ? kind : "player"] = (kills[kind in kills ? kind : "player"] ?? 0) + 1;
      },
    );
    total.leagues++;
    if (!hasEnded) {
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
    log(
      `league ${total.leagues}: ${killed()} of ${killCount} kills, ${total.matches} matches, ${faults.length} faults`,
    );
    if (checked.faults.length === 0) rmSync(data, { recursive: true, force: true });
  }
  return { kills, ...total, faults };
}

async function configOf(data: string): Promise<Config> {
  const [manager, ...otherPorts] = await freePorts(1 + REFEREES + PLAYERS);
  const bot = fileURLToPath(new URL("./bot.ts", import.meta.url));
  const allow = { write: [data], env: ["CHAOS_SEEN"] };
  return Config.parse({
    manager: { port: manager },
    referees: { count: REFEREES, firstPort: otherPorts[0] },
    playersFirstPort: otherPorts[REFEREES],
    data,
    players: Array.from({ length: PLAYERS }, (_, index) => ({ name: `player ${index + 1}`, bot, allow })),
    leagues: [
      { league_id: "rps", game: "rps.v1", options: { best_of: 25 } },
      { league_id: "even-odd", game: "even_odd.v1", options: { rounds_to_win: 15, max_rounds: 30 } },
      { league_id: "chess", game: "chess.v1" },
    ],
    // Long enough for a player that is killed several times on a busy machine to start again; otherwise it would forfeit its matches.
    timeouts: { move_ms: 60_000, join_ms: 60_000 },
  });
}

/** Plays one league and kills its agents. Resolves with false if the league does not end in time. */
async function playWithKills(
  folder: RunFolder,
  random: Random,
  isKillWanted: () => boolean,
  onKill: (name: string) => void,
): Promise<boolean> {
  const { config } = folder;
  const ended = Promise.withResolvers<boolean>();
  const limit = setTimeout(() => ended.resolve(false), LEAGUE_LIMIT_MS);
  const supervisor = createSupervisor({
    clock: systemClock,
    maxRestarts: Number.POSITIVE_INFINITY,
    onEvent: (event) => {
      if ((event as LiveEvent).type === "all_completed") ended.resolve(true);
    },
    onLine: () => {},
    onFatal: () => ended.resolve(false),
  });
  const location = { dataFolder: folder.path, configFile: folder.configFile, managerUrl: managerUrlOf(config) };
  startAgents(supervisor, config, location, ["--seed", folder.seed, "--roster"]);

  let timer: NodeJS.Timeout;
  let isStopped = false;
  const store = join(folder.path, "league-manager.sqlite");
  const killNext = async (): Promise<void> => {
    const [name] = random.pick([...supervisor.pids()].sort());
    // The manager is killed immediately after a commit, which is between two of its effects.
    if (name === MANAGER) await afterCommits(store, random.int(1, MAX_COMMITS), AbortSignal.timeout(MAX_PAUSE_MS));
    if (isStopped) return;
    const pid = supervisor.pids().get(name);
    if (isKillWanted() && pid !== undefined) {
      process.kill(pid, "SIGKILL");
      onKill(name);
    }
    timer = setTimeout(killNext, random.int(MIN_PAUSE_MS, MAX_PAUSE_MS));
  };
  timer = setTimeout(killNext, random.int(MIN_PAUSE_MS, MAX_PAUSE_MS));
  const hasEnded = await ended.promise;
  isStopped = true;
  clearTimeout(timer);
  clearTimeout(limit);
  await supervisor.stop();
  return hasEnded;
}

/**
 * Checks a league that has ended: its results, logs and standings, and that the views of its players are in the logs. Every abort is a fault, even if
 * the match was played again: a killed referee only loses its match, and only an error of this project or `match_ms` aborts a match.
 */
export async function check(folder: Pick<RunFolder, "path" | "config">, seenFile: string) {
  const { leagues, players } = folder.config;
  const out = join(folder.path, "export");
  const { files } = await exportOf(findStore(folder.path));
  writeExport(out, files);
  const verified = verifyExport(out);
  const faults = verified.faults.map(({ file, message }) => `${file}: ${message}`);
  const matches = [...files]
    .filter(([name]) => name.startsWith("matches"))
    .map(([, text]) => JSON.parse(text) as ExportedMatch);
  const expected = (players.length * (players.length - 1)) / 2;
  for (const { league_id } of leagues) {
    const played = matches.filter((match) => match.league_id === league_id);
    if (played.length !== expected) faults.push(`${league_id} has ${played.length} results, not ${expected}`);
  }
  const lines = existsSync(seenFile) ? readFileSync(seenFile, "utf8").trim().split("\n") : [];
  const views = lines.flatMap(parseSeen);
  // Views can be compared only with logs that replay.
  if (faults.length === 0) faults.push(...faultsOfViews(matches, views));
  const aborts = leagues.flatMap(({ league_id }) => abortsOf(league_id, files.get(leagueLogFile(league_id)) ?? ""));
  return { faults: [...faults, ...aborts], matches, seenViews: views.length, aborts: aborts.length };
}

/** Returns a text for each abort in the log of a league. */
function abortsOf(leagueId: string, log: string): readonly string[] {
  const events = log.split("\n").flatMap((line) => (line === "" ? [] : [parseLeagueEvent(line)]));
  return events.flatMap((event) => {
    if (event.type === "match_aborted")
      return [`${matchRef(leagueId, event.match_id)} was aborted and not played again: ${event.reason}`];
    const isAbort = event.type === "match_released" && (event.reason === "aborted" || event.reason === "overdue");
    return isAbort ? [`${matchRef(leagueId, event.match_id)} was aborted and played again: ${event.detail}`] : [];
  });
}

/** Parses a line of a player; none if the line is incomplete because the player was killed. */
function parseSeen(line: string): Seen[] {
  try {
    return [JSON.parse(line) as Seen];
  } catch {
    return [];
  }
}

/** Returns a fault for each view that differs from the state of the final log at its tick. A difference means that a committed move was lost. */
function faultsOfViews(matches: readonly ExportedMatch[], views: readonly Seen[]): string[] {
  const faults: string[] = [];
  for (const match of matches) {
    const viewsOfMatch = views.filter(
      (seen) => seen.league_id === match.league_id && seen.match_id === match.match_id && seen.epoch === match.epoch,
    );
    const created = match.log[0] === undefined ? null : parseEntry(match.log[0]);
    if (created?.type !== "created") continue;
    const states = statesByTick(created, match);
    for (const { role, tick, view } of viewsOfMatch) {
      const session = states.get(tick);
      if (!session || !isDeepStrictEqual(session.game.viewState(session.state, role), view)) {
        faults.push(
          `${match.league_id}/${match.match_id}: ${role} was shown a state at tick ${tick} that is not in the log`,
        );
      }
    }
  }
  return faults;
}

/** Replays the log of a match. Returns the session after each tick, by tick. */
function statesByTick(
  created: Extract<Entry, { type: "created" }>,
  match: ExportedMatch,
): ReadonlyMap<number, Session> {
  const game = findGame(created.game);
  if (!game) return new Map();
  let session = evolveCreated(game, created, match.seed);
  const states = new Map([[0, session]]);
  for (const entry of match.log.slice(1).map(parseEntry)) {
    session = evolve(session, entry);
    if (entry.type === "acted") states.set(session.tick, session);
  }
  return states;
}

if (import.meta.main) {
  const command = withUsageExit(new Command("chaos"))
    .description("Kills agents of running leagues at random, and checks that no result or move was lost.")
    .option("--kills <n>", "number of agents to kill", countOption, 20)
    .option("--seed <seed>", "seed of the choice of agents and of the pauses", "chaos")
    .parse();
  const { kills, seed } = command.opts<{ kills: number; seed: string }>();
  const report = await chaos(kills, seed, (line) => process.stderr.write(`${line}\n`));
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`, () =>
    process.exit(report.faults.length === 0 ? EXIT.ok : EXIT.failed),
  );
}
