import { StoreBusy } from "#shared/store/store-errors.ts";
import type { Ledger } from "../../ledger.ts";

interface BusyStore {
  /** While true, every command fails with "database is locked". */
  isBusy: boolean;
  /** Wraps a ledger. */
  readonly ledger: (real: Ledger) => Ledger;
}

/** Simulates a store that another process keeps locked. */
export function busyStore(): BusyStore {
  const store: BusyStore = {
    isBusy: false,
    ledger: (real) => ({
      get state() {
        return real.state;
      },
      execute: (decide) => (store.isBusy ? Promise.reject(new StoreBusy("database is locked")) : real.execute(decide)),
      onCommit: (listener) => real.onCommit(listener),
      settled: () => real.settled(),
    }),
  };
  return store;
}
