/**
 * The process `node scripts/bench/matches/local.ts GAME OPTIONS CONCURRENCY BOT BOT`, which plays games as `league match` does until it is stopped. Its
 * answer to each message is the number of actions and games so far.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { BotPermissions } from "#shared/runtime/bot-permissions.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { systemDisk } from "#shared/runtime/files/disk.ts";
import { loadLocalBots } from "../../match/local/local-bots.ts";
import { openLocalLeague } from "../../match/local/local-league.ts";
import { runLocal } from "../../match/local/run-local.ts";
import { beginRun } from "../../run/run-folder.ts";

/** The actions and games that are played so far. */
export interface LocalCount {
  readonly actions: number;
  readonly games: number;
}

const [game = "", options = "{}", concurrency = "1", ...bots] = process.argv.slice(2);
const data = mkdtempSync(join(tmpdir(), "league-bench-match-"));
process.on("exit", () => rmSync(data, { recursive: true, force: true }));
process.on("SIGTERM", () => process.exit());
process.on("disconnect", () => process.exit());

const system = { clock: systemClock, ids: systemIds, disk: systemDisk(systemClock) };
const fail = (error: Error): never => {
  throw error;
};
const players = bots.map((bot, index) => ({ name: `Bot ${index + 1}`, bot }));
const leagues = [
  { league_id: "match", game, options: JSON.parse(options), format: "match", format_options: { games: 1_000_000 } },
];
const folder = beginRun(Config.parse({ data, players, leagues }), "bench", systemClock);
const entries = bots.map((spec, index) => ({
  playerId: `P0${index + 1}`,
  name: `Bot ${index + 1}`,
  spec,
  allow: BotPermissions.parse({}),
}));
const settings = {
  concurrency: Number(concurrency),
  isTrusted: false,
  fail,
  warn: (line: string) => fail(new Error(line)),
};
const loaded = await loadLocalBots({ system, entries, folder: folder.path, ...settings }, 1);
const league = await openLocalLeague(folder, system, loaded.hashOf, fail);
let count: LocalCount = { actions: 0, games: 0 };
const onGame = ({ log }: { readonly log: readonly string[] }): void => {
  count = { actions: count.actions + log.length - 1, games: count.games + 1 };
};
process.on("message", () => process.send?.(count));
process.send?.({ type: "ready", url: "" });
const { signal } = new AbortController();
await runLocal({ system, league, bots: loaded, isTested: false, signal, onGame, ...settings });
