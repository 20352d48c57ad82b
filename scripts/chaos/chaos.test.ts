import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Config } from "#shared/runtime/config/config.ts";
import { assignMatch, releaseMatch } from "../../league-manager/commands/match-commands.ts";
import { matchFile } from "../archive/format.ts";
import { type TestRun, writeStore } from "../archive/testing/store.ts";
import { startTestLeague } from "../testing/in-process-league.ts";
import { cleanUp, start } from "../testing/processes.ts";
import type { Seen } from "./bot.ts";
import { check } from "./chaos.ts";

const bot = fileURLToPath(new URL("./bot.ts", import.meta.url));
const leagues = [
  { league_id: "rps", game: "rps.v1", options: { best_of: 3 } },
  { league_id: "chess", game: "chess.v1", options: { max_plies: 20 } },
];
const playersThatWrite = (folder: string) =>
  [1, 2, 3, 4].map((number) => ({
    name: `player ${number}`,
    bot,
    allow: { write: [folder], env: ["CHAOS_SEEN"] },
  }));

let root: string;
/** The folder of a completed league in which no agent was killed, with the views that its players received. */
let undisturbed: string;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "league-chaos-test-"));
  undisturbed = join(root, "undisturbed");
  process.env.CHAOS_SEEN = join(root, "seen.jsonl");
  const league = await startTestLeague({ leagues, players: playersThatWrite(root) });
  try {
    await league.completed;
    mkdirSync(undisturbed);
    writeFileSync(join(undisturbed, "config.json"), JSON.stringify({ leagues }));
    cpSync(process.env.CHAOS_SEEN, join(undisturbed, "seen.jsonl"));
    const store = new DatabaseSync(join(league.dataFolder, "league-manager.sqlite"));
    store.exec(`VACUUM INTO '${join(undisturbed, "league-manager.sqlite")}'`);
    store.close();
  } finally {
    await league.stop();
    delete process.env.CHAOS_SEEN;
  }
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Changes a copy of the undisturbed league's folder, and returns the result of its check. */
async function checkAfter(change: (folder: string) => void = () => {}): ReturnType<typeof check> {
  const path = mkdtempSync(join(root, "run-"));
  cpSync(undisturbed, path, { recursive: true });
  change(path);
  return check({ path, config: Config.parse({ leagues, players: playersThatWrite(root) }) }, join(path, "seen.jsonl"));
}

/** Returns a function that changes rows of the manager's store without the triggers that protect them. */
const changeRows = (table: string, statement: string) => (folder: string) => {
  const db = new DatabaseSync(join(folder, "league-manager.sqlite"));
  try {
    db.exec(`DROP TRIGGER ${table}_no_update; DROP TRIGGER ${table}_no_delete; DELETE FROM snapshots`);
    expect(db.prepare(statement).run().changes).toBeGreaterThan(0);
  } finally {
    db.close();
  }
};
const ofMatch = "WHERE league_id = 'rps' AND match_id = 'R2M1'";

