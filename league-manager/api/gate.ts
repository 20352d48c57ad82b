import { equalSecrets } from "#shared/lib/hash.ts";
import type { Gate } from "#shared/rpc/jsonrpc/http-context.ts";
import { type CreationLimit, REQUESTS_PER_MINUTE, rateLimit } from "#shared/rpc/jsonrpc/rate-limit.ts";
import type { Config } from "#shared/runtime/config/config.ts";
import { withNewTokens } from "../cluster/catch-up.ts";
import type { OtherManagers } from "../cluster/homes.ts";
import type { inboxRoutes } from "../inbox/routes.ts";
import type { Projections } from "../projections/projections.ts";
import { isReturn, REGISTRATIONS } from "./operations.ts";

interface GateOptions {
  readonly config: Pick<Config, "limits">;
  readonly projections: Pick<Projections, "authenticate">;
  readonly operatorToken: string;
  readonly limitCreations: CreationLimit;
  readonly inbox: Pick<ReturnType<typeof inboxRoutes>, "isAt" | "isSigned" | "isOfManager">;
  /** Whether other managers of the run issue tokens too, and the function that waits for them. */
  readonly others: Pick<OtherManagers, "catchUp"> & { readonly forwarding?: unknown };
}

/** Returns the rate limits of a manager. */
export function managerGate(options: GateOptions): Gate {
  const { config, projections, operatorToken, limitCreations, inbox, others } = options;
  const isToken = (token: string): boolean =>
    projections.authenticate(token) !== null || equalSecrets(token, operatorToken);
  const limited = rateLimit({
    perMinute: REQUESTS_PER_MINUTE.manager,
    loopback: config.limits.loopback,
    isTrusted: ({ token, subject }, { target = "" }) => isToken(token) || inbox.isSigned(target, token, subject),
    creations: {
      limit: limitCreations,
      requests: new Set(Object.keys(REGISTRATIONS)),
      isReturn: (token, creation) => isReturn(projections.authenticate(token), creation),
    },
  });
  const gate: Gate = async (body, http) => (inbox.isOfManager(http) ? null : limited(body, http));
  return others.forwarding ? withNewTokens(gate, { isToken, isInbox: inbox.isAt, catchUp: others.catchUp }) : gate;
}
