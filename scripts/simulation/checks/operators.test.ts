import { describe, expect, it } from "vitest";
import type { ObservedRequest } from "../machines/network.ts";
import { OPERATOR_TOKEN } from "../operator.ts";
import { planOf } from "../random-plan.ts";
import type { LogEntry } from "./log.ts";
import { createOperators } from "./operators.ts";

const at = "2026-01-01T00:00:02.000Z";
const ofLeague = (type: string, fields: object = {}): LogEntry =>
  ({ at: 0, stream: "league:sim", event: { type, at, ...fields } }) as unknown as LogEntry;
const ofPlayer = (type: string): LogEntry =>
  ({ at: 0, stream: "agent:P01", event: { type, at } }) as unknown as LogEntry;

const answered = (value: object, isError = false): string =>
  JSON.stringify({ result: { content: [{ text: JSON.stringify(value) }], isError } });
const sent = (from: string, tool: string, args: object): ObservedRequest => ({
  from,
  to: "manager",
  isOverSocket: false,
  body: JSON.stringify({ params: { name: tool, arguments: args } }),
});

/** The checks of a run in which these events were committed. */
function observed(log: readonly LogEntry[] = []) {
  const committed = [...log];
  const operators = createOperators({ ...planOf("test"), calls: [] }, () => committed);
  return {
    /** An operator calls a tool; the events are committed before the answer. */
    call(tool: string, args: object, answer: string | null, events: readonly LogEntry[] = [], token = OPERATOR_TOKEN) {
      const request = sent("operator 1", tool, { league_id: "sim", ...args, auth_token: token });
      operators.onRequest(request);
      committed.push(...events);
      return answer === null ? [] : operators.onAnswer(request, answer);
    },
    operators,
    faults: (...more: readonly LogEntry[]) => operators.faults([...committed, ...more]),
  };
}

const PAUSED = answered({ status: "PAUSED" });

describe("a call of an operator", () => {
  it("is recorded when it is answered, or has changed nothing", () => {
    expect(observed().call("pause_league", {}, PAUSED, [ofLeague("paused")])).toEqual([]);
    expect(observed([ofLeague("paused")]).call("pause_league", {}, PAUSED)).toEqual([]);
    expect(observed().call("pause_league", {}, PAUSED)).toEqual([expect.stringContaining("has not recorded it")]);
    expect(observed([ofLeague("paused"), ofLeague("resumed")]).call("pause_league", {}, PAUSED)).toHaveLength(1);
  });

  it("is not lost when it was answered", () => {
    const run = observed();
    const annulled = ofLeague("match_annulled", { match_id: "R1M1", reason: "x" });
    expect(run.call("annul_match", { match_id: "R1M1", reason: "x" }, answered({}), [annulled])).toEqual([]);
    expect(run.faults()).toEqual([]);
    expect(run.operators.faults([])).toEqual([expect.stringContaining("was accepted and is lost")]);
  });

  it("has the operator token", () => {
    const found = observed().call("pause_league", {}, PAUSED, [ofLeague("paused")], "another");
    expect(found).toEqual(["operators: manager has executed pause_league without the operator token"]);
  });

  it("causes one event at most, unless it is repeated", () => {
    const scheduled = ofLeague("match_scheduled", { match_id: "R1M2", round_id: 1, players: ["P01", "P02"] });
    const args = { player1_id: "P01", player2_id: "P02", round_id: 1 };
    const run = observed();
    run.call("schedule_match", args, null, [scheduled, scheduled]);
    expect(run.faults()).toEqual([expect.stringContaining("no operator has caused")]);
    run.call("schedule_match", args, answered({ match_id: "R1M2" }), [scheduled]);
    expect(run.faults()).toHaveLength(1);
  });
});

