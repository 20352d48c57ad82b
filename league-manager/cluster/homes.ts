import type { Result } from "#shared/lib/result.ts";
import type { MessageType } from "#shared/protocol/envelope.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";

/** The caller of a request that another manager answers. */
interface RemoteCaller {
  readonly remoteAddress: string;
  readonly origin?: string | undefined;
}

interface CallOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Another manager that is the home of a player. */
export interface OtherHome {
  /** The endpoint of the inbox for messages to the player. */
  readonly inboxEndpoint: string;
  /** Resolves with whether the player polls its inbox. */
  isAttended(timeoutMs: number, signal?: AbortSignal): Promise<boolean>;
  /** Lets the other manager answer a request of the player. Resolves with null if it cannot be reached. */
  ask(
    type: MessageType,
    payload: object,
    caller: RemoteCaller,
    options: CallOptions,
  ): Promise<Result<object, ProtocolError> | null>;
}

/** The home of a player: the manager that has its inbox. It is unknown before this manager has joined the others. */
export type Home = "here" | "unknown" | OtherHome;

export interface Homes {
  of(playerId: string): Home;
  /** Adds a listener that is called when homes have changed. */
  onChange(listener: () => void): () => void;
}

/** The other managers of a run, for the interfaces of a manager. */
export interface OtherManagers {
  readonly homes: Homes;
  /**
   * Waits until this manager has applied all commits that were made before the call. Resolves with false if the database does not answer. Never rejects.
   */
  readonly catchUp: () => Promise<boolean>;
}

/** For a manager that works alone. */
export const ALONE: OtherManagers = {
  homes: { of: () => "here", onChange: () => () => {} },
  catchUp: async () => true,
};
