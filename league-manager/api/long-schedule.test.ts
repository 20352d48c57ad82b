import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { roundRobin } from "#shared/formats/round-robin.ts";
import { playerId, systemIds } from "#shared/lib/ids.ts";
import { ok } from "#shared/lib/result.ts";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { openLog } from "#shared/runtime/process/logger.ts";
import { webApp } from "#shared/runtime/web.ts";
import type { NewLeagueEvent } from "../league/commands.ts";
import { numbered } from "../league/match-ids.ts";
import { afterCommands, running, SETTINGS } from "../league/testing/leagues.ts";
import { createProjections, type Projections } from "../projections/projections.ts";
import { ledgerOn, opened, profile, registered } from "../store/testing/ledger.ts";
import { leaguePages } from "./pages/pages.ts";
import { managerResources, managerTemplates, type Views } from "./resources.ts";

/** 1,035 matches in 45 rounds. */
const PLAYERS = Array.from({ length: 46 }, (_, index) => playerId(index + 1));
/** Noncanonical texts of round numbers. */
const ALIASES = ["01", "0x1", "1e0", "+1", " 1", "1.0"];
const folder = mkdtempSync(join(tmpdir(), "long-schedule-"));
const { ledger, db } = ledgerOn(join(folder, "league-manager.sqlite"));
let views: Views;
let origin: string;
const servers: Server[] = [];

/** Serves the page; resolves with its origin. */
async function serve(shown: Projections): Promise<string> {
  const server = createServer(
    await webApp(
      openLog(null, "test"),
      leaguePages(shown, () => null, systemIds),
    )(),
  );
  servers.push(server);
  return `http://127.0.0.1:${await listenOnLoopback(server)}`;
}

beforeAll(async () => {
  const events: readonly NewLeagueEvent[] = [
    opened("first"),
    ...PLAYERS.map((player_id): NewLeagueEvent => ({ type: "player_entered", player_id, name_commitment: "" })),
    { type: "started" },
    ...numbered(roundRobin(PLAYERS, 2)).map((round): NewLeagueEvent => ({ type: "round_paired", ...round })),
  ];
  await ledger.execute(() =>
    ok({
      leagueEvents: [
        ...events.map((event) => ({ leagueId: "first", event })),
        { leagueId: "second", event: opened("second") },
      ],
      agentEvents: PLAYERS.map((id) => ({ agentId: id, event: registered(id) })),
      writes: PLAYERS.map((id) => profile(id, `<${id}>`)),
      reply: null,
    }),
  );
  const projections = createProjections(ledger);
  views = { projections, leagueSeedOf: () => "", awaited: () => null, logOf: () => [], seedOf: () => "a secret" };
  origin = await serve(projections);
});
afterAll(() => {
  for (const server of servers) server.close().closeAllConnections();
  db.close();
  rmSync(folder, { recursive: true, force: true });
});

const matchesIn = (html: string): number => [...html.matchAll(/<tr><td>R\d+M\d+<\/td>/g)].length;

describe("a league of more than 1,000 matches", () => {
  test("has a page with the current rounds, links to the other rounds and the complete standings", async () => {
    const html = await (await fetch(`${origin}/`)).text();
    expect(matchesIn(html)).toBe(2 * 23);
    expect(html).toContain("Rounds 1 to 2 of 45; 0 of 1035 matches are completed.");
    expect(html).toContain('<a href="/?league=first&amp;round=3">next</a>');
    expect(html).toContain('<a href="/?league=first&amp;round=45">last</a>');
    expect([...html.matchAll(/<td class="n">\d+<\/td><td>&#60;P\d+&#62; /g)]).toHaveLength(46);
  });

  test("has a page for each round", async () => {
    const html = await (await fetch(`${origin}/?league=first&round=20`)).text();
    expect(matchesIn(html)).toBe(23);
    expect(html).toContain("<td>R20M1</td>");
    expect(html).toContain("Round 20 of 45");
    for (const round of ["0", "46", "x", "", ...ALIASES]) {
      expect(matchesIn(await (await fetch(`${origin}/?league=first&round=${encodeURIComponent(round)}`)).text())).toBe(
        46,
      );
    }
  });

  test("has a resource for the current rounds and one for each round", async () => {
    const schedule = managerResources(views).find(({ uri }) => uri === "league://schedule");
    expect(await schedule?.read({} as never)).toMatchObject({ truncated: true, total: 1_035 });
    const template = managerTemplates(views).find(({ uriTemplate }) => uriTemplate.endsWith("{round_id}"));
    const round = (round_id: string) => template?.read({ league_id: "first", round_id });
    expect(round("45")).toMatchObject({ schedule: { length: 23 } });
    for (const unknown of ["46", "0", "one", ...ALIASES]) expect(round(unknown)).toBeNull();
    expect(template?.canExist?.({ league_id: "first", round_id: "46" })).toBe(false);
    expect(template?.canExist?.({ league_id: "second", round_id: "46" })).toBe(true);
    for (const alias of ALIASES) {
      for (const league_id of ["first", "second"])
        expect(template?.canExist?.({ league_id, round_id: alias })).toBe(false);
    }
    expect(template?.canExist?.({ league_id: "third", round_id: "1" })).toBe(false);
  });
});

test("the page contains the version of each league and one script, which its content security policy allows by a nonce", async () => {
  const [first, second] = await Promise.all([fetch(origin), fetch(origin)]);
  const policy = first.headers.get("content-security-policy") ?? "";
  const [, nonce] = /script-src 'nonce-([\w-]+)'/.exec(policy) ?? [];
  const html = await first.text();
  expect(html).toContain(`<script nonce="${nonce}">`);
  expect(second.headers.get("content-security-policy")).not.toBe(policy);
  expect(policy).toContain("connect-src 'self'");
  expect(html).toContain('<section data-league="first" data-version="93" data-status="running">');
  expect(html).toContain('<noscript><meta http-equiv="refresh" content="5"></noscript>');
});

test("the page of many leagues shows only the leaders of the later leagues, with links to their pages", async () => {
  const ids = PLAYERS.slice(0, 45);
  const leagues = Array.from(
    { length: 20 },
    (_, index) => afterCommands(running(ids, { ...SETTINGS, leagueId: `league ${index + 1}` })).league,
  );
  const state = { ...ledger.state, leagues: new Map(leagues.map((league) => [league.leagueId, league])) };
  const many = await serve(createProjections({ state }));
  const html = await (await fetch(many)).text();
  expect(html.length).toBeLessThan(1_500_000);
  expect(html.match(/<section /g)).toHaveLength(20);
  expect(matchesIn(html)).toBe(3 * 990);
  expect(html).toContain('<a href="/?league=league%2020">All 45 players and the schedule</a>');
  expect(matchesIn(await (await fetch(`${many}/?league=league%2020`)).text())).toBe(990);
});
