import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import type { AgentEvent } from "../../league-manager/agents/registered-agent.ts";
import { startLeague } from "../../league-manager/commands/league-commands.ts";
import { player, referee } from "../../league-manager/commands/testing/commands.ts";
import { leagueSeed } from "../../league-manager/league/league.ts";
import { AT, afterCommands, running } from "../../league-manager/league/testing/leagues.ts";
import { loggedMatches, matchesIn, printRatings, ratingsOverRuns } from "./ratings.ts";
import { testExports } from "./testing/exports.ts";
import { plainRun, RUN_SEED, saltOf, writeStore } from "./testing/store.ts";

const exports = testExports();
afterAll(() => exports.remove());
afterEach(() => vi.restoreAllMocks());

const FIRST = "a".repeat(64);
const SECOND = "b".repeat(64);

/** Writes a run of two players, of which Ann has a bot with this hash and wins as the first player. */
const runWith = (folder: string, bot_hash: string | undefined): Promise<string> =>
  writeStore(folder, ["rps"], async (run) => {
    await run.execute(player("Ann", { port: 9001, salt: saltOf("Ann"), ...(bot_hash && { bot_hash }) }));
    await run.execute(player("Bob", { port: 9002, salt: saltOf("Bob") }));
    await run.execute(referee("referee", { port: 9000 }));
    await run.execute(startLeague("rps", leagueSeed(RUN_SEED, "rps")));
    await run.round("rps");
    await run.complete("rps");
  });

/** A data folder with a run for each of these hashes. */
async function dataFolder(...hashes: readonly (string | undefined)[]): Promise<string> {
  const folder = exports.newFolder();
  for (const [index, hash] of hashes.entries()) await runWith(join(folder, "runs", `run-${index}`), hash);
  return folder;
}

const ratingsIn = async (...folders: readonly string[]) => {
  const lines: string[] = [];
  const matches = [];
  for (const folder of folders) matches.push(...(await matchesIn(folder, (line) => void lines.push(line))));
  return { games: await ratingsOverRuns(matches), lines };
};

describe("ratings over several runs", () => {
  it("cover all runs of a data folder, with a row for each version of a bot", async () => {
    const { games } = await ratingsIn(await dataFolder(FIRST, SECOND, SECOND));
    expect(games).toMatchObject([{ game: "rps.v1", runs: 3, matches: 3, model: "bradley-terry" }]);
    expect(games[0]?.players.map(({ name, bot_hash, matches }) => [name, bot_hash, matches])).toEqual([
      ["Ann", SECOND, 2],
      ["Ann", FIRST, 1],
      ["Bob", null, 3],
    ]);
    const playedAt = expect.stringMatching(/^2025-01-01T00:00:00\.\d{3}Z$/);
    expect(games[0]?.players[0]).toMatchObject({ percent: 100, first_at: playedAt, last_at: playedAt });
    expect(games[0]?.comparisons[0]).toMatchObject({
      player: { name: "Ann", bot_hash: SECOND },
      other: { name: "Ann", bot_hash: FIRST },
      significant: false,
    });
  });

  it("identify a bot without a hash by its name", async () => {
    const { games } = await ratingsIn(await dataFolder(undefined, undefined));
    expect(games[0]?.players.map(({ name, bot_hash, matches }) => [name, bot_hash, matches])).toEqual([
      ["Ann", null, 2],
      ["Bob", null, 2],
    ]);
  });

  it("are equal for a run and its export, and a match in both counts once", async () => {
    const data = await dataFolder(FIRST);
    const exported = await exports.exported(async () => join(data, "runs", "run-0", "league-manager.sqlite"));
    const ofRun = (await ratingsIn(data)).games;
    expect(ofRun[0]?.players[0]?.bot_hash).toBe(FIRST);
    expect((await ratingsIn(exported)).games).toEqual(ofRun);
    expect((await ratingsIn(data, exported)).games).toEqual(ofRun);
  });

  it("rate each game by itself, over all leagues of the game", async () => {
    const { games } = await ratingsIn(await exports.exported(plainRun));
    expect(games).toMatchObject([{ game: "rps.v1", runs: 1, matches: 6 }]);
  });

  it("leave out a run of a data folder that cannot be read, and say why", async () => {
    const data = await dataFolder(FIRST);
    mkdirSync(join(data, "runs", "broken"));
    writeFileSync(join(data, "runs", "broken", "league-manager.sqlite"), "no database");
    const { games, lines } = await ratingsIn(data);
    expect(games[0]?.runs).toBe(1);
    expect(lines).toEqual([expect.stringMatching(/^left out: .*broken/)]);
    await expect(ratingsIn(join(data, "runs", "broken"))).rejects.toThrow("broken");
    await expect(ratingsIn(exports.newFolder())).rejects.toThrow("no league in");
  });

  it("use the hash of the time of each match, and keep erased players of different runs apart", () => {
    const { events } = afterCommands(running(["P01", "P02"]));
    const completed = (at: string): (typeof events)[number] => ({
      v: 1,
      at,
      type: "match_completed",
      match_id: "R1M1",
      epoch: 1,
      referee_id: null,
      winner: "P01",
      match_points: { P01: 3, P02: 0 },
      final_scores: { P01: 1, P02: 0 },
      faults: [],
      termination: "forfeit",
      reason: "shut_down",
      log_head: "",
    });
    const registration = (type: "registered" | "returned", at: string, bot_hash: string) =>
      ({ v: 1, at, type, agent_id: "P01", bot_hash }) as unknown as AgentEvent;
    const agentEvents = [registration("registered", AT, FIRST), registration("returned", "2025-01-02", SECOND)];
    const playersAt = (at: string, salt: string | null) =>
      loggedMatches({
        runId: "0123456789",
        players: ["P01", "P02"].map((player_id) => ({ player_id, display_name: `name of ${player_id}`, salt })),
        events: [...events, completed(at)],
        eventsOf: (id) => (id === "P01" ? agentEvents : []),
      })[0]?.players;
    expect(playersAt("2025-01-01T12:00:00.000Z", "salt")?.[0]).toEqual({ name: "name of P01", bot_hash: FIRST });
    expect(playersAt("2025-01-03T12:00:00.000Z", "salt")?.[0]?.bot_hash).toBe(SECOND);
    expect(playersAt(AT, null)?.[1]).toEqual({ name: "P02 of run 01234567", bot_hash: null });
  });
});

