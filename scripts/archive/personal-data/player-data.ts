import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { parsedJson } from "#shared/lib/text.ts";
import { bareHost, isLoopback } from "#shared/protocol/addresses.ts";
import { fileNameOf } from "#shared/runtime/files/file-name.ts";
import { tokenFileOf } from "#shared/runtime/secret-file.ts";
import { recordsFolder } from "../../../player/llm/record-files.ts";
import { readingDatabase, readingRun, type StoredRun } from "../export/stored-run.ts";
import { completedMatches } from "../format.ts";
import { countMentions } from "./mentions.ts";

/** The data of a player in a store and in a folder with the files of processes. */
export interface PlayerData {
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
export async function playerDataIn(store: PlayerStore, folder: string | null, player: string): Promise<PlayerData> {
  const read = (run: StoredRun) => storedDataOf(run, player);
  const stored = "file" in store ? readingRun(store.file, read) : readingDatabase(store.database, read);
  const { profile, matches } = await stored;
  // The id of a player without a profile is not its name, and it is in many logs.
  const name = profile?.display_name ?? (isPlayerId(player) ? null : player);
  const found = name === null || folder === null ? NOTHING : namedIn(folder, name, profile?.endpoint ?? "");
  return { ...{ folder, store, profile, matches }, ...found };
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
export const isEmpty = ({ profile, files, logs, configs }: PlayerData): boolean =>
  profile === null && files.length === 0 && logs.size === 0 && configs.length === 0;

/** The texts in logs that identify a player: its name, and its address unless it is on the manager's machine. */
export function textsOf(name: string, endpoint: string): readonly string[] {
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
export const PlayersOfConfig = z.looseObject({ players: z.array(z.looseObject({ name: z.string() })) });

const lists = (file: string, name: string): boolean => {
  const config = existsSync(file) ? PlayersOfConfig.safeParse(parsedJson(readFileSync(file, "utf8"))).data : undefined;
  return config?.players.some((player) => player.name === name) ?? false;
};

/** Returns the stores of the manager in a folder: its own, and those of the runs in it. */
export function storesIn(folder: string): readonly string[] {
  const runs = join(folder, "runs");
  const names = existsSync(runs) && statSync(runs).isDirectory() ? readdirSync(runs).sort() : [];
  const folders = [folder, ...names.map((name) => join(runs, name))];
  return folders.map((one) => join(one, "league-manager.sqlite")).filter(existsSync);
}
