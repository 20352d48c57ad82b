import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestExports, testExports } from "../testing/exports.ts";
import { plainRun, writeStore } from "../testing/store.ts";
import { htmlReport } from "./html.ts";
import { withLeagues } from "./report-run.ts";

let exports: TestExports;
beforeAll(() => {
  exports = testExports();
});
afterAll(() => exports.remove());

/** Writes a store into a data folder, exports it, and resolves with the report, which is the same for both. */
async function reportOf(fill: (folder: string) => Promise<string>): Promise<string> {
  const data = exports.newFolder();
  const folder = await exports.exported(() => fill(data));
  const report = await htmlReport();
  const fromStore = await withLeagues(data, report);
  expect(await withLeagues(folder, report)).toBe(fromStore);
  return fromStore;
}

/** The texts of the cells of each row of the table with this label. */
function tableIn(report: string, label: string): readonly (readonly string[])[] {
  const [, table = ""] = report.split(`aria-label="${label}"`);
  const rows = table.slice(0, table.indexOf("</table>")).split("</tr>").slice(0, -1);
  return rows.map((row) =>
    [...row.matchAll(/<t[hd][ >].*?<\/t[hd]>/g)].map(([cell]) => cell.replaceAll(/<[^>]*>/g, "")),
  );
}

it("the report has the byes of each player, and those of each round after its matches", async () => {
  const report = await reportOf(plainRun);
  expect(tableIn(report, "Standings of rps")).toEqual([
    ["#", "Player", "Points", "Played", "Won", "Drawn", "Lost", "Byes"],
    ["1", "Ann P01", "3", "2", "1", "0", "1", "1"],
    ["1", "Bob P02", "3", "2", "1", "0", "1", "1"],
    ["1", "Cid P03", "3", "2", "1", "0", "1", "1"],
  ]);
  expect(report).not.toContain("Standings of the teams");
  const rows = tableIn(report, "Matches of rps").map(([id, players, , end]) => [id, players, end]);
  expect(rows.slice(1)).toEqual([
    ["R1M1", "Bob (player 1) – Cid (player 2)", "rounds won"],
    ["R1", "Ann", "bye"],
    ["R2M1", "Ann (player 1) – Bob (player 2)", "rounds won"],
    ["R2", "Cid", "bye"],
    ["R3M1", "Cid (player 1) – Ann (player 2)", "rounds won"],
    ["R3", "Bob", "bye"],
  ]);
});

const TEAMS = {
  teams: [
    ["P01", "P02"],
    ["P03", "P04"],
    ["P05", "P06"],
  ],
  tieBreaks: ["sonneborn-berger", "second-role-matches"],
} as const;

it("the report has the standings of teams, and tie-breaks by their headings", async () => {
  const report = await reportOf((folder) =>
    writeStore(
      folder,
      ["rps"],
      async (run) => {
        await run.start("Ann", "Bob", "Cid", "Dee", "Eve", "Fay");
        for (const _ of [1, 2, 3]) await run.round("rps");
        await run.complete("rps");
      },
      TEAMS,
    ),
  );
  const [header, ...teams] = tableIn(report, "Standings of the teams of rps");
  expect(header).toEqual(["#", "Team", "Points", "Played", "Won", "Drawn", "Lost", "Byes", "S-B", "2nd role"]);
  expect(teams).toEqual(
    ["Ann &#38; Bob T1", "Cid &#38; Dee T2", "Eve &#38; Fay T3"].map((team) => [
      "1",
      team,
      "3",
      "2",
      "1",
      "0",
      "1",
      "1",
      "3",
      "1",
    ]),
  );
  expect(tableIn(report, "Standings of rps")[0]).toEqual(header?.with(1, "Player"));
});
