import { describe, expect, it } from "vitest";
import type { MatchResult } from "#shared/protocol/messages.ts";
import type { Command } from "#shared/session/session.ts";
import { decideReport } from "./decide.ts";
import type { LeagueCommand, Match } from "./league.ts";
import {
  afterCommands,
  CODENAMES,
  forfeitBy,
  given,
  resultOf,
  running,
  SEED,
  unplayed,
  WON,
} from "./testing/leagues.ts";

const assign = (epoch: number): LeagueCommand => ({ type: "assign", matchId: "R1M1", epoch, refereeId: "REF01" });
const firstAttempt: readonly LeagueCommand[] = [...running(["P01", "P02"]), assign(1)];
const release = (epoch: number): readonly LeagueCommand[] => [
  { type: "release", matchId: "R1M1", epoch, reason: "overdue", detail: "late" },
  assign(epoch + 1),
];
/** The third attempt at the match. One more abort completes it as aborted. */
const thirdAttempt = [...firstAttempt, ...release(1), ...release(2)];

const report = (result: MatchResult, refereeId = "REF01"): Extract<LeagueCommand, { type: "report" }> => {
  return { type: "report", result, refereeId, seed: SEED };
};

/** Decides the report of R1M1 after these commands to its session. `change` forges fields of the result. */
function decideResult(
  commands: readonly LeagueCommand[],
  played: readonly Command[],
  change: Partial<MatchResult> = {},
) {
  const { league } = afterCommands(commands);
  const match = league.rounds.at(0)?.matches[0] as Match;
  const result = { ...resultOf(league, match, played), ...change };
  return { result, decided: decideReport(league, report(result)) };
}

const abortResult = (commands: readonly LeagueCommand[], reason: string): MatchResult => {
  const { league } = afterCommands(commands);
  return unplayed(league, league.rounds.at(0)?.matches[0] as Match, reason);
};

describe("a valid result", () => {
  it("is recorded if it follows from its log", () => {
    const { result, decided } = decideResult(firstAttempt, WON);
    const { league_id: _l, round_id: _r, log: _, ...summary } = result;
    expect(summary).toMatchObject({ winner: "P01", match_points: { P01: 3, P02: 0 } });
    const completed = { type: "match_completed", referee_id: "REF01", ...summary };
    expect(decided).toEqual({ ok: true, value: { events: [completed], fault: null } });
  });

  it("is recorded as a win of the other team if one role of a team forfeits", () => {
    const commands = [...running(["P01", "P02", "P03", "P04"], CODENAMES), assign(1)];
    const { result, decided } = decideResult(commands, forfeitBy("red_team"));
    expect(result).toMatchObject({ winner: null, match_points: { P01: 0, P02: 0, P03: 3, P04: 3 } });
    expect(decided).toMatchObject({ ok: true, value: { events: [{ type: "match_completed" }], fault: null } });
  });

  it("is recorded once: the same result again has no events, and another one is rejected", () => {
    const { result } = decideResult(firstAttempt, WON);
    const recorded = given(...firstAttempt, report(result));
    recorded.when(report(result)).leadsTo();
    recorded
      .when(report({ ...result, winner: "P02" }))
      .isRejected("G001", "another result of rps/R1M1 is recorded: normal, winner P01", {
        context: { match_id: "R1M1", winner: "P01", termination: "normal", log_head: result.log_head },
      });
    recorded
      .when(report({ ...result, match_points: { P01: 0, P02: 3 } }))
      .isRejected("G001", expect.stringContaining("another result"));
    recorded.when(report({ ...result, round_id: 2 })).isRejected("G001", expect.stringContaining("another result"));
  });
});

describe("a result", () => {
  const { result } = decideResult(firstAttempt, WON);

  it("is rejected for an unknown match", () => {
    given(...firstAttempt)
      .when(report({ ...result, match_id: "R9M1" }))
      .isRejected("G003", "no match rps/R9M1");
  });

  it("is rejected from another referee and under another epoch", () => {
    given(...firstAttempt)
      .when(report(result, "REF02"))
      .isRejected("L004", "rps/R1M1 is not assigned to REF02 under epoch 1", {
        context: { match_id: "R1M1", epoch: 1 },
      });
    given(...firstAttempt, ...release(1))
      .when(report(result))
      .isRejected("L004", "rps/R1M1 is not assigned to REF01 under epoch 1", {
        context: { match_id: "R1M1", epoch: 2 },
      });
  });
});

