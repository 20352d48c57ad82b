import type { Clock } from "#shared/lib/clock.ts";
import { leagueStream } from "../league/events.ts";
import type { League } from "../league/league.ts";
import { leagueSnapshot } from "../league/snapshot.ts";
import type { Ledger } from "../ledger.ts";
import type { ManagerStore } from "./manager-store.ts";

interface SnapshotOptions {
  readonly ledger: Pick<Ledger, "state" | "onCommit">;
  readonly store: Pick<ManagerStore, "writeSnapshot">;
  /** The leagues of the snapshots in the store, by league id. */
  readonly written: ReadonlyMap<string, League>;
  /** Whether this manager writes the snapshots of a league. One of several managers does. Default: it does. */
  readonly isOwner?: (leagueId: string) => boolean;
  readonly clock: Pick<Clock, "defer">;
  /** The number of events after which a snapshot of a league is due. */
  readonly afterEvents?: number;
  readonly onError: (thrown: unknown) => void;
}

/** Writes snapshots of leagues, so that a start reads few events. */
export interface Snapshots {
  /** Resolves when every due snapshot is on disk or has failed. */
  settled(): Promise<void>;
  /** Writes a snapshot of each own league that has events since its last snapshot, and stops. Errors are passed to `onError`. */
  stop(): Promise<void>;
}

const DEFAULT_AFTER_EVENTS = 5_000;

/**
 * Starts to write snapshots. A snapshot is written in a separate turn of the event loop after the commit that makes it due, so that no answer waits
 * for it. It contains only the rounds that have changed since the previous one, so its cost depends on the number of events in between.
 */
export function keepSnapshots({
  ledger,
  store,
  clock,
  isOwner = () => true,
  afterEvents = DEFAULT_AFTER_EVENTS,
  onError,
  ...options
}: SnapshotOptions): Snapshots {
  const written = new Map(options.written);
  /** The version of the last snapshot that could not be written, by league id. */
  const failed = new Map<string, number>();
  const due = new Set<string>();
  let writing: Promise<void> | null = null;

  const write = async (league: League | undefined): Promise<void> => {
    if (!league) return;
    const { leagueId, version } = league;
    const before = written.get(leagueId) ?? null;
    if (version === before?.version) return;
    try {
      const snapshot = leagueSnapshot(league, before);
      await store.writeSnapshot(leagueStream(leagueId), version, snapshot);
      written.set(leagueId, league);
    } catch (thrown) {
      failed.set(leagueId, version);
      onError(thrown);
    }
  };
  const writeDue = async (): Promise<void> => {
    await new Promise<void>((resolve) => clock.defer(resolve));
    for (const leagueId of due) {
      due.delete(leagueId);
      await write(ledger.state.leagues.get(leagueId));
    }
    writing = null;
  };
  const isDue = (leagueId: string, version: number): boolean => {
    if (!isOwner(leagueId)) return false;
    const last = Math.max(written.get(leagueId)?.version ?? 0, failed.get(leagueId) ?? 0);
    return version - last >= afterEvents;
  };

  const removeListener = ledger.onCommit(({ events, state }) => {
    for (const committed of events) {
      if (committed.kind !== "league") continue;
      const { leagueId, event } = committed;
      const version = state.leagues.get(leagueId)?.version ?? 0;
      const isOver = event.type === "completed" && isOwner(leagueId);
      if (isOver || isDue(leagueId, version)) due.add(leagueId);
    }
    if (due.size > 0) writing ??= writeDue();
  });

  return {
    settled: async () => {
      await writing;
    },
    async stop() {
      removeListener();
      await writing;
      for (const league of ledger.state.leagues.values()) if (isOwner(league.leagueId)) await write(league);
    },
  };
}
