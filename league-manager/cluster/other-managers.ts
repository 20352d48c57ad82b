import type { Clock } from "#shared/lib/clock.ts";
import type { Ids } from "#shared/lib/ids.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { type MessageType, newEnvelope } from "#shared/protocol/envelope.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";
import type { Caller } from "#shared/rpc/http/request.ts";
import type { Gate } from "#shared/rpc/jsonrpc/http-context.ts";
import type { Peers } from "#shared/rpc/peer/peer.ts";
import type { Ledger } from "../ledger.ts";
import type { Member } from "../shared-run/run-database.ts";
import type { CallerSignature } from "./request-forwarding.ts";

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

interface OtherHomesOptions {
  readonly peers: Peers;
  readonly signature: CallerSignature;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** The sender of a request that a manager sends to another one for a player. */
const SENDER = "league_manager:LM01";
/** The caller in a question of this manager itself. It has no address, and so no rights. */
const THIS_MANAGER: Caller = { remoteAddress: "", origin: "" };
/** The state of a player contains the positions and the legal moves of its open matches. */
const MAX_REPLY_BYTES = 4 * 1024 * 1024;

/** Returns a function that creates the client for another manager that is the home of a player. */
export function otherHomes({ peers, signature, clock, ids }: OtherHomesOptions) {
  return ({ managerId, url }: Member, playerId: string): OtherHome => {
    const headersFor = (caller: Caller, target: string) =>
      signature.headersFor(caller, { managerId, method: "POST", target });
    return {
      inboxEndpoint: `${url}/inbox/${playerId}/mcp`,
      async isAttended(timeoutMs, signal) {
        const target = `/inbox/${playerId}/attended`;
        const options = { timeoutMs, headers: headersFor(THIS_MANAGER, target) };
        const reply = await peers.post(`${url}${target}`, "", signal ? { ...options, signal } : options);
        return reply.ok && reply.value.status === 200;
      },
      async ask(type, payload, { remoteAddress, origin = "" }, { timeoutMs, signal }) {
        const envelope = newEnvelope(type, SENDER, payload, { messageId: ids.uuid(), at: clock.iso() });
        const reply = await peers.message(`${url}/mcp`, envelope, {
          timeoutMs,
          maxReplyBytes: MAX_REPLY_BYTES,
          headers: headersFor({ remoteAddress, origin }, "/mcp"),
          ...(signal && { signal }),
        });
        if (!reply.ok) return null;
        const { type: kind, payload: answer } = reply.value;
        return /_ERROR$/.test(kind) ? err(answer as unknown as ProtocolError) : ok(answer);
      },
    };
  };
}

/** Returns `catchUp` for several managers. It executes an empty command, because the shared ledger applies all earlier commits before it decides. */
export const catchUpOf =
  (ledger: Pick<Ledger, "execute">): OtherManagers["catchUp"] =>
  () =>
    ledger
      .execute(() => ok({ reply: null }))
      .then(
        () => true,
        () => false,
      );

/** Matches the tokens in the arguments of a call. */
const TOKENS = /"(?:auth_token|player_token)"\s*:\s*"([\w-]{1,200})"/g;

const UNAVAILABLE = { status: 503, body: "", headers: { "retry-after": "1" } };

interface NewTokensOptions {
  /** Returns whether a token is valid. */
  readonly isToken: (token: string) => boolean;
  /** Returns whether a path is that of an inbox. The tokens in bodies of its requests are signatures, and its handlers catch up. */
  readonly isInbox: (path: string) => boolean;
  readonly catchUp: OtherManagers["catchUp"];
}

/**
 * Returns a gate for several managers: a request with an unknown token waits until this manager knows the commits of the others, because another manager
 * may have issued the token a moment ago.
 */
export const withNewTokens =
  (gate: Gate, { isToken, isInbox, catchUp }: NewTokensOptions): Gate =>
  async (body, http) => {
    const verdict = await gate(body, http);
    if (verdict?.rejection) return verdict;
    const { bearer, target = "", isRead } = http;
    if (isRead) return verdict; // pages are public
    const inBody = isInbox(target.split("?", 1)[0] ?? "") ? [] : [...body.matchAll(TOKENS)];
    const tokens = [...(bearer === null ? [] : [bearer]), ...inBody.map(([, token = ""]) => token)];
    // Without the database an unknown token may be valid. A player ends if it is rejected with 401.
    if (!tokens.every(isToken) && !(await catchUp())) return { rejection: UNAVAILABLE, headers: {} };
    return verdict;
  };
