import { ok } from "#shared/lib/result.ts";
import type { Gate } from "#shared/rpc/jsonrpc/http-context.ts";
import type { Ledger } from "../ledger.ts";
import type { OtherManagers } from "./homes.ts";

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
