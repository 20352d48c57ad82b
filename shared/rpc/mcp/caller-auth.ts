import type { AuthInfo } from "@modelcontextprotocol/server";
import type { HttpContext } from "../jsonrpc/http-context.ts";

/** Returns a caller as the authentication information that the SDK passes on with each message. */
export const authOf = (http: HttpContext): AuthInfo => ({
  token: http.bearer ?? "",
  clientId: http.remoteAddress,
  scopes: [],
  extra: { http },
});

/** Returns the caller that was given to `authOf`. */
export const httpOf = (auth: AuthInfo | undefined): HttpContext | undefined =>
  auth?.extra?.http as HttpContext | undefined;
