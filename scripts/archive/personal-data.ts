import { closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { z } from "zod";
import type { Clock } from "#shared/lib/clock.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { invariant } from "#shared/lib/result.ts";
import { counted, escapeJson, inOneLine, parsedJson } from "#shared/lib/text.ts";
import { bareHost, isLoopback } from "#shared/protocol/addresses.ts";
import { systemDisk } from "#shared/runtime/files/disk.ts";
import { fileNameOf } from "#shared/runtime/files/file-name.ts";
import { StoreInUse } from "#shared/runtime/files/locked-store.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { tokenFileOf } from "#shared/runtime/secret-file.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { StoreBusy } from "#shared/store/store-errors.ts";
import { forgetPlayer } from "../../league-manager/commands/agent-commands.ts";
import { leagueStream } from "../../league-manager/league/events.ts";
import { loadState } from "../../league-manager/store/manager-state.ts";
import { MANAGER_SCHEMA, managerStore } from "../../league-manager/store/manager-store.ts";
import { openLedger } from "../../league-manager/store/store-ledger.ts";
import { recordsFolder } from "../../player/llm/records.ts";
import { databaseName, withDatabase } from "../commands/open-database.ts";
import { readJson, writeJsonAtomically } from "../run/json-file.ts";
import { completedMatches } from "./format.ts";
import { findStore, readingDatabase, readingRun, type StoredRun } from "./stored-run.ts";

/** Where the data of a player is looked for. */
export interface Places {
  /** The data folder of a manager. */
  readonly data: string;
  /** The URL of a PostgreSQL database in place of the data folder. */
  readonly database?: string | undefined;
  /** A folder with files of processes, besides the database. */
  readonly files?: string | undefined;
}

/** The manager that erases a profile: the one with this endpoint, or the one that uses the data folder. */
interface ManagerFlags {
  readonly data: string;
  readonly manager?: string;
}

/** `league personal-data`: prints what is stored about a player. Rejects with StartError if nothing is. */
export async function listPersonalData(player: string, flags: Places & { readonly json?: boolean }): Promise<number> {
  const found = await findData(player, flags);
  if (flags.json) {
    const documents = found.map(({ store, logs, ...data }) => {
      const place = "file" in store ? { storeFile: store.file } : { database: store.name };
      return { ...data, ...place, logs: Object.fromEntries(logs) };
    });
    process.stdout.write(`${escapeJson(JSON.stringify(documents, null, 2))}\n`);
  } else print(found.flatMap((data) => linesOf(data, player)));
  return EXIT.ok;
}

/**
 * `league forget`: erases the personal data of a player in a data folder. If a manager uses the folder, the manager erases the profile. Rejects with
 * StartError if nothing is stored, or if the player cannot be erased now.
 */
export async function forgetIn(
  player: string,
  flags: Places & ManagerFlags,
  capabilities: Capabilities,
): Promise<number> {
  const { forgetAtManager } = capabilities;
  if (flags.manager !== undefined) {
    await forgetAtManager(player, flags);
    print([`${player} is erased by ${flags.manager}`, REMOTE_NOTE]);
    return EXIT.ok;
  }
  for (const data of await findData(player, flags)) {
    const { profile } = data;
    const isManagerRunning = await eraseStored(data, capabilities);
    eraseFiles(data, profile?.player_id ?? ERASED_NAME, isManagerRunning, nameOf(data, player));
    print(erasedLines(data, player, isManagerRunning));
  }
  print(flags.database === undefined ? [COPIES_NOTE] : [DATABASE_NOTE, COPIES_NOTE]);
  return EXIT.ok;
}

/** Erases the profile of a player in its store. Resolves with whether a manager may be running. */
async function eraseStored(data: PlayerData, { clock, ids, forgetAtManager }: Capabilities): Promise<boolean> {
  const { profile, store } = data;
  if ("database" in store) {
    if (profile) await eraseInDatabase(store.database, profile.player_id, { clock, ids });
    return true;
  }
  const folder = dirname(store.file);
  const isManagerRunning = profile !== null && !(await eraseOffline(folder, store.file, profile.player_id, clock));
  if (isManagerRunning) await forgetAtManager(profile.player_id, { data: folder });
  truncateWriteAheadLog(store.file);
  return isManagerRunning;
}

interface Capabilities extends Tools {
  /** Lets a running manager erase the profile of a player. */
  readonly forgetAtManager: (playerId: string, flags: ManagerFlags) => Promise<void>;
}

const REMOTE_NOTE =
  "Logs and other files that mention the player are erased by the same command on the machine of the manager, with --data FOLDER.";
const DATABASE_NOTE =
  "Files of other machines that mention the player are erased there by the same command, with --data FOLDER and the name. PostgreSQL overwrites the deleted rows later.";
const COPIES_NOTE =
  "Not erased: exports and reports that were made before, backups, your own config file, and files on the machine of the player.";

/** The name in a config of a player without a profile. */
const ERASED_NAME = "erased player";

/** Erases the profile if no manager uses the store. Resolves with false if a manager uses it. */
async function eraseOffline(folder: string, storeFile: string, playerId: string, clock: Clock): Promise<boolean> {
  const run = z.object({ status: z.string() }).safeParse(readJson(resolve(folder, "run.json")));
  const isErased = run.data?.status !== "running" && (await eraseProfile(storeFile, playerId, clock));
  if (isErased || run.data?.status !== "running") return isErased;
  throw new StartError(
    `the run in ${folder} is not finished: continue it with "npm start -- --resume" and then erase the player, or delete the folder`,
  );
}

/** Returns the data of a player in each store that has some. An id is looked up in the newest store only, because each run has its own ids. */
async function findData(player: string, { data, database, files }: Places): Promise<readonly PlayerData[]> {
  const folder = files === undefined ? null : resolve(files);
  const found =
    database === undefined
      ? await dataInFolder(player, resolve(data))
      : [await dataInDatabase(player, folder, database)];
  const stored = found.filter((one) => !isEmpty(one));
  if (stored.length > 0) return stored;
  const place = database === undefined ? resolve(data) : found.map(placeOf).join("");
  throw new StartError(`no data of ${inOneLine(player)} in ${place}: give the id or the name of a player`);
}

function dataInFolder(player: string, folder: string): Promise<readonly PlayerData[]> {
  const newest = findStore(folder);
  const stores = isPlayerId(player) ? [newest] : storesIn(folder);
  return Promise.all(stores.map((file) => playerDataIn({ file }, dirname(file), player)));
}

const dataInDatabase = async (player: string, folder: string | null, database: string): Promise<PlayerData> =>
  playerDataIn({ database, name: await databaseName(database) }, folder, player);

const nameOf = ({ profile }: PlayerData, player: string): string => profile?.display_name ?? player;

function linesOf(data: PlayerData, player: string): readonly string[] {
  const { store, profile, files, logs, configs } = data;
  const rows = profile && [
    ["id", profile.player_id],
    ["name", `${profile.display_name}   (table profiles of ${"file" in store ? store.file : store.name})`],
    ["address", `${profile.endpoint}   (the same table)`],
    ["token", "SHA-256 hash   (table tokens)"],
  ];
  const all: readonly (readonly string[])[] = [
    ...(rows ?? []),
    ...files.map((file) => ["file", file]),
    ...[...logs].map(([file, count]) => ["log", `${file}: ${counted(count, "mention")}`]),
    ...configs.map((file) => ["config", file]),
    ["kept", keptText(data)],
  ];
  return [
    `${nameOf(data, player)} in ${placeOf(data)}`,
    ...all.map(([what = "", text = ""]) => `  ${what.padEnd(8)} ${text}`),
  ];
}

const placeOf = ({ store, folder }: PlayerData): string =>
  "file" in store ? dirname(store.file) : `${store.name}${folder === null ? "" : ` and in ${folder}`}`;

const keptText = ({ matches }: PlayerData): string =>
  `the actions of ${counted(matches, "match", "matches")}, and answers that faults quote, under the id`;

function erasedLines(data: PlayerData, player: string, isManagerRunning: boolean): readonly string[] {
  const { profile, files, logs, configs } = data;
  const mentions = [...logs.values()].reduce((sum, count) => sum + count, 0);
  const parts = [
    ...(profile ? ["its name, address and token"] : []),
    counted(files.length, "file"),
    `${counted(mentions, "mention")} in logs`,
  ];
  return [
    `${profile?.player_id ?? player} is erased in ${placeOf(data)}: ${parts.join(", ")}`,
    `kept: ${keptText(data)}`,
    ...(isManagerRunning ? configs.map((file) => `kept while the manager runs: the name in ${file}`) : []),
  ];
}

const print = (lines: readonly string[]): void =>
  void process.stdout.write(lines.map((line) => `${inOneLine(line)}\n`).join(""));

/** The data of a player in a store and in a folder with the files of processes. */
interface PlayerData {
  /** The folder of the run or of the served league; null if only a database is named. */
  readonly folder: string | null;
  readonly store: PlayerStore;
  /** The row of the player in the store; null if there is none. */
  readonly profile: { readonly player_id: string; readonly display_name: string; readonly endpoint: string } | null;
  /** The files and folders that belong to the player: its token, its log, its records of a language model. */
  readonly files: readonly string[];
  /** Logs of other processes that mention the player, with the number of mentions. */
  readonly logs: ReadonlyMap<string, number>;
  /** The stored configs that list the player. */
  readonly configs: readonly string[];
  /** The number of completed matches of the player. Their session logs contain its actions under its id. */
  readonly matches: number;
}

/** The store of a manager: its file, or the PostgreSQL database that it shares with others. */
type PlayerStore =
  | { readonly file: string }
  | { readonly database: string /** Without the password. */; readonly name: string };

/** Returns the data of the player with this id or display name. Rejects with StartError if the store cannot be read. */
async function playerDataIn(store: PlayerStore, folder: string | null, player: string): Promise<PlayerData> {
  const read = (run: StoredRun) => storedDataOf(run, player);
  const stored = "file" in store ? readingRun(store.file, read) : readingDatabase(store.database, read);
  const { profile, matches } = await stored;
  // The id of a player without a profile is not its name, and it is in many logs.
  const name = profile?.display_name ?? (isPlayerId(player) ? null : player);
  const found = name === null || folder === null ? NOTHING : namedIn(folder, name, profile?.endpoint ?? "");
  return { folder, store, profile, matches, ...found };
}

async function storedDataOf(
  { store, leagues }: StoredRun,
  player: string,
): Promise<Pick<PlayerData, "profile" | "matches">> {
  const found = [...(await store.loadProfiles())].find(
    ([id, { name }]) => isPlayerId(id) && (id === player || name === player),
  );
  const played = leagues
    .flatMap(({ league }) => completedMatches(league))
    .filter(({ players }) => players.includes(found?.[0] ?? player));
  const row = found && { player_id: found[0], display_name: found[1].name, endpoint: found[1].endpoint };
  return { profile: row ?? null, matches: played.length };
}

type Named = Pick<PlayerData, "files" | "logs" | "configs">;
const NOTHING: Named = { files: [], logs: new Map(), configs: [] };

/** Returns the files of a folder that name a player. */
function namedIn(folder: string, name: string, endpoint: string): Named {
  const files = filesOf(folder, name);
  return {
    files,
    logs: mentionsInFiles(folder, textsOf(name, endpoint), files),
    configs: ["config.json", "serve.json"].map((file) => join(folder, file)).filter((file) => lists(file, name)),
  };
}

/** Whether a text is the id of a player. */
export const isPlayerId = (text: string): boolean => /^P\d+$/.test(text);

/** Whether anything about the player is stored. */
const isEmpty = ({ profile, files, logs, configs }: PlayerData): boolean =>
  profile === null && files.length === 0 && logs.size === 0 && configs.length === 0;

/** The texts in logs that identify a player: its name, and its address unless it is on the manager's machine. */
function textsOf(name: string, endpoint: string): readonly string[] {
  const url = URL.parse(endpoint);
  const isRemote = url !== null && url.host !== "" && url.protocol !== "inbox:" && !isLoopback(bareHost(url));
  return isRemote ? [name, url.host, bareHost(url)] : [name];
}

function filesOf(folder: string, name: string): readonly string[] {
  const token = tokenFileOf(folder, "player", name);
  const log = join(folder, "logs", fileNameOf(name));
  const candidates = [token, `${token}.lock`, `${log}.log`, log, join(recordsFolder(folder), fileNameOf(name))];
  return candidates.filter(existsSync);
}

function mentionsInFiles(
  folder: string,
  texts: readonly string[],
  except: readonly string[],
): ReadonlyMap<string, number> {
  const logs = join(folder, "logs");
  const found = new Map<string, number>();
  for (const entry of existsSync(logs) ? readdirSync(logs, { recursive: true, encoding: "utf8" }).sort() : []) {
    const file = join(logs, entry);
    if (!statSync(file).isFile() || except.some((own) => file === own || file.startsWith(`${own}/`))) continue;
    const count = countMentions(file, texts);
    if (count > 0) found.set(file, count);
  }
  return found;
}

/** The part of a stored config that names players. */
const PlayersOfConfig = z.looseObject({ players: z.array(z.looseObject({ name: z.string() })) });

const lists = (file: string, name: string): boolean => {
  const config = existsSync(file) ? PlayersOfConfig.safeParse(parsedJson(readFileSync(file, "utf8"))).data : undefined;
  return config?.players.some((player) => player.name === name) ?? false;
};

/** Returns the stores of the manager in a folder: its own, and those of the runs in it. */
function storesIn(folder: string): readonly string[] {
  const runs = join(folder, "runs");
  const names = existsSync(runs) && statSync(runs).isDirectory() ? readdirSync(runs).sort() : [];
  const folders = [folder, ...names.map((name) => join(runs, name))];
  return folders.map((one) => join(one, "league-manager.sqlite")).filter(existsSync);
}

/**
 * Erases the profile of a player in a store that no manager uses, by the command that a running manager executes. Resolves with false if a manager uses
 * the store. Rejects with StartError if the player cannot be erased now.
 */
async function eraseProfile(storeFile: string, playerId: string, clock: Clock): Promise<boolean> {
  const opened = openUnlessInUse(storeFile, clock);
  if (opened === null) return false;
  try {
    const store = managerStore(opened.db, opened.writer);
    const streams = await store.streams(leagueStream(""));
    const leagueIds = streams.map((stream) => stream.slice(leagueStream("").length));
    const ledger = openLedger({
      store,
      loaded: await loadState(store, leagueIds),
      clock,
      leagueIds,
      onFatal() {},
    });
    const forgotten = await ledger.execute(forgetPlayer(playerId));
    if (!forgotten.ok) throw new StartError(forgotten.error.message);
    return true;
  } finally {
    await opened.close();
  }
}

/** Opens and locks a store. Returns null if a manager uses it. A failed write rejects the command, so `onBroken` has nothing to do. */
function openUnlessInUse(
  storeFile: string,
  clock: Clock,
): ReturnType<ReturnType<typeof systemDisk>["openStore"]> | null {
  try {
    return systemDisk(clock).openStore(storeFile, MANAGER_SCHEMA, { isWrittenByThread: false, onBroken() {} });
  } catch (thrown) {
    if (thrown instanceof StoreInUse) return null;
    throw thrown;
  }
}

/** Removes copies of erased rows from the write-ahead log of a store. A manager may be using the store. */
function truncateWriteAheadLog(storeFile: string): void {
  const db = openSqlite(storeFile, MANAGER_SCHEMA);
  try {
    db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  } finally {
    db.close();
  }
}

/**
 * Deletes the files of a player, and overwrites its name and address in the logs of other processes. Its place in a stored config stays, under its id,
 * unless `areConfigsInUse`.
 */
function eraseFiles(data: PlayerData, id: string, areConfigsInUse: boolean, name: string): void {
  const { files, logs, configs, profile } = data;
  for (const file of files) rmSync(file, { recursive: true, force: true });
  for (const file of logs.keys()) redactMentions(file, textsOf(name, profile?.endpoint ?? ""));
  for (const file of areConfigsInUse ? [] : configs) {
    const config = PlayersOfConfig.parse(readJson(file));
    const players = config.players.map((player) => (player.name === name ? { name: id, self: true } : player));
    writeJsonAtomically(file, { ...config, players });
  }
}

/** A player with a match to play cannot be forgotten, so the command changes no jobs. */
const NO_JOBS = {
  enqueue: async () => invariant(false, "the erasure of a player adds no jobs"),
  complete: async () => invariant(false, "the erasure of a player ends no jobs"),
};

/**
 * Erases the profile of a player in a PostgreSQL database, by the command that a manager executes. Managers that are running read it like every commit
 * of another manager. Rejects with StartError if the player cannot be erased now.
 */
const eraseInDatabase = (url: string, playerId: string, { clock, ids }: Tools): Promise<void> =>
  withDatabase(url, async () => {
    const { openPostgresRun } = await import("../../league-manager/postgres/postgres-run.ts");
    const { loadSharedState } = await import("../../league-manager/shared-run/shared-ledger.ts");
    const { SharedLedger } = await import("../../league-manager/shared-run/shared-ledger.ts");
    const database = await openPostgresRun({ url, queue: NO_JOBS, clock, ids });
    try {
      const streams = await database.streams(leagueStream(""));
      const leagueIds = streams.map((stream) => stream.slice(leagueStream("").length));
      const loaded = await loadSharedState(database, leagueIds);
      const ledger = new SharedLedger({ database, loaded, clock, ids, leagueIds, onFatal() {} });
      try {
        const forgotten = await ledger.execute(forgetPlayer(playerId));
        if (!forgotten.ok) throw new StartError(forgotten.error.message);
      } finally {
        await ledger.stop();
      }
    } catch (thrown) {
      if (!(thrown instanceof StoreBusy)) throw thrown;
      throw new StartError(`${await databaseName(url)} does not answer: repeat the command`);
    } finally {
      await database.close();
    }
  });

interface Tools {
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Returns the texts as they appear in a log: plain, and as a part of a JSON string. */
const spellingsOf = (texts: readonly string[]): readonly string[] => [
  ...new Set(texts.flatMap((text) => [text, JSON.stringify(text).slice(1, -1)]).filter((text) => text !== "")),
];

/** One mention: its position in a file, in bytes. */
interface Mention {
  readonly from: number;
  readonly length: number;
}

/** Finds texts in a file as whole words, so that the name "Ann" is not found in "Annual". */
function mentionsIn(bytes: Buffer, texts: readonly string[]): readonly Mention[] {
  return spellingsOf(texts).flatMap((spelling) => {
    const word = Buffer.from(spelling);
    const found: Mention[] = [];
    for (let from = bytes.indexOf(word); from >= 0; from = bytes.indexOf(word, from + word.length)) {
      const to = from + word.length;
      const before = bytes.subarray(Math.max(0, from - MAX_CHARACTER_BYTES), from).toString("utf8");
      const after = bytes.subarray(to, to + MAX_CHARACTER_BYTES).toString("utf8");
      const isPart =
        (LETTER_AT_END.test(before) && LETTER.test(spelling)) || (LETTER.test(after) && LETTER_AT_END.test(spelling));
      if (!isPart) found.push({ from, length: word.length });
    }
    return found;
  });
}

/** The length of the longest character in UTF-8. */
const MAX_CHARACTER_BYTES = 4;
const LETTER = /^[\p{L}\p{M}\p{N}]/u;
const LETTER_AT_END = /[\p{L}\p{M}\p{N}]$/u;

/** Returns how often a file mentions texts. */
export const countMentions = (file: string, texts: readonly string[]): number =>
  mentionsIn(readFileSync(file), texts).length;

/**
 * Overwrites each mention of texts in a file with asterisks. The file keeps its length, so that a process can append to it at the same time. Returns
 * the number of mentions.
 */
export function redactMentions(file: string, texts: readonly string[]): number {
  const mentions = mentionsIn(readFileSync(file), texts);
  if (mentions.length === 0) return 0;
  const opened = openSync(file, "r+");
  try {
    for (const { from, length } of mentions) writeSync(opened, Buffer.alloc(length, "*"), 0, length, from);
  } finally {
    closeSync(opened);
  }
  return mentions.length;
}
