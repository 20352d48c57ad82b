import type { Result } from "#shared/lib/result.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";
import type { Decide, FollowUps, ManagerState } from "../ledger.ts";
import { addDecision, type Batch, type BatchContext, isFull } from "./batch.ts";

/** A command that is not answered yet. */
export interface PendingCommand {
  readonly decide: Decide<unknown>;
  readonly resolve: (result: Result<unknown, ProtocolError>) => void;
  readonly reject: (reason: unknown) => void;
}

/** Answers a command. To be called after the commit of its batch. */
export type GiveAnswer = () => void;

/** A follow-up can have follow-ups: after the last result of a round the next round is paired and then opened. */
const MAX_PASSES = 5;

/**
 * Decides commands, each on the state after the earlier ones of its batch, and then the commands that follow from the new state. Adds their decisions to
 * the batch. Returns the answers to the commands. If the batch is full, the last commands are not decided and have no answers.
 */
export function decideCommands(
  batch: Batch,
  commands: readonly PendingCommand[],
  followUps: FollowUps,
  context: BatchContext,
): readonly GiveAnswer[] {
  let { state: before } = batch;
  const answers: GiveAnswer[] = [];
  for (const command of commands) {
    if (isFull(batch)) break;
    answers.push(decideOne(batch, command, context));
  }
  for (let pass = 0; pass < MAX_PASSES && batch.state !== before; pass++) {
    const following = followUpsOf(followUps, before, batch.state);
    before = batch.state;
    for (const decide of following) decideFollowUp(batch, decide, context);
  }
  return answers;
}

/** An exception must not fail the batch: every manager would decide the same commands, and end. */
function followUpsOf(followUps: FollowUps, before: ManagerState, state: ManagerState): ReturnType<FollowUps> {
  try {
    return followUps(before, state);
  } catch {
    return []; // the reconciler finds the same work, and reports why it fails
  }
}

function decideOne(batch: Batch, { decide, resolve, reject }: PendingCommand, context: BatchContext): GiveAnswer {
  try {
    const decision = decide(batch.state, batch.at);
    if (!decision.ok) return () => resolve(decision);
    const { reply } = decision.value;
    addDecision(batch, decision.value, context);
    return () => resolve({ ok: true, value: reply });
  } catch (thrown) {
    return () => reject(thrown);
  }
}

/** Decides a follow-up. If it fails, the reconciler executes it again and reports why. */
function decideFollowUp(batch: Batch, decide: Decide<unknown>, context: BatchContext): void {
  try {
    const decision = decide(batch.state, batch.at);
    if (decision.ok) addDecision(batch, decision.value, context);
  } catch {}
}
