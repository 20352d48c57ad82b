import { describe, expect, test, vi } from "vitest";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import type { Envelope } from "#shared/protocol/envelope.ts";
import { isSignedFor } from "#shared/protocol/signing.ts";
import { withoutReferee } from "../../testing/decisions.ts";
import { played } from "../../testing/results.ts";
import { startTestLeague, type TestLeague, type TestLeagueOptions } from "../testing/league.ts";
import { SILENT_PROBES } from "./referee-health.ts";

/** Starts a league in which REF01 has lost the match R1M1, because it does not answer probes. */
async function leagueWithLostMatch(
  options: Pick<TestLeagueOptions, "players" | "maxConcurrent"> = {},
): Promise<TestLeague> {
  const league = await startTestLeague({ players: 2, referees: 2, ...options });
  await league.order("REF01", "R1M1");
  league.agent("REF01").isHealthy = false;
  await league.eventually(() => expect(league.round()[0]).toMatchObject({ epoch: 2 }));
  return league;
}
/** The step by which the test advances the clock while the manager pauses. */
const STEP_MS = 50;
const withdrawalsSent = (league: TestLeague) => league.agent("REF01").of("MATCH_WITHDRAWN");

describe("a referee that is down", () => {
  test("loses its matches under a higher epoch, with a notice, and the new referee receives the reason", async () => {
    const league = await leagueWithLostMatch();
    const reason = { restart_reason: "REF01 did not answer" };
    expect(await league.order("REF02", "R1M1", 2)).toMatchObject({ epoch: 2, ...reason });
    expect(league.agent("REF01").orders()[0]).not.toHaveProperty("restart_reason");
    expect(league.notices).toEqual([
      "referee REF01 does not answer; its matches are assigned to other referees if it is silent for 10 s, or 60 s with a person",
    ]);
    expect(league.effects().silentReferees()).toEqual(["REF01"]);
  });

  test("keeps its match when it misses two probes and answers the third", async () => {
    const league = await startTestLeague({ referees: 2 });
    await league.order("REF01", "R1M1");
    const referee = league.agent("REF01");
    const before = referee.probes;
    referee.probesToMiss = 2;
    await league.eventually(() => expect(referee.probes).toBeGreaterThan(before + 5));
    expect(league.round()).toMatchObject([{ refereeId: "REF01", epoch: 1 }]);
    expect(withdrawalsSent(league)).toEqual([]);
    expect(league.effects().silentReferees()).toEqual([]);
  });

  test("receives MATCH_WITHDRAWN until it acknowledges it, and until then the match counts against its capacity", async () => {
    const league = await startTestLeague({ players: 4, referees: 2, maxConcurrent: 1 });
    await league.order("REF01", "R1M1");
    league.agent("REF01").isHealthy = false;
    await league.report("REF02", played(await league.order("REF02", "R1M2")));
    await league.report("REF02", played(await league.order("REF02", "R1M1", 2)));
    await league.order("REF02", "R2M1");
    const answers = [503, 500, 429, 200];
    const referee = league.agent("REF01");
    referee.answer = ({ type }) => (type === "MATCH_WITHDRAWN" ? (answers.shift() ?? 200) : "accepted");
    expect(withdrawalsSent(league)).toEqual([]);
    // R2M1 occupies the capacity of REF02, and the withdrawn match that of REF01.
    expect(league.round(2)[1]).toMatchObject({ refereeId: null });
    referee.isHealthy = true;
    await league.order("REF01", "R2M2");
    const sent = withdrawalsSent(league);
    expect(sent).toHaveLength(4);
    for (const { payload, auth_token } of sent) {
      expect(payload).toEqual({ league_id: "rps", match_id: "R1M1", epoch: 1 });
      expect(isSignedFor(referee.token, "rps/R1M1", auth_token ?? "")).toBe(true);
    }
    expect(new Set(sent.map(({ message_id }) => message_id)).size).toBe(1);
    expect(league.notices.at(-1)).toBe("referee REF01 answers again");
  });

  test("receives MATCH_WITHDRAWN at growing intervals of up to ten seconds while it does not acknowledge it", async () => {
    const league = await leagueWithLostMatch();
    const { clock } = league;
    const referee = league.agent("REF01");
    const sent: { readonly at: number; readonly timers: number }[] = [];
    referee.answer = ({ type }) => {
      if (type === "MATCH_WITHDRAWN") sent.push({ at: clock.monotonic(), timers: clock.timers() });
      return type === "MATCH_WITHDRAWN" ? 500 : "accepted";
    };
    referee.isHealthy = true;
    await league.eventually(() => expect(sent).toHaveLength(1));
    while (sent.length < 10) {
      // The pause begins when the answer has arrived. The clock must not advance before.
      await vi.waitFor(() => expect(clock.timers()).toBeGreaterThan(sent.at(-1)?.timers ?? 0), WAIT_OPTIONS);
      const count = sent.length;
      while (sent.length === count && clock.timers() > (sent.at(-1)?.timers ?? 0)) await clock.advance(STEP_MS);
      await vi.waitFor(() => expect(sent).toHaveLength(count + 1), WAIT_OPTIONS);
    }
    const pauses = sent.slice(1).map(({ at }, index) => at - (sent[index]?.at ?? 0));
    for (const [index, pause] of pauses.entries()) {
      const expectedMs = Math.min(300 * 2 ** index, 10_000);
      expect(pause).toBeGreaterThanOrEqual(expectedMs);
      expect(pause).toBeLessThan(expectedMs + 3 * STEP_MS);
    }
  });

  test("regains its capacity if it does not know MATCH_WITHDRAWN", async () => {
    const league = await leagueWithLostMatch();
    league.agent("REF01").answer = ({ type }) => (type === "MATCH_WITHDRAWN" ? 404 : "accepted");
    league.agent("REF01").isHealthy = true;
    await league.eventually(() => expect(league.league().withdrawals).toEqual([]));
    expect(withdrawalsSent(league)).toHaveLength(1);
  });

  test("receives MATCH_WITHDRAWN after a restart of the manager", async () => {
    const league = await leagueWithLostMatch();
    await league.order("REF02", "R1M1", 2);
    await league.restart();
    league.agent("REF01").isHealthy = true;
    await league.eventually(() =>
      expect(withdrawalsSent(league)).toMatchObject([{ payload: { match_id: "R1M1", epoch: 1 } }]),
    );
    await league.eventually(() => expect(league.league().withdrawals).toEqual([]));
    await league.report("REF02", played(await league.order("REF02", "R1M1", 2)));
    await league.eventually(() => expect(league.league().status).toBe("completed"));
  });
});

