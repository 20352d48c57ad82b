import { availableParallelism } from "node:os";
import { sha256Hex } from "#shared/lib/hash.ts";
import { playerId } from "#shared/lib/ids.ts";
import { escapeUnprintable } from "#shared/lib/text.ts";
import type { MatchResult } from "#shared/protocol/messages.ts";
import { BotPermissions } from "#shared/runtime/bot-permissions.ts";
import { EXIT } from "#shared/runtime/process/exit.ts";
import { parseEntry } from "#shared/session/entry.ts";
import type { League } from "../../../league-manager/league/league.ts";
import { botIn } from "../../commands/named-bots.ts";
import { sharedProcessorsWarning } from "../../run/run.ts";
import type { RunFolder } from "../../run/run-folder.ts";
import { type MatchTerms, matchState, namesIn } from "../comparison.ts";
import { createLiveLine, createPace, type LiveLine, statusText } from "../live-line.ts";
import { CHESS, type MatchSystem } from "../setup.ts";
import type { Terms } from "../terms-file.ts";
import { type BotEntry, type LocalBots, loadLocalBots, processesPerBot } from "./local-bots.ts";
import { type LocalLeague, openLocalLeague } from "./local-league.ts";
import { runLocal } from "./run-local.ts";

interface LocalPlay {
  readonly system: MatchSystem;
  readonly folder: RunFolder;
  readonly terms: Terms;
  readonly matchTerms: MatchTerms;
  readonly isQuiet: boolean;
}

/** The end of the games of a command. */
export interface Ended {
  readonly league: League | null;
  readonly exitCode: number;
}

/** Plays the games of a run in this process until they are over or Ctrl-C is pressed. */
export async function playLocally(play: LocalPlay): Promise<Ended> {
  const { system, folder, terms, matchTerms } = play;
  const { clock } = system;
  const stop = new AbortController();
  endOnSignals(stop);
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {}); // the race below reports it
  let live: LiveLine | null = null;
  const warn = (line: string): void => (live ? live.print(line) : void process.stderr.write(`${line}\n`));
  const referees = { ...folder.config.referees, count: 1, max_concurrent_matches: terms.concurrency };
  const processorsWarning = sharedProcessorsWarning({ ...folder.config, referees }, availableParallelism());
  if (processorsWarning !== null) warn(processorsWarning);
  const bots = await loadBots(play, warn, failed.reject).catch((thrown) => {
    if (!folder.isResumed) folder.finish("failed");
    throw thrown;
  });
  let league: LocalLeague | null = null;
  try {
    const opened = await openLocalLeague(folder, system, bots.hashOf, failed.reject);
    league = opened;
    const state = () => matchState(opened.league, matchTerms);
    const pace = createPace(clock, state().games.completed);
    if (!play.isQuiet) live = createLiveLine(process.stderr, clock, () => statusText(state(), pace));
    const { concurrency } = terms;
    const repetitions = new Repetitions();
    const showErrors = botErrorDisplay(namesIn(matchTerms), bots, warn);
    const onGame = (result: MatchResult): void => {
      repetitions.add(result);
      showErrors(result);
      live?.changed();
    };
    const isTested = matchTerms.test !== null;
    const running = runLocal({ system, league, bots, concurrency, isTested, signal: stop.signal, onGame, warn });
    const isComplete = await Promise.race([running, failed.promise]);
    if (isComplete) folder.finish("completed");
    const needsOpenings = league.league.game === CHESS && !matchTerms.hasOpenings;
    for (const players of repetitions.equal()) warn(repetitionText(players.map(namesIn(matchTerms)), needsOpenings));
    return { league: league.league, exitCode: isComplete ? EXIT.ok : EXIT.interrupted };
  } finally {
    live?.end();
    await bots.close();
    await league?.close();
  }
}

function loadBots(
  { system, folder, terms }: LocalPlay,
  warn: (line: string) => void,
  fail: (error: Error) => void,
): Promise<LocalBots> {
  const { players } = folder.config;
  const membersPerBot = players.length / terms.bots.length;
  const entries = players.map((player, index): BotEntry => {
    const bot = botIn(terms.bots[Math.floor(index / membersPerBot)] ?? player.name);
    const { bot: spec = bot, allow = BotPermissions.parse({}) } = "bot" in player ? player : {};
    return { playerId: playerId(index + 1), name: player.name, spec, allow };
  });
  const { concurrency, trusted: isTrusted } = terms;
  const processes = processesPerBot(concurrency, entries.length, availableParallelism());
  return loadLocalBots({ system, entries, folder: folder.path, concurrency, isTrusted, warn, fail }, processes);
}

/** Returns a function that shows the first game that each player lost by an error of its bot, with the error. */
function botErrorDisplay(nameOf: (playerId: string) => string, bots: LocalBots, warn: (line: string) => void) {
  const shown = new Set<string>();
  return ({ league_id, match_id, match_points, faults }: MatchResult): void => {
    const lines = new Map(Object.keys(match_points).map((id) => [id, bots.takeLastLine(id, match_id)]));
    for (const { player_id, cause, detail } of faults) {
      if (cause !== "bot_error" || shown.has(player_id)) continue;
      shown.add(player_id);
      const error = (lines.get(player_id) ?? detail).replace(`${league_id} ${match_id}: `, "");
      warn(`${nameOf(player_id)} lost game ${match_id} by an error of the bot: ${escapeUnprintable(error)}`);
    }
  };
}

/** Aborts at the first signal. A second signal exits immediately. */
function endOnSignals(stop: AbortController): void {
  const interrupt = (): void => {
    if (stop.signal.aborted) process.exit(EXIT.interrupted);
    stop.abort();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, interrupt);
}

/** The number of games of two players in the same roles after which equal games are reported. */
const ENOUGH = 5;

interface Games {
  /** The hash of the actions of all games so far; null if two games differ. */
  actions: string | null;
  count: number;
}

/** Finds players that play the same game again and again. The statistics take games as independent, so they would claim too much. */
export class Repetitions {
  /** By the ids of the players in the order of the roles. */
  readonly #games = new Map<string, Games>();

  /** Adds a game that is over. Forfeits and aborted games are not examined, nor are games of players that have played two different games. */
  add({ log, termination }: MatchResult): void {
    const first = log[0] === undefined ? null : parseEntry(log[0]);
    if (first?.type !== "created" || termination !== "normal") return;
    const players = Object.values(first.participants)
      .map((agent) => agent.split("@")[0])
      .join(" ");
    const games = this.#games.get(players);
    if (games?.actions === null) return;
    const actions = sha256Hex(JSON.stringify(log.slice(1).map(actionOf)));
    if (games === undefined) this.#games.set(players, { actions, count: 1 });
    else if (games.actions === actions) games.count++;
    else games.actions = null;
  }

  /** The ids of the players in the order of the roles, for each order in which all games were equal. */
  equal(): readonly (readonly string[])[] {
    return [...this.#games].flatMap(([players, { actions, count }]) =>
      actions !== null && count >= ENOUGH ? [players.split(" ")] : [],
    );
  }
}

function actionOf(text: string): unknown {
  const entry = parseEntry(text);
  return entry.type === "acted" ? [entry.role, entry.action] : entry.type;
}

/** The notice that all games of these players in these roles are equal. `needsOpenings`: openings can make the games different. */
export const repetitionText = (names: readonly string[], needsOpenings: boolean): string =>
  `all games of ${names.join(" and ")} in these roles are equal, so more games show no more, and the interval is too small${
    needsOpenings ? "; use --openings to make the games different" : ""
  }`;
