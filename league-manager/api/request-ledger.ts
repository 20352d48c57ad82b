import { err } from "#shared/lib/result.ts";
import { Unavailable } from "#shared/lib/unavailable.ts";
import { protocolError } from "#shared/protocol/errors.ts";
import type { Ledger } from "../ledger.ts";

/**
 * Returns the ledger for the requests of other programs. A command that the store cannot take now is rejected with the cause, and the caller may repeat
 * it. Effects use the ledger itself: they repeat their commands after an exception.
 */
export const requestLedger = (ledger: Ledger): Ledger => ({
  get state() {
    return ledger.state;
  },
  execute: (decide) =>
    ledger.execute(decide).catch((thrown: unknown) => {
      if (!(thrown instanceof Unavailable)) throw thrown;
      return err(protocolError("L001", `${thrown.message}; try again later`, {}, true));
    }),
  onCommit: (listener) => ledger.onCommit(listener),
  settled: () => ledger.settled(),
});
