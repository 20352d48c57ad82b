import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { RUN_FILE } from "../archive/files.ts";
import { testExports } from "../archive/testing/exports.ts";
import { plainRun } from "../archive/testing/store.ts";
import { start } from "../testing/processes.ts";
import { standingsCsv } from "./standings-csv.ts";

const exports = testExports();
afterAll(() => exports.remove());

const HEADER = "\ufeffleague,rank,player_id,display_name,played,wins,draws,losses,points";

it("standings-csv.ts writes the standings of an export, one row for each player of each league", async () => {
  const folder = await exports.exported(plainRun);
  const file = join(exports.newFolder(), "standings.csv");
  const { code, stdout, stderr } = await start("scripts/examples/standings-csv.ts", [folder, file]).ended;
  expect([code, stdout, stderr]).toEqual([0, `The standings of ${folder} are in ${file}\n`, ""]);
  const { leagues } = JSON.parse(readFileSync(join(folder, RUN_FILE), "utf8"));
  const [{ league_id, standings }] = leagues;
  const [{ rank, player_id, display_name, played, wins, draws, losses, points }] = standings;
  const [header, first, ...others] = readFileSync(file, "utf8").split("\r\n");
  expect(header).toBe(HEADER);
  expect(first).toBe([league_id, rank, player_id, display_name, played, wins, draws, losses, points].join(","));
  expect(others).toHaveLength(6); // five further rows and the end of the last line
});

describe("names in the CSV", () => {
  const row = { rank: 1, player_id: "P01", played: 2, wins: 1, draws: 1, losses: 0, points: 4 };
  const csvOf = (display_name: string): string =>
    standingsCsv({ leagues: [{ league_id: "rps", standings: [{ ...row, display_name }] }] });

  it.each([
    ["quotes and commas are quoted", 'Ann "A", B', '"Ann ""A"", B"'],
    ["a name that begins with = is not a formula", "=1+1", "'=1+1"],
    ["a name that begins with @ is not a formula", "@SUM(A1,A2)", `"'@SUM(A1,A2)"`],
  ])("%s", (_, name, cell) => {
    expect(csvOf(name)).toBe(`${HEADER}\r\nrps,1,P01,${cell},2,1,1,0,4\r\n`);
  });
});
