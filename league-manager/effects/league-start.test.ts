import { describe, expect, test } from "vitest";
import type { Place } from "../agents/places.ts";
import type { EffectsOptions } from "../effects.ts";
import { waitingLine } from "../projections/live-lines.ts";
import { busyStore } from "./testing/busy-store.ts";
import { startTestLeague, type TestLeague, type TestLeagueOptions } from "./testing/league.ts";

const place = (id: string, kind: Place["kind"]): Place => ({ id, kind, name: id, endpoint: null, startedByRun: null });
const ROSTER = [place("P01", "player"), place("P02", "player"), place("P03", "player"), place("REF01", "referee")];

interface RosterOptions extends Pick<TestLeagueOptions, "players" | "referees" | "ledger"> {
  readonly registrationMs?: number;
  readonly places?: readonly Place[];
}

/** Starts a league with a roster of three players and one referee. The first `players` players and `referees` referees register. */
async function rosterLeague(
  { players = 3, referees = 1, registrationMs = 60_000, places = ROSTER, ...more }: RosterOptions = {},
  stuck: string[] = [],
): Promise<TestLeague> {
  const leagueStart: EffectsOptions["leagueStart"] = {
    places,
    startWhen: "roster",
    minPlayers: new Map(),
    onWaiting: () => {},
    onStuck: (leagueId, reason) => stuck.push(`${leagueId}: ${reason}`),
  };
  const timeouts = { registration_ms: registrationMs };
  return startTestLeague({ ...more, players, referees, timeouts, effects: { leagueStart } });
}

describe("a league with a roster", () => {
  test("starts when the agents of all places are registered", async () => {
    const league = await rosterLeague({ players: 2 });
    await league.clock.advance(10_000);
    expect(league.league().status).toBe("open");
    await league.registerPlayer("P03");
    await league.eventually(() => expect(league.league()).toMatchObject({ status: "running", matchCount: 3 }));
    expect(league.notices).toEqual([]);
  });

  test("starts with a notice without the players that have not registered in time", async () => {
    const league = await rosterLeague({ players: 2 });
    await league.clock.advance(59_000);
    expect(league.league().status).toBe("open");
    await league.clock.advance(1_000);
    await league.eventually(() => expect(league.league().status).toBe("running"));
    expect(league.notices).toEqual(["league rps starts without P03"]);
  });

  test("sends one notice about the absent players even if the start is repeated", async () => {
    const store = busyStore();
    const league = await rosterLeague({ players: 2, ledger: store.ledger });
    store.isBusy = true;
    await league.clock.advance(65_000);
    expect(league.notices).toEqual(["league rps starts without P03", "rps waits: database is locked"]);
    store.isBusy = false;
    await league.eventually(() => expect(league.league().status).toBe("running"));
    expect(league.notices).toHaveLength(2);
  });

  test("waits three seconds for the other referees of the config", async () => {
    const places = [...ROSTER, place("REF02", "referee")];
    const league = await rosterLeague({ places });
    await league.clock.advance(2_000);
    expect(league.league().status).toBe("open");
    await league.clock.advance(1_500);
    await league.eventually(() => expect(league.league().status).toBe("running"));
  });

  test("starts immediately when its last referee registers", async () => {
    const league = await rosterLeague({ referees: 0 });
    await league.clock.advance(120_000);
    expect(league.league().status).toBe("open");
    await league.registerReferee("REF01");
    await league.eventually(() => expect(league.league().status).toBe("running"));
  });

  test("is reported as stuck once if it has fewer than two players at the end of the registration time", async () => {
    const stuck: string[] = [];
    const league = await rosterLeague({ players: 1 }, stuck);
    await league.clock.advance(59_000);
    expect(stuck).toEqual([]);
    await league.clock.advance(10_000);
    expect(stuck).toEqual([
      "rps: a league needs two players, and it has 1; P02, P03 did not register within 60 s (timeouts.registration_ms)",
    ]);
    expect(league.league().status).toBe("open");
  });
});

describe("a league that starts by the number of its players", () => {
  test("starts when enough players of any name and a referee are registered", async () => {
    const league = await startTestLeague({ players: 2, referees: 0, minPlayers: 2 });
    await league.clock.advance(5_000);
    expect(league.league().status).toBe("open");
    await league.registerReferee("REF01");
    await league.eventually(() => expect(league.league().status).toBe("running"));
  });

  test("reports what it waits for once, and again after each change", async () => {
    const waiting: string[] = [];
    const leagueStart: EffectsOptions["leagueStart"] = {
      places: ROSTER,
      startWhen: "count",
      minPlayers: new Map(),
      onStuck: () => {},
      onWaiting: (leagueId, awaited) => waiting.push(waitingLine(leagueId, awaited)),
    };
    const league = await startTestLeague({ players: 1, referees: 0, effects: { leagueStart } });
    await league.clock.advance(5_000);
    expect(waiting).toEqual([
      "rps waits: 0 of 3 players are registered; missing: P01, P02 and P03; no referee is registered",
      "rps waits: 1 of 3 players are registered; missing: P02 and P03; no referee is registered",
    ]);
    await league.registerReferee("REF01");
    await league.registerPlayer("P02");
    await league.eventually(() =>
      expect(waiting.at(-1)).toBe("rps waits: 2 of 3 players are registered; missing: P03"),
    );
    await league.registerPlayer("P03");
    await league.eventually(() => expect(league.league().status).toBe("running"));
    expect(new Set(waiting).size).toBe(waiting.length);
  });

  test("does not report what it waits for if its operator starts it", async () => {
    const waiting: string[] = [];
    const leagueStart: EffectsOptions["leagueStart"] = {
      places: [],
      startWhen: "count",
      minPlayers: new Map(),
      onStuck: () => {},
      onWaiting: (leagueId) => waiting.push(leagueId),
    };
    const league = await startTestLeague({ players: 2, effects: { leagueStart } });
    await league.clock.advance(5_000);
    expect([waiting, league.league().status]).toEqual([[], "open"]);
  });

  test("does not count a player that has lost its endpoint to another program", async () => {
    const league = await startTestLeague({ players: 2, minPlayers: 3 });
    await league.ledger().execute(() => ({
      ok: true,
      value: {
        agentEvents: [{ agentId: "P02", event: { type: "endpoint_lost" } }],
        writes: [
          { type: "profile", agentId: "P02", profile: { name: "P02", salt: "s", endpoint: "", tokenHash: "h" } },
        ],
        reply: null,
      },
    }));
    await league.registerPlayer("P03");
    await league.clock.advance(5_000);
    expect(league.league()).toMatchObject({ status: "open" });
    await league.registerPlayer("P04");
    await league.eventually(() => expect(league.league().status).toBe("running"));
  });
});
