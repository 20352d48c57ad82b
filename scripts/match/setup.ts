import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { SPRT_MAX_GAMES } from "#shared/formats/sprt-format.ts";
import { sidesOf } from "#shared/formats/teams.ts";
import type { Game } from "#shared/games/game.ts";
import type { GameId } from "#shared/games/registry.ts";
import type { Clock } from "#shared/lib/clock.ts";
import type { Ids } from "#shared/lib/ids.ts";
import type { TimeControl } from "#shared/lib/time-control.ts";
import { type PermissionFlags, permissionsOf } from "#shared/runtime/command-options.ts";
import { Config, newSeed } from "#shared/runtime/config/config.ts";
import { openingsOfBook } from "#shared/runtime/config/openings.ts";
import type { Disk } from "#shared/runtime/files/disk.ts";
import { isGameFile } from "#shared/runtime/game-files.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { freePorts } from "#shared/runtime/process/free-ports.ts";
import { LEAGUE_COMMAND } from "#shared/runtime/program.ts";
import { isBotFile } from "../../player/loaders/bot-files.ts";
import { gameOf, namedBots } from "../commands/named-bots.ts";
import { optionsOf, optionsOfCommand } from "../commands/named-game.ts";
import type { Terms } from "./terms-file.ts";

/** The options of `league match` that describe the games. */
export interface SetupFlags extends PermissionFlags {
  readonly game?: string;
  readonly option?: readonly string[];
  /** Absent: 100, or the limit of a sequential test. */
  readonly games?: number;
  readonly concurrency?: number;
  /** `elo0=0,elo1=10`, or true for the default hypotheses. */
  readonly sprt?: string | true;
  /** Whether only the first bot plays against all others. */
  readonly gauntlet?: boolean;
  readonly openings?: string;
  readonly openingsOrder?: "random" | "sequential";
  readonly openingsPlies?: number;
  readonly moveMs?: number;
  readonly clock?: TimeControl;
  readonly seed?: string;
  readonly data: string;
  readonly trusted?: boolean;
  readonly wire?: boolean;
  readonly pgn?: string | true;
}

/** A match that can begin. */
interface Setup {
  readonly config: Config;
  readonly seed: string;
  readonly terms: Terms;
  /** The reason for which the games are played over HTTP although `--wire` was not given; null without one. */
  readonly wireReason: string | null;
  /** The openings of the book that are skipped; null if there are none. */
  readonly openingsNotice: string | null;
}

/** The id of the league of a match. */
export const LEAGUE_ID = "match";

/** The only game with opening books and PGN. */
export const CHESS: GameId = "chess.v1";

/** The number of games of two bots without `--games` and `--sprt`. */
const DEFAULT_GAMES = 100;

/** The number of matches that share the processes of a bot file, so that their messages are written together. */
const FILE_BOT_CONCURRENCY = 16;

const isUrl = (bot: string): boolean => /^https?:\/\//.test(bot);
const isBuiltIn = (bot: string): boolean => !isBotFile(bot) && !bot.includes(":");

