import { join } from "node:path";
import type { Clock } from "#shared/lib/clock.ts";
import { err, messageOf, ok } from "#shared/lib/result.ts";
import { escapeUnprintable, jsonOf } from "#shared/lib/text.ts";
import type { GameInvite, GameResult, MoveRequest } from "#shared/protocol/messages.ts";
import { createArrival } from "#shared/rpc/peer/arrival.ts";
import type { BotPermissions } from "#shared/runtime/bot-permissions.ts";
import { fileNameOf } from "#shared/runtime/files/file-name.ts";
import { UCI_PREFIX, uciBot } from "../../../player/engines/uci-bot.ts";
import { recordsFolder } from "../../../player/llm/records.ts";
import type { LoadedBot } from "../../../player/loaded-bot.ts";
import { isModuleFile } from "../../../player/loaders/bot-files.ts";
import { loadBot } from "../../../player/loaders/load-bot.ts";
import { trustedBot } from "../../../player/loaders/trusted-bot.ts";
import { MatchLogs } from "../../../player/matches/match-logs.ts";
import { Player } from "../../../player/matches/player.ts";
import type { Asker, AskFault } from "../../../referee/match/player-messages.ts";
import type { MatchSystem } from "../setup.ts";

/** A bot of a local match. */
export interface BotEntry {
  readonly playerId: string;
  readonly name: string;
  /** What `loadBot` accepts. */
  readonly spec: string;
  readonly allow: BotPermissions;
}

interface LocalBotOptions {
  readonly system: Pick<MatchSystem, "clock" | "disk">;
  readonly entries: readonly BotEntry[];
  /** The folder of the run, for logs and records. */
  readonly folder: string;
  /** The number of matches that are played at the same time. */
  readonly concurrency: number;
  /** Whether the code of bot files runs in this thread. */
  readonly isTrusted: boolean;
  readonly warn: (line: string) => void;
  /** Called if a bot turns out not to start after it was loaded. */
  readonly fail: (error: Error) => void;
}

/** The bots of local matches. An endpoint names a loaded bot. */
export interface LocalBots {
  /** Returns the endpoint of a player. */
  endpointOf(playerId: string): string;
  /** Returns the endpoint of a player at which each match has a separate process. */
  separateEndpointOf(playerId: string): Promise<string>;
  /** Whether matches that are played at the same time share the process of this player, so that one of them can end or block it. */
  sharesProcess(playerId: string): boolean;
  at(endpoint: string): LocalPlayer;
  /** Whether the bot of a player reads the legal actions of its turns. */
  readsLegalActions(playerId: string): boolean;
  /** Returns and forgets the last line that the bot of a player has written in a match. After an error it is the error with its place. */
  takeLastLine(playerId: string, matchId: string): string | null;
  /** The hash that identifies the version of a player's bot; null if it has none. */
  hashOf(playerId: string): string | null;
  close(): Promise<void>;
}

/** Processes of one bot file beyond the processors only cost memory. */
export const processesPerBot = (concurrency: number, bots: number, processors: number): number =>
  Math.max(1, Math.min(concurrency, Math.floor(processors / bots)));

