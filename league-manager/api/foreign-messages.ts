import type { Ids } from "#shared/lib/ids.ts";
import { type AnswerForeign, foreignMessages } from "#shared/rpc/dialects/incoming.ts";
import type { Projections } from "../projections/projections.ts";
import { answerQuery } from "./foreign-queries.ts";
import { type ForeignRegistrationContext, ForeignRegistrations } from "./foreign-registration.ts";

/** Answers the messages of players of other dialects: registrations and queries. */
export function answerForeignPlayers(
  context: ForeignRegistrationContext & { readonly projections: Projections; readonly ids: Ids },
): AnswerForeign {
  const registrations = new ForeignRegistrations(context);
  const { projections, clock, ids } = context;
  return foreignMessages(
    {
      register: (request, head, http) => registrations.register(request, head, http),
      query: (request, head) => answerQuery(projections, request, head),
    },
    () => "league_manager",
    clock,
    ids,
  );
}
