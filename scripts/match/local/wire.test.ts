import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { BotPermissions } from "#shared/runtime/bot-permissions.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { systemDisk } from "#shared/runtime/files/disk.ts";
import { parseEntry } from "#shared/session/entry.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { noWriter } from "#shared/store/writer.ts";
import { MANAGER_SCHEMA, managerStore } from "../../../league-manager/store/manager-store.ts";
import { beginRun } from "../../run/run-folder.ts";
import { startTestLeague } from "../../testing/in-process-league.ts";
import { cleanUp, newFolder } from "../../testing/processes.ts";
import { loadLocalBots } from "./local-bots.ts";
import { openLocalLeague } from "./local-league.ts";
import { runLocal } from "./run-local.ts";

const SYSTEM = { clock: systemClock, ids: systemIds, disk: systemDisk(systemClock) };
const SEED = sha256Hex("equal");
const LEAGUE_ID = "match";

/** Throws an error in some turns, answers others with an illegal action, and learns from its history. */
const UNRELIABLE = `
export default ({ legal, random, tick, history, rejection }) => {
  if (tick === 6 && random.next() < 0.8) throw new Error("no idea");
  if (tick === 4 && rejection === null) return "stone";
  return history.length > 2 ? random.pick(legal.slice(1)) : random.pick(legal);
};
`;

afterEach(cleanUp);

/** What a log says, without times. The choices of one simultaneous turn are in the order of the roles. */
const storyOf = (log: readonly string[]): readonly unknown[] =>
  log
    .map(parseEntry)
    .flatMap((entry) => {
      if (entry.type === "created") return [[-1, "", { options: entry.options, seed: entry.seed_commitment }]];
      if (entry.type === "acted") return [[Math.floor(entry.tick / 2), entry.role, entry.action]];
      if (entry.type !== "forfeited") return [[Number.POSITIVE_INFINITY, "", entry.type]];
      return entry.faults.map(({ role, code, cause, detail }) => [
        Number.POSITIVE_INFINITY,
        role,
        { code, cause, detail },
      ]);
    })
    .map((fact) => JSON.stringify(fact))
    .sort();

interface Played {
  readonly game: string;
  readonly options?: object;
  readonly bots: readonly [string, string];
  readonly openings?: readonly Record<string, unknown>[];
}

const GAMES = 6;

/** Plays the games as a league over HTTP. Returns the story of each match. */
async function overWire({ bots, ...league }: Played): Promise<ReadonlyMap<string, readonly unknown[]>> {
  const players = bots.map((bot, index) => ({ name: `Bot ${index + 1}`, bot }));
  const wire = await startTestLeague({ players, seed: SEED, leagues: [leagueOf(league)] as never });
  try {
    const { leagues } = await wire.completed;
    const ids = leagues[0]?.matches.map(({ match_id }) => match_id) ?? [];
    const logs = await Promise.all(
      ids.map(async (id) => [id, storyOf((await wire.match(LEAGUE_ID, id)).log)] as const),
    );
    return new Map(logs);
  } finally {
    await wire.stop();
  }
}

/** Plays the games in this process. Returns the story of each match. */
async function locally(
  { bots, ...league }: Played,
  { isTrusted = false, concurrency = 4 } = {},
): Promise<ReadonlyMap<string, readonly unknown[]>> {
  const players = bots.map((bot, index) => ({ name: `Bot ${index + 1}`, bot }));
  const folder = beginRun(Config.parse({ data: newFolder(), players, leagues: [leagueOf(league)] }), SEED, systemClock);
  const fail = (error: Error): never => {
    throw error;
  };
  const entries = bots.map((spec, index) => ({
    playerId: `P0${index + 1}`,
    name: `Bot ${index + 1}`,
    spec,
    allow: BotPermissions.parse({}),
  }));
  const warn = (): void => {};
  const loaded = await loadLocalBots(
    { system: SYSTEM, entries, folder: folder.path, concurrency, isTrusted, warn, fail: warn },
    1,
  );
  const local = await openLocalLeague(folder, SYSTEM, loaded.hashOf, fail);
  const { signal } = new AbortController();
  await runLocal({
    system: SYSTEM,
    league: local,
    bots: loaded,
    concurrency,
    isTested: false,
    signal,
    onGame() {},
    warn,
  });
  const ids = local.league.rounds.flatMap(({ matches }) => matches.map(({ matchId }) => matchId));
  await loaded.close();
  await local.close();
  const db = openSqlite(join(folder.path, "league-manager.sqlite"), MANAGER_SCHEMA);
  const store = managerStore(db, noWriter);
  const stories = new Map<string, ReturnType<typeof storyOf>>();
  for (const id of ids) stories.set(id, storyOf((await store.sessionLogOf(LEAGUE_ID, id))?.log ?? []));
  db.close();
  return stories;
}

const leagueOf = ({ game, options = {}, openings }: Omit<Played, "bots">) => ({
  league_id: LEAGUE_ID,
  game,
  format: "match",
  format_options: { games: GAMES },
  options,
  ...(openings && { openings }),
});

test.each<[string, Played]>([
  ["a simultaneous game", { game: "rps.v1", options: { best_of: 9 }, bots: ["random", "counter"] }],
  ["a game with cards", { game: "kuhn_poker.v1", options: { hands: 4 }, bots: ["random", "equilibrium"] }],
  [
    "chess with openings",
    {
      game: "chess.v1",
      options: { max_plies: 20 },
      bots: ["greedy", "random"],
      openings: [{ fen: "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2" }, { moves: "d2d4 d7d5" }],
    },
  ],
])("the same seed gives the same games locally and over HTTP: %s", async (_, played) => {
  const [wire, local] = await Promise.all([overWire(played), locally(played)]);
  expect(local.size).toBe(GAMES);
  expect(Object.fromEntries(local)).toEqual(Object.fromEntries(wire));
});

test("the same seed gives the same games and faults with a bot file over HTTP, in its own process and in this thread", async () => {
  const file = join(newFolder(), "unreliable.mjs");
  writeFileSync(file, UNRELIABLE);
  const played: Played = { game: "rps.v1", options: { best_of: 9 }, bots: [file, "random"] };
  const [wire, isolated, trusted] = await Promise.all([
    overWire(played),
    locally(played),
    locally(played, { isTrusted: true }),
  ]);
  const faults = [...wire.values()].flat().filter((fact) => String(fact).includes("the bot threw an error"));
  expect(faults.length).toBeGreaterThan(0);
  expect(faults.length).toBeLessThan(GAMES);
  expect(Object.fromEntries(isolated)).toEqual(Object.fromEntries(wire));
  expect(Object.fromEntries(trusted)).toEqual(Object.fromEntries(wire));
});
