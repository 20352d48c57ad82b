import type { Clock } from "#shared/lib/clock.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { jobChanges } from "../queue/job-changes.ts";
import { type Batch, isEmpty, newBatch } from "../store/batch.ts";
import { decideCommands, type GiveAnswer } from "../store/decide-commands.ts";
import type { LedgerOptions, QueuedCommand } from "../store/ledger-core.ts";
import type { KnownRun } from "./add-commits.ts";
import type { NewCommit } from "./run-database.ts";

/** A command of a batch and its answer, which is given after the commit. */
export interface DecidedCommand {
  readonly command: QueuedCommand;
  readonly answer: GiveAnswer;
}

/** A batch that was decided in a transaction. */
export interface BatchAttempt {
  /** The commit of the batch; null if it has no events and no writes. */
  commit: (NewCommit & { readonly batch: Batch }) | null;
  decided: readonly DecidedCommand[];
}

interface AttemptOptions extends Pick<LedgerOptions, "leagueIds" | "followUps"> {
  readonly clock: Pick<Clock, "iso">;
  readonly ids: Pick<Ids, "uuid">;
}

/**
 * Decides commands on the known state and records the result in `attempt`. Returns their commit. Its date is not before that of the commits that are known,
 * because the clocks of managers differ by as much as their measurements of the database's clock.
 */
export function decideAttempt(
  attempt: BatchAttempt,
  commands: readonly QueuedCommand[],
  { at, state, versions }: KnownRun,
  { clock, ids, leagueIds, followUps = () => [] }: AttemptOptions,
): NewCommit | null {
  const now = clock.iso();
  const batch = newBatch(state, now > at ? now : at);
  const answers = decideCommands(batch, commands, followUps, { leagueIds, versions });
  attempt.decided = answers.map((answer, index) => ({ answer, command: commands[index] as QueuedCommand }));
  if (isEmpty(batch)) return null;
  const [appends, jobs] = [[...batch.appends.values()], jobChanges(batch.events, batch.state)];
  attempt.commit = { id: ids.uuid(), at: batch.at, appends, writes: batch.writes, jobs, batch };
  return attempt.commit;
}
