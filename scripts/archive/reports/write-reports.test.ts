import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ExportedMatch, matchFile, RUN_FILE } from "../format.ts";
import { type TestExports, testExports } from "../testing/exports.ts";
import { eventfulRun, plainRun } from "../testing/store.ts";
import { type ReportLeague, withLeagues } from "./report-run.ts";
import { writeReports } from "./write-reports.ts";

let exports: TestExports;
beforeAll(() => {
  exports = testExports();
});
afterAll(() => exports.remove());

const linesOf = (file: string): readonly string[] =>
  readFileSync(file, "utf8").replace("\ufeff", "").trim().split(/\r?\n/);

it("a data folder and its export have the same reports", async () => {
  const data = exports.newFolder();
  const folder = await exports.exported(async () => plainRun(data));
  const [fromStore, fromExport] = [exports.newFolder(), exports.newFolder()];
  const names = await withLeagues(data, (leagues) => writeReports(fromStore, ["csv", "jsonl"], leagues));
  await withLeagues(folder, (leagues) => writeReports(fromExport, ["csv", "jsonl"], leagues));
  expect(readdirSync(fromStore).toSorted()).toEqual(names.toSorted());
  for (const name of names)
    expect(readFileSync(join(fromStore, name), "utf8")).toBe(readFileSync(join(fromExport, name), "utf8"));
});

it("the reports have a row for each player, each match and each action", async () => {
  const folder = await exports.exported(plainRun);
  const out = exports.newFolder();
  await withLeagues(folder, (leagues) => writeReports(out, ["csv", "jsonl"], leagues));
  const { leagues } = JSON.parse(readFileSync(join(folder, RUN_FILE), "utf8"));
  const [{ league_id, standings }] = leagues;
  const [{ rank, player_id, display_name, played, wins, draws, losses, points }] = standings;
  const [header, first, ...others] = linesOf(join(out, "standings.csv"));
  expect(header).toBe("league,rank,player_id,display_name,played,wins,draws,losses,points,byes");
  expect(first).toBe([league_id, rank, player_id, display_name, played, wins, draws, losses, points, 1].join(","));
  expect(others).toHaveLength(5);
  const matches = linesOf(join(out, "matches.csv"));
  expect(matches).toHaveLength(1 + 6);
  expect(matches[1]).toMatch(
    /^rps,rps\.v1,1,R1M1,1,REF01,2025-.*,2,P02,normal,\w+,player_1,P02,Bob,3,player_2,P03,Cid,0$/,
  );
  const actions = linesOf(join(out, "actions.jsonl")).map((line) => JSON.parse(line));
  expect(actions).toHaveLength(12);
  expect(actions[1]).toEqual({
    league_id: "rps",
    match_id: "R1M1",
    tick: 1,
    role: "player_2",
    player_id: "P03",
    time: "2025-01-01T00:00:00.000Z",
    action: "scissors",
  });
});

it("the crosstable has the points of each pair of players, and the ratings an interval for each player", async () => {
  const folder = await exports.exported(plainRun);
  const out = exports.newFolder();
  await withLeagues(folder, (leagues) => writeReports(out, ["csv"], leagues));
  expect(linesOf(join(out, "crosstable.csv")).slice(0, 4)).toEqual([
    "league,number,player_id,display_name,points,vs_1,vs_2,vs_3",
    "rps,1,P01,Ann,3,,3,0",
    "rps,2,P02,Bob,3,0,,3",
    "rps,3,P03,Cid,3,3,0,",
  ]);
  const [header, first, ...others] = linesOf(join(out, "ratings.csv"));
  expect(header).toBe("league,player_id,display_name,rating,error_95,lower_95,upper_95,matches,percent,model");
  expect(first).toMatch(/^rps,P01,Ann,1500,(\d+\.?\d*),(\d+\.?\d*),(\d+\.?\d*),2,50,bradley-terry$/);
  const [error = 0, lower = 0, upper = 0] = (first ?? "").split(",").slice(4, 7).map(Number);
  expect([lower, upper]).toEqual([1500 - error, 1500 + error]);
  expect(others).toHaveLength(5);
});

