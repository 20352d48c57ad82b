import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Game } from "#shared/games/game.ts";
import { type Clock, systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { escapeJson } from "#shared/lib/text.ts";
import { parseEndpoint } from "#shared/protocol/addresses.ts";
import { NATIVE } from "#shared/protocol/dialects/dialect.ts";
import { wildcardHost } from "#shared/rpc/http/machine-addresses.ts";
import { httpNetwork } from "#shared/rpc/network.ts";
import type { BotPermissions } from "#shared/runtime/bot-permissions.ts";
import { type PermissionFlags, permissionArgs, permissionsOf } from "#shared/runtime/command-options.ts";
import { LOOPBACK_HOST } from "#shared/runtime/defaults.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { createSupervisor } from "#shared/runtime/process/supervisor.ts";
import { Caller } from "../check/caller.ts";
import type { CheckId } from "../check/check.ts";
import { CHECKS, type CheckResult, checkPlayer } from "../check/check-player.ts";
import { closingLine, documentOf, linesOf } from "../check/check-report.ts";
import { type GivenOptions, Matches, withDialect } from "../check/matches.ts";
import { openRegistrationDesk, type RegistrationDesk } from "../check/registration-desk.ts";
import { type Subject, urlPlayer } from "../check/subject.ts";
import { givenOptions, namedGame } from "./named-game.ts";

interface CheckFlags extends PermissionFlags {
  readonly listen?: boolean;
  readonly port: number;
  readonly lan?: boolean;
  readonly tokenFile?: string;
  readonly game?: readonly string[];
  readonly option?: readonly string[];
  readonly only?: readonly string[];
  readonly moveMs: number;
  readonly json?: boolean;
}

/** The time limits of an invitation and a move while the dialect of a player is searched. */
const SEARCH_LIMITS = { join_ms: 5_000, move_ms: 5_000 };
/** How long a bot may take to register. */
const BOT_REGISTRATION_MS = 30_000;
/** How long a player may take to register after its first request. It may repeat a rejected registration. */
const REGISTRATION_MS = 5_000;

/** How long the check waits for another registration of a player of another dialect, which may not understand the status of the first answer. */
const SECOND_REGISTRATION_MS = 3_000;

/** What is checked: the games, the options of the only game, and the checks; null for all, and for options that are not given. */
interface Selection {
  readonly games: readonly Game[] | null;
  readonly options: GivenOptions | null;
  readonly only: readonly CheckId[] | null;
}

/** A player under test and the means to end it. `subject` is null if it has not registered. */
interface Player {
  readonly subject: Subject | null;
  readonly registration: RegistrationDesk["record"] | null;
  readonly takeOutput?: () => readonly string[];
}

/** `league check`: checks a player against the protocol. Resolves with the exit code: 0, or 1 if a check has failed. */
export async function check(target: string | undefined, flags: CheckFlags): Promise<number> {
  const [games, only] = [await gamesOf(flags.game), checksOf(flags.only)];
  const options = optionsFor(games, flags.option);
  if ((target === undefined) !== (flags.listen ?? false)) {
    throw new StartError("give a bot or the URL of a player, or --listen without a bot", EXIT.usage);
  }
  const startsBot = target !== undefined && !isUrl(target);
  const caller = new Caller(systemClock, systemIds, { startsBot });
  const ends: (() => void | Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.once(signal, () => void stop().finally(() => process.exit(EXIT.interrupted)));
  }
  try {
    const player = await findPlayer(caller, target, flags, games, (end) => void ends.push(end));
    return await report(caller, player, flags, { games, options, only });
  } finally {
    await stop();
  }
}

const isUrl = (target: string): boolean => /^https?:/.test(target);

function findPlayer(
  caller: Caller,
  target: string | undefined,
  flags: CheckFlags,
  games: readonly Game[] | null,
  atEnd: (end: () => void | Promise<void>) => void,
): Promise<Player> {
  if (target === undefined) return awaitPlayer(caller, flags, atEnd);
  if (/^(?!(?:uci|lines):)[\w.-]+:\d+(\/|$)/.test(target))
    throw new StartError(`${target}: an address begins with http://. Did you mean http://${target}?`, EXIT.usage);
  if (isUrl(target)) return playerAt(caller, target, flags, games, atEnd);
  return startPlayer(caller, target, permissionsOf(flags), atEnd);
}

/** A running player at a URL. */
async function playerAt(
  caller: Caller,
  target: string,
  { tokenFile }: CheckFlags,
  games: readonly Game[] | null,
  atEnd: (end: () => void | Promise<void>) => void,
): Promise<Player> {
  const url = parseEndpoint(target);
  if (!url) throw new StartError(`${target}: not an http URL`, EXIT.usage);
  if (url.pathname === "/") url.pathname = "/mcp";
  const token = tokenFile === undefined ? null : readFileSync(tokenFile, "utf8").trim();
  // A player of another dialect may send its answers in requests of its own.
  const desk = await openDesk(caller, { host: LOOPBACK_HOST, port: 0 });
  atEnd(() => desk.close());
  const subject = await withDialect(
    new Matches(caller, systemClock, systemIds, SEARCH_LIMITS),
    urlPlayer({ endpoint: url.href, token, games, refereeEndpoint: `${desk.url}/mcp` }),
  );
  return { subject, registration: null };
}

/** Starts a player with a bot, which registers with the manager of the check. */
async function startPlayer(
  caller: Caller,
  bot: string,
  allow: BotPermissions,
  atEnd: (end: () => void | Promise<void>) => void,
): Promise<Player> {
  if (bot === "manual") throw new StartError("league check does not support manual players", EXIT.usage);
  const desk = await openDesk(caller, { host: LOOPBACK_HOST, port: 0 });
  atEnd(() => desk.close());
  const dataFolder = mkdtempSync(join(tmpdir(), "league-check-"));
  atEnd(() => rmSync(dataFolder, { recursive: true, force: true }));
  const { failed, takeOutput, stop } = startBot({
    bot,
    manager: `${desk.url}/mcp`,
    dataFolder,
    allow,
    clock: systemClock,
  });
  atEnd(stop);
  const limit = systemClock.pause(BOT_REGISTRATION_MS).then(() => null);
  const subject = await Promise.race([desk.registered, failed, limit]);
  return { subject, registration: desk.record, takeOutput };
}

/** Waits for a player that registers by itself. */
async function awaitPlayer(
  caller: Caller,
  { port, lan }: CheckFlags,
  atEnd: (end: () => void | Promise<void>) => void,
): Promise<Player> {
  const host = lan ? wildcardHost(httpNetwork(systemClock).interfaces()) : LOOPBACK_HOST;
  const desk = await openDesk(caller, { host, port });
  atEnd(() => desk.close());
  const addresses = desk.urls.map((url) => `${url}/mcp`).join(" or ");
  process.stderr.write(`Start your player now, with the manager ${addresses}. Ctrl-C ends this command.\n`);
  const limit = desk.contacted.then(() => systemClock.pause(REGISTRATION_MS)).then(() => null);
  const subject = await Promise.race([desk.registered, limit]);
  if (subject && subject.dialect !== NATIVE) await systemClock.pause(SECOND_REGISTRATION_MS);
  return { subject, registration: desk.record };
}

const openDesk = (
  caller: Caller,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<RegistrationDesk> =>
  openRegistrationDesk({
    network: httpNetwork(systemClock),
    clock: systemClock,
    ids: systemIds,
    host,
    ports: [port],
    lateAnswers: caller.peers.lateAnswers,
  });

/** Runs the checks and prints them. */
async function report(
  caller: Caller,
  { subject, registration, takeOutput }: Player,
  { json, moveMs }: CheckFlags,
  { games, options, only }: Selection,
): Promise<number> {
  let secrets: readonly string[] = [];
  const write = (line: string): void => void process.stdout.write(`${line}\n`);
  if (!json && subject) {
    const name = subject.name === subject.endpoint ? "" : `${subject.name} at `;
    write(`${name}${subject.endpoint}, dialect ${subject.dialect}\n`);
  }
  const onResult = (result: CheckResult, known: readonly string[]): void => {
    secrets = known;
    if (!json) for (const line of linesOf(result, secrets)) write(line);
  };
  const results = await checkPlayer({
    clock: systemClock,
    ids: systemIds,
    caller,
    subject,
    registration,
    only,
    games,
    moveMs,
    onResult,
    gameOptions: options,
    ...(takeOutput && { takeOutput }),
  });
  const document = documentOf(subject, results, secrets);
  write(json ? escapeJson(JSON.stringify(document, null, 2)) : `\n${closingLine(results)}`);
  return document.passed ? EXIT.ok : EXIT.failed;
}

async function gamesOf(names: readonly string[] | undefined): Promise<readonly Game[] | null> {
  if (names === undefined) return null;
  const games: Game[] = [];
  for (const name of listed(names)) games.push(await namedGame(name));
  return games;
}

/** Returns the options of the command line, which belong to one game. */
function optionsFor(games: readonly Game[] | null, pairs: readonly string[] | undefined): GivenOptions | null {
  if (pairs === undefined) return null;
  const [game, ...others] = games ?? [];
  if (!game || others.length > 0) {
    throw new StartError("--option needs one game: --game rps --option best_of=5", EXIT.usage);
  }
  return { game, options: givenOptions(game, pairs) };
}

/** Returns the checks that a user names by their numbers or ids. */
function checksOf(names: readonly string[] | undefined): readonly CheckId[] | null {
  return (
    (names &&
      listed(names).map((name) => {
        const found = CHECKS.find(({ id }, index) => id === name || String(index + 1) === name);
        if (found) return found.id;
        const known = CHECKS.map(({ id }, index) => `${index + 1} ${id}`).join(", ");
        throw new StartError(`unknown check ${name}; choose one of ${known}`, EXIT.usage);
      })) ??
    null
  );
}

/** The values of an option, which may also be separated by commas. */
const listed = (values: readonly string[]): readonly string[] => values.flatMap((value) => value.split(","));

/** A player process that was started with the bot of the user. */
interface BotProcess {
  /** Rejects with StartError if the process ends before it listens or cannot be kept running. Never resolves. */
  readonly failed: Promise<never>;
  /** Returns the last lines that the process has printed since the previous call. */
  takeOutput(): readonly string[];
  stop(): Promise<void>;
}

interface BotProcessOptions {
  readonly bot: string;
  readonly manager: string;
  readonly dataFolder: string;
  readonly allow: BotPermissions;
  readonly clock: Clock;
}

const NAME = "player";
const MAX_LINES = 5;

/** Starts `league join` with a bot in a separate process. */
function startBot({ bot, manager, dataFolder, allow, clock }: BotProcessOptions): BotProcess {
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {}); // the caller may have stopped waiting for it
  let lines: string[] = [];
  const supervisor = createSupervisor({
    clock,
    onEvent: () => {},
    onLine: (_, line) => {
      lines = [...lines, line].slice(-MAX_LINES);
    },
    onFatal: (message, exitCode) => failed.reject(new StartError([...lines, message].join("\n"), exitCode)),
  });
  const args = ["join", bot, "--name", NAME, "--manager", manager, "--data", dataFolder, ...permissionArgs(allow)];
  void supervisor.start({ name: NAME, script: "scripts/league.ts", args, isExpendable: true });
  return {
    failed: failed.promise,
    takeOutput() {
      const taken = lines;
      lines = [];
      return taken;
    },
    stop: () => supervisor.stop(),
  };
}
