import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { z } from "zod";
import type { Game, Role } from "#shared/games/game.ts";
import { findGame, findGameNamed, gameIds } from "#shared/games/registry.ts";
import { systemClock } from "#shared/lib/clock.ts";
import { cutTo, inOneLine, parsedJson } from "#shared/lib/text.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import type { Entry, Fault } from "#shared/session/entry.ts";
import { replayTexts } from "#shared/session/replay.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { noWriter } from "#shared/store/writer.ts";
import type { ResultsDocument } from "../../league-manager/projections/document.ts";
import { resultLine } from "../../league-manager/projections/lines.ts";
import { managerStore } from "../../league-manager/store/manager-store.ts";
import { MANAGER_SCHEMA } from "../../league-manager/store/schema.ts";
import { isBotFile } from "../../player/loaders/load-bot.ts";
import { silentProgress } from "../run/progress.ts";
import { runLeagues } from "../run/run.ts";
import { beginRun } from "../run/run-folder.ts";

interface PlayFlags {
  readonly game: string;
  readonly option?: readonly string[];
  readonly seed?: string;
  readonly json?: boolean;
}

/** `league play A B --game G`: a league of one match on free ports, in a folder that goes away. */
export async function play(first: string, second: string, flags: PlayFlags): Promise<number> {
  const data = mkdtempSync(join(tmpdir(), "league-play-"));
  try {
    const folder = beginRun(await configOf(first, second, flags, data), flags.seed ?? null, systemClock);
    let document: ResultsDocument | null = null;
    const exitCode = await runLeagues({
      folder,
      clock: systemClock,
      progress: silentProgress,
      warn: (line) => process.stderr.write(`${line}\n`),
      keep: false,
      onCompleted: (completed) => {
        document = completed;
      },
    });
    if (document) process.stdout.write(`${await report(document, folder.path, flags)}\n`);
    return exitCode;
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

/** With room for what tells two of one name apart: a name has at most 100 characters. */
const NAME_CHARACTERS = 90;

/** What a bot is called: by its file's name, not by where it lies. */
const nameOf = (bot: string): string => inOneLine(cutTo(NAME_CHARACTERS, isBotFile(bot) ? basename(bot) : bot));

async function configOf(first: string, second: string, flags: PlayFlags, data: string): Promise<Config> {
  const game = findGameNamed(flags.game);
  if (!game) throw new StartError(`no game ${flags.game}; known are ${gameIds.join(", ")}`, EXIT.usage);
  if (game.roles.length !== 2) {
    const needs = `${game.info.name} needs ${game.roles.length} players (${game.roles.join(", ")})`;
    throw new StartError(`${needs}; league play has two`, EXIT.usage);
  }
  const [manager = 0, referee = 0, player1 = 0] = await freePorts(4);
  if ([first, second].includes("manual")) {
    const why = "nobody could reach its tools: let it join a league that is served, `npm run league -- join manual`";
    throw new StartError(`play has no manual players; ${why}`, EXIT.usage);
  }
  const bot = (spec: string): string => (isBotFile(spec) ? resolve(spec) : spec);
  const [a, b] = [nameOf(first), nameOf(second)];
  const names = a === b ? [`${a} 1`, `${b} 2`] : [a, b];
  const parsed = Config.safeParse({
    manager: { port: manager },
    referees: { count: 1, firstPort: referee },
    playersFirstPort: player1,
    data,
    players: [
      { name: names[0], bot: bot(first) },
      { name: names[1], bot: bot(second) },
    ],
    leagues: [{ league_id: "play", game: game.id, options: optionsOf(flags.option ?? []) }],
  });
  if (parsed.success) return parsed.data;
  // The config is of our own making, but for the options.
  const whereIn = (path: readonly PropertyKey[]): string =>
    path.join(".").replace(/^leagues\.0\.options\./, "--option ");
  const faults = parsed.error.issues.map((issue) => `${whereIn(issue.path)}: ${issue.message}`);
  throw new StartError(faults.join("\n"), EXIT.usage);
}

function optionsOf(pairs: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = "", ...rest] = pair.split("=");
      const text = rest.join("=");
      return [name, /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text];
    }),
  );
}

function report(document: ResultsDocument, folder: string, flags: PlayFlags): string {
  const db = openSqlite(join(folder, "league-manager.sqlite"), MANAGER_SCHEMA);
  const kept = managerStore(db, noWriter).sessionLogOf("play", "R1M1");
  db.close();
  const entries = (kept?.log ?? []).map((body) => JSON.parse(body) as Entry);
  const acted = entries.flatMap((entry) =>
    entry.type === "acted" ? [{ role: entry.role, action: entry.action }] : [],
  );
  const moves = inRoleOrder(acted, findGame(document.leagues[0]?.game ?? ""));
  const faults = entries.flatMap((entry) => (entry.type === "forfeited" ? entry.faults : []));
  const match = document.leagues[0]?.matches[0];
  if (flags.json) return JSON.stringify({ ...match, seed: kept?.seed, moves, faults }, null, 2);
  const names = new Map(document.leagues[0]?.standings.map((row) => [row.player_id, row.display_name]));
  const players = Object.entries(match?.roles ?? {}).map(([role, id]) => `${role}: ${names.get(id) ?? id}`);
  const width = String(moves.length).length;
  const lines = moves.map(
    ({ role, action }, index) => `${String(index + 1).padStart(width)}. ${role} ${plain(action)}`,
  );
  const end = kept ? [endOf(kept.log, kept.seed), ""] : [];
  const result = match ? resultLine({ ...match, faults: [] }, document.leagues[0]?.standings ?? []) : "not played";
  return [...players, "", ...lines, "", ...end, ...faults.map(faultLine), result].join("\n");
}

/** Enough for an envelope. */
const SAID_CHARACTERS = 500;

interface Move {
  readonly role: Role;
  readonly action: unknown;
}

/** Moves of one simultaneous turn lie in the log as they came, which no seed can repeat: each turn is told in the order of the roles. */
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

/** Why a player lost its turn, and with which answer. */
function faultLine({ role, detail, raw }: Fault): string {
  const said = raw === undefined ? null : saidIn(raw);
  return `${role}: ${inOneLine(detail)}${said === null ? "" : `; its answer was ${cutTo(SAID_CHARACTERS, inOneLine(said))}`}`;
}

/** The move in an answer; null when the fault's detail has told all of it; what is no envelope as it came. */
function saidIn(raw: string): string | null {
  const answer = Answer.safeParse(parsedJson(raw));
  if (!answer.success) return raw;
  const { type, payload } = answer.data;
  if (type === "GAME_ERROR" || type === "LEAGUE_ERROR") return null;
  return payload.move === undefined ? raw : plain(payload.move);
}

const Answer = z.object({ type: z.string(), payload: z.object({ move: z.unknown().optional() }) });

/** How the game stood at its end, as anybody may see it. */
function endOf(log: readonly string[], seed: string): string {
  const replayed = replayTexts(log, seed);
  if (!replayed.ok) throw new Error(`the log of the match, entry ${replayed.error.seq}: ${replayed.error.message}`);
  const { game, state } = replayed.value.session;
  return game.toText(state, "spectator");
}

const plain = (action: unknown): string => (typeof action === "string" ? action : JSON.stringify(action));
