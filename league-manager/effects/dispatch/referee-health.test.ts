import { describe, expect, test } from "vitest";
import type { Peers } from "#shared/rpc/peer/peer.ts";
import { pauseLeague, resumeLeague } from "../../commands/league-commands.ts";
import { played, timedOut } from "../../testing/results.ts";
import { startTestLeague, type TestLeague } from "../testing/league.ts";
import { SILENT_PROBES } from "./referee-health.ts";

/** A network that counts the probes without an answer from a running agent. */
function countedProbes() {
  let missed = 0;
  const network = (peers: Peers): Peers => ({
    ...peers,
    async probe(...probe) {
      const result = await peers.probe(...probe);
      if (result !== "alive") missed++;
      return result;
    },
  });
  const reset = (): void => {
    missed = 0;
  };
  return { network, missed: () => missed, reset };
}

const stateOf = (league: TestLeague, id: string) => league.ledger().state.agents.get(id)?.state;

describe("a player that was suspended for a timeout", () => {
  /** Starts a league in which P01 has lost its match of round 1 by timeout and the other match of the round is running. */
  async function leagueWithSuspended(): Promise<TestLeague> {
    const league = await startTestLeague({ players: 4 });
    const orders = [await league.order("REF01", "R1M1"), await league.order("REF01", "R1M2")];
    const order = orders.find(({ roles }) => Object.values(roles).some(({ player_id }) => player_id === "P01"));
    league.agent("P01").isHealthy = false;
    if (order) await league.report("REF01", timedOut(order, "P01"));
    expect(stateOf(league, "P01")).toBe("SUSPENDED");
    return league;
  }

  test("is active again when it answers a health probe, and not before", async () => {
    const league = await leagueWithSuspended();
    const player = league.agent("P01");
    await league.eventually(() => expect(player.probes).toBeGreaterThan(2));
    expect(stateOf(league, "P01")).toBe("SUSPENDED");
    player.isHealthy = true;
    await league.eventually(() => expect(stateOf(league, "P01")).toBe("ACTIVE"));
    const { probes } = player;
    await league.clock.advance(5_000);
    expect(player.probes).toBeLessThanOrEqual(probes + 1);
  });

  test("is active again when it registers again", async () => {
    const league = await leagueWithSuspended();
    await league.registerPlayer("P01");
    expect(stateOf(league, "P01")).toBe("ACTIVE");
  });
});

test("a referee that registers again is up and fit immediately", async () => {
  const league = await startTestLeague();
  await league.order("REF01", "R1M1");
  league.agent("REF01").isHealthy = false;
  await league.eventually(() => expect(league.effects().silentReferees()).toEqual(["REF01"]));
  league.agent("REF01").isHealthy = true;
  await league.registerReferee("REF01");
  expect(league.effects().silentReferees()).toEqual([]);
  await league.order("REF01", "R1M1");
  expect(league.round()).toMatchObject([{ epoch: 1, refereeId: "REF01" }]);
});

describe("a referee with a match, while another referee is free", () => {
  /** Starts a league in which REF01 has the match, and counts the probes that it misses. `hosted`: a person plays the match. */
  async function leagueOfTwo(hosted: readonly string[] = []): Promise<{ league: TestLeague; missed: () => number }> {
    const { network, missed } = countedProbes();
    const league = await startTestLeague({ players: 0, referees: 2, minPlayers: 2, network });
    for (const id of ["P01", "P02"]) await league.registerPlayer(id, undefined, { by_hand: hosted.includes(id) });
    await league.order("REF01", "R1M1");
    return { league, missed };
  }

  test.each<[string, number, readonly string[]]>([
    ["programs", SILENT_PROBES.programs, []],
    ["a person", SILENT_PROBES.person, ["P02"]],
  ])("that is silent loses a match with %s after %d probes", async (_, probes, hosted) => {
    const { league, missed } = await leagueOfTwo(hosted);
    league.agent("REF01").isHealthy = false;
    await league.eventually(() => expect(missed()).toBe(probes - 1));
    expect(league.effects().silentReferees()).toEqual(["REF01"]);
    expect(league.round()).toMatchObject([{ epoch: 1, refereeId: "REF01" }]);
    await league.order("REF02", "R1M1", 2);
    expect(missed()).toBeGreaterThanOrEqual(probes);
  });

  test("that answers in time continues", async () => {
    const { league, missed } = await leagueOfTwo();
    league.agent("REF01").isHealthy = false;
    await league.eventually(() => expect(missed()).toBe(SILENT_PROBES.programs - 1));
    league.agent("REF01").isHealthy = true;
    await league.eventually(() => expect(league.effects().silentReferees()).toEqual([]));
    await league.clock.advance(20_000);
    expect(league.round()).toMatchObject([{ epoch: 1, refereeId: "REF01" }]);
    expect(missed()).toBe(SILENT_PROBES.programs - 1);
  });

  test.each([[[]], [["P02"]]])("that refuses connections loses it after three probes, by hand: %j", async (hosted) => {
    const { league, missed } = await leagueOfTwo(hosted);
    await league.agent("REF01").close();
    await league.order("REF02", "R1M1", 2);
    expect(missed()).toBeGreaterThanOrEqual(3);
    expect(missed()).toBeLessThan(SILENT_PROBES.programs);
    expect(league.notices[0]).toBe("referee REF01 refuses connections; its matches are assigned to other referees");
  });

  test("that is silent keeps it while the league is paused", async () => {
    const { league, missed } = await leagueOfTwo();
    await league.ledger().execute(pauseLeague("rps"));
    league.agent("REF01").isHealthy = false;
    await league.eventually(() => expect(missed()).toBe(SILENT_PROBES.programs + 3));
    expect(league.round()).toMatchObject([{ epoch: 1, refereeId: "REF01" }]);
    await league.ledger().execute(resumeLeague("rps"));
    await league.order("REF02", "R1M1", 2);
  });
});

