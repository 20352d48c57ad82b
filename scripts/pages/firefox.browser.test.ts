/** A smoke test of the pages in Debian's Firefox. The other browser tests use Chromium. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Firefox, launchFirefox } from "#shared/web/testing/firefox.ts";
import { startTestHost, type TestHost } from "../../referee/rest/testing/host.ts";
import { type ReportedLeagues, startReportedLeagues } from "../testing/reported-leagues.ts";
import { startGames } from "./servers.ts";

let firefox: Firefox;
let leagues: ReportedLeagues;
let host: TestHost;
beforeAll(async () => {
  const league = { league_id: "firefox", game: "tic_tac_toe.v1", players: ["Ann", "Ben", "Cleo", "Dan"] };
  [firefox, leagues, host] = await Promise.all([
    launchFirefox(),
    startReportedLeagues([{ ...league, results: 2 }]),
    startTestHost(),
  ]);
});
afterAll(async () => {
  await Promise.all([firefox.close(), leagues.close(), host.remove()]);
});

it("the standings change when a result comes", async () => {
  const page = await firefox.open(`${leagues.url}/leagues/firefox/standings`);
  expect(await page.waitFor("tbody", "Cleo")).toContain("Ann");
  await page.waitFor("main", "2 of 6 matches");
  await leagues.report("firefox", 1);
  await page.waitFor("main", "3 of 6 matches");
  expect(page.errors).toEqual([]);
});

it("a person makes a move on the board", async () => {
  const { person, spectator } = await startGames(host, ["tic-tac-toe"]);
  const page = await firefox.open(person["tic-tac-toe"] ?? "");
  const watcher = await firefox.open(spectator["tic-tac-toe"] ?? "");
  await page.waitFor(".status", "Your move");
  await page.click('[data-cell="c3"]');
  await page.waitFor(".status", "Waiting");
  await watcher.waitFor('[data-cell="c3"][aria-label^="c3, x"]');
  expect(page.errors).toEqual([]);
  expect(watcher.errors).toEqual([]);
});
