import type { Clock } from "#shared/lib/clock.ts";
import type { League } from "../league/league.ts";
import type { CountedLedger } from "../metrics/counted-ledger.ts";
import type { MatchQueue } from "../queue/match-queue.ts";
import type { RunDatabase } from "../shared-run/run-database.ts";
import type { ManagerStore } from "../store/manager-store.ts";
import type { RunIdentity } from "../store/run-identity.ts";
/** A run whose state is loaded and whose leagues are opened. */
export interface OpenedRun {
  readonly store: ManagerStore;
  /** The clock of the run: that of the database, or that of the machine for a manager that works alone. */
  readonly clock: Clock;
  readonly run: RunIdentity;
  readonly commands: CountedLedger;
  /** The leagues that were restored from snapshots, by league id. */
  readonly snapshots: ReadonlyMap<string, League>;
  /** The parts that several managers share; null for a manager that works alone. */
  readonly shared: SharedRun | null;
}

/** The parts of a run that its managers share. */
export interface SharedRun {
  readonly database: RunDatabase;
  readonly queue: MatchQueue<never>;
  /** The secret with which the managers authenticate to each other. */
  readonly secret: string;
  readonly operatorToken: string;
  /** Whether the database answers. */
  isAvailable(): boolean;
  /** Returns the number of the newest commit that this manager has applied. */
  commitNumber(): number;
}
