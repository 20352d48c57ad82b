import type { Ledger } from "../../ledger.ts";

interface BusyStore {
  isBusy: boolean;
  /** A ledger whose commands are rejected while the store is busy. */
  readonly ledger: (real: Ledger) => Ledger;
}

/** A store that another process keeps busy until the test ends this. */
export function busyStore(): BusyStore {
  const store: BusyStore = {
    isBusy: false,
    ledger: (real) => ({
      get state() {
        return real.state;
      },
      execute: (decide) => (store.isBusy ? Promise.reject(new Error("database is locked")) : real.execute(decide)),
      onCommit: (listener) => real.onCommit(listener),
      settled: () => real.settled(),
    }),
  };
  return store;
}
