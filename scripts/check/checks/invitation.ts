import type { Game } from "#shared/games/game.ts";
import { knownGames } from "#shared/games/registry.ts";
import { Timeouts } from "#shared/protocol/message-fields.ts";
import { type Acceptance, type Check, type CheckContext, failed, passed, subjectOf } from "../check.ts";
import { explainAsk } from "../judge/call-fault.ts";
import { claimedGames } from "../league/games.ts";

const { join_ms: LIMIT_MS } = Timeouts.parse({});

/** The games to which the player is invited: those that it claims, or all. */
export function gamesToCheck({ subject, onlyGames }: Pick<CheckContext, "subject" | "onlyGames">): readonly Game[] {
  const claimed = subject?.games == null ? knownGames() : claimedGames(subject.games);
  return onlyGames === null ? claimed : onlyGames.filter((game) => claimed.includes(game));
}

/** Invites the player to a match that is not played. */
export async function inviteTo(context: CheckContext, game: Game): Promise<Acceptance> {
  const { matches } = context;
  const [role = ""] = game.roles;
  const match = await matches.begin(subjectOf(context), { game, role });
  const answer = await matches.invite(match);
  if (answer.fault === null) await matches.abort(match);
  return { game, ...answer };
}

/** Judges the content of the answer to the first invitation. The check `json-rpc` judges its form. */
export const invitation: Check = {
  id: "invitation",
  title: `Invitation accepted within ${LIMIT_MS / 1000} s`,
  needs: ["json-rpc"],
  async run(context) {
    const { game, call, fault } = await context.firstInvitation();
    const exchange = call.exchanges.at(-1);
    if (!fault) return passed(`${game.id} accepted in ${exchange?.durationMs ?? 0} ms`);
    const isOtherGame = fault.cause === "declined" && context.subject?.games === null && context.onlyGames === null;
    if (isOtherGame)
      return passed(`${game.id} declined; this is no fault, because the games of the player are not known`);
    const { playerId } = subjectOf(context);
    return failed({ ...explainAsk(fault, call, playerId), exchanges: exchange ? [exchange] : [] });
  },
};
