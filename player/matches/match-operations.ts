import type { z } from "zod";
import { matchRef } from "#shared/lib/ids.ts";
import { err, ok } from "#shared/lib/result.ts";
import { inOneLine } from "#shared/lib/text.ts";
import type { MessageType } from "#shared/protocol/envelope.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import * as announcements from "#shared/protocol/messages.ts";
import * as messages from "#shared/protocol/messages.ts";
import {
  type Answer,
  type Caller,
  invalid,
  type Operation,
  operation,
  type RepliedRequest,
} from "#shared/rpc/mcp/operations.ts";
import { accepts, type Rejected, type Trust } from "../identity.ts";
import type { NotificationLog } from "../notifications.ts";
import type { Player } from "./player.ts";

type Subject = Pick<Rejected, "league_id" | "match_id">;

/** The operations for the requests and notifications that the manager and the referees send to a player. */
export function matchOperations(
  player: Player,
  identity: { readonly trust: Trust },
  notifications: NotificationLog,
  /** Called with each message that the player rejects because of its signature. */
  onRejected: (message: Rejected, caller: Caller) => void,
): readonly Operation<unknown>[] {
  /** An operation that answers L004 to messages that the player may not accept. */
  const accepting = <P extends Subject>(
    request: MessageType,
    reply: MessageType,
    payload: z.ZodType<P>,
    handle: (payload: P, token: string, caller: Caller) => Answer | Promise<Answer>,
  ) =>
    operation({
      request,
      reply,
      payload,
      handle(message, caller) {
        const { trust } = identity;
        if (!accepts(trust, subjectOf(message), caller)) {
          onRejected(message, caller);
          return err(notAccepted(trust, message));
        }
        return handle(message, caller.authToken ?? "", caller);
      },
    });
  const notification = <P extends Subject>(
    request: MessageType,
    payload: z.ZodType<P>,
    receive: (payload: P) => void = () => {},
  ) =>
    accepting(request, "ACK", payload, (message, token) => {
      if (message.match_id !== undefined && !player.isPlaying(subjectOf(message), token)) {
        return err(unknownMatch(message.match_id));
      }
      receive(message);
      return ok({});
    });

  return [
    accepting("GAME_INVITE", "GAME_INVITE_RESPONSE", messages.GameInvite, async (invite, token, { messageId }) => {
      const { match_id } = invite;
      // Without a token any caller could ask for the moves of the match.
      if (token === "") return err(protocolError("L004", "an invitation must carry a token", { match_id }));
      const answer = await player.invite(invite, token, messageId);
      if (answer === "wrong_role") throw wrongRole(invite);
      const self = invite.roles[invite.your_role];
      if (answer.accept && self !== undefined) notifications.matchBegun(self);
      return ok({ match_id, ...answer });
    }),
    accepting("MOVE_REQUEST", "MOVE_RESPONSE", messages.MoveRequest, async (request, token) => {
      const answer = await player.move(request, token);
      const { match_id, tick } = request;
      if (answer === "unknown_match") return err(unknownMatch(match_id));
      if (answer === "wrong_role") throw wrongRole(request);
      if (answer === "old_epoch")
        return err(protocolError("G003", "the match continues under a newer epoch", { match_id }));
      if ("failed" in answer) return err(protocolError("G001", answer.failed, { match_id, tick }, true));
      return ok({ match_id, tick, move: answer.move });
    }),
    accepting("GAME_RESULT", "ACK", messages.GameResult, async (result, token) => {
      const info = await player.finish(result, token);
      if (!info) return err(unknownMatch(result.match_id));
      notifications.matchEnded(info, result);
      return ok({});
    }),
    notification("GAME_START", messages.GameStart),
    notification("GAME_ERROR", messages.GameError, notifications.gameError),
    notification("ROUND_RESULT", messages.RoundResult),
    notification("ROUND_ANNOUNCEMENT", announcements.RoundAnnouncement),
    notification("ROUND_START", announcements.RoundStart, notifications.roundStarted),
    notification("ROUND_END", announcements.RoundEnd, notifications.roundEnded),
    notification("LEAGUE_STANDINGS_UPDATE", announcements.StandingsUpdate, notifications.standings),
  ];
}

/** The id of the player in the match of a request, as its invitation states it; null if there is none. */
export function idIn(player: Player, { payload, authToken }: RepliedRequest): string | null {
  const { league_id, match_id, your_role, roles } = payload as Partial<messages.GameInvite>;
  if (league_id === undefined || match_id === undefined) return null;
  // No match begins after a declined invitation, but its answer must name the player.
  const invited = your_role !== undefined && roles && Object.hasOwn(roles, your_role) ? roles[your_role] : undefined;
  return player.idIn(matchRef(league_id, match_id), authToken ?? "") ?? invited ?? null;
}

const subjectOf = ({ league_id, match_id }: Subject): string =>
  match_id === undefined ? league_id : matchRef(league_id, match_id);

function notAccepted(trust: Trust, payload: Subject): ProtocolError {
  const subject = subjectOf(payload);
  return trust.acceptsUnsignedLocally
    ? protocolError("L004", "this player has no secret, so it accepts messages from its own machine only", {
        subject,
        has_secret: false,
      })
    : protocolError("L004", "this message is not signed for this player", { subject });
}

/** The error for a role that the invitation does not contain or does not assign to this player. */
const wrongRole = ({ your_role }: Pick<messages.MoveRequest, "your_role">): Error =>
  invalid([{ path: "payload.your_role", message: `this player was not invited as ${inOneLine(your_role)}` }]);

const unknownMatch = (match_id: string): ProtocolError =>
  protocolError("G003", "this player does not play the match of this message", { match_id }, true);
