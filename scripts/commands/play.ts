import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { z } from "zod";
import { type Game, type Role, reasonInWords } from "#shared/games/game.ts";
import { findGame } from "#shared/games/registry.ts";
import { systemClock } from "#shared/lib/clock.ts";
import { cutTo, inOneLine, parsedJson } from "#shared/lib/text.ts";
import type { TimeControl } from "#shared/lib/time-control.ts";
import { type PermissionFlags, permissionsOf } from "#shared/runtime/command-options.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { isGameFile } from "#shared/runtime/game-files.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import { LEAGUE_COMMAND } from "#shared/runtime/program.ts";
import type { Entry, Fault } from "#shared/session/entry.ts";
import { replayTexts } from "#shared/session/replay.ts";
import { viewOf } from "#shared/session/view.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { noWriter } from "#shared/store/writer.ts";
import { resultLine } from "../../league-manager/projections/live-lines.ts";
import type { ResultsDocument } from "../../league-manager/projections/results-document.ts";
import { MANAGER_SCHEMA, managerStore } from "../../league-manager/store/manager-store.ts";
import { isBotFile, isModuleFile } from "../../player/loaders/bot-files.ts";
import type { PlayerProcess } from "../run/agents.ts";
import { llmLines } from "../run/llm-totals.ts";
import { silentProgress } from "../run/progress.ts";
import { runLeagues } from "../run/run.ts";
import { beginRun, type RunFolder } from "../run/run-folder.ts";
import { gameOf, namedBots } from "./named-bots.ts";
import { gameHead, optionsOfCommand } from "./named-game.ts";

interface PlayFlags extends PermissionFlags {
  /** The id, the name or the file of a game; absent for the game of the bots. */
  readonly game?: string;
  readonly option?: readonly string[];
  readonly seed?: string;
  readonly clock?: TimeControl;
  /** The time limit for a move, milliseconds; absent for the default. */
  readonly moveMs?: number;
  readonly json?: boolean;
  /** The folder that keeps the files of the match; absent for a temporary folder, which is kept only if the match was aborted. */
  readonly data?: string;
  readonly verbose?: boolean;
  /** Whether the bots of .ts and .js files wait for a debugger. */
  readonly inspect?: boolean;
  readonly inspectPort: number;
}

/** `league play A B`: plays a league of one match on free ports. Resolves with the exit code: 1 if the match was aborted, or lost by an error of a bot. */
export async function play(first: string, second: string, flags: PlayFlags): Promise<number> {
  // The command line alone determines the match. The manager would apply the variables to its config.
  for (const name of Object.keys(process.env)) if (name.startsWith("LEAGUE__")) delete process.env[name];
  const data = flags.data === undefined ? mkdtempSync(join(tmpdir(), "league-play-")) : resolve(flags.data);
  let isKept = flags.data !== undefined;
  try {
    const config = await configOf([first, second], flags, data);
    const folder = beginRun(config, flags.seed ?? null, systemClock);
    let document: ResultsDocument | null = null;
    const exitCode = await runLeagues({
      folder,
      clock: systemClock,
      progress: silentProgress,
      warn: (line) => process.stderr.write(`${line}\n`),
      processOf: (player) => processOf(player, config, flags),
      keep: false,
      onCompleted: (completed) => {
        document = completed;
      },
    });
    if (document) process.stdout.write(`${await report(document, folder, flags)}\n`);
    for (const line of llmLines(folder.path)) process.stderr.write(`${line}\n`);
    if (exitCode !== EXIT.ok || document === null) return exitCode;
    if (!isAborted(document)) return hasBotError(document) ? EXIT.failed : EXIT.ok;
    isKept = true;
    process.stderr.write(`the log of the referee is in ${join(folder.path, "logs")}\n`);
    return EXIT.failed;
  } finally {
    if (!isKept) rmSync(data, { recursive: true, force: true });
  }
}

const isAborted = ({ leagues }: ResultsDocument): boolean => leagues[0]?.matches[0]?.termination === "aborted";

