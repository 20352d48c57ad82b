import { resolve } from "node:path";
import { z } from "zod";
import type { Clock } from "#shared/lib/clock.ts";
import { counted, escapeJson, inOneLine } from "#shared/lib/text.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import type { OperatorFlags } from "../../commands/operator.ts";
import { readJson } from "../../run/json-file.ts";
import { findStore } from "../export/find-store.ts";
import { eraseFiles, eraseProfile, truncateWriteAheadLog } from "./erase.ts";
import { isEmpty, isPlayerId, type PlayerData, playerDataIn, storesIn } from "./player-data.ts";

/** `league personal-data`: prints what is stored about a player. Rejects with StartError if nothing is. */
export async function listPersonalData(
  player: string,
  flags: { readonly data: string; readonly json?: boolean },
): Promise<number> {
  const found = await findData(player, flags.data);
  if (flags.json) {
    const documents = found.map((data) => ({ ...data, logs: Object.fromEntries(data.logs) }));
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
  flags: OperatorFlags,
  { clock, forgetAtManager }: Capabilities,
): Promise<number> {
  if (flags.manager !== undefined) {
    await forgetAtManager(player, flags);
    print([`${player} is erased by ${flags.manager}`, REMOTE_NOTE]);
    return EXIT.ok;
  }
  for (const data of await findData(player, flags.data)) {
    const { profile, folder, storeFile } = data;
    const isManagerRunning = profile !== null && !(await eraseOffline(data, profile.player_id, clock));
    if (isManagerRunning) await forgetAtManager(profile.player_id, { data: folder });
    truncateWriteAheadLog(storeFile);
    eraseFiles(data, profile?.player_id ?? ERASED_NAME, isManagerRunning, nameOf(data, player));
    print(erasedLines(data, player, isManagerRunning));
  }
  print([COPIES_NOTE]);
  return EXIT.ok;
}

interface Capabilities {
  readonly clock: Clock;
  /** Lets a running manager erase the profile of a player. */
  readonly forgetAtManager: (playerId: string, flags: OperatorFlags) => Promise<void>;
}

const REMOTE_NOTE =
  "Logs and other files that mention the player are erased by the same command on the machine of the manager, with --data FOLDER.";
const COPIES_NOTE =
  "Not erased: exports and reports that were made before, backups, your own config file, and files on the machine of the player.";

/** The name in a config of a player without a profile. */
const ERASED_NAME = "erased player";

/** Erases the profile if no manager uses the store. Resolves with false if a manager uses it. */
async function eraseOffline({ folder, storeFile }: PlayerData, playerId: string, clock: Clock): Promise<boolean> {
  const run = z.object({ status: z.string() }).safeParse(readJson(resolve(folder, "run.json")));
  const isErased = run.data?.status !== "running" && (await eraseProfile(storeFile, playerId, clock));
  if (isErased || run.data?.status !== "running") return isErased;
  throw new StartError(
    `the run in ${folder} is not finished: continue it with "npm start -- --resume" and then erase the player, or delete the folder`,
  );
}

/** Returns the data of a player in each store that has some. An id is looked up in the newest store only, because each run has its own ids. */
async function findData(player: string, dataFolder: string): Promise<readonly PlayerData[]> {
  const folder = resolve(dataFolder);
  const newest = findStore(folder);
  const stores = isPlayerId(player) ? [newest] : storesIn(folder);
  const found = await Promise.all(stores.map((store) => playerDataIn(store, player)));
  const stored = found.filter((data) => !isEmpty(data));
  if (stored.length > 0) return stored;
  throw new StartError(`no data of ${inOneLine(player)} in ${folder}: give the id or the name of a player`);
}

const nameOf = ({ profile }: PlayerData, player: string): string => profile?.display_name ?? player;

function linesOf(data: PlayerData, player: string): readonly string[] {
  const { folder, storeFile, profile, files, logs, configs } = data;
  const rows = profile && [
    ["id", profile.player_id],
    ["name", `${profile.display_name}   (table profiles of ${storeFile})`],
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
    `${nameOf(data, player)} in ${folder}`,
    ...all.map(([what = "", text = ""]) => `  ${what.padEnd(8)} ${text}`),
  ];
}

const keptText = ({ matches }: PlayerData): string =>
  `the actions of ${counted(matches, "match", "matches")}, and answers that faults quote, under the id`;

function erasedLines(data: PlayerData, player: string, isManagerRunning: boolean): readonly string[] {
  const { folder, profile, files, logs, configs } = data;
  const mentions = [...logs.values()].reduce((sum, count) => sum + count, 0);
  const parts = [
    ...(profile ? ["its name, address and token"] : []),
    counted(files.length, "file"),
    `${counted(mentions, "mention")} in logs`,
  ];
  return [
    `${profile?.player_id ?? player} is erased in ${folder}: ${parts.join(", ")}`,
    `kept: ${keptText(data)}`,
    ...(isManagerRunning ? configs.map((file) => `kept while the manager runs: the name in ${file}`) : []),
  ];
}

const print = (lines: readonly string[]): void =>
  void process.stdout.write(lines.map((line) => `${inOneLine(line)}\n`).join(""));
