import type { Clock } from "#shared/lib/clock.ts";
import { VERSION } from "#shared/runtime/program.ts";
import type { Ledger } from "../ledger.ts";
import type { QueueStats } from "../queue/match-queue.ts";
import type { CountedLedger } from "./counted-ledger.ts";
import { gauge, type MetricFamily } from "./families.ts";
import { MatchFigures } from "./match-figures.ts";
import { stateFigures } from "./state-figures.ts";

/** The maximum time for which a scrape waits for the queue, whose answer may come from a database. */
const QUEUE_MS = 2_000;

interface MetricsSources {
  readonly ledger: Pick<Ledger, "state" | "onCommit">;
  readonly commands: Pick<CountedLedger, "families">;
  readonly clock: Pick<Clock, "after">;
  readonly silentReferees: () => readonly string[];
  readonly queueStats: () => Promise<QueueStats>;
  /** Null for a manager that works alone. */
  readonly shared: SharedFigures | null;
}

/** The figures of a manager about the database that it shares with others. */
interface SharedFigures {
  /** Whether the manager can commit. */
  isAvailable(): boolean;
  commitNumber(): number;
  memberCount(): number;
}

/** The metrics of a manager. */
export interface ManagerMetrics {
  families(): Promise<readonly MetricFamily[]>;
}

/** Counts from now on. The other values are read from the state when they are asked for. */
export function managerMetrics(sources: MetricsSources): ManagerMetrics {
  const { ledger, commands, silentReferees, shared } = sources;
  const matches = new MatchFigures(ledger);
  return {
    families: async () => [
      gauge("league_manager_info", "The version of this manager.", [{ labels: { version: VERSION }, value: 1 }]),
      ...stateFigures(ledger.state, silentReferees()),
      ...matches.families(),
      ...commands.families(),
      ...(await queueFigures(sources)),
      ...(shared ? sharedFigures(shared) : []),
    ],
  };
}

/** The depth of the queue; nothing if the queue does not answer. */
async function queueFigures({ queueStats, clock }: MetricsSources): Promise<readonly MetricFamily[]> {
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const cancel = clock.after(QUEUE_MS, () => resolve(null));
  const stats = await Promise.race([queueStats().catch(() => null), late]);
  cancel();
  if (stats === null) return [];
  const samples = (["waiting", "held"] as const).map((state) => ({ labels: { state }, value: stats[state] }));
  return [gauge("league_queue_jobs", "Matches in the queue, by state: no manager has them, or one has.", samples)];
}

const sharedFigures = (shared: SharedFigures): readonly MetricFamily[] => [
  gauge("league_database_available", "1 if this manager can commit, else 0.", shared.isAvailable() ? 1 : 0),
  gauge("league_commit_number", "The newest commit that this manager has applied.", shared.commitNumber()),
  gauge("league_managers", "The managers of the run that this one knows, with itself.", shared.memberCount()),
];
