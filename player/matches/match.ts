import type { Game } from "#shared/games/game.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import type { GameInvite, GameResult, MoveRequest } from "#shared/protocol/messages.ts";
import type { LoadedBot } from "../loaded-bot.ts";
import type { BotObject, MatchInfo } from "../sdk.ts";
import { acceptedWith, type Invitation } from "./invitation.ts";
import { type TurnOf, turnOf } from "./turn.ts";

/** A match that the player has accepted. */
export interface PlayedMatch {
  readonly info: MatchInfo;
  readonly invite: GameInvite;
  /** Invitations to this match in the order of their epochs; the last one is `invite`. */
  readonly accepted: readonly Invitation[];
  readonly bot: BotObject;
  /** By tick. A turn that is asked again has neither an action nor an entry in the history until it is answered. */
  readonly actions: Map<number, unknown>;
  readonly history: { tick: number; view: unknown; action: unknown }[];
  /** By tick: a repeated request gets the same answer, except when it carries the error of the earlier answer. */
  readonly answers: Map<number, Promise<unknown>>;
  /** How often the bot was asked for the action of the latest turn. */
  tries: { readonly tick: number; readonly count: number };
  /** The request that the bot has not answered yet. */
  open: MoveRequest | null;
  readonly end: AbortController;
  readonly turns: TurnOf;
}

/** A mistake of the bot that has no place in its code. */
export class NoAction extends Error {}

/** Created once: creating an error with its stack for each match took 4 % of a player's CPU time in short matches. */
const MATCH_OVER = new DOMException("the match is over", "AbortError");

export function newMatch(
  invite: GameInvite,
  game: Game,
  accepted: readonly Invitation[],
  { bot, log, clock }: { readonly bot: LoadedBot; readonly log: (line: string) => void; readonly clock: Clock },
): PlayedMatch {
  const history: PlayedMatch["history"] = [];
  const end = new AbortController();
  return {
    info: {
      leagueId: invite.league_id,
      matchId: invite.match_id,
      epoch: invite.epoch,
      game: invite.game,
      options: invite.options,
      role: invite.your_role,
      roles: invite.roles,
    },
    invite,
    accepted: acceptedWith(invite, accepted),
    bot: bot.create(),
    actions: new Map(),
    history,
    answers: new Map(),
    tries: { tick: -1, count: 0 },
    open: null,
    end,
    turns: { game, invite, history: history as TurnOf["history"], end: end.signal, log, clock },
  };
}

/** Asks the bot for an action. Rejects with its error, or with NoAction if it returns none. */
export async function chooseAction(match: PlayedMatch, request: MoveRequest, looksBack: boolean): Promise<unknown> {
  const { tick, game_state: view } = request;
  const count = match.tries.tick === tick ? match.tries.count + 1 : 1;
  match.tries = { tick, count };
  forget(match, tick);
  match.open = request;
  let action: unknown;
  try {
    action = await match.bot.choose(turnOf(match.turns, request, count));
  } finally {
    if (match.open === request) match.open = null;
  }
  if (action === undefined) throw new NoAction("the bot returned nothing; it must return an action");
  forget(match, tick); // an earlier try may have been answered in the meantime
  match.actions.set(tick, action);
  if (looksBack) match.history.push({ tick, view, action });
  return action;
}

/** Removes the action of a turn that is asked again. */
function forget({ actions, history }: PlayedMatch, tick: number): void {
  actions.delete(tick);
  if (history.at(-1)?.tick === tick) history.pop();
}

/** Whether a result ends this match: it reveals the seed of the invitation's commitment. A result of another run or an older epoch does not. */
export const isResultOf = ({ invite }: PlayedMatch, { epoch, seed }: GameResult): boolean =>
  (epoch == null || epoch >= invite.epoch) && sha256Hex(seed) === invite.seed_commitment;

/** Aborts the turn that the bot may still be thinking about. */
export const endMatch = ({ end }: PlayedMatch): void => end.abort(MATCH_OVER);

/** A match as its player's owner sees it. Actions and the open request are hidden from others. */
export const matchState = ({ info, actions, open }: PlayedMatch, showsActions: boolean): object => ({
  league_id: info.leagueId,
  match_id: info.matchId,
  game: info.game,
  your_role: info.role,
  roles: info.roles,
  ...(showsActions && { actions: [...actions.values()] }),
  ...(showsActions && open && { asked: questionOf(open) }),
});

const questionOf = ({ tick, game_state, deadline }: MoveRequest): object => ({ tick, game_state, deadline });
