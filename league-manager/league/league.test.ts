/** Checks the invariants of a league and of its projections with random commands. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { foldStandings, type Standing, type StandingsResult } from "#shared/standings/standings.ts";
import { decideLeague } from "./decide.ts";
import type { LeagueEvent } from "./events.ts";
import { evolveLeague } from "./evolve.ts";
import { type League, type LeagueCommand, type LeagueSettings, type Match, roundOf } from "./league.ts";
import { advanceWork, type OpenWork, openWork } from "./open-work.ts";
import { ANNULLED } from "./outcome.ts";
import { type LeagueSnapshot, leagueSnapshot, restoreLeague } from "./snapshot.ts";
import { standingsOf } from "./standings-of.ts";
import {
  act,
  entered,
  forfeitBy,
  pair,
  resultOf,
  SEED,
  SETTINGS,
  START,
  stored,
  unplayed,
  WON,
} from "./testing/leagues.ts";

const SEED_OF_SEQUENCES = 3;
const REFEREES = ["REF01", "REF02", "REF03"];
const RELEASES = ["unreachable", "refused", "overdue"] as const;
/** The commands of sessions that end in different ways. */
const ENDS = [WON, [act(1, "rock"), act(2, "paper")], forfeitBy("player_2"), forfeitBy("player_1", "player_2")];

/** Formats that open their rounds in order and at once, and one that cancels open matches. */
const formats = fc.constantFrom<Partial<LeagueSettings>>(
  { format: "round-robin", formatOptions: { makeup: true }, lateEntry: "makeup" },
  { format: "swiss", formatOptions: { rounds: 3 } },
  { format: "single-elimination", formatOptions: { legs: 1, extra_legs: 1 } },
  { format: "match", formatOptions: { games: 3 } },
  { format: "sprt", formatOptions: { elo0: 0, elo1: 800, max_games: 8 } },
);

/** Three random numbers that determine a command for the current state, so that most commands are accepted. */
type Choice = readonly [kind: number, first: number, second: number];
const choices = fc.array(fc.tuple(fc.nat(99), fc.nat(), fc.nat()), { minLength: 20, maxLength: 120 });

const pick = <T>(list: readonly T[], number: number): T => list[number % list.length] as T;

function commandOf(league: League, [kind, first, second]: Choice): LeagueCommand {
  const players = [...league.entrants.keys()];
  const { rounds, currentRound, withdrawals } = league;
  const current = roundOf({ rounds }, currentRound ?? 1);
  const match = pick(current?.matches ?? [], first);
  const roundId = (currentRound ?? 1) + (second % 9 === 0 ? 1 : 0);
  if (kind < 3) return { type: "enter", playerId: `P0${first % 9}`, nameCommitment: "c" };
  if (kind < 5) return { type: "leave", playerId: `P0${first % 9}`, agentVersion: 1 };
  if (kind < 8) return pair(second % 5);
  if (kind < 12 || !match) return START;
  if (kind < 32)
    return { type: "open_round", roundId, shutDown: new Map(first % 4 === 0 ? [[pick(players, second), 3]] : []) };
  if (kind < 38) return { type: "announce_round", roundId };
  if (kind < 40) return { type: "schedule", roundId, players: [pick(players, first), pick(players, second)] };
  if (kind < 43) return { type: "complete" };
  if (kind < 48)
    return {
      type: "settle_withdrawal",
      ...(pick(withdrawals, first) ?? { matchId: "R1M1", epoch: 1, refereeId: "REF01" }),
    };
  const { matchId, epoch } = match;
  const refereeId = pick(REFEREES, second);
  if (kind === 92 && first % 4 === 0) return { type: "end" };
  if (kind === 93) return { type: "extend", formatOptions: { cycles: 1 + (first % 3) } };
  if (kind === 94) return { type: second % 2 === 0 ? "pause" : "resume" };
  if (kind === 95) return { type: "resume" };
  if (kind === 96) return { type: "expire_round", roundId };
  if (kind >= 97) {
    const round = pick([...rounds], first);
    return { type: "annul", matchId: pick(round.matches, second).matchId, reason: "why" };
  }
  if (kind < 64) return { type: "assign", matchId, epoch, refereeId };
  if (kind < 78) return { type: "release", matchId, epoch, reason: pick(RELEASES, second), detail: "why" };
  const reporter = second % 7 === 0 ? refereeId : (match.refereeId ?? refereeId);
  const result = kind < 90 ? unplayed(league, match, "aborted") : resultOf(league, match, pick(ENDS, second));
  return {
    type: "report",
    result: second % 11 === 0 ? { ...result, round_id: 99 } : result,
    refereeId: reporter,
    seed: SEED,
  };
}

/** Freezes a state, so that changing it in place throws. */
function frozen(league: League): League {
  for (const round of league.rounds) {
    for (const match of round.matches) Object.freeze(match);
    Object.freeze(round.matches);
    Object.freeze(round);
  }
  return Object.freeze(league);
}

