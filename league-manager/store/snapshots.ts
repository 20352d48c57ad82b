import type { Clock } from "#shared/lib/clock.ts";
import { leagueStream } from "../league/events.ts";
import type { League } from "../league/league.ts";
import { leagueSnapshot } from "../league/snapshot.ts";
import type { Ledger } from "../ledger.ts";
import type { ManagerStore } from "./manager-store.ts";

interface SnapshotOptions {
  readonly ledger: Pick<Ledger, "state" | "onCommit">;
  readonly store: Pick<ManagerStore, "log" | "snapshotting">;
  /** Leagues as their snapshots in the store have them, by league id. */
  readonly written: ReadonlyMap<string, League>;
  readonly clock: Pick<Clock, "defer">;
  /** A league is snapshotted after so many events at least. */
  readonly after?: number;
  readonly onError: (thrown: unknown) => void;
}

/** Keeps the snapshots of leagues young, so that a start reads few events. */
export interface Snapshots {
  /** Resolves when every snapshot that is due is on disk. */
  settled(): Promise<void>;
  /** Writes a snapshot of each league that has events since its last one, and ends. An error goes to `onError`. */
  stop(): Promise<void>;
}

const EVENTS = 5_000;

/**
 * A snapshot is written in a separate turn after the commit that makes it due, so that no answer waits for it. It writes the rounds that have
 * changed since the one before, so that it costs as much as the events between them.
 */
export function keepSnapshots({ ledger, store, clock, after = EVENTS, onError, ...given }: SnapshotOptions): Snapshots {
  const written = new Map(given.written);
  /** The version of each league's last snapshot that could not be written. */
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
      await store.log.append([], store.snapshotting(leagueStream(leagueId), version, snapshot));
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
    const last = Math.max(written.get(leagueId)?.version ?? 0, failed.get(leagueId) ?? 0);
    return version - last >= after;
  };

  const removeListener = ledger.onCommit(({ events, state }) => {
    for (const one of events) {
      if (one.kind !== "league") continue;
      const version = state.leagues.get(one.leagueId)?.version ?? 0;
      if (one.event.type === "completed" || isDue(one.leagueId, version)) due.add(one.leagueId);
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
      for (const league of ledger.state.leagues.values()) await write(league);
    },
  };
}
