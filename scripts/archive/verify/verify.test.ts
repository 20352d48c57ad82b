import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { leagueSeed } from "../../../league-manager/league/league.ts";
import { agentLogFile, leagueLogFile, matchFile, RUN_FILE } from "../format.ts";
import { filesIn, testExports } from "../testing/exports.ts";
import { forgeFile, type Json } from "../testing/forgery.ts";
import { plainRun, RUN_SEED, saltOf, timedOutRun } from "../testing/store.ts";
import { verifyExport } from "./verify.ts";

const exports = testExports();
afterAll(() => exports.remove());
const sound = await exports.exported(plainRun);

const faultsAfter = (change: (folder: string) => void) => verifyExport(exports.changed(sound, change)).faults;
const RPS = matchFile("rps", "R1M1");

describe("verify accepts", () => {
  it("an unchanged export, replays its matches and recomputes its standings", () => {
    const verified = verifyExport(sound);
    expect(verified).toMatchObject({ verdict: "verified", faults: [], exceptions: [], matches: 6, withoutLog: [] });
    expect([...verified.standings].map(([id, rows]) => [id, rows.length])).toEqual([
      ["rps", 3],
      ["second", 3],
    ]);
    expect(verified.unplayed).toEqual(new Map());
  });

  it("an export that contains the logs of leagues and players, salted names and the seeds of completed leagues", () => {
    const run = JSON.parse(readFileSync(join(sound, RUN_FILE), "utf8"));
    expect(filesIn(sound)).toEqual(
      expect.arrayContaining([
        leagueLogFile("rps"),
        leagueLogFile("second"),
        ...["P01", "P02", "P03"].map(agentLogFile),
      ]),
    );
    expect(run).toMatchObject({
      format: "agent-league.export.v3",
      seed: RUN_SEED,
      seed_commitment: sha256Hex(RUN_SEED),
    });
    expect(run.leagues[0]).toMatchObject({
      seed: leagueSeed(RUN_SEED, "rps"),
      players: [{ player_id: "P01", display_name: "Ann", salt: saltOf("Ann") }, {}, {}],
    });
  });

  it("forfeits after timeouts and counts them as matches without a log", async () => {
    const verified = verifyExport(await exports.exported(timedOutRun));
    expect(verified).toMatchObject({ verdict: "verified", exceptions: [], matches: 9, withoutLog: ["rps/R5M2"] });
  });
});

describe("verify accepts the standings of earlier versions", () => {
  it("with distinct ranks and without byes", () => {
    const faults = faultsAfter((folder) =>
      forgeFile(folder, RUN_FILE, ({ leagues }) => {
        for (const league of leagues) {
          league.standings = league.standings.map(({ byes: _, ...row }: Json, index: number) => ({
            ...row,
            rank: index + 1,
          }));
        }
      }),
    );
    expect(faults).toEqual([]);
  });
});

describe("verify rejects an export in which", () => {
  it.each<[string, (match: Json) => void, RegExp]>([
    [
      "roles that differ from the league's log",
      (match) => (match.roles = { player_1: "P03", player_2: "P02" }),
      /^roles is .*, but the log of the league has/,
    ],
    ["no log", (match) => (match.log = []), /^a result without its log$/],
  ])("a match has %s", (_, change, message) => {
    const faults = faultsAfter((folder) => forgeFile(folder, RPS, change));
    expect(faults).toContainEqual({ file: RPS, message: expect.stringMatching(message) });
  });

  it("the seed of a league does not follow from the seed of the run", () => {
    const faults = faultsAfter((folder) =>
      forgeFile(folder, RUN_FILE, (run) => Object.assign(run, { seed: "x", seed_commitment: sha256Hex("x") })),
    );
    expect(faults).toContainEqual({
      file: RUN_FILE,
      message: "rps: its seed does not follow from the seed of the run",
    });
  });

  it.each<[string, (run: Json) => void, string]>([
    [
      "other standings",
      (run: Json) => run.leagues[0].standings[0].points++,
      "the standings of rps do not follow from its matches",
    ],
    [
      "another seed of the run",
      (run: Json) => (run.seed = "another"),
      "the hash of the run's seed is not its seed_commitment",
    ],
    [
      "no seed of the run",
      (run: Json) => (run.seed = null),
      "every league is completed, but the seed of the run is missing",
    ],
    ["a league twice", (run: Json) => run.leagues.push(run.leagues[0]), "lists a league twice"],
    ["a match twice", (run: Json) => run.leagues[0].matches.push("R1M1"), "lists rps/R1M1 twice"],
    ["another order of agents", (run: Json) => run.agents.reverse(), "its agents are not the players of its leagues"],
    [
      "another status",
      (run: Json) => (run.leagues[0].status = "running"),
      "rps: its field status differs from its log",
    ],
  ])("the league file has %s", (_, change, message) => {
    const faults = faultsAfter((folder) => forgeFile(folder, RUN_FILE, change));
    expect(faults).toContainEqual({ file: RUN_FILE, message });
  });
});
