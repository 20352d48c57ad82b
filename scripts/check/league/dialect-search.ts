import { evenOdd } from "#shared/games/even-odd.ts";
import type { Game } from "#shared/games/game.ts";
import { type DialectId, NATIVE, speechText } from "#shared/protocol/dialects/dialect.ts";
import { DEFAULT_FORM } from "#shared/protocol/dialects/forms.ts";
import type { Matches } from "./matches.ts";
import type { Subject } from "./subject.ts";

/** The dialects in the order of the search. In league.v1 any answer without an error accepts a match, so it is tried last. */
const SEARCHED = ["classroom", "league.v1"] as const satisfies readonly DialectId[];

/**
 * Returns a player with its dialect, for a player whose registration does not show it: the first dialect in which it accepts an invitation to even/odd.
 * A player that answers in the native dialect is native, and so is a player that accepts in none.
 */
export async function withDialect(matches: Matches, subject: Subject): Promise<Subject> {
  const speeches = SEARCHED.map((id) => speechText({ id, form: DEFAULT_FORM }));
  for (const dialect of [NATIVE, ...speeches]) {
    const tried = { ...subject, dialect };
    const match = await matches.begin(tried, { game: evenOdd as unknown as Game, role: "ODD" });
    const { call, fault } = await matches.invite(match);
    const { answer } = call;
    const isUnreachable = !answer.ok && (answer.error.cause === "timeout" || answer.error.cause === "refused");
    if (isUnreachable && dialect === NATIVE) return tried;
    if (fault === null) await matches.abort(match);
    if (dialect === NATIVE ? answer.ok : fault === null) return tried;
  }
  return subject;
}