/** Whether a bot lost the match because its code failed. */
const hasBotError = ({ leagues }: ResultsDocument): boolean => {
  const match = leagues[0]?.matches[0];
  return match?.termination === "forfeit" && match.reason.split(",").includes("bot_error" satisfies Fault["cause"]);
};

/** The time limits of a match with a debugger: half a day, so that a bot can be stopped at a breakpoint. */
const LONG_MS = 43_200_000;
const DEBUG_TIMEOUTS = { join_ms: LONG_MS, move_ms: LONG_MS, game_over_ms: LONG_MS, registration_ms: LONG_MS };

/** Returns the options of the process of a player. Each bot of a .ts or .js file has its own port for a debugger. */
function processOf(player: string, { players }: Config, { verbose, inspect, inspectPort }: PlayFlags): PlayerProcess {
  const modules = players.flatMap((entry) => ("bot" in entry && isModuleFile(entry.bot) ? [entry.name] : []));
  const isDebugged = inspect === true && modules.includes(player);
  const debugArgs = ["--inspect", "--inspect-port", String(inspectPort + modules.indexOf(player))];
  const args = [...(verbose ? ["--verbose"] : []), ...(isDebugged ? debugArgs : [])];
  return { args, isDebugged, isExpendable: false };
}

async function configOf(texts: readonly [string, string], flags: PlayFlags, data: string): Promise<Config> {
  const players = namedBots(texts);
  const bots = players.map(({ bot }) => bot);
  const { game, named } = await gameOf(bots, flags.game, permissionsOf(flags), systemClock);
  if (game.roles.length !== 2) {
    const needs = `${game.info.name} needs ${game.roles.length} players (${game.roles.join(", ")})`;
    throw new StartError(`${needs}; league play supports only games of two`, EXIT.usage);
  }
  const [manager = 0, referee = 0, player1 = 0] = await freePorts(4);
  if (bots.includes("manual")) {
    const advice = `join a league that is served instead: ${LEAGUE_COMMAND} join manual`;
    throw new StartError(`league play does not support manual players; ${advice}`, EXIT.usage);
  }
  if (flags.inspect && !bots.some(isBotFile)) throw new StartError("--inspect needs a bot from a file", EXIT.usage);
  const playerOf = ({ name, bot }: (typeof players)[number]): object =>
    isBotFile(bot) ? { name, bot: resolve(bot), allow: permissionsOf(flags) } : { name, bot };
  const parsed = Config.safeParse({
    manager: { port: manager },
    referees: { count: 1, firstPort: referee },
    playersFirstPort: player1,
    data,
    players: players.map(playerOf),
    games: isGameFile(named) ? [resolve(named)] : [],
    timeouts: flags.inspect ? DEBUG_TIMEOUTS : {},
    leagues: [
      {
        league_id: "play",
        game: game.id,
        options: optionsOfCommand(game, flags.option ?? []),
        clock: flags.clock,
        ...(flags.moveMs !== undefined && { move_ms: flags.moveMs }),
      },
    ],
  });
  if (parsed.success) return parsed.data;
  // Only the game options come from the command line, so faults are reported as faults of --option.
  const optionOf = (path: readonly PropertyKey[]): string =>
    path.join(".").replace(/^leagues\.0\.options\./, "--option ");
  const faults = parsed.error.issues.map((issue) => `${optionOf(issue.path)}: ${issue.message}`);
  throw new StartError(faults.join("\n"), EXIT.usage);
}