describe("league ratings", () => {
  /** Runs the command and returns its output. */
  async function output(folders: readonly string[], flags: Parameters<typeof printRatings>[1] = {}) {
    const written = { stdout: "", stderr: "" };
    for (const stream of ["stdout", "stderr"] as const)
      vi.spyOn(process[stream], "write").mockImplementation((text) => {
        written[stream] += text;
        return true;
      });
    try {
      await printRatings(folders, flags);
    } finally {
      vi.restoreAllMocks();
    }
    return written;
  }

  it("prints a table with the versions, and says that a difference is not significant yet", async () => {
    const { stdout, stderr } = await output([await dataFolder(FIRST, SECOND)]);
    expect(stdout.split("\n")).toEqual([
      "rps.v1: 2 matches in 2 runs, bradley-terry",
      expect.stringMatching(
        /^ {2}# {2}Player {2}Version {3}Rating +± {2}Matches +Score +From +To +Stronger than the next$/,
      ),
      expect.stringMatching(
        /^ {2}1 {2}Ann +aaaaaaaa .* 100\.0% {2}2025-01-01 {2}2025-01-01 {2}not significant yet \(50\.0%\)$/,
      ),
      expect.stringMatching(/^ {2}2 {2}Ann +bbbbbbbb .* {2}not significant yet \(\d\d\.\d%\)$/),
      expect.stringMatching(/^ {2}3 {2}Bob .* 0\.0% {2}2025-01-01 {2}2025-01-01$/),
      "",
    ]);
    // The stores of these tests have one seed.
    expect(stderr).toBe(
      "1 run of rps.v1 has the seed of another run: deterministic bots repeat their matches, so the intervals are too narrow\n",
    );
  });

  it("prints one JSON document, of one game if it is named", async () => {
    const data = await dataFolder(FIRST);
    const document = JSON.parse((await output([data], { json: true })).stdout);
    expect(document).toMatchObject({ games: [{ game: "rps.v1", runs: 1, runs_with_equal_seed: 0, matches: 1 }] });
    expect(JSON.parse((await output([data], { json: true, game: "RPS" })).stdout)).toEqual(document);
    await expect(output([data], { game: "chess" })).rejects.toThrow(
      "no match of chess is completed in these runs; there are matches of rps.v1",
    );
  });
});
