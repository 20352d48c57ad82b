import { type Check, type Finding, subjectOf } from "../check.ts";
import { explainAsk } from "../judge/call-fault.ts";
import { gamesToCheck, inviteTo } from "./invitation.ts";

/** Invites the player to a match of every game that it claims. */
export const games: Check = {
  id: "games",
  title: "Every claimed game",
  needs: ["invitation"],
  async run(context) {
    const subject = subjectOf(context);
    const isClaimed = subject.games !== null || context.onlyGames !== null;
    const findings: Finding[] = [];
    const accepted = [];
    const first = await context.firstInvitation();
    for (const game of gamesToCheck(context)) {
      const { call, fault } = game === first.game ? first : await inviteTo(context, game);
      if (fault === null) accepted.push(game);
      else if (isClaimed || fault.cause !== "declined") {
        const { summary, advice } = explainAsk(fault, call, subject.playerId);
        findings.push({
          severity: "fail",
          summary: `${game.id}: ${summary}`,
          advice,
          exchanges: call.exchanges.slice(-1),
        });
      }
    }
    context.facts.games = accepted;
    if (accepted.length === 0 && findings.length === 0) {
      const advice = "Accept invitations to at least one game of this project.";
      findings.push({
        severity: "fail",
        summary: "the player declines every game",
        advice,
        exchanges: first.call.exchanges.slice(-1),
      });
    }
    return { summary: accepted.map(({ id }) => id).join(", "), findings };
  },
};
