import type { Clock } from "#shared/lib/clock.ts";
import { leagueStream } from "../league/events.ts";
import type { League } from "../league/league.ts";
import { leagueSnapshot } from "../league/snapshot.ts";
import type { Ledger } from "../ledger.ts";
import type { ManagerStore } from "./manager-store.ts";

export interface SnapshotOptions {
  readonly ledger: Pick<Ledger, "state" | "onCommit">;
  readonly store: Pick<ManagerStore, "log" | "snapshotting" | "snapshotVersion">;
  readonly clock: Pick<Clock, "defer">;
  /** A league is snapshotted after so many events. */
  readonly after?: number;
  readonly onError: (thrown: unknown) => void;
}

/** Keeps the snapshots of leagues young, so that a start reads few events. */
export interface Snapshots {
  /** Resolves when every snapshot that is due is on disk. */
  settled(): Promise<void>;
  /** Writes a snapshot of each league that has events since its last one, and ends. */
  stop(): Promise<void>;
}

const EVENTS = 5_000;

/** A snapshot is written in a turn of its own after the commit that makes it due, so that no answer waits for it. */
export function keepSnapshots({ ledger, store, clock, after = EVENTS, onError }: SnapshotOptions): Snapshots {
  const versions = new Map<string, number>();
  const due = new Set<string>();
  let writing: Promise<void> = Promise.resolve();

  const versionOf = (leagueId: string): number => {
    const known = versions.get(leagueId) ?? store.snapshotVersion(leagueStream(leagueId));
    versions.set(leagueId, known);
    return known;
  };
  const write = async (league: League): Promise<void> => {
    const { leagueId, version } = league;
    if (version === versionOf(leagueId)) return;
    const snapshot = { stream: leagueStream(leagueId), seq: version, body: leagueSnapshot(league) };
    await store.log.append([], [store.snapshotting(snapshot)]);
    versions.set(leagueId, version);
  };
  const writeDue = async (): Promise<void> => {
    await new Promise<void>((resolve) => clock.defer(resolve));
    for (const leagueId of due) {
      due.delete(leagueId);
      const league = ledger.state.leagues.get(leagueId);
      if (league) await write(league);
    }
  };
  const request = (leagueId: string): void => {
    due.add(leagueId);
    if (due.size === 1) writing = writing.then(writeDue).catch(onError);
  };

  const removeListener = ledger.onCommit(({ events, state }) => {
    for (const one of events) {
      if (one.kind !== "league") continue;
      const version = state.leagues.get(one.leagueId)?.version ?? 0;
      const isDue = one.event.type === "completed" || version - versionOf(one.leagueId) >= after;
      if (isDue) request(one.leagueId);
    }
  });

  return {
    settled: () => writing,
    async stop() {
      removeListener();
      await writing;
      for (const league of ledger.state.leagues.values()) await write(league);
    },
  };
}