/** Returns the output of the command: a JSON document or text. */
async function report(document: ResultsDocument, { path, config }: RunFolder, flags: PlayFlags): Promise<string> {
  const db = openSqlite(join(path, "league-manager.sqlite"), MANAGER_SCHEMA);
  const stored = await managerStore(db, noWriter).sessionLogOf("play", "R1M1");
  db.close();
  const entries = (stored?.log ?? []).map((body) => JSON.parse(body) as Entry);
  const acted = entries.flatMap((entry) =>
    entry.type === "acted" ? [{ role: entry.role, action: entry.action }] : [],
  );
  const id = document.leagues[0]?.game ?? "";
  const options = config.leagues[0]?.options ?? {};
  const moves = inRoleOrder(acted, findGame(id));
  const faults = entries.flatMap((entry) => (entry.type === "forfeited" ? entry.faults : []));
  const match = document.leagues[0]?.matches[0];
  if (flags.json) return JSON.stringify({ game: id, options, ...match, seed: stored?.seed, moves, faults }, null, 2);
  const names = new Map(document.leagues[0]?.standings.map((row) => [row.player_id, row.display_name]));
  const players = Object.entries(match?.roles ?? {}).map(([role, id]) => `${role}: ${names.get(id) ?? id}`);
  const width = String(moves.length).length;
  const lines = moves.map(
    ({ role, action }, index) => `${String(index + 1).padStart(width)}. ${role} ${textOf(action)}`,
  );
  const position = stored ? [finalPosition(stored.log, stored.seed), ""] : [];
  // The lines above have the details of the faults.
  const causes = faults.map(({ role, cause }) => ({
    player_id: match?.roles[role] ?? role,
    detail: reasonInWords(cause),
  }));
  const result = match ? resultLine({ ...match, faults: causes }, document.leagues[0]?.standings ?? []) : "not played";
  // A game of a file that throws is the usual reason of an abort.
  const hints =
    match?.termination === "aborted" && flags.game !== undefined && isGameFile(flags.game)
      ? [`If the game throws an error, this command shows where: ${LEAGUE_COMMAND} check-game ${flags.game}`]
      : [];
  const head = gameHead(id, findGame(id), options);
  return [head, ...players, "", ...lines, "", ...position, ...faults.map(faultLine), result, ...hints].join("\n");
}

/** The maximum length of a printed answer; an envelope is shorter. */
const MAX_ANSWER_CHARACTERS = 500;

interface Move {
  readonly role: Role;
  readonly action: unknown;
}

/**
 * Returns the moves with each simultaneous turn in the order of the roles. The log has these moves in the order of their arrival, which a seed cannot
 * repeat.
 */
function inRoleOrder(moves: readonly Move[], game: Game | undefined): readonly Move[] {
  if (!game?.info.simultaneous) return moves;
  const turns: Move[][] = [];
  for (const move of moves) {
    const turn = turns.at(-1);
    if (turn && !turn.some(({ role }) => role === move.role)) turn.push(move);
    else turns.push([move]);
  }
  return turns.flatMap((turn) => turn.toSorted((a, b) => game.roles.indexOf(a.role) - game.roles.indexOf(b.role)));
}

/** Returns a line with the reason of a fault and the faulty answer. */
function faultLine({ role, detail, raw }: Fault): string {
  const answer = raw === undefined ? null : answerIn(raw);
  const shown = answer === null ? "" : `; its answer was ${cutTo(MAX_ANSWER_CHARACTERS, inOneLine(answer))}`;
  return `${role}: ${inOneLine(detail)}${shown}`;
}

/** Returns the move of an answer; null for an error message, which the detail of the fault contains; other answers unchanged. */
function answerIn(raw: string): string | null {
  const answer = Answer.safeParse(parsedJson(raw));
  if (!answer.success) return raw;
  const { type, payload } = answer.data;
  if (type === "GAME_ERROR" || type === "LEAGUE_ERROR") return null;
  return payload.move === undefined ? raw : textOf(payload.move);
}

const Answer = z.object({ type: z.string(), payload: z.object({ move: z.unknown().optional() }) });

/** Returns the final position of the game as a spectator sees it. Throws if the log does not replay. */
function finalPosition(log: readonly string[], seed: string): string {
  const replayed = replayTexts(log, seed);
  if (!replayed.ok) throw new Error(`the log of the match, entry ${replayed.error.seq}: ${replayed.error.message}`);
  const { session } = replayed.value;
  return session.game.toText(viewOf(session, "spectator"), "spectator");
}

const textOf = (action: unknown): string => (typeof action === "string" ? action : JSON.stringify(action));