/** Checks the command line and returns the config of the match. Throws StartError with exit code 2 or 3. */
export async function setupOf(
  texts: readonly string[],
  flags: SetupFlags,
  { clock, ids }: Pick<MatchSystem, "clock" | "ids">,
): Promise<Setup> {
  const named = namedBots(texts);
  const bots = named.map(({ bot }) => bot);
  checkBots(bots, flags);
  const allow = permissionsOf(flags);
  const { game, named: gameName } = await gameOf(
    bots.filter((bot) => !isUrl(bot)),
    flags.game,
    allow,
    clock,
  );
  const sides = sidesOf(game, game.roles);
  if (sides.length !== 2) {
    const needs = `${game.info.name} has ${sides.length} sides`;
    throw new StartError(`${needs}; league match compares bots in games of two sides`, EXIT.usage);
  }
  if (flags.pgn !== undefined && game.id !== CHESS) {
    throw new StartError(
      `--pgn is for ${CHESS}, and the game is ${game.id}; --csv writes tables of any game`,
      EXIT.usage,
    );
  }
  const teamSize = sides[0]?.length ?? 1;
  const url = bots.find(isUrl);
  if (url !== undefined && teamSize > 1) {
    const message = `${url} is one player, and a team of ${game.info.name} has ${teamSize}; play a league with teams instead`;
    throw new StartError(message, EXIT.usage);
  }
  const isWire = flags.wire === true || url !== undefined;
  if (isWire && flags.trusted) throw new StartError("--trusted needs games in this process: omit --wire", EXIT.usage);
  const seed = flags.seed ?? newSeed(ids);
  const concurrency = flags.concurrency ?? defaultConcurrency(bots, flags);
  const teams = named.map(({ name }) => membersOf(name, teamSize));
  const league = leagueOf(game, bots, seed, flags);
  const parsed = Config.safeParse({
    ...(isWire && (await portsOf(bots.length * teamSize, concurrency))),
    data: resolve(flags.data),
    players: bots.flatMap((bot, index) => teams[index]?.map((name) => playerOf(bot, name, allow))),
    games: isGameFile(gameName) ? [resolve(gameName)] : [],
    leagues: [{ ...league.config, ...(teamSize > 1 && { teams }) }],
  });
  if (!parsed.success) throw new StartError(parsed.error.issues.map(faultOf).join("\n"), EXIT.usage);
  return {
    config: parsed.data,
    seed,
    terms: { version: 1, mode: isWire ? "wire" : "local", trusted: flags.trusted ?? false, concurrency, bots: texts },
    openingsNotice: league.openingsNotice,
    wireReason: url !== undefined && !flags.wire ? `${url} is a player at an address` : null,
  };
}

function checkBots(bots: readonly string[], flags: SetupFlags): void {
  const fault = (message: string): never => {
    throw new StartError(message, EXIT.usage);
  };
  if (bots.length < 2) fault(`league match needs two or more bots: ${LEAGUE_COMMAND} match A B --game rps`);
  const person = bots.find((bot) => bot === "manual" || bot === "human");
  if (person !== undefined) {
    fault(
      `league match does not support ${person} players; join a league that is served instead: ${LEAGUE_COMMAND} join ${person}`,
    );
  }
  if (flags.sprt !== undefined && bots.length > 2) {
    fault(`--sprt compares two bots, not ${bots.length}; omit --sprt to compare several`);
  }
  if (flags.openings === undefined) {
    if (flags.openingsOrder !== undefined) fault("--openings-order needs a book: add --openings FILE or omit it");
    if (flags.openingsPlies !== undefined) fault("--openings-plies needs a book: add --openings FILE or omit it");
  }
  if (flags.sprt !== undefined && flags.gauntlet) fault("--sprt compares two bots; omit --gauntlet");
}

/** The names of the players of a bot: a letter follows the name if a team has several. */
const membersOf = (name: string, size: number): readonly string[] =>
  size === 1 ? [name] : Array.from({ length: size }, (_, index) => `${name} ${"abcd"[index]}`);

const playerOf = (bot: string, name: string, allow: object): object => {
  if (isUrl(bot)) return { name, endpoint: bot };
  return isBotFile(bot) ? { name, bot: resolve(bot), allow } : { name, bot };
};

async function portsOf(players: number, concurrency: number): Promise<object> {
  const [manager = 0, referee = 0, player = 0] = await freePorts(2 + players);
  return {
    manager: { port: manager },
    referees: { count: 1, firstPort: referee, max_concurrent_matches: concurrency },
    playersFirstPort: player,
  };
}