describe("the log of a league", () => {
  const paired = (round_id: number) =>
    ofLeague("round_paired", { round_id, pairings: [{ match_id: `R${round_id}M1`, players: ["P01", "P02"] }] });
  const forfeit = ofLeague("match_completed", { match_id: "R1M1", termination: "forfeit" });
  const opened = (...absent: readonly object[]) => ofLeague("round_opened", { round_id: 1, absent });
  const assigned = ofLeague("match_assigned", { match_id: "R1M1", epoch: 1 });
  const absence = { player_id: "P01", removed: true };
  const timed = ofLeague("opened", { starts_at: "2026-01-01T00:00:03.000Z", round_ms: 1_000 });

  it.each([
    ["a match that is assigned during a pause", [ofLeague("paused"), assigned], 1],
    ["a match that is assigned after a pause", [ofLeague("paused"), ofLeague("resumed"), assigned], 0],
    ["a match of a league that was ended", [ofLeague("pairing_completed", { by: "operator" }), assigned], 1],
    ["a result after an annulment", [ofLeague("match_annulled", { match_id: "R1M1" }), forfeit], 1],
    [
      "an annulment with other points",
      [
        ofLeague("match_completed", { match_id: "R1M1", match_points: { P01: 3 } }),
        ofLeague("match_annulled", { match_id: "R1M1", match_points: { P01: 1 } }),
      ],
      1,
    ],
    ["a removed player whose match is forfeited", [ofPlayer("removed"), paired(1), opened(absence), forfeit], 0],
    ["a removed player that is not absent", [ofPlayer("removed"), paired(1), opened()], 1],
    ["a match of a removed player", [ofPlayer("removed"), paired(1), opened(absence), assigned], 1],
    ["a round that was opened before the removal", [paired(1), opened(), ofPlayer("removed"), assigned], 0],
    ["a league that starts before its time", [timed, ofLeague("started")], 1],
    ["a round that ends before its time", [timed, opened(), ofLeague("round_expired")], 1],
    ["a match that is aborted at once", [ofLeague("match_aborted", { match_id: "R1M1" })], 1],
  ])("is checked: %s", (_, log, count) => {
    const caused = /no operator has caused/;
    const found = observed(log).faults();
    expect(found.filter((fault) => !caused.test(fault))).toHaveLength(count);
  });
});

describe("a token that was reset", () => {
  const registration = (token: string) =>
    sent("player 1", "league_message", { type: "PLAYER_REGISTER_REQUEST", auth_token: token, payload: {} });
  const accepted = (token: string) =>
    answered({ protocol: "league.v2", payload: { status: "ACCEPTED", player_id: "P01", auth_token: token } });
  /** A run in which P01 has registered with the token "old" and has the token "new" now. */
  const reset = () => {
    const run = observed();
    run.operators.onAnswer(registration("old"), accepted("old"));
    run.call("reset_token", { player_id: "P01" }, answered({ auth_token: "new" }), [ofPlayer("token_reset")]);
    return run;
  };

  it("is rejected from then on", () => {
    const { operators } = reset();
    operators.onRequest(registration("old"));
    expect(operators.onAnswer(registration("old"), answered({ error_code: "L003" }))).toEqual([]);
    operators.onRequest(registration("old"));
    expect(operators.onAnswer(registration("old"), accepted("old"))).toEqual([
      expect.stringContaining("operators: manager accepted a token of player 1 that was reset"),
    ]);
  });

  it("signs no invitation to a match that is assigned later", () => {
    const run = reset();
    // The signature of "sim/R1M1" for the token "old".
    const signature = "hxJpyPMbTrbsiXifTm1vOtUyc1EAbfEPmxA7Qisbz2s";
    const invitation = {
      id: 1,
      type: "GAME_INVITE",
      sender: "referee:REF01",
      auth_token: signature,
      payload: { league_id: "sim", match_id: "R1M1", epoch: 1, your_role: "a", roles: { a: "P01" } },
    };
    run.call("pause_league", {}, null, [ofLeague("match_assigned", { match_id: "R1M1", epoch: 1 })]);
    expect(run.operators.onInvitation(invitation)).toHaveLength(1);
    expect(run.operators.onInvitation({ ...invitation, auth_token: "another" })).toEqual([]);
  });
});
