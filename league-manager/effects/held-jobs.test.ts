import { expect, test, vi } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { openLog } from "#shared/runtime/process/logger.ts";
import { releaseMatch } from "../commands/match-commands.ts";
import { openWork } from "../league/open-work.ts";
import { localQueue, type MatchJob } from "../match-queue.ts";
import { played } from "../testing/results.ts";
import { createFailures } from "./effects-context.ts";
import { ALL_JOBS, HeldJobs } from "./held-jobs.ts";
import { startTestLeague } from "./testing/league.ts";

/** A league of four players whose first round is assigned, and the jobs of another manager that can take `slots` jobs. */
async function leagueWithJobs(slots: number) {
  const league = await startTestLeague({ players: 4 });
  await Promise.all([league.order("REF01", "R1M1"), league.order("REF01", "R1M2")]);
  const queue = localQueue();
  const onChange = vi.fn();
  const failures = createFailures(openLog(null, "test"), () => {});
  const dead = new Set<(job: MatchJob) => Promise<void>>();
  const onDead = (listener: (job: MatchJob) => Promise<void>): (() => void) => {
    dead.add(listener);
    return () => void dead.delete(listener);
  };
  const givenBack: MatchJob[] = [];
  const work: typeof queue.work = (...options) => {
    const worker = queue.work(...options);
    const giveBack = (given: readonly MatchJob[]): void => {
      givenBack.push(...given);
      worker.giveBack(given);
    };
    return { ...worker, giveBack };
  };
  const jobs = new HeldJobs({
    ledger: league.ledger(),
    clock: league.clock,
    failures,
    onChange,
    isFedByCommits: false,
    queue: { ...queue, onDead, work },
  });
  const held = (): readonly string[] => {
    const { assigned, unassigned } = jobs.workOf(league.league(), openWork(league.league()));
    return [...assigned.values(), ...unassigned.values()].map(({ matchId, epoch }) => `${matchId}/${epoch}`);
  };
  jobs.start({ ...ALL_JOBS, slots: () => slots - held().length });
  const report = async (job: MatchJob): Promise<void> => {
    await Promise.all([...dead].map((listener) => listener(job)));
  };
  return { league, queue, jobs, onChange, held, report, givenBack };
}

const job = (matchId: string, epoch = 1): MatchJob => ({ leagueId: "rps", matchId, epoch });

test("a manager works on the matches whose jobs it holds", async () => {
  const { league, queue, jobs, onChange, held } = await leagueWithJobs(1);
  expect(held()).toEqual(["R1M1/1"]);
  expect([job("R1M1"), job("R1M2"), job("R1M1", 2)].map((one) => jobs.holds(one))).toEqual([true, false, false]);
  expect(onChange).toHaveBeenCalledTimes(1);
  expect(await queue.stats()).toEqual({ waiting: 1, held: 1 });
  await league.report("REF01", played(await league.order("REF01", "R1M1")));
  expect(held()).toEqual(["R1M2/1"]);
  await jobs.stop();
  expect(await queue.stats()).toEqual({ waiting: 2, held: 0 });
});

test("a job that is ahead of the state of this manager counts when the state has its epoch", async () => {
  const { league, queue, jobs, held } = await leagueWithJobs(3);
  await queue.enqueue(null, [job("R1M1", 2)]);
  jobs.wake();
  expect(held()).toEqual(["R1M2/1"]);
  const release = { leagueId: "rps", matchId: "R1M1", epoch: 1, reason: "refused", detail: "full" } as const;
  await league.ledger().execute(releaseMatch(release));
  expect(held().toSorted()).toEqual(["R1M1/2", "R1M2/1"]);
  await jobs.stop();
});

test("a job that ended before this manager got the one of the next epoch does not take its place", async () => {
  const { league, queue, jobs, held } = await leagueWithJobs(4);
  await queue.enqueue(null, [job("R1M1", 2)]);
  await queue.complete(null, [job("R1M1")]);
  await queue.enqueue(null, [job("R1M1")]);
  jobs.wake();
  const release = { leagueId: "rps", matchId: "R1M1", epoch: 1, reason: "refused", detail: "full" } as const;
  await league.ledger().execute(releaseMatch(release));
  expect(held().toSorted()).toEqual(["R1M1/2", "R1M2/1"]);
  expect(await queue.stats()).toEqual({ waiting: 0, held: 2 });
  await jobs.stop();
});

test("a job whose match has ended is ended", async () => {
  const { league, queue, jobs, held } = await leagueWithJobs(0);
  await league.report("REF01", played(await league.order("REF01", "R1M1")));
  await jobs.stop();
  const other = new HeldJobs({
    ledger: league.ledger(),
    clock: systemClock,
    queue,
    onChange: () => {},
    isFedByCommits: false,
    failures: createFailures(openLog(null, "test"), () => {}),
  });
  other.start({ ...ALL_JOBS, slots: () => 10 });
  expect(other.holds(job("R1M1"))).toBe(false);
  expect(await queue.stats()).toEqual({ waiting: 0, held: 1 });
  expect(held()).toEqual([]);
  await other.stop();
});

test("a job of a league that is not in the config of this manager is given back every five seconds", async () => {
  const { league, queue, jobs, givenBack } = await leagueWithJobs(3);
  const foreign = { leagueId: "other", matchId: "R1M1", epoch: 1 };
  await queue.enqueue(null, [foreign]);
  await league.clock.advance(5_000);
  expect(givenBack).toEqual([foreign]);
  await league.clock.advance(5_000);
  expect(givenBack).toEqual([foreign, foreign]);
  await jobs.stop();
});

test("a dead job is added again if its match is open", async () => {
  const { league, queue, jobs, report } = await leagueWithJobs(0);
  await queue.complete(null, [job("R1M1"), job("R1M2")]);
  await league.report("REF01", played(await league.order("REF01", "R1M1")));
  await report(job("R1M1"));
  await report(job("R1M2"));
  expect(await queue.stats()).toEqual({ waiting: 1, held: 0 });
  await jobs.stop();
});
