import { expect, test } from "vitest";
import { leagueStatus } from "../../league-manager/api/league-status.ts";
import { LeagueStatus } from "../../league-manager/api/operation-schemas.ts";
import type { LeagueCommand, LeagueSettings } from "../../league-manager/league/commands.ts";
import { afterCommands, entered, pair, SETTINGS, START } from "../../league-manager/league/testing/leagues.ts";
import { createProjections } from "../../league-manager/projections/projections.ts";
import { statusLines } from "./league-lines.ts";

const TEST: Partial<LeagueSettings> = { format: "sprt", formatOptions: { elo0: 0, elo1: 50 } };

/** The text of `league status` about a league after these commands. */
function statusAfter(commands: readonly LeagueCommand[]): string {
  const { league } = afterCommands(commands);
  const state = { leagues: new Map([[league.leagueId, league]]), agents: new Map() };
  const projections = createProjections({ state } as unknown as Parameters<typeof createProjections>[0]);
  const row = leagueStatus({ projections, awaited: () => null }, league);
  return statusLines(LeagueStatus.parse({ leagues: [row], referees: [] })).join("\n");
}

test("league status shows the state of a sequential test when the league is started", () => {
  const open = entered(["P01", "P02"], { ...SETTINGS, ...TEST });
  expect(statusAfter(open)).not.toContain("SPRT");
  const started = [...open, START, pair(2)];
  expect(statusAfter(started)).toMatch(
    /^ {4}not decided yet if P01 is better than P02: SPRT 0\.00 \(-2\.94, 2\.94\) after 0 pairs of matches$/m,
  );
});

test("league status shows no result for other formats", () => {
  expect(statusAfter([...entered(["P01", "P02"]), START])).not.toContain("decided");
});