/** Loads the bots. `processes` is the maximum number of processes of each bot file. Throws StartError if one of them does not load. */
export async function loadLocalBots(options: LocalBotOptions, processes: number): Promise<LocalBots> {
  const { entries, concurrency, isTrusted } = options;
  const players = new Map<string, LocalPlayer>();
  const bots: LoadedBot[] = [];
  const hashes = new Map<string, string>();
  const lastLines = new Map<string, string>();
  const unlisted = new Set<string>();
  const entryOf = (playerId: string): BotEntry => entries.find((entry) => entry.playerId === playerId) as BotEntry;
  const isIsolated = ({ spec }: BotEntry): boolean => isModuleFile(spec) && !isTrusted;
  const load = async (entry: BotEntry, endpoint: string, maxProcesses?: number): Promise<string> => {
    const onLine = (matchId: string, line: string): void => void lastLines.set(lineKey(entry.playerId, matchId), line);
    const { bot, player } = await loadPlayer(entry, options, onLine, maxProcesses);
    bots.push(bot);
    if (bot.hash !== undefined) hashes.set(entry.playerId, bot.hash);
    if (bot.readsLegalActions === false) unlisted.add(entry.playerId);
    players.set(endpoint, { player, needsCopies: isTrusted && isModuleFile(entry.spec) });
    return endpoint;
  };
  const close = async (): Promise<void> => void (await Promise.all(bots.map((bot) => bot.close?.())));
  const loading = await Promise.allSettled(entries.map((entry) => load(entry, entry.playerId, processes)));
  const failed = loading.find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") {
    await close();
    throw failed.reason;
  }
  const separate = new Map<string, Promise<string>>();
  return {
    endpointOf: (playerId) => playerId,
    separateEndpointOf(playerId) {
      const entry = entryOf(playerId);
      if (!isIsolated(entry)) return Promise.resolve(playerId);
      const loading = separate.get(playerId) ?? load(entry, `${playerId}/separate`);
      separate.set(playerId, loading);
      return loading;
    },
    sharesProcess: (playerId) => isIsolated(entryOf(playerId)) && concurrency > processes,
    at: (endpoint) => players.get(endpoint) as LocalPlayer,
    readsLegalActions: (playerId) => !unlisted.has(playerId),
    takeLastLine(playerId, matchId) {
      const key = lineKey(playerId, matchId);
      const line = lastLines.get(key) ?? null;
      lastLines.delete(key);
      return line;
    },
    hashOf: (playerId) => hashes.get(playerId) ?? null,
    close,
  };
}

const lineKey = (playerId: string, matchId: string): string => `${playerId} ${matchId}`;

async function loadPlayer(
  { name, spec, allow }: BotEntry,
  options: LocalBotOptions,
  onLine: (matchId: string, line: string) => void,
  maxProcesses?: number,
) {
  const { folder, concurrency, warn, fail, isTrusted } = options;
  const { clock, disk } = options.system;
  // A line may quote the output of a bot, which may have control characters.
  const warnOf = (line: string): void => warn(`${name}: ${escapeUnprintable(line)}`);
  const home = {
    recordsFolder: () => join(recordsFolder(folder), fileNameOf(name)),
    say: () => {},
    warn: warnOf,
    fail,
    allow,
    inspect: null,
    ...(maxProcesses !== undefined && { maxProcesses }),
  };
  const load = (): Promise<LoadedBot> => {
    if (isTrusted && isModuleFile(spec)) return trustedBot(spec);
    if (!spec.startsWith(UCI_PREFIX)) return loadBot(spec, clock, home);
    // Games that are played at the same time share no hash table, and the processes continue with the next games.
    return uciBot(spec, clock, { processes: concurrency, spare: concurrency });
  };
  const bot = await load();
  const logs = new MatchLogs(
    () => join(folder, "logs", fileNameOf(name)),
    disk,
    clock,
    (error) => warnOf(error.message),
  );
  const show = (line: string, match?: GameInvite): void => {
    if (match) {
      onLine(match.match_id, line);
      logs.add(match, line);
    } else warnOf(line);
  };
  const player = new Player(bot, show, clock);
  return { bot, player };
}

/** The player of a local match. */
export interface LocalPlayer {
  readonly player: Pick<Player, "invite" | "move" | "finish">;
  /** Whether the code of the bot may change a view that it receives, because it runs in this thread and is not part of this project. */
  readonly needsCopies: boolean;
}

type MoveReply = Awaited<ReturnType<Asker["requestMove"]>>;

const copyOf = (view: unknown): unknown => JSON.parse(JSON.stringify(view));

/** The result of a call that has not returned within its time limit. */
const LATE = Symbol("late");

/**
 * Creates an asker for bots in this process. Time limits, answers and faults are those of players over the network; only the envelopes are missing.
 * `playerAt` returns the player at an endpoint.
 */
