import type { Result } from "#shared/lib/result.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";
import type { AnswerTimes } from "#shared/protocol/message-fields.ts";
import type { AgentEvent, ManagerState, NewAgentEvent, Profile } from "./agents/registered-agent.ts";
import type { LeagueEvent } from "./league/events.ts";
import type { NewLeagueEvent } from "./league/league.ts";

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
      /** The stored texts of the entries. */
      readonly log: readonly string[];
    }
  | {
      readonly type: "answer_times";
      readonly leagueId: string;
      readonly matchId: string;
      readonly epoch: number;
      readonly playerId: string;
      readonly times: AnswerTimes;
    };

/** The consequences of an accepted command. The events of each stream are in order. */
export interface Decision<Reply> {
  readonly leagueEvents?: readonly { readonly leagueId: string; readonly event: NewLeagueEvent }[];
  readonly agentEvents?: readonly { readonly agentId: string; readonly event: NewAgentEvent }[];
  readonly writes?: readonly Write[];
  readonly reply: Reply;
}

/** A command as a pure function: decides on the manager's state at the time `at`, ISO 8601, UTC. Returns a decision or a rejection. */
export type Decide<Reply> = (state: ManagerState, at: string) => Result<Decision<Reply>, ProtocolError>;

/** Returns the commands that follow from a change of the state. They are decided in the same batch as the commands that have changed it. */
export type FollowUps = (before: ManagerState, state: ManagerState) => readonly Decide<unknown>[];

/** A committed event. `version` is the version of its stream after the event. */
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
 * The only component that changes the manager's state. Commands that arrive during a commit are decided after it, one after the other, and share one
 * append. A command is answered after its events are on disk.
 */
export interface Ledger {
  /** The state after all committed events. */
  readonly state: ManagerState;
  /**
   * Executes a command. Resolves with its reply or its rejection. The promise rejects if `decide` throws or if the events could not be appended; the
   * state is then unchanged. After StoreBusy and StoreUnwritable the caller may try again. Every other failure of an append ends the manager.
   */
  execute<Reply>(decide: Decide<Reply>): Promise<Result<Reply, ProtocolError>>;
  /**
   * Adds a listener that is called after each commit, in order. A commit of an earlier version that erased a name has rows and no events. Returns the
   * function that removes the listener.
   */
  onCommit(listener: (commit: Commit) => void): () => void;
  /** Resolves when all earlier commands are answered. */
  settled(): Promise<void>;
}
