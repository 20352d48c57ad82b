import type { z } from "zod";
import { matchRef } from "#shared/lib/ids.ts";
import { err, ok } from "#shared/lib/result.ts";
import { type ProtocolError, protocolError } from "#shared/protocol/errors.ts";
import * as messages from "#shared/protocol/messages.ts";
import { type About, type Answer, type Caller, type Operation, operation } from "#shared/rpc/operations.ts";
import type { News } from "./news.ts";
import type { Player } from "./player.ts";
import { accepts, type Trust } from "./trust.ts";

interface Subject {
  readonly league_id: string;
  readonly match_id?: string;
}

/** What the manager and the referees tell and ask a player. */
export function matchOperations(
  player: Player,
  identity: { readonly trust: Trust },
  news: News,
): readonly Operation<unknown>[] {
  /** Passes on the messages that the player may accept, with their tokens. */
  const accepted =
    <P extends Subject>(handle: (payload: P, token: string, caller: Caller) => Answer | Promise<Answer>) =>
    (payload: P, caller: Caller): Answer | Promise<Answer> => {
      const { trust } = identity;
      if (!accepts(trust, subjectOf(payload), caller)) return err(notAccepted(trust, payload));
      return handle(payload, caller.authToken ?? "", caller);
    };
  const told = <P extends Subject>(
    request: messages.MessageType,
    payload: z.ZodType<P>,
    hear: (payload: P) => void = () => {},
  ) =>
    operation({
      request,
      reply: "ACK",
      payload,
      handle: accepted<P>((payload, token) => {
        if (payload.match_id !== undefined && !player.isPlaying(subjectOf(payload), token)) {
          return err(unknownMatch(payload.match_id));
        }
        hear(payload);
        return ok({});
      }),
    });

  return [
    operation({
      request: "GAME_INVITE",
      reply: "GAME_INVITE_RESPONSE",
      payload: messages.GameInvite,
      handle: accepted(async (invite, token, { messageId }) => {
        const { match_id } = invite;
        // Without a token any caller could ask for the moves of the match.
        if (token === "") return err(protocolError("L004", "an invitation must carry a token", { match_id }));
        const answer = await player.invite(invite, token, messageId);
        const self = invite.roles[invite.your_role];
        if (answer.accept && self !== undefined) news.matchBegun(self);
        return ok({ match_id, ...answer });
      }),
    }),
    operation({
      request: "MOVE_REQUEST",
      reply: "MOVE_RESPONSE",
      payload: messages.MoveRequest,
      handle: accepted(async (request, token) => {
        const answer = await player.move(request, token);
        const { match_id, tick } = request;
        if (answer === "unknown_match") return err(unknownMatch(match_id));
        if (answer === "old_epoch")
          return err(protocolError("G003", "the match goes on under a newer epoch", { match_id }));
        if ("failed" in answer) return err(protocolError("G001", answer.failed, { match_id, tick }, true));
        return ok({ match_id, tick, move: answer.move });
      }),
    }),
    operation({
      request: "GAME_RESULT",
      reply: "ACK",
      payload: messages.GameResult,
      handle: accepted(async (result, token) => {
        const info = await player.finish(result, token);
        if (!info) return err(unknownMatch(result.match_id));
        news.matchEnded(info, result);
        return ok({});
      }),
    }),
    told("GAME_START", messages.GameStart),
    told("GAME_ERROR", messages.GameError, news.gameError),
    told("ROUND_RESULT", messages.RoundResult),
    told("ROUND_ANNOUNCEMENT", messages.RoundAnnouncement),
    told("ROUND_START", messages.RoundStart, news.roundStarted),
    told("ROUND_END", messages.RoundEnd, news.roundEnded),
    told("LEAGUE_STANDINGS_UPDATE", messages.StandingsUpdate, news.standings),
  ];
}

/** The player id under which this player takes part in the match of a request. The invitation names it, also for a player that did not register itself. */
export function idIn(player: Player, { payload, authToken }: About): string | null {
  const { league_id, match_id, your_role, roles } = payload as Partial<messages.GameInvite>;
  if (league_id === undefined || match_id === undefined) return null;
  // An invitation that is declined begins no match, and its answer must name the player all the same.
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
    : protocolError("L004", "this message is not signed for me", { subject });
}

const unknownMatch = (match_id: string): ProtocolError =>
  protocolError("G003", "I play no match that this message belongs to", { match_id }, true);
