import { describe, expect, test } from "vitest";
import { scheduleMatch } from "../commands/league-commands.ts";
import { aborted, played } from "../testing/results.ts";
import { startTestLeague, type TestLeague } from "./testing/league.ts";
import { leagueWithSilentPlayer } from "./testing/silent-player.ts";

/** Adds matches of P01 and P02 to the first round. */
async function addMatches(league: TestLeague, count: number): Promise<void> {
  await league.eventually(() => expect(league.round()).toHaveLength(1));
  for (let n = 0; n < count; n++) await league.ledger().execute(scheduleMatch("rps", ["P01", "P02"], 1));
}

describe("a restarted manager", () => {
  test("keeps the assignment of a match and repeats START_GAME with the same id, even if it would choose another referee now", async () => {
    const league = await startTestLeague({ referees: 2 });
    await league.report("REF01", aborted(await league.order("REF01", "R1M1")));
    const order = await league.order("REF02", "R1M1", 2);
    const [before] = league.agent("REF02").of("START_GAME");
    await league.restart();
    expect(await league.order("REF02", "R1M1", 2)).toEqual(order);
    const [after] = league.agent("REF02").of("START_GAME");
    expect(after?.message_id).toBe(before?.message_id);
    await league.report("REF02", played(order));
    await league.eventually(() => expect(league.league().status).toBe("completed"));
    expect(league.agent("REF01").orders()).toEqual([]);
  });

  test("keeps the transports of the players, and START_GAME names only those that were offered", async () => {
    const league = await startTestLeague({ players: 1, minPlayers: 2 });
    await league.registerPlayer("P02", undefined, { transports: ["websocket", "carrier pigeon"] });
    const { roles } = await league.order("REF01", "R1M1");
    const transportsOf = Object.values(roles).map(({ player_id, ...seat }) => [player_id, seat.transports]);
    expect(Object.fromEntries(transportsOf)).toEqual({ P01: undefined, P02: ["websocket"] });
    const native = Object.values(roles).find(({ player_id }) => player_id === "P01");
    expect(Object.keys(native ?? {})).not.toContain("transports");
    await league.restart();
    expect((await league.order("REF01", "R1M1")).roles).toEqual(roles);
  });

  test("keeps the form of the history that a player wants, and START_GAME names it", async () => {
    const league = await startTestLeague({ players: 1, minPlayers: 2 });
    await league.registerPlayer("P02", undefined, { history: "delta" });
    const { roles } = await league.order("REF01", "R1M1");
    const forms = Object.values(roles).map(({ player_id, history }) => [player_id, history]);
    expect(Object.fromEntries(forms)).toEqual({ P01: undefined, P02: "delta" });
    await league.restart();
    expect((await league.order("REF01", "R1M1")).roles).toEqual(roles);
  });

  test("keeps the epoch of a match that is not assigned", async () => {
    const league = await startTestLeague();
    const formerOrder = await league.order("REF01", "R1M1");
    league.agent("REF01").isHealthy = false;
    await league.eventually(() => expect(league.effects().silentReferees()).toEqual(["REF01"]));
    await league.report("REF01", aborted(formerOrder));
    expect(league.round()).toMatchObject([{ epoch: 2, refereeId: null }]);
    await league.restart(() => {
      league.agent("REF01").isHealthy = true;
    });
    const order = await league.order("REF01", "R1M1", 2);
    expect(await league.report("REF01", played(formerOrder))).toMatchObject({ error: { error_code: "L004" } });
    expect(await league.report("REF01", played(order))).toMatchObject({ value: { status: "RECORDED" } });
  });

  test("starts only the matches without a result, within the capacity of the referees", async () => {
    const league = await startTestLeague({ maxConcurrent: 1 });
    await addMatches(league, 2);
    await league.report("REF01", played(await league.order("REF01", "R1M1")));
    await league.order("REF01", "R1M2");
    await league.restart();
    const second = await league.order("REF01", "R1M2");
    expect(league.effects().matchesOf("REF01")).toEqual([second]);
    await league.report("REF01", played(second));
    await league.report("REF01", played(await league.order("REF01", "R1M3")));
    await league.eventually(() => expect(league.league().status).toBe("completed"));
    expect(
      league
        .agent("REF01")
        .orders()
        .map(({ match_id }) => match_id),
    ).toEqual(["R1M2", "R1M3"]);
  });

  test("does not repeat the announcement of an announced round", async () => {
    const league = await startTestLeague();
    await league.eventually(() => expect(league.league().rounds.at(0)?.isAnnounced).toBe(true));
    await league.restart();
    await league.order("REF01", "R1M1");
    expect(league.agent("P01").received).toEqual([]);
  });

  test("starts no match before its players listen and have received the announcement of the round", async () => {
    const { league, answer } = await leagueWithSilentPlayer();
    await league.restart(async () => {
      answer();
      for (const id of ["P01", "P02"]) await league.agent(id).close();
    });
    await league.clock.advance(5_000);
    expect(league.round()).toMatchObject([{ status: "assigned" }]);
    expect(league.agent("REF01").orders()).toEqual([]);
    for (const id of ["P01", "P02"]) await league.agent(id).listen();
    await league.order("REF01", "R1M1");
    for (const id of ["P01", "P02"]) {
      expect(league.agent(id).received.map(({ type }) => type)).toEqual(["ROUND_ANNOUNCEMENT", "ROUND_START"]);
    }
  });

  test("starts a match ten seconds after the restart even if the players do not listen", async () => {
    const league = await startTestLeague();
    await league.order("REF01", "R1M1");
    await league.restart(async () => {
      for (const id of ["P01", "P02"]) await league.agent(id).close();
    });
    await league.clock.advance(9_000);
    expect(league.agent("REF01").orders()).toEqual([]);
    await league.order("REF01", "R1M1");
  });
});
