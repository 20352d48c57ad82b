import { Unavailable } from "#shared/lib/unavailable.ts";
import type { Ledger } from "../ledger.ts";
import {
  type Batch,
  decideCommands,
  isEmpty,
  LedgerCore,
  type LedgerOptions,
  newBatch,
  type QueuedCommand,
} from "./ledger-core.ts";
import type { LedgerStore } from "./manager-store.ts";

interface StoreLedgerOptions extends LedgerOptions {
  readonly store: Pick<LedgerStore, "commit">;
}

/** Opens the ledger of a store that no other process writes. It reports an error as fatal when a commit fails for a cause that does not pass. */
export function openLedger(options: StoreLedgerOptions): Ledger {
  const core: LedgerCore = new LedgerCore(options, (commands) => executeBatch(options, core, commands));
  return core;
}

async function executeBatch(
  options: StoreLedgerOptions,
  core: LedgerCore,
  commands: readonly QueuedCommand[],
): Promise<void> {
  const { clock, loaded, onFatal, followUps = () => [] } = options;
  const batch = newBatch(core.state, clock.iso());
  const answers = decideCommands(batch, commands, followUps, { ...options, versions: loaded.versions });
  try {
    await commit(options, core, batch);
  } catch (thrown) {
    if (!(thrown instanceof Unavailable)) onFatal(thrown instanceof Error ? thrown : new Error(String(thrown)));
    // A rejection may depend on an event of the same batch, so rejected commands fail, too.
    for (const { reject } of commands) reject(thrown);
    return;
  }
  for (const answer of answers) answer();
  core.putBack(commands.slice(answers.length));
}

/** Commits a batch and makes its state the current one. */
async function commit({ store, loaded }: StoreLedgerOptions, core: LedgerCore, batch: Batch): Promise<void> {
  if (isEmpty(batch)) return;
  const appends = [...batch.appends.values()];
  await store.commit(appends, batch.writes, batch.at);
  for (const { stream, expectedVersion, events } of appends)
    loaded.versions.set(stream, expectedVersion + events.length);
  core.publish({ before: core.state, state: batch.state, events: batch.events });
}
