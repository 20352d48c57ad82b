import { describe, expect, it } from "vitest";
import type { MatchResult } from "#shared/protocol/messages.ts";
import type { Command } from "#shared/session/session.ts";
import type { LeagueCommand } from "./commands.ts";
import type { Match } from "./league.ts";
import { decideReport } from "./report.ts";
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
const first: readonly LeagueCommand[] = [...running(["P01", "P02"]), assign(1)];
const release = (epoch: number): readonly LeagueCommand[] => [
  { type: "release", matchId: "R1M1", epoch, reason: "overdue", detail: "late" },
  assign(epoch + 1),
];
/** The match is aborted for good when it is aborted once more. */
const third = [...first, ...release(1), ...release(2)];

const report = (result: MatchResult, refereeId = "REF01"): Extract<LeagueCommand, { type: "report" }> => {
  return { type: "report", result, refereeId, seed: SEED };
};

/** What a report of R1M1 by these commands of its session leads to; `change` forges the result. */
function reported(commands: readonly LeagueCommand[], played: readonly Command[], change: Partial<MatchResult> = {}) {
  const { league } = afterCommands(commands);
  const match = league.rounds[0]?.matches[0] as Match;
  const result = { ...resultOf(league, match, played), ...change };
  return { result, decided: decideReport(league, report(result)) };
}

const aborted = (commands: readonly LeagueCommand[], reason: string): MatchResult => {
  const { league } = afterCommands(commands);
  return unplayed(league, league.rounds[0]?.matches[0] as Match, reason);
};

describe("a result is accepted", () => {
  it("when it follows from its log", () => {
    const { result, decided } = reported(first, WON);
    const { league_id: _l, round_id: _r, log: _, ...summary } = result;
    expect(summary).toMatchObject({ winner: "P01", match_points: { P01: 3, P02: 0 } });
    const completed = { type: "match_completed", referee_id: "REF01", ...summary };
    expect(decided).toEqual({ ok: true, value: { events: [completed], fault: null } });
  });

  it("when a team forfeits by one of its roles: the other team wins", () => {
    const commands = [...running(["P01", "P02", "P03", "P04"], CODENAMES), assign(1)];
    const { result, decided } = reported(commands, forfeitBy("red_team"));
    expect(result).toMatchObject({ winner: null, match_points: { P01: 0, P02: 0, P03: 3, P04: 3 } });
    expect(decided).toMatchObject({ ok: true, value: { events: [{ type: "match_completed" }], fault: null } });
  });

  it("once: the same result again changes nothing, another one is rejected", () => {
    const { result } = reported(first, WON);
    const recorded = given(...first, report(result));
    recorded.when(report(result)).leadsTo();
    recorded
      .when(report({ ...result, winner: "P02" }))
      .isRejected("G001", "another result of rps/R1M1 is recorded: normal, winner P01", {
        context: { match_id: "R1M1", winner: "P01", termination: "normal", log_head: result.log_head },
      });
    recorded.when(report({ ...result, round_id: 2 })).isRejected("G001", expect.stringContaining("another result"));
  });
});

describe("a result is rejected", () => {
  const { result } = reported(first, WON);

  it("when there is no such match", () => {
    given(...first)
      .when(report({ ...result, match_id: "R9M1" }))
      .isRejected("G003", "no match rps/R9M1");
  });

  it("when it comes from another referee or under another epoch", () => {
    given(...first)
      .when(report(result, "REF02"))
      .isRejected("L004", "rps/R1M1 is not yours under epoch 1", { context: { match_id: "R1M1", epoch: 1 } });
    given(...first, ...release(1))
      .when(report(result))
      .isRejected("L004", "rps/R1M1 is not yours under epoch 1", { context: { match_id: "R1M1", epoch: 2 } });
  });
});

describe("a match with an impossible result counts as aborted, and its referee receives the reason", () => {
  it.each<[string, Partial<MatchResult>, string]>([
    ["another winner than its log's", { winner: "P02" }, 'winner is "P02", but the log gives "P01"'],
    ["another round", { round_id: 2 }, "round 2 is not the match's"],
    ["a result without a log", { log: [] }, "the log is empty"],
    [
      "an abort without a log that gives points",
      { termination: "aborted", log: [], log_head: "" },
      "an aborted match without a log has neither winner nor points nor faults",
    ],
  ])("%s", (_, change, fault) => {
    const message = expect.stringContaining(fault) as unknown as string;
    const { decided } = reported(first, WON, change);
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

  it("and the reason has at most 300 characters", () => {
    const { decided } = reported(first, WON, { reason: "x".repeat(2000) });
    const [event] = decided.ok ? decided.value.events : [];
    expect(event?.type === "match_released" && event.detail).toHaveLength(300);
  });
});

describe("an aborted match", () => {
  it("is played again, and no withdrawal follows, because its referee has ended it", () => {
    const { league } = afterCommands([...first, report(aborted(first, "full"))]);
    expect(league.rounds[0]?.matches).toMatchObject([{ status: "scheduled", epoch: 2, aborts: 1, refereeId: null }]);
    expect(league.withdrawals).toEqual([]);
  });

  it("is aborted for good the third time, without points", () => {
    const result = aborted(third, "full");
    const { league } = afterCommands([...third, report(result)]);
    const outcome = {
      winner: null,
      scores: [],
      points: [],
      termination: "aborted",
      reason: "full",
      faults: [],
    };
    const ended = { status: "completed", epoch: 3, refereeId: "REF01", outcome, logHead: "" };
    expect(league.rounds[0]?.matches).toMatchObject([ended]);
    given(...third, report(result))
      .when(report(result))
      .leadsTo();
    given(...third, report(result))
      .when(report({ ...result, reason: "another" }))
      .isRejected("G001", "another result of rps/R1M1 is recorded: aborted, winner none");
  });

  it("keeps the head of its log", () => {
    const { result, decided } = reported(third, [{ type: "abort", reason: "lost" }]);
    expect(decided).toMatchObject({ value: { events: [{ type: "match_aborted", log_head: result.log_head }] } });
    given(...third, report(result))
      .when(report(result))
      .leadsTo();
  });

  it("is withdrawn from a referee that did not end it in time", () => {
    const { league } = afterCommands([
      ...third,
      { type: "release", matchId: "R1M1", epoch: 3, reason: "overdue", detail: "late" },
    ]);
    const withdrawn = (epoch: number) => ({ matchId: "R1M1", epoch, refereeId: "REF01" });
    expect(league.withdrawals).toEqual([withdrawn(1), withdrawn(2), withdrawn(3)]);
    expect(league.rounds[0]?.matches).toMatchObject([{ status: "completed", refereeId: null }]);
    const { type: _, ...settled } = { type: "", ...withdrawn(2) };
    const settle = { type: "settle_withdrawal", ...settled } as const;
    given(...third)
      .when(settle)
      .leadsTo({ type: "withdrawal_settled", match_id: "R1M1", epoch: 2, referee_id: "REF01" });
    given(...third, settle)
      .when(settle)
      .leadsTo();
  });
});
