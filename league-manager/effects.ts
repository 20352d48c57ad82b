import type { StartGame } from "#shared/protocol/messages.ts";
import { Announcements, type Signals } from "./effects/announcements.ts";
import { Deadlines } from "./effects/deadlines.ts";
import { Dispatch, KeptJobs } from "./effects/dispatch/match-assignment.ts";
import { Withdrawals } from "./effects/dispatch/match-withdrawals.ts";
import { Health } from "./effects/dispatch/referee-health.ts";
import { Referees } from "./effects/dispatch/referees.ts";
import { HandOver, type HandOverOptions } from "./effects/dispatch/start-game-delivery.ts";
import { type SeedOf, startGamesOf } from "./effects/dispatch/start-game-message.ts";
import {
  ALL_DUTIES,
  createFailures,
  type Duties,
  type EffectsContext,
  type EffectsDependencies,
  type Part,
} from "./effects/effects-context.ts";
import { ALL_JOBS, HeldJobs } from "./effects/held-jobs.ts";
import { LeagueStart, type LeagueStartOptions } from "./effects/league-start.ts";
import { Readiness } from "./effects/player-readiness.ts";
import { Reconciler } from "./effects/reconciler.ts";
import { Pairing, Rounds, RoundTime } from "./effects/round-effects.ts";
import type { Commit } from "./ledger.ts";
import { type JobSource, localQueue, type QueueStats } from "./match-queue.ts";

export interface EffectsOptions extends EffectsDependencies {
  readonly seedOf: SeedOf;
  readonly leagueStart: LeagueStartOptions;
  /** Default: those of the only manager of a run. */
  readonly duties?: Duties;
  /** The queue whose jobs the ledger changes in its transactions. Default: a queue in this process, which is changed after each commit. */
  readonly queue?: JobSource;
  /** Signals to the other managers of the run. Default: there are none. */
  readonly signals?: Signals;
}

/** The effects of the manager. They react to committed state, and change state only through commands. */
export interface Effects {
  /** Starts the effects. To be called once, when agents can reach the manager. */
  start(): void;
  /** The matches that are assigned to a referee. The answer to its registration contains them. */
  matchesOf(refereeId: string): readonly StartGame[];
  /** The ids of the referees that do not answer health probes, the longest silence first. */
  silentReferees(): readonly string[];
  queueStats(): Promise<QueueStats>;
  /** Makes a referee available for matches. To be called after each registration of a referee. */
  onRefereeRegistered(refereeId: string): void;
  /** Cancels every timer and call. Resolves when all of them have ended. */
  stop(): Promise<void>;
}

function registeredReferees({ events, state }: Commit): readonly string[] {
  const ids = events.flatMap((committed) =>
    committed.kind === "agent" && ["registered", "returned"].includes(committed.event.type) ? [committed.agentId] : [],
  );
  return ids.filter((id) => state.agents.get(id)?.kind === "referee");
}

export function createEffects(options: EffectsOptions): Effects {
  const { ledger, clock, log, notice, seedOf, duties = ALL_DUTIES, queue = localQueue() } = options;
  const failures = createFailures(log, notice);
  const isFedByCommits = options.queue === undefined;
  const jobs = new HeldJobs({ ledger, clock, failures, queue, isFedByCommits, onChange: () => reconciler.wake() });
  const reconciler = new Reconciler({ ledger, clock, failures, duties, jobs });
  const execute: EffectsContext["execute"] = async (league, decide) => {
    try {
      const result = await ledger.execute(decide);
      if (!result.ok) failures.ofCommand(league, result.error);
    } catch (thrown) {
      failures.ofLeague(league, thrown);
    }
  };
  const context: EffectsContext = { ...options, failures, execute, wake: () => reconciler.wake() };
  const health = new Health(context);
  const readiness = new Readiness(context);
  const referees = new Referees(context, health);
  const dispatch = new Dispatch(context, health, referees);
  const announcements = new Announcements(context, {
    assigned: (leagueId) => dispatch.settled(leagueId),
    ready: (agentId) => readiness.ready(agentId),
    ownsLeague: (leagueId) => duties.ownsLeague(leagueId),
    signals: options.signals ?? null,
  });
  const mayInvite = async (leagueId: string, roundId: number, playerId: string): Promise<void> => {
    await readiness.ready(playerId);
    await announcements.received(leagueId, roundId, playerId);
  };
  const holds: HandOverOptions["holds"] = (job) => jobs.holds(job);
  const handOver = new HandOver(context, { dispatch, health, referees, seedOf, mayInvite, holds });
  // `dispatch` comes before `announcements`, because announcements name the referees of matches that are assigned in the same pass.
  const parts: readonly Part[] = [
    new LeagueStart(context, options.leagueStart),
    new Pairing(context, (league) => dispatch.freeSlots(league, isFedByCommits)),
    new Rounds(context),
    new RoundTime(context),
    dispatch,
    announcements,
    handOver,
    new Withdrawals(context, health),
    new Deadlines(context, {
      isUp: (refereeId) => health.isUp(refereeId),
      hasAccepted: (leagueId, match) => handOver.hasAccepted(leagueId, match),
    }),
  ];
  const onRefereeRegistered = (refereeId: string): void => {
    health.markUp(refereeId);
    referees.markFit(refereeId);
    reconciler.wake();
    jobs.wake();
  };
  // A referee may have registered at another manager.
  const removeListener = ledger.onCommit((commit) => registeredReferees(commit).forEach(onRefereeRegistered));
  return {
    start() {
      reconciler.start(parts);
      jobs.start(isFedByCommits ? ALL_JOBS : new KeptJobs(dispatch, referees));
    },
    matchesOf: (refereeId) => startGamesOf(ledger.state, refereeId, options),
    silentReferees: () => health.silentReferees(),
    queueStats: () => queue.stats(),
    onRefereeRegistered,
    async stop() {
      removeListener();
      referees.stop();
      await Promise.all([reconciler.stop(), jobs.stop(), health.stop(), readiness.stop()]);
    },
  };
}