const viewsIn = (folder: string): readonly Seen[] =>
  readFileSync(join(folder, "seen.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
/** Returns a function that adds a changed view of match R2M1 to the views of the players. */
const addView =
  (leagueId: string, change: (seen: Seen) => Partial<Seen>) =>
  (folder: string): void => {
    const seen = viewsIn(folder).find(
      ({ league_id, match_id }) => league_id === leagueId && match_id === "R2M1",
    ) as Seen;
    writeFileSync(join(folder, "seen.jsonl"), `${JSON.stringify({ ...seen, ...change(seen) })}\n`, { flag: "a" });
  };

describe("the check of a league", () => {
  it("finds no faults if no agent was killed", async () => {
    const { faults, matches, seenViews } = await checkAfter();
    expect(faults).toEqual([]);
    expect(matches).toHaveLength(12);
    expect(seenViews).toBe(viewsIn(undisturbed).length);
    expect(seenViews).toBeGreaterThan(100);
  });

  it("reports a lost result", async () => {
    const ofLeague = "stream = (SELECT number FROM streams WHERE name = 'league:rps')";
    const lastResult = `SELECT max(seq) FROM log WHERE ${ofLeague} AND type = 'match_completed'`;
    const { faults } = await checkAfter(
      changeRows("log", `DELETE FROM log WHERE ${ofLeague} AND seq >= (${lastResult})`),
    );
    expect(faults).toEqual(["rps has 5 results, not 6"]);
  });

  it("reports a changed log", async () => {
    const statement = `UPDATE session_logs SET log = replace(log, '"at\\":\\"20', '"at\\":\\"19') ${ofMatch}`;
    const { faults } = await checkAfter(changeRows("session_logs", statement));
    const head = /log_head is "\w+", but the log gives "\w+"$/;
    expect(faults).toEqual([expect.stringMatching(head)]);
    expect(faults[0]).toContain(`${matchFile("rps", "R2M1")}: `);
  });

  it.each<[string, string, (seen: Seen) => Partial<Seen>]>([
    ["of a tick that the match does not have", "rps", () => ({ tick: 999 })],
    ["of another tick", "chess", ({ tick }) => ({ tick: tick + 2 })],
    ["with another state", "chess", () => ({ view: { board: "none" } })],
  ])("reports a player's view %s", async (_name, leagueId, change) => {
    const { faults } = await checkAfter(addView(leagueId, change));
    const fault = new RegExp(`^${leagueId}/R2M1: \\w+ was shown a state at tick \\d+ that is not in the log$`);
    expect(faults).toEqual([expect.stringMatching(fault)]);
  });

  it("ignores views of epochs without a result, and an incomplete line", async () => {
    const { faults } = await checkAfter((folder) => {
      addView("rps", () => ({ epoch: 7, tick: 999 }))(folder);
      writeFileSync(join(folder, "seen.jsonl"), '{"league_id":"rps","mat', { flag: "a" });
    });
    expect(faults).toEqual([]);
  });
});

describe("the check of aborts", () => {
  /** Plays a league of four players with the given commands, and returns the result of its check. */
  async function checkLeague(play: (run: TestRun) => Promise<void>): ReturnType<typeof check> {
    const path = mkdtempSync(join(root, "run-"));
    await writeStore(path, ["rps"], async (run) => {
      await run.start("player 1", "player 2", "player 3", "player 4");
      await play(run);
      await run.complete("rps");
    });
    const config = Config.parse({ leagues: [{ league_id: "rps", game: "rps.v1" }], players: playersThatWrite(path) });
    return check({ path, config }, join(path, "seen.jsonl"));
  }

  it("reports a fault for each match that is aborted and not played again, even if all are", async () => {
    const { faults, aborts } = await checkLeague(async (run) => {
      for (const roundId of [1, 2, 3]) {
        await run.round("rps", () => null);
        for (const turn of [1, 2]) await run.abort("rps", `R${roundId}M${turn}`);
      }
    });
    const finalAborts = faults.filter((fault) => fault.includes("not played again"));
    const ids = ["R1M1", "R1M2", "R2M1", "R2M2", "R3M1", "R3M2"];
    expect(finalAborts).toEqual(
      ids.map((id) => `rps/${id} was aborted and not played again: the referee could not play`),
    );
    expect([faults.length, aborts]).toEqual([18, 18]);
  });

  it("reports a match that was aborted and played again, but not a match that was taken from an unreachable referee", async () => {
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

describe("npm run chaos", () => {
  afterEach(cleanUp);

  it("kills three agents and finds no faults", async () => {
    const { code, stdout, stderr } = await start("scripts/chaos/chaos.ts", ["--kills", "3", "--seed", "suite"]).ended;
    expect(code, stdout + stderr).toBe(0);
    const { kills, faults, matches, aborts } = JSON.parse(stdout);
    expect(Object.values<number>(kills).reduce((sum, count) => sum + count)).toBe(3);
    expect({ faults, aborts, matches: matches % 18 }).toEqual({ faults: [], aborts: 0, matches: 0 });
    expect(matches).toBeGreaterThan(0);
  });
});