it("a forfeit without a log and an abort are matches without actions", async () => {
  const folder = await exports.exported(eventfulRun);
  const out = exports.newFolder();
  await withLeagues(folder, (leagues) => writeReports(out, ["csv"], leagues));
  const matches = linesOf(join(out, "matches.csv"))
    .slice(1)
    .map((line) => line.split(","));
  expect(matches.map(([, , , matchId, , , , , actions, , termination]) => [matchId, actions, termination])).toEqual(
    expect.arrayContaining([
      ["R1M1", "0", "aborted"],
      ["R3M1", "0", "forfeit"],
    ]),
  );
});

it("the tie-breaks of the standings are columns, empty for leagues without them", async () => {
  const row = { rank: 1, player_id: "P01", display_name: "Ann", played: 1, wins: 1, draws: 0, losses: 0, points: 3 };
  const out = exports.newFolder();
  await writeReports(
    out,
    ["csv"],
    [
      { ...EMPTY, league_id: "a", standings: [row] },
      { ...EMPTY, league_id: "b", standings: [{ ...row, tie_breaks: { buchholz: 4.5, "head-to-head": null } }] },
    ],
  );
  expect(linesOf(join(out, "standings.csv"))).toEqual([
    "league,rank,player_id,display_name,played,wins,draws,losses,points,buchholz,head-to-head",
    "a,1,P01,Ann,1,1,0,0,3,,",
    "b,1,P01,Ann,1,1,0,0,3,4.5,",
  ]);
});

const EMPTY: ReportLeague = {
  league_id: "rps",
  game: "rps.v1",
  status: "completed",
  roles: ["player_1", "player_2"],
  players: [],
  standings: [],
  byes: [],
  teams: [],
  matches: () => [],
};

it("actions are written while the matches are read, so that a large league does not fill the memory", async () => {
  const data = exports.newFolder();
  await plainRun(data);
  const out = exports.newFolder();
  const sizes: number[] = [];
  await withLeagues(data, async ([league]) => {
    const read: ExportedMatch[] = [];
    for await (const one of league?.matches() ?? []) read.push(one);
    const [match] = read as [ExportedMatch];
    function* matches(): Iterable<ExportedMatch> {
      for (let index = 0; index < 2_000; index++) {
        yield match;
        sizes.push(statSync(join(out, "actions.jsonl.part")).size);
      }
    }
    await writeReports(out, ["jsonl"], [{ ...EMPTY, matches }]);
  });
  const total = statSync(join(out, "actions.jsonl")).size;
  expect(total).toBeGreaterThan(500_000);
  for (const [index, size] of sizes.entries()) expect(size).toBeGreaterThan((total * (index + 1)) / 2_000 - 100_000);
});

it("a report that fails keeps the earlier file", async () => {
  const out = exports.newFolder();
  writeFileSync(join(out, "actions.jsonl"), "earlier");
  // biome-ignore lint/correctness/useYield: the generator fails before its first match
  function* matches(): Iterable<ExportedMatch> {
    throw new Error("cannot be read");
  }
  await expect(writeReports(out, ["jsonl"], [{ ...EMPTY, matches }])).rejects.toThrow("cannot be read");
  expect(readdirSync(out)).toEqual(["actions.jsonl"]);
  expect(readFileSync(join(out, "actions.jsonl"), "utf8")).toBe("earlier");
});

it("pgn is rejected if no league plays chess", async () => {
  const written = writeReports(exports.newFolder(), ["pgn"], [EMPTY]);
  await expect(written).rejects.toThrow("the format pgn is for chess.v1; the leagues play rps.v1");
});

it.each([
  ["is not JSON", () => "{"],
  ["is no match", () => "[]"],
  ["has a log that is no log", (text: string) => text.replace(/"log": \[\n[^\]]*\]/, '"log": ["{}"]')],
])("an export whose match %s is reported with its folder", async (_, change) => {
  const folder = await exports.exported(plainRun);
  const file = join(folder, matchFile("rps", "R1M1"));
  writeFileSync(file, change(readFileSync(file, "utf8")));
  const write = withLeagues(folder, (leagues) => writeReports(exports.newFolder(), ["jsonl"], leagues));
  await expect(write).rejects.toThrow(`${folder} is not a sound export: `);
  await expect(write).rejects.toThrow(`"league verify ${folder}" checks the export.`);
});
