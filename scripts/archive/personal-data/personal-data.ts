import { dirname, resolve } from "node:path";
import { z } from "zod";
import type { Clock } from "#shared/lib/clock.ts";
import { counted, escapeJson, inOneLine } from "#shared/lib/text.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { databaseName } from "../../database/open.ts";
import { readJson } from "../../run/json-file.ts";
import { findStore } from "../export/find-store.ts";
import { eraseFiles, eraseProfile, truncateWriteAheadLog } from "./erase.ts";
import { eraseInDatabase, type Tools } from "./erase-in-database.ts";
import { isEmpty, isPlayerId, type PlayerData, playerDataIn, storesIn } from "./player-data.ts";

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