describe("a referee that does not listen yet when the manager starts again", () => {
  /** Restarts a manager with two referees while REF01, which has the match, is down. `missed` counts the unanswered probes of both referees. */
  async function restartWithoutReferee(): Promise<{ league: TestLeague; missed: () => number }> {
    const { network, missed, reset } = countedProbes();
    const league = await startTestLeague({ referees: 2, network });
    await league.order("REF01", "R1M1");
    await league.restart(() => {
      reset();
      return league.agent("REF01").close();
    });
    return { league, missed };
  }

  test("keeps its match if it listens within ten seconds", async () => {
    const { league, missed } = await restartWithoutReferee();
    await league.eventually(() => expect(missed()).toBe(9));
    expect(league.effects().silentReferees()).toEqual([]);
    await league.agent("REF01").listen();
    await league.order("REF01", "R1M1", 1);
    expect(league.round()).toMatchObject([{ epoch: 1, refereeId: "REF01" }]);
  });

  test("loses its match to another referee after ten seconds", async () => {
    const { league, missed } = await restartWithoutReferee();
    await league.order("REF02", "R1M1", 2);
    expect(missed()).toBeGreaterThanOrEqual(10);
  });

  test("is down after three missed probes if it has answered since the restart", async () => {
    const { league, missed } = await restartWithoutReferee();
    await league.agent("REF01").listen();
    const { probes } = league.agent("REF01");
    await league.eventually(() => expect(league.agent("REF01").probes).toBeGreaterThan(probes));
    const before = missed();
    league.agent("REF01").isHealthy = false;
    await league.eventually(() => expect(league.effects().silentReferees()).toEqual(["REF01"]));
    expect(missed() - before).toBe(3);
  });
});

test("referees that are down are listed in the order of their silence, the longest first", async () => {
  const league = await startTestLeague({ players: 0, referees: 3, minPlayers: 2 });
  league.agent("REF03").isHealthy = false;
  await league.eventually(() => expect(league.effects().silentReferees()).toEqual(["REF03"]));
  league.agent("REF01").isHealthy = false;
  await league.eventually(() => expect(league.effects().silentReferees()).toEqual(["REF03", "REF01"]));
});

test("a referee without a usable endpoint is down", async () => {
  const league = await startTestLeague({ players: 0, minPlayers: 2 });
  await league.ledger().execute(() => ({
    ok: true,
    value: {
      agentEvents: [{ agentId: "REF01", event: { type: "endpoint_lost" } }],
      writes: [
        { type: "profile", agentId: "REF01", profile: { name: "REF01", salt: "s", endpoint: "", tokenHash: "h" } },
      ],
      reply: null,
    },
  }));
  await league.eventually(() => expect(league.effects().silentReferees()).toEqual(["REF01"]));
});

test("stopped effects have no timers, send no probes and commit no events", async () => {
  const league = await startTestLeague({ players: 4, referees: 2 });
  const order = await league.order("REF01", "R1M1");
  league.agent("REF02").isHealthy = false;
  league.agent("P01").answer = () => new Promise(() => {});
  await league.report("REF01", played(order));
  await league.effects().stop();
  expect(league.clock.timers()).toBe(0);
  const { version } = league.league();
  const probes = league.agent("REF01").probes;
  await league.clock.advance(10_000);
  expect(league.league().version).toBe(version);
  expect(league.agent("REF01").probes).toBe(probes);
});
