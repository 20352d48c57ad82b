import type { AuthInfo } from "@modelcontextprotocol/server";
import type { HttpContext } from "../jsonrpc/http.ts";

/** What is known of a caller, as the authentication information that the SDK passes on with each message. */
export const authOf = (http: HttpContext): AuthInfo => ({
  token: http.bearer ?? "",
  clientId: http.remoteAddress,
  scopes: [],
  extra: { http },
});

/** What `authOf` was given. */
export const httpOf = (auth: AuthInfo | undefined): HttpContext | undefined =>
  auth?.extra?.http as HttpContext | undefined;
