import fc from "fast-check";
import { expect, it } from "vitest";
import { decideLeague } from "./league/decide.ts";
import { evolveLeague } from "./league/evolve.ts";
import { type League, type LeagueCommand, type Match, roundOf } from "./league/league.ts";
import { openWork } from "./league/open-work.ts";
import {
  assign,
  entered,
  open,
  pair,
  resultOf,
  SEED,
  SETTINGS,
  START,
  stored,
  unplayed,
  WON,
} from "./league/testing/leagues.ts";
import type { CommittedEvent } from "./ledger.ts";
import { jobChanges, jobKey, type MatchJob, openJobs } from "./match-queue.ts";

const PLAYERS = ["P01", "P02", "P03", "P04"];
const FORMATS = {
  rounds: { format: "round-robin", roundMs: 60_000 },
  ladder: { format: "ladder" },
} as const;
type LeagueId = keyof typeof FORMATS;

const step = fc.record({
  leagueId: fc.constantFrom<LeagueId[]>("rounds", "ladder"),
  kind: fc.oneof(
    { weight: 20, arbitrary: fc.constantFrom("advance", "win" as const) },
    fc.constantFrom("abort", "release", "overdue", "schedule", "annul", "expire", "pause", "resume", "end" as const),
  ),
  /** Chooses the match. */
  choice: fc.nat(1_000),
  /** Whether the commands so far are committed before this one. */
  isCommitted: fc.boolean(),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** The command of a step; null if it does not fit the state. */
function commandOf(league: League, { kind, choice }: Step): LeagueCommand | null {
  const { currentRound, rounds } = league;
  const round = roundOf({ rounds }, currentRound ?? 0);
  const work = openWork(league);
  const chosen = (matches: Iterable<Match>): Match | undefined =>
    [...matches].at(choice % Math.max(1, [...matches].length));
  const [assigned, unassigned] = [chosen(work.assigned.values()), chosen(work.unassigned.values())];
  const any = chosen(rounds.flatMap(({ matches }) => matches));
  switch (kind) {
    case "advance":
      if (league.status === "open") return START;
      if (round && !round.isOpened) return open(round.roundId, choice % 3 === 0 ? { P01: 1 } : {});
      return unassigned ? assign(unassigned.matchId, unassigned.epoch) : pair(2);
    case "win":
      return assigned
        ? { type: "report", result: resultOf(league, assigned, WON), refereeId: "REF01", seed: SEED }
        : null;
    case "abort":
      return assigned
        ? { type: "report", result: unplayed(league, assigned, "full"), refereeId: "REF01", seed: "" }
        : null;
    case "release":
      return assigned
        ? { type: "release", matchId: assigned.matchId, epoch: assigned.epoch, reason: "unreachable", detail: "" }
        : null;
    case "overdue":
      return assigned
        ? { type: "release", matchId: assigned.matchId, epoch: assigned.epoch, reason: "overdue", detail: "" }
        : null;
    case "schedule":
      return { type: "schedule", roundId: (currentRound ?? 0) + (choice % 2), players: ["P01", "P02"] };
    case "annul":
      return any ? { type: "annul", matchId: any.matchId, reason: "a bug" } : null;
    case "expire":
      return { type: "expire_round", roundId: currentRound ?? 0 };
    case "pause":
    case "resume":
      return { type: kind };
    case "end":
      return choice % 4 === 0 ? { type: "end" } : null;
  }
}

it("the jobs that commits have added and not ended are those of the open matches", () => {
  const seen = { added: 0, ended: 0 };
  fc.assert(
    fc.property(fc.array(step, { minLength: 60, maxLength: 120 }), (steps) => {
      const leagues = new Map<string, League>();
      const jobs = new Map<string, MatchJob>();
      let events: CommittedEvent[] = [];
      const decide = (leagueId: LeagueId, command: LeagueCommand): void => {
        const decided = decideLeague(leagues.get(leagueId) ?? null, command);
        for (const event of decided.ok ? decided.value.map(stored) : []) {
          leagues.set(leagueId, evolveLeague(leagues.get(leagueId) ?? null, event));
          events.push({ kind: "league", leagueId, version: leagues.get(leagueId)?.version ?? 0, event });
        }
      };
      const commit = (): void => {
        const { added, ended } = jobChanges(events, { leagues });
        for (const job of ended) expect(jobs.delete(jobKey(job))).toBe(true);
        for (const job of added) {
          expect(jobs.has(jobKey(job))).toBe(false);
          jobs.set(jobKey(job), job);
        }
        events = [];
        const open = [...leagues.values()].flatMap(({ leagueId }) => {
          const { assigned, unassigned } = openWork(leagues.get(leagueId) as League);
          return [...assigned.values(), ...unassigned.values()].map(({ matchId, epoch }) =>
            jobKey({ leagueId, matchId, epoch }),
          );
        });
        expect([...jobs.keys()].sort()).toEqual(open.sort());
        expect(openJobs({ leagues }).map(jobKey).sort()).toEqual(open);
        seen.added += added.length;
        seen.ended += ended.length;
      };
      for (const leagueId of ["rounds", "ladder"] as const) {
        for (const command of entered(PLAYERS, { ...SETTINGS, ...FORMATS[leagueId], leagueId }))
          decide(leagueId, command);
      }
      for (const one of steps) {
        if (one.isCommitted) commit();
        const command = commandOf(leagues.get(one.leagueId) as League, one);
        if (command) decide(one.leagueId, command);
      }
      commit();
    }),
    { numRuns: 300 },
  );
  expect(Math.min(seen.added, seen.ended)).toBeGreaterThan(100);
});

it("a commit that opens a round and completes its only match changes no job", () => {
  const commands: readonly LeagueCommand[] = [...entered(["P01", "P02"]), START, open(1, { P01: 1 })];
  let league: League | null = null;
  const events: CommittedEvent[] = [];
  for (const command of commands) {
    const decided = decideLeague(league, command);
    for (const event of decided.ok ? decided.value.map(stored) : []) {
      league = evolveLeague(league, event);
      events.push({ kind: "league", leagueId: "rps", version: league.version, event });
    }
  }
  expect(league?.completedCount).toBe(1);
  expect(jobChanges(events, { leagues: new Map([["rps", league as League]]) })).toEqual({ added: [], ended: [] });
});
