import { describe, expect, it, vi } from "vitest";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import type { StartGame } from "#shared/protocol/messages.ts";
import { isSignedFor } from "#shared/protocol/signing.ts";
import { SILENT_PROBES } from "./effects/dispatch/referee-health.ts";
import { played, timedOut } from "./testing/results.ts";
import { type ScriptedLeague, startScriptedLeague } from "./testing/scripted-league.ts";

describe.concurrent("a probed referee", () => {
  it("keeps its match when it misses two probes and answers the third", async (test) => {
    const league = await startScriptedLeague(test, { referees: 2 });
    await league.begin();
    await league.order("REF01", "R1M1");
    const referee = league.referee("REF01");
    referee.answersProbe = (probe) => probe > 2;
    await vi.waitFor(() => expect(referee.probes()).toBeGreaterThanOrEqual(4), WAIT_OPTIONS);
    expect(league.referee("REF02").orders()).toEqual([]);
    expect(await league.matches()).toMatchObject([{ refereeId: "REF01", epoch: 1 }]);
    expect(referee.received.map(({ type }) => type)).not.toContain("MATCH_WITHDRAWN");
  });

  it("is informed of its lost matches when it answers again after the probes that it may miss", async (test) => {
    const league = await startScriptedLeague(test, { referees: 2 });
    await league.begin();
    await league.order("REF01", "R1M1");
    const referee = league.referee("REF01");
    referee.answersProbe = (probe) => probe > SILENT_PROBES.programs;
    const withdrawn = await vi.waitFor(() => {
      const found = referee.received.find(({ type }) => type === "MATCH_WITHDRAWN");
      if (!found) throw new Error("REF01 received no MATCH_WITHDRAWN");
      return found;
    }, WAIT_OPTIONS);
    expect(withdrawn.payload).toEqual({ league_id: "rps", match_id: "R1M1", epoch: 1 });
    expect(isSignedFor(referee.token, "rps/R1M1", withdrawn.auth_token ?? "")).toBe(true);
    expect(await league.order("REF02", "R1M1")).toMatchObject({ epoch: 2 });
  });
});

describe.concurrent("a player that was suspended for a timeout", () => {
  const stateOf = async (league: ScriptedLeague, id: string): Promise<unknown> => {
    const { state, fails } = await league.storedAgent(id);
    return { state, fails };
  };

  /**
   * Starts a league in which P01 loses its match of the first round by timeout. Resolves with the order for the other match: the second round does
   * not begin before that match is over.
   */
  async function suspendP01(league: ScriptedLeague): Promise<StartGame> {
    for (const id of ["P01", "P02", "P03", "P04"]) league.player(id).answersProbe = () => false;
    await league.begin();
    const orders = [await league.order("REF01", "R1M1"), await league.order("REF01", "R1M2")];
    const plays = (order: StartGame): boolean => Object.values(order.roles).some((seat) => seat.player_id === "P01");
    const [timedOutOrder, otherOrder] = orders.sort((a, b) => Number(plays(b)) - Number(plays(a))) as [
      StartGame,
      StartGame,
    ];
    await league.report("REF01", timedOut(timedOutOrder, "P01"));
    expect(await stateOf(league, "P01")).toEqual({ state: "SUSPENDED", fails: 1 });
    return otherOrder;
  }

  it("is active again before its next match when it answers a health probe", async (test) => {
    const league = await startScriptedLeague(test, { players: 4 });
    const otherOrder = await suspendP01(league);
    league.player("P01").answersProbe = () => true;
    await vi.waitFor(
      async () => expect(await stateOf(league, "P01")).toEqual({ state: "ACTIVE", fails: 1 }),
      WAIT_OPTIONS,
    );
    expect(league.referee("REF01").orders()).toHaveLength(2);
    await league.report("REF01", played(otherOrder));
    await league.order("REF01", "R2M1");
  });

  it("is active again before its next match when it has registered again", async (test) => {
    const league = await startScriptedLeague(test, { players: 4 });
    const otherOrder = await suspendP01(league);
    const { url, token } = league.player("P01");
    const registration = { display_name: "P01", version: "1.0.0", game_types: ["rps.v1"], contact_endpoint: url };
    const answer = await league.send("PLAYER_REGISTER_REQUEST", "player:P01", registration, token);
    expect(answer.payload).toMatchObject({ status: "ACCEPTED", player_id: "P01", auth_token: token });
    expect(await stateOf(league, "P01")).toEqual({ state: "ACTIVE", fails: 1 });
    expect(league.referee("REF01").orders()).toHaveLength(2);
    await league.report("REF01", played(otherOrder));
    await league.order("REF01", "R2M1");
  });
});

describe("a player that was shut down", () => {
  const stateOf = async (league: ScriptedLeague): Promise<unknown> => {
    const { state, fails } = await league.storedAgent("P01");
    return { state, fails };
  };
  const enterLaterLeague = (league: ScriptedLeague) => {
    const { url, token } = league.player("P01");
    const registration = { display_name: "P01", version: "1.0.0", game_types: ["rps.v1"], contact_endpoint: url };
    return league.send("PLAYER_REGISTER_REQUEST", "player:P01", { ...registration, league_ids: ["later"] }, token);
  };

  it("at the end of its league can enter another league", async (test) => {
    const league = await startScriptedLeague(test, { laterLeagues: ["later"] });
    await league.begin();
    await league.report("REF01", played(await league.order("REF01", "R1M1")));
    await vi.waitFor(async () => expect(await stateOf(league)).toEqual({ state: "SHUTDOWN", fails: 0 }), WAIT_OPTIONS);
    expect((await enterLaterLeague(league)).payload).toMatchObject({ status: "ACCEPTED", league_ids: ["later"] });
    expect(await stateOf(league)).toEqual({ state: "REGISTERED", fails: 0 });
  });

  it("in a running league cannot enter another league, because it would forfeit there too", async (test) => {
    const league = await startScriptedLeague(test, { laterLeagues: ["later"] });
    await league.begin(3);
    for (const matchId of ["R1M1", "R1M2", "R1M3"]) {
      await league.report("REF01", timedOut(await league.order("REF01", matchId), "P01"));
    }
    expect(await stateOf(league)).toEqual({ state: "SHUTDOWN", fails: 3 });
    expect((await enterLaterLeague(league)).payload).toMatchObject({ status: "REJECTED", error_code: "L001" });
    expect(await stateOf(league)).toEqual({ state: "SHUTDOWN", fails: 3 });
  });
});