test("a league whose only referee is down waits for it, and its match continues when it answers", async () => {
  const league = await startTestLeague();
  const order = await league.order("REF01", "R1M1");
  const referee = league.agent("REF01");
  referee.isHealthy = false;
  const { probes } = referee;
  await league.eventually(() => expect(referee.probes).toBeGreaterThan(probes + SILENT_PROBES.person));
  expect(league.notices).toEqual(["referee REF01 does not answer; no referee is left: the league waits for one"]);
  expect(league.round()).toMatchObject([{ refereeId: "REF01", epoch: 1 }]);
  referee.isHealthy = true;
  await league.eventually(() => expect(league.notices.at(-1)).toBe("referee REF01 answers again"));
  expect(await league.report("REF01", played(order))).toMatchObject({ value: { status: "RECORDED" } });
  expect(withdrawalsSent(league)).toEqual([]);
});

test("a match whose referee does not answer moves only when another referee has free capacity", async () => {
  const league = await startTestLeague({ players: 4, referees: 2, maxConcurrent: 1 });
  await league.order("REF01", "R1M1");
  const other = await league.order("REF02", "R1M2");
  const referee = league.agent("REF01");
  await referee.close();
  await league.eventually(() => expect(league.effects().silentReferees()).toEqual(["REF01"]));
  await league.clock.advance(5_000);
  expect(league.round()[0]).toMatchObject({ refereeId: "REF01", epoch: 1 });
  await league.report("REF02", played(other));
  await league.order("REF02", "R1M1", 2);
});

test("a match whose referee does not answer does not move to a referee that answers probes only", async () => {
  const league = await startTestLeague({ players: 2, referees: 2 });
  const order = await league.order("REF01", "R1M1");
  const [first, second] = [league.agent("REF01"), league.agent("REF02")];
  second.answer = () => 503;
  first.isHealthy = false;
  const { probes } = first;
  await league.eventually(() => expect(first.probes).toBeGreaterThan(probes + SILENT_PROBES.programs + 5));
  expect(league.round()).toMatchObject([{ refereeId: "REF01", epoch: 1 }]);
  expect(league.notices.at(-1)).toMatch(/^referee REF02 accepts no matches \(/);
  first.isHealthy = true;
  await league.eventually(() => expect(league.notices.at(-1)).toBe("referee REF01 answers again"));
  expect(await league.report("REF01", played(order))).toMatchObject({ value: { status: "RECORDED" } });
});

test("a match moves to a referee with another match that one message did not reach", async () => {
  const league = await startTestLeague({ players: 4, referees: 2 });
  await league.order("REF01", "R1M1");
  await league.order("REF02", "R1M2");
  const unanswered = Promise.withResolvers<"accepted">();
  const answers = [unanswered.promise];
  const isCheck = ({ type, payload }: Envelope): boolean => type === "ROUND_ANNOUNCEMENT" && payload.round_id === 0;
  league.agent("REF02").answer = (message) => (isCheck(message) && answers.shift()) || "accepted";
  league.agent("REF01").isHealthy = false;
  await league.order("REF02", "R1M1", 2);
  expect(answers).toEqual([]);
  unanswered.resolve("accepted");
});

describe("a referee that was forgotten while the config did not list its league", () => {
  /** Restarts the manager without the league, forgets REF01, and restarts it with the league. */
  async function forgetWithoutLeague(league: TestLeague): Promise<void> {
    await league.restart(undefined, ["other"]);
    expect(await league.ledger().execute(withoutReferee("REF01"))).toMatchObject({ ok: true });
    await league.restart();
  }

  test("loses its matches to other referees without a withdrawal", async () => {
    const league = await startTestLeague({ referees: 2 });
    await league.order("REF01", "R1M1");
    await forgetWithoutLeague(league);
    expect(await league.order("REF02", "R1M1", 2)).toMatchObject({ epoch: 2 });
    expect(league.league().withdrawals).toEqual([]);
  });

  test("receives no MATCH_WITHDRAWN for a match that it had lost before", async () => {
    const league = await leagueWithLostMatch();
    await league.order("REF02", "R1M1", 2);
    await forgetWithoutLeague(league);
    await league.eventually(() => expect(league.league().withdrawals).toEqual([]));
    expect(withdrawalsSent(league)).toEqual([]);
  });
});