export function createLocalAsker(playerAt: (endpoint: string) => LocalPlayer, clock: Clock): Asker {
  const within = timeLimit(clock);
  const arrival = createArrival(clock);
  return {
    async invite({ endpoint, matchToken }, invitation, limitMs) {
      const { player } = playerAt(endpoint);
      const answer = await within(limitMs, player.invite(invitation as GameInvite, matchToken));
      if (answer === LATE) return err(unanswered(limitMs));
      if (answer === "wrong_role") throw new Error(`${endpoint} has another role in this match`);
      if (answer.accept) return ok(null);
      return err({ code: "G001", cause: "declined", detail: `declined: ${answer.reason}`, raw: jsonOf(answer) });
    },
    async requestMove({ endpoint, matchToken }, turn, limitMs) {
      const { player, needsCopies } = playerAt(endpoint);
      const request = turn as MoveRequest;
      const asked = needsCopies ? { ...request, game_state: copyOf(request.game_state) } : request;
      const askedAt = clock.monotonic();
      const moving = player.move(asked, matchToken);
      // A bot in this thread has computed its answer now, unless it waits for something.
      const computedAt = clock.monotonic();
      const computedMs = computedAt - askedAt;
      if (computedMs >= limitMs) {
        moving.catch(() => {});
        return { kind: "unanswered", fault: unanswered(limitMs), lateMs: 0 };
      }
      const answer = await within(limitMs - computedMs, moving);
      if (answer === LATE) return { kind: "unanswered", fault: unanswered(limitMs), lateMs: 0 };
      return { ...replyOf(answer, request), lateMs: clock.monotonic() - Math.max(computedAt, arrival.earliest()) };
    },
    lastRoundTripMs: () => null,
    inOrder: () => null,
    async notify({ endpoint, matchToken }, type, payload) {
      if (type === "GAME_RESULT") await playerAt(endpoint).player.finish(payload as GameResult, matchToken);
    },
  };
}

function replyOf(
  answer: Exclude<Awaited<ReturnType<Player["move"]>>, symbol>,
  { match_id, tick }: MoveRequest,
): Omit<MoveReply, "lateMs"> & MoveReply {
  if (typeof answer === "string") throw new Error(`a local player answers ${answer}`);
  if ("failed" in answer) return faulty(answer.failed, match_id, tick);
  const move = plain(answer.move);
  return move.ok
    ? { kind: "move", move: move.value, raw: () => jsonOf({ match_id, tick, move: move.value }), lateMs: 0 }
    : faulty(move.error, match_id, tick);
}

/** The reply of a player whose bot has chosen no action. */
function faulty(reason: string, match_id: string, tick: number): MoveReply {
  const raw = jsonOf({ type: "GAME_ERROR", payload: { match_id, tick, message: reason } });
  return { kind: "faulty", fault: { code: "G001", cause: "bot_error", detail: reason.slice(0, 200), raw }, lateMs: 0 };
}

/** Returns an action as it would arrive over the network. */
function plain(move: unknown) {
  if (typeof move === "string" || typeof move === "boolean" || Number.isFinite(move)) return ok(move);
  try {
    return ok(JSON.parse(JSON.stringify(move) ?? "null") as unknown);
  } catch (thrown) {
    return err(messageOf(thrown));
  }
}

const unanswered = (limitMs: number): AskFault => ({
  code: "G002",
  cause: "timeout",
  detail: `no answer within ${Math.round(limitMs)} ms`,
});

/**
 * Returns a function that limits the time of a call. Most calls of bots in this thread are settled in the same turn of the event loop, so a timer is
 * set only for calls that are open at its end.
 */
function timeLimit(clock: Clock): <T>(ms: number, call: Promise<T>) => Promise<T | typeof LATE> {
  const fresh = new Set<() => void>();
  const setTimers = (): void => {
    for (const setTimer of fresh) setTimer();
    fresh.clear();
  };
  return <T>(ms: number, call: Promise<T>) =>
    new Promise<T | typeof LATE>((resolve, reject) => {
      const startedAt = clock.monotonic();
      let cancel = (): void => {};
      const setTimer = (): void => {
        // An answer that has arrived while this thread was busy is read before the time is over.
        cancel = clock.after(Math.max(0, ms - (clock.monotonic() - startedAt)), () => clock.defer(() => resolve(LATE)));
      };
      const settle = (): void => {
        fresh.delete(setTimer);
        cancel();
      };
      if (fresh.size === 0) clock.defer(setTimers);
      fresh.add(setTimer);
      call.then(
        (value) => {
          settle();
          resolve(value);
        },
        (thrown) => {
          settle();
          reject(thrown);
        },
      );
    });
}