function expectInvariants(league: League): void {
  const matches = league.rounds.flatMap((round) => round.matches);
  const openCount = (list: readonly Match[]): number => list.filter(({ status }) => status !== "completed").length;
  expect(league.rounds.map((round) => round.open)).toEqual(league.rounds.map((round) => openCount(round.matches)));
  expect(league.rounds.map(({ roundId }) => roundId)).toEqual(league.rounds.map((_, index) => index + 1));
  const openRounds = league.rounds.filter((round) => round.isOpened && round.open > 0);
  expect([...league.openRounds].sort((a, b) => a - b)).toEqual(openRounds.map(({ roundId }) => roundId));
  expect(league.currentRound).toBe([...league.rounds].find((round) => round.open > 0)?.roundId ?? null);
  expect([league.matchCount, league.completedCount]).toEqual([matches.length, matches.length - openCount(matches)]);
  for (const { status, refereeId, assignedAt, aborts, outcome, logHead } of matches) {
    expect([outcome !== null, logHead !== null]).toEqual(Array(2).fill(status === "completed"));
    expect(assignedAt !== null).toBe(status === "assigned");
    if (status === "scheduled") expect(refereeId).toBe(null);
    if (status !== "completed") expect(aborts).toBeLessThan(3);
  }
}

/** Checks that a completed match does not change unless it is annulled, and that no epoch decreases. */
function expectTransition(before: League, after: League): void {
  for (const round of before.rounds) {
    for (const [index, match] of round.matches.entries()) {
      const next = roundOf(after, round.roundId)?.matches[index] as Match;
      if (match.status === "completed" && next.outcome?.reason !== ANNULLED) expect(next).toBe(match);
      expect(next.epoch).toBeGreaterThanOrEqual(match.epoch);
    }
  }
}

/** The name of an event in `EVERY_EVENT`. */
function nameOf(event: LeagueEvent): string {
  if (event.type === "match_released") return `${event.type} ${event.reason}`;
  return event.type === "pairing_completed" && event.by ? `${event.type} by ${event.by}` : event.type;
}

const restored = ({ head, rounds }: LeagueSnapshot): League | null => restoreLeague({ head, rounds });

it("every sequence of commands keeps the invariants, and every projection equals that of the complete log", () => {
  const reached = new Set<string>();
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 7 }), formats, choices, (count, format, sequence) => {
      const results = new Map<string, StandingsResult>();
      let league: League | null = null;
      let work: OpenWork | null = null;
      /** The snapshot that results from writing the changes after each command. */
      let written: LeagueSnapshot = { head: "", rounds: new Map() };
      const players = Array.from({ length: count }, (_, index) => `P0${index + 1}`);
      const opening = entered(players, { ...SETTINGS, roundMs: 1, ...format });
      const advance = (events: readonly LeagueEvent[]): void => {
        for (const event of events) {
          league = frozen(evolveLeague(league, event));
          work = work === null ? openWork(league) : advanceWork(work, league, event);
          if (event.type === "match_completed") results.set(event.match_id, { ...event, points: event.match_points });
          if (event.type === "match_annulled") results.delete(event.match_id);
          reached.add(nameOf(event));
        }
      };
      for (const step of [...opening, ...sequence]) {
        const before: League | null = league;
        const command = Array.isArray(step) ? commandOf(league as never, step as Choice) : (step as LeagueCommand);
        const decided = decideLeague(league, command);
        if (!decided.ok) continue;
        advance(decided.value.map(stored));
        const after = league as never as League;
        if (before) expectTransition(before, after);
        const { head, rounds } = leagueSnapshot(after, before);
        written = { head, rounds: new Map([...written.rounds, ...rounds]) };
        expectInvariants(after);
        expect(work).toEqual(openWork(after));
      }
      const last = league as never as League;
      expect(leagueSnapshot(last, last).rounds.size).toBe(0);
      expect([restored(leagueSnapshot(last)), restored(written)]).toEqual([last, last]);
      const rows = [...last.entrants.keys()].map((player_id) => ({ player_id, display_name: player_id }));
      // Ranks, points of byes and tie-breaks depend on the format.
      const counted = (standings: readonly Standing[]) =>
        standings.map(({ player_id, wins, draws, losses }) => [player_id, wins, draws, losses]).sort();
      expect(counted(standingsOf(last, rows))).toEqual(counted(foldStandings(rows, [...results.values()])));
    }),
    // A fixed seed: some events are rare, and each run must cause all of them.
    { numRuns: 300, seed: SEED_OF_SEQUENCES },
  );
  expect([...reached].sort()).toEqual(EVERY_EVENT);
});

/** The events that the random commands must cause, so that every event is tested. */
const EVERY_EVENT = [
  "completed",
  "extended",
  "match_aborted",
  "match_annulled",
  "match_assigned",
  "match_cancelled",
  "match_completed",
  "match_released aborted",
  "match_released overdue",
  "match_released refused",
  "match_released unreachable",
  "match_scheduled",
  "opened",
  "pairing_completed",
  "pairing_completed by operator",
  "paused",
  "player_entered",
  "player_left",
  "resumed",
  "round_announced",
  "round_expired",
  "round_opened",
  "round_paired",
  "started",
  "withdrawal_settled",
];

it("a snapshot of another format and a damaged snapshot are not restored", () => {
  const [event] = [{ type: "opened", league_id: "rps", run_id: "run", game: "rps.v1", roles: SETTINGS.roles }] as const;
  const league = evolveLeague(null, stored({ ...event, options: {}, format: "round-robin", seed_commitment: "c" }));
  const { head, rounds } = leagueSnapshot(league);
  expect(restored({ head, rounds })).toEqual(league);
  expect(restored({ head: head.replace(/"format":\d+/, '"format":0'), rounds })).toBe(null);
  expect(restored({ head: head.slice(0, -1), rounds })).toBe(null);
  expect(restored({ head: "null", rounds })).toBe(null);
});
