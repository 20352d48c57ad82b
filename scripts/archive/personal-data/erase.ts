import { rmSync } from "node:fs";
import type { Clock } from "#shared/lib/clock.ts";
import { systemDisk } from "#shared/runtime/files/disk.ts";
import { StoreInUse } from "#shared/runtime/files/locked-store.ts";
import { StartError } from "#shared/runtime/process/exit.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { forgetPlayer } from "../../../league-manager/commands/agent-commands.ts";
import { leagueStream } from "../../../league-manager/league/events.ts";
import { loadState } from "../../../league-manager/store/manager-state.ts";
import { MANAGER_SCHEMA, managerStore } from "../../../league-manager/store/manager-store.ts";
import { openLedger } from "../../../league-manager/store/store-ledger.ts";
import { readJson, writeJsonAtomically } from "../../run/json-file.ts";
import { redactMentions } from "./mentions.ts";
import { type PlayerData, PlayersOfConfig, textsOf } from "./player-data.ts";

/**
 * Erases the profile of a player in a store that no manager uses, by the command that a running manager executes. Resolves with false if a manager uses
 * the store. Rejects with StartError if the player cannot be erased now.
 */
export async function eraseProfile(storeFile: string, playerId: string, clock: Clock): Promise<boolean> {
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
export function truncateWriteAheadLog(storeFile: string): void {
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
export function eraseFiles(data: PlayerData, id: string, areConfigsInUse: boolean, name: string): void {
  const { files, logs, configs, profile } = data;
  for (const file of files) rmSync(file, { recursive: true, force: true });
  for (const file of logs.keys()) redactMentions(file, textsOf(name, profile?.endpoint ?? ""));
  for (const file of areConfigsInUse ? [] : configs) {
    const config = PlayersOfConfig.parse(readJson(file));
    const players = config.players.map((player) => (player.name === name ? { name: id, self: true } : player));
    writeJsonAtomically(file, { ...config, players });
  }
}
