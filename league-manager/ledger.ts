import type { Result } from "#shared/lib/result.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";
import type { Profile } from "./agents/agent.ts";
import type { AgentEvent, NewAgentEvent } from "./agents/events.ts";
import type { ManagerState } from "./agents/state.ts";
import type { NewLeagueEvent } from "./league/commands.ts";
import type { LeagueEvent } from "./league/events.ts";

export type { ManagerState };

/** Rows that are written in the same transaction as the events of a decision. */
export type Write =
  | { readonly type: "profile"; readonly agentId: string; readonly profile: Profile }
  | { readonly type: "erase_profile"; readonly agentId: string }
  | {
      readonly type: "session_log";
      readonly leagueId: string;
      readonly matchId: string;
      readonly epoch: number;
      readonly seed: string;
      /** The entries' stored texts. */
      readonly log: readonly string[];
    };

/** What an accepted command leads to. Events of one stream are in order. */
export interface Decision<Reply> {
  readonly leagueEvents?: readonly { readonly leagueId: string; readonly event: NewLeagueEvent }[];
  readonly agentEvents?: readonly { readonly agentId: string; readonly event: NewAgentEvent }[];
  readonly writes?: readonly Write[];
  readonly reply: Reply;
}

/** A pure decision on the manager's state. Time enters as `at`, ISO 8601 UTC. */
export type Decide<Reply> = (state: ManagerState, at: string) => Result<Decision<Reply>, ProtocolError>;

/** A committed event with its place in its stream. `version` is the stream's version after it. */
export type CommittedEvent =
  | { readonly kind: "league"; readonly leagueId: string; readonly version: number; readonly event: LeagueEvent }
  | { readonly kind: "agent"; readonly agentId: string; readonly version: number; readonly event: AgentEvent };

/** The state before and after one commit, with its events in order. */
export interface Commit {
  readonly before: ManagerState;
  readonly state: ManagerState;
  readonly events: readonly CommittedEvent[];
}

/**
 * The one place where the manager's state changes. Commands that arrive while a commit is under way are decided together afterwards, one
 * after the other, and share one append. A command is answered after its events are on disk; `state` holds committed events only.
 */
export interface Ledger {
  readonly state: ManagerState;
  /**
   * Rejects when `decide` throws, and when the batch of the command could not be appended: nothing of it is in the state then. After StoreBusy the
   * caller may try again; any other failure of an append ends the manager.
   */
  execute<Reply>(decide: Decide<Reply>): Promise<Result<Reply, ProtocolError>>;
  /** Called after each commit that has events, in order. Returns the function that removes the listener. */
  onCommit(listener: (commit: Commit) => void): () => void;
  /** Resolves when every command that was given before is answered. */
  settled(): Promise<void>;
}
