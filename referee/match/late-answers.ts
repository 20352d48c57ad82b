import { readingOf } from "#shared/protocol/dialects/answers.ts";
import { firstText, idOfSender } from "#shared/protocol/dialects/fields.ts";
import { errorReply, replyTo } from "#shared/protocol/dialects/requests.ts";
import type { ForeignHandler, ForeignHandlers } from "#shared/rpc/dialects/incoming.ts";
import type { AnswerKind, LateAnswers } from "#shared/rpc/dialects/late-answers.ts";

/** The handlers of answers that players of other dialects send in separate requests. */
export function answerHandlers(lateAnswers: LateAnswers): ForeignHandlers {
  const handler =
    (kind: AnswerKind): ForeignHandler =>
    async (request, head, { remoteAddress }) => {
      const { message } = request;
      const senders = ["sender", "player_id"].flatMap((field) => firstText([message], [field]) ?? []);
      const playerIds = senders.map(idOfSender);
      const matchId = firstText([message], ["match_id", "game_id"]);
      const token = firstText([message], ["auth_token"]);
      const reading = readingOf({ status: 200, text: JSON.stringify(message) });
      const delivery = await lateAnswers.deliver({ kind, playerIds, matchId, token, remoteAddress, reading });
      if (delivery === "forbidden") {
        const fault = token === null ? "is missing" : "is not that of a player that is asked";
        const reason = `auth_token ${fault}, and the message does not come from the address of such a player`;
        return errorReply(request, head, "E012", reason, { action: message.message_type });
      }
      const status = delivery === "delivered" ? "ACCEPTED" : "IGNORED";
      const reason = delivery === "delivered" ? null : "no open request of this match waits for this answer";
      return replyTo(request, head, "ACK", { status, reason, success: delivery === "delivered" });
    };
  return { join_ack: handler("join_ack"), move: handler("move") };
}
