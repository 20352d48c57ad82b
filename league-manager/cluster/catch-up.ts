import { ok } from "#shared/lib/result.ts";
import type { Gate, HttpContext } from "#shared/rpc/jsonrpc/http-context.ts";
import type { Ledger } from "../ledger.ts";
import type { OtherManagers } from "./homes.ts";

type CatchUp = OtherManagers["catchUp"];

/** Returns the function for the shared ledger of several managers: every command is decided after all earlier commits. */
export const catchUpOf =
  (ledger: Pick<Ledger, "execute">): CatchUp =>
  () =>
    ledger
      .execute(() => ok({ reply: null }))
      .then(
        () => {},
        () => {}, // without the database the request is answered from the state that is known
      );

/** Tokens in the arguments of a call. */
const TOKENS = /"(?:auth_token|player_token)"\s*:\s*"([\w-]{1,200})"/g;

/**
 * Returns a gate for several managers: a request with an unknown token waits until this manager knows the commits of the others, because another manager
 * may have issued the token a moment ago.
 */
export const withNewTokens =
  (gate: Gate, isKnown: (token: string, http: HttpContext) => boolean, catchUp: CatchUp): Gate =>
  async (body, http) => {
    const verdict = await gate(body, http);
    if (verdict?.rejection) return verdict;
    const tokens = [
      ...(http.bearer === null ? [] : [http.bearer]),
      ...[...body.matchAll(TOKENS)].map(([, token = ""]) => token),
    ];
    if (tokens.some((token) => !isKnown(token, http))) await catchUp();
    return verdict;
  };
