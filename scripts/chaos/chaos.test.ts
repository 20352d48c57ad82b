import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Config } from "#shared/runtime/config/config.ts";
import { assignMatch, releaseMatch } from "../../league-manager/commands/matches.ts";
import { matchFile } from "../archive/files.ts";
import { type TestRun, writeStore } from "../archive/testing/store.ts";
import { startTestLeague } from "../testing/league.ts";
import { cleanUp, start } from "../testing/processes.ts";
import type { Seen } from "./bot.ts";
import { check } from "./check.ts";

const bot = fileURLToPath(new URL("./bot.ts", import.meta.url));
const leagues = [
  { league_id: "rps", game: "rps.v1", options: { best_of: 3 } },
  { league_id: "chess", game: "chess.v1", options: { max_plies: 20 } },
];
const players = [1, 2, 3, 4].map((number) => ({ name: `player ${number}`, bot }));

let root: string;
let good: string;

/** A league that nobody was killed in, with what its players were shown. */
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "league-chaos-test-"));
  good = join(root, "good");
  process.env.CHAOS_SEEN = join(root, "seen.jsonl");
  const league = await startTestLeague({ leagues, players });
  try {
    await league.completed;
    mkdirSync(good);
    writeFileSync(join(good, "config.json"), JSON.stringify({ leagues }));
    cpSync(process.env.CHAOS_SEEN, join(good, "seen.jsonl"));
    const store = new DatabaseSync(join(league.dataFolder, "league-manager.sqlite"));
    store.exec(`VACUUM INTO '${join(good, "league-manager.sqlite")}'`);
    store.close();
  } finally {
    await league.stop();
    delete process.env.CHAOS_SEEN;
  }
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** What is found in a copy of the good run's folder that something was done to. */
async function checkAfter(deed: (folder: string) => void = () => {}): ReturnType<typeof check> {
  const path = mkdtempSync(join(root, "run-"));
  cpSync(good, path, { recursive: true });
  deed(path);
  return check({ path, config: Config.parse({ leagues, players }) }, join(path, "seen.jsonl"));
}

/** Changes rows of the manager's store, which the manager itself cannot. */
const changed = (table: string, statement: string) => (folder: string) => {
  const db = new DatabaseSync(join(folder, "league-manager.sqlite"));
  try {
    db.exec(`DROP TRIGGER ${table}_no_update; DROP TRIGGER ${table}_no_delete; DELETE FROM snapshots`);
    expect(db.prepare(statement).run().changes).toBeGreaterThan(0);
  } finally {
    db.close();
  }
};
const ofMatch = "WHERE league_id = 'rps' AND match_id = 'R2M1'";

