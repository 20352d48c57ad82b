import { afterEach, expect, it } from "vitest";
import { startFaultyPlayer } from "../../testing/faulty-player.ts";
import { startTestLeague, type TestLeague } from "../../testing/in-process-league.ts";

let league: TestLeague | null = null;
afterEach(async () => {
  await league?.stop();
  league = null;
});

const textOf = async (url: string): Promise<string> => (await fetch(url)).text();

it.each([
  ["refuse", "connection refused"],
  ["drop", "connection closed before the end of the answer"],
] as const)(
  "results, events and pages do not contain the address of a player that has lost by the fault %j",
  async (fault, detail) => {
    league = await startTestLeague({
      leagues: [{ league_id: "rps", game: "rps.v1" }],
      timeouts: { move_ms: 5_000, join_ms: 5_000 },
      players: [
        { name: "Faulty", start: (place) => startFaultyPlayer({ ...place, fault }) },
        { name: "B", bot: "random" },
      ],
    });
    const { completed, match, manager } = league;
    const [played] = (await completed).leagues;
    expect(played?.matches).toMatchObject([{ termination: "forfeit", winner: "P02" }]);
    const { result, log } = await match("rps", "R1M1");
    const events = await textOf(new URL("/leagues/rps/events?from=0", manager).href);
    const page = await textOf(new URL("/", manager).href);
    // The header links to the pages of the referee.
    const [, referee = ""] = /data-games="(http:[^"]+)"/.exec(page) ?? [];
    expect(referee).not.toBe("");
    const published = {
      result: JSON.stringify(result),
      log: log.join("\n"),
      events,
      page: page.replaceAll(referee, ""),
    };
    for (const [name, text] of Object.entries(published)) {
      expect(text, name).toContain(detail);
      expect(text, name).not.toMatch(/127\.0\.0\.1|localhost|ECONN|\bconnect\b/);
    }
  },
);
