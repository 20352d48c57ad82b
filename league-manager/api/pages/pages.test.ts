import { createServer } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { systemIds } from "#shared/lib/ids.ts";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { openLog } from "#shared/runtime/process/logger.ts";
import { webApp } from "#shared/runtime/web.ts";
import { afterCommands, entered, running, SETTINGS } from "../../league/testing/leagues.ts";
import { createProjections } from "../../projections/projections.ts";
import { leaguePages } from "./pages.ts";

/** Serves the pages of a running and an open league, and requests `/` with this query. */
async function get(query: string) {
  const leagues = [
    afterCommands(running(["P01", "P02"], { ...SETTINGS, leagueId: "rps" })).league,
    afterCommands(entered([], { ...SETTINGS, leagueId: "a & b" })).league,
  ];
  const noAgents = { agents: new Map(), lastForgotten: { player: 0, referee: 0 }, formerLeagues: [] };
  const state = { ...noAgents, leagues: new Map(leagues.map((league) => [league.leagueId, league])) };
  const routes = leaguePages(createProjections({ state }), () => null, systemIds);
  const server = createServer(await webApp(openLog(null, "test"), routes)());
  onTestFinished(() => void server.close().closeAllConnections());
  const response = await fetch(`http://127.0.0.1:${await listenOnLoopback(server)}/${query}`);
  return { status: response.status, type: response.headers.get("content-type"), html: await response.text() };
}

describe("the pages of the manager", () => {
  it.each(["?league=nope", "?league=", "?league=RPS", "?league=rps&league=rps"])(
    "%s is answered with 404 and a list of the leagues",
    async (query) => {
      const { status, type, html } = await get(query);
      expect([status, type]).toEqual([404, "text/html; charset=utf-8"]);
      expect(html).toContain("There is no league");
      expect([...html.matchAll(/<a href="([^"]*)">([^<]*)<\/a>/g)].map(([, path, name]) => [path, name])).toEqual([
        ["/?league=rps", "rps"],
        ["/?league=a%20%26%20b", "a &#38; b"],
      ]);
      expect(html).not.toContain("data-league");
      expect(html).not.toContain("<script");
    },
  );

  it("an unknown league name is escaped and shortened", async () => {
    const { html } = await get(`?league=${encodeURIComponent(`<b>${"x".repeat(5_000)}`)}`);
    expect(html).toContain("“&#60;b&#62;xxx");
    expect(html.length).toBeLessThan(5_000);
  });

  it("the page of one league links to the page of all leagues, which has no such link", async () => {
    const oneLeague = await get("?league=a%20%26%20b");
    expect([oneLeague.status, oneLeague.html.match(/<section /g)?.length]).toEqual([200, 1]);
    expect(oneLeague.html).toContain('<a href="/">All leagues</a>');
    const allLeagues = await get("");
    expect([allLeagues.status, allLeagues.html.match(/<section /g)?.length]).toEqual([200, 2]);
    expect(allLeagues.html).not.toContain("All leagues");
  });

  it("the page of a league without players and matches states that there are none", async () => {
    const { html } = await get("?league=a%20%26%20b");
    expect(html).toContain("No player has entered this league yet.");
    expect(html).toContain("The matches are listed here when the league has started.");
    expect(html).not.toContain("<table");
  });
});