const views = (folder: string): readonly Seen[] =>
  readFileSync(join(folder, "seen.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
/** Adds a line to what players were shown: a view of a match of a league, changed. */
const shown =
  (leagueId: string, change: (seen: Seen) => Partial<Seen>) =>
  (folder: string): void => {
    const seen = views(folder).find((one) => one.league_id === leagueId && one.match_id === "R2M1") as Seen;
    writeFileSync(join(folder, "seen.jsonl"), `${JSON.stringify({ ...seen, ...change(seen) })}\n`, { flag: "a" });
  };

describe("what is looked at after agents were killed", () => {
  it("is as it must be in a league that nobody was killed in", async () => {
    const { faults, matches, seenViews } = await checkAfter();
    expect(faults).toEqual([]);
    expect(matches).toHaveLength(12);
    expect(seenViews).toBe(views(good).length);
    expect(seenViews).toBeGreaterThan(100);
  });

  it("a result that is lost is missed", async () => {
    const ofLeague = "stream = (SELECT number FROM streams WHERE name = 'league:rps')";
    const lastResult = `SELECT max(seq) FROM log WHERE ${ofLeague} AND type = 'match_completed'`;
    const { faults } = await checkAfter(changed("log", `DELETE FROM log WHERE ${ofLeague} AND seq >= (${lastResult})`));
    expect(faults).toEqual(["rps has 5 results, not 6"]);
  });

  it("a log that was changed is found", async () => {
    const forged = `UPDATE session_logs SET log = replace(log, '"at\\":\\"20', '"at\\":\\"19') ${ofMatch}`;
    const { faults } = await checkAfter(changed("session_logs", forged));
    const head = /log_head is "\w+", but the log gives "\w+"$/;
    expect(faults).toEqual([expect.stringMatching(head)]);
    expect(faults[0]).toContain(`${matchFile("rps", "R2M1")}: `);
  });

  it.each<[string, string, (seen: Seen) => Partial<Seen>]>([
    ["in no turn of the match", "rps", () => ({ tick: 999 })],
    ["in another turn", "chess", ({ tick }) => ({ tick: tick + 2 })],
    ["of something else", "chess", () => ({ view: { board: "none" } })],
  ])("a view %s that a player was shown is found", async (_what, leagueId, change) => {
    const { faults } = await checkAfter(shown(leagueId, change));
    const told = new RegExp(`^${leagueId}/R2M1: \\w+ was shown a state at tick \\d+ that is not in the log$`);
    expect(faults).toEqual([expect.stringMatching(told)]);
  });

  it("neither a view of an epoch that does not count nor half a line is a fault", async () => {
    const { faults } = await checkAfter((folder) => {
      shown("rps", () => ({ epoch: 7, tick: 999 }))(folder);
      writeFileSync(join(folder, "seen.jsonl"), '{"league_id":"rps","mat', { flag: "a" });
    });
    expect(faults).toEqual([]);
  });
});

describe("an abort", () => {
  /** What is found in a league of four players that the given commands have played. */
  async function checkLeague(play: (run: TestRun) => Promise<void>): ReturnType<typeof check> {
    const path = mkdtempSync(join(root, "run-"));
    await writeStore(path, ["rps"], async (run) => {
      await run.start("player 1", "player 2", "player 3", "player 4");
      await play(run);
      await run.complete("rps");
    });
    const config = Config.parse({ leagues: [{ league_id: "rps", game: "rps.v1" }], players });
    return check({ path, config }, join(path, "seen.jsonl"));
  }

  it("for good is a fault, of each match, also when every match of the league has ended so", async () => {
    const { faults, aborts } = await checkLeague(async (run) => {
      for (const roundId of [1, 2, 3]) {
        await run.round("rps", () => null);
        for (const turn of [1, 2]) await run.abort("rps", `R${roundId}M${turn}`);
      }
    });
    const forGood = faults.filter((fault) => fault.includes("for good"));
    const ids = ["R1M1", "R1M2", "R2M1", "R2M2", "R3M1", "R3M2"];
    expect(forGood).toEqual(ids.map((id) => `rps/${id} was aborted for good: the referee could not play`));
    expect([faults.length, aborts]).toEqual([18, 18]);
  });

  it("is a fault although the match was played again, but not that a match was taken from a referee that was killed", async () => {
    const match = { leagueId: "rps", matchId: "R1M1" };
    const { faults, aborts, matches } = await checkLeague(async (run) => {
      await run.round("rps", () => null);
      for (const [reason, epoch] of [["unreachable", 1] as const, ["overdue", 2] as const]) {
        await run.execute(assignMatch({ ...match, epoch, refereeId: "REF01" }));
        await run.execute(releaseMatch({ ...match, epoch, reason, detail: `it was ${reason}` }));
      }
      for (const matchId of ["R1M1", "R1M2"]) await run.play("rps", matchId);
      for (const _ of [2, 3]) await run.round("rps");
    });
    expect(faults).toEqual(["rps/R1M1 was aborted and played again: it was overdue"]);
    expect([aborts, matches[0]?.epoch]).toEqual([1, 3]);
  });
});

describe("chaos", () => {
  afterEach(cleanUp);

  it("kills three agents of a league, and finds nothing lost", async () => {
    const { code, stdout, stderr } = await start("scripts/chaos/chaos.ts", ["--kills", "3", "--seed", "suite"]).ended;
    expect(code, stdout + stderr).toBe(0);
    const { kills, faults, matches, aborts } = JSON.parse(stdout);
    expect(Object.values<number>(kills).reduce((sum, count) => sum + count)).toBe(3);
    expect({ faults, aborts, matches: matches % 18 }).toEqual({ faults: [], aborts: 0, matches: 0 });
    expect(matches).toBeGreaterThan(0);
  }, 200_000);
});