/** Bots of this thread gain nothing from games at the same time. Programs and engines use one processor each. */
function defaultConcurrency(bots: readonly string[], { trusted, wire }: SetupFlags): number {
  const isInThread = (bot: string): boolean => isBuiltIn(bot) || (trusted === true && /\.[cm]?[jt]s$/.test(bot));
  if (!wire && bots.every(isInThread)) return 1;
  const isModule = (bot: string): boolean => /\.[cm]?[jt]s$/.test(bot);
  return bots.every((bot) => isBuiltIn(bot) || isModule(bot)) ? FILE_BOT_CONCURRENCY : availableParallelism();
}

function leagueOf(game: Game, bots: readonly string[], seed: string, flags: SetupFlags) {
  const { sprt, games, gauntlet, openings, option = [], moveMs } = flags;
  const format =
    sprt !== undefined
      ? { format: "sprt", format_options: { ...hypothesesOf(sprt), ...(games !== undefined && { max_games: games }) } }
      : { format: gauntlet ? "gauntlet" : "match", format_options: { games: games ?? DEFAULT_GAMES } };
  const perPair = games ?? (sprt === undefined ? DEFAULT_GAMES : SPRT_MAX_GAMES);
  const pairs = Math.ceil(perPair / 2) * pairCount(bots.length, gauntlet);
  const options = optionsOfCommand(game, option);
  const order = flags.openingsOrder ?? "random";
  const choice = { pairs, seed, order, plies: flags.openingsPlies };
  const taken = openings === undefined ? null : openingsOf(openings, game, options, choice);
  const config = {
    league_id: LEAGUE_ID,
    game: game.id,
    ...format,
    options,
    ...(moveMs !== undefined && { move_ms: moveMs }),
    ...(flags.clock !== undefined && { clock: flags.clock }),
    ...(taken && { openings: taken.options }),
  };
  return { config, openingsNotice: taken && taken.notice !== null ? `--openings ${openings}: ${taken.notice}` : null };
}

/** The number of pairs of bots that play each other. */
export const pairCount = (bots: number, gauntlet = false): number => (gauntlet ? bots - 1 : (bots * (bots - 1)) / 2);

/** The options of the format from the text of `--sprt`. */
function hypothesesOf(text: string | true): Record<string, unknown> {
  if (text === true) return {};
  const pairs = text.split(",").map((pair) => pair.trim());
  const wrong = pairs.find((pair) => !/^\w+=\S+$/.test(pair));
  if (wrong !== undefined)
    throw new StartError(`--sprt ${text}: "${wrong}" is not NAME=VALUE, e.g. elo0=0,elo1=10`, EXIT.usage);
  return optionsOf(pairs);
}

interface OpeningTerms {
  readonly pairs: number;
  readonly seed: string;
  readonly order: "random" | "sequential";
  readonly plies: number | undefined;
}

/** The options of the game for each pair of games, from a book, with the notice about skipped openings. */
function openingsOf(file: string, game: Game, options: object, { pairs, ...choice }: OpeningTerms) {
  const fail = (message: string): never => {
    throw new StartError(`--openings ${file}: ${message}`, EXIT.usage);
  };
  const taken = openingsOfBook(file, pairs, { ...choice, isOnce: choice.order === "sequential" });
  if (!taken.ok) return fail(taken.error);
  const first = game.options.safeParse({ ...options, ...taken.value.options[0] });
  if (!first.success)
    fail(`openings are positions of ${CHESS}, and the game is ${game.id}: ${first.error.issues[0]?.message}`);
  return taken.value;
}

/** A fault of the config as a fault of the command line. */
function faultOf({ path, message }: { readonly path: readonly PropertyKey[]; readonly message: string }): string {
  const name = path
    .join(".")
    .replace(/^leagues\.0\.options\./, "--option ")
    .replace(/^leagues\.0\.format_options\.(games|max_games)$/, "--games")
    .replace(/^leagues\.0\.format_options\./, "--sprt ")
    .replace(/^leagues\.0\.move_ms$/, "--move-ms")
    .replace(/^leagues\.0\.clock\b.*/, "--clock");
  return `${name}: ${message}`;
}

/** The time, the random ids and the files of a match. */
export interface MatchSystem {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly disk: Disk;
}