describe("an impossible result", () => {
  it.each<[string, Partial<MatchResult>, string]>([
    ["another winner than that of its log", { winner: "P02" }, 'winner is "P02", but the log gives "P01"'],
    ["another round", { round_id: 2 }, "round 2 is not the round of the match"],
    ["an empty log", { log: [] }, "the log is empty"],
    [
      "an abort without a log that gives points",
      { termination: "aborted", log: [], log_head: "" },
      "an aborted match without a log has neither winner nor points nor faults",
    ],
  ])("with %s counts as an abort, and its fault is returned", (_, change, fault) => {
    const message = expect.stringContaining(fault) as unknown as string;
    const { decided } = decideResult(firstAttempt, WON, change);
    expect(decided).toMatchObject({ ok: true, value: { fault: { error_code: "G001", message } } });
    const events = decided.ok ? decided.value.events : [];
    expect(events).toEqual([
      expect.objectContaining({
        type: "match_released",
        reason: "aborted",
        detail: expect.stringMatching(/^bad result: /),
      }),
    ]);
  });

  it("counts as an abort with a detail of at most 300 characters", () => {
    const { decided } = decideResult(firstAttempt, WON, { reason: "x".repeat(2000) });
    const [event] = decided.ok ? decided.value.events : [];
    expect(event?.type === "match_released" && event.detail).toHaveLength(300);
  });
});

describe("an aborted match", () => {
  it("is played again without a withdrawal, because its referee has ended it", () => {
    const { league } = afterCommands([...firstAttempt, report(abortResult(firstAttempt, "full"))]);
    expect(league.rounds.at(0)?.matches).toMatchObject([{ status: "scheduled", epoch: 2, aborts: 1, refereeId: null }]);
    expect(league.withdrawals).toEqual([]);
  });

  it("is completed without points after the third abort", () => {
    const result = abortResult(thirdAttempt, "full");
    const { league } = afterCommands([...thirdAttempt, report(result)]);
    const outcome = {
      winner: null,
      scores: [],
      points: [],
      termination: "aborted",
      reason: "full",
      faults: [],
    };
    const completed = { status: "completed", epoch: 3, refereeId: "REF01", outcome, logHead: "" };
    expect(league.rounds.at(0)?.matches).toMatchObject([completed]);
    given(...thirdAttempt, report(result))
      .when(report(result))
      .leadsTo();
    given(...thirdAttempt, report(result))
      .when(report({ ...result, reason: "another" }))
      .isRejected("G001", "another result of rps/R1M1 is recorded: aborted, winner none");
  });

  it("has the head of its log", () => {
    const { result, decided } = decideResult(thirdAttempt, [{ type: "abort", reason: "lost" }]);
    expect(decided).toMatchObject({ value: { events: [{ type: "match_aborted", log_head: result.log_head }] } });
    given(...thirdAttempt, report(result))
      .when(report(result))
      .leadsTo();
  });

  it("is withdrawn from a referee that did not complete it in time", () => {
    const { league } = afterCommands([
      ...thirdAttempt,
      { type: "release", matchId: "R1M1", epoch: 3, reason: "overdue", detail: "late" },
    ]);
    const withdrawn = (epoch: number) => ({ matchId: "R1M1", epoch, refereeId: "REF01" });
    expect(league.withdrawals).toEqual([withdrawn(1), withdrawn(2), withdrawn(3)]);
    expect(league.rounds.at(0)?.matches).toMatchObject([{ status: "completed", refereeId: null }]);
    const { type: _, ...settled } = { type: "", ...withdrawn(2) };
    const settle = { type: "settle_withdrawal", ...settled } as const;
    given(...thirdAttempt)
      .when(settle)
      .leadsTo({ type: "withdrawal_settled", match_id: "R1M1", epoch: 2, referee_id: "REF01" });
    given(...thirdAttempt, settle)
      .when(settle)
      .leadsTo();
  });
});
