import type { Ids } from "#shared/lib/ids.ts";
import { parsedJson } from "#shared/lib/text.ts";
import { registrationBody } from "#shared/protocol/dialects/requests.ts";
import { type AnswerForeign, foreignMessages } from "#shared/rpc/dialects/incoming.ts";
import type { McpHandler } from "#shared/rpc/jsonrpc/http-context.ts";
import type { Projections } from "../projections/projections.ts";
import { answersForReferees, type ForeignAnswersContext } from "./foreign-answers.ts";
import { acknowledge, answerQuery } from "./foreign-queries.ts";
import { type ForeignRegistrationContext, ForeignRegistrations } from "./foreign-registration.ts";

/** Answers the messages of players of other dialects: registrations, queries, and answers that belong to referees. */
export function answerForeignPlayers(
  context: ForeignRegistrationContext &
    ForeignAnswersContext & { readonly projections: Projections; readonly ids: Ids },
): AnswerForeign {
  const registrations = new ForeignRegistrations(context);
  const { projections, clock, ids } = context;
  return foreignMessages(
    {
      register: (request, head, http) => registrations.register(request, head, http),
      ...answersForReferees(context),
      query: (request, head) => answerQuery(projections, request, head),
      other: (request, head) => acknowledge(projections, request, head),
    },
    () => "league_manager",
    clock,
    ids,
  );
}

/** The paths besides `/mcp` at which programs register. */
const REGISTRATION_PATHS: ReadonlySet<string> = new Set(["/register", "/register_player", "/api/register"]);

/** Answers registrations at paths besides `/mcp` as `handler` does at `/mcp`. */
export const registrationRoutes = (handler: McpHandler): { isAt: (path: string) => boolean; handler: McpHandler } => ({
  isAt: (path) => REGISTRATION_PATHS.has(path),
  handler: (body, http) => handler(JSON.stringify(registrationBody(parsedJson(body))) ?? body, http),
});
