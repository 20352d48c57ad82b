import { join } from "node:path";
import { escapeUnprintable } from "#shared/lib/text.ts";
import type { GameInvite } from "#shared/protocol/messages.ts";
import type { BotPermissions } from "#shared/runtime/bot-permissions.ts";
import { fileNameOf } from "#shared/runtime/files/file-name.ts";
import { uciBot } from "../../../player/engines/uci-bot.ts";
import { UCI_PREFIX } from "../../../player/engines/uci-spec.ts";
import { recordsFolder } from "../../../player/llm/record-files.ts";
import type { LoadedBot } from "../../../player/loaded-bot.ts";
import { isModuleFile } from "../../../player/loaders/bot-files.ts";
import { loadBot } from "../../../player/loaders/load-bot.ts";
import { trustedBot } from "../../../player/loaders/trusted-bot.ts";
import { MatchLogs } from "../../../player/matches/match-logs.ts";
import { Player } from "../../../player/matches/player.ts";
import type { MatchSystem } from "../system.ts";
import type { LocalPlayer } from "./local-asker.ts";

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
