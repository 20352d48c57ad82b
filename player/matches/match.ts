import type { Game } from "#shared/games/game.ts";
import { shownView } from "#shared/games/view-history.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import type { GameInvite, GameResult, MoveRequest } from "#shared/protocol/messages.ts";
import { NotAnAction } from "../bot-process/action.ts";
import type { LoadedBot, MatchBot } from "../loaded-bot.ts";
import type { MatchInfo } from "../sdk.ts";
import { acceptedWith, type Invitation } from "./invitation.ts";
import { LastView } from "./last-view.ts";
import { type TurnContext, turnOf } from "./turn.ts";

/** A match that the player has accepted. */
export interface PlayedMatch {
  readonly info: MatchInfo;
  readonly invite: GameInvite;
  /** Invitations to this match in the order of their epochs; the last one is `invite`. */
  readonly accepted: readonly Invitation[];
  readonly bot: MatchBot;
  /** The chosen actions by tick. A repeated request after a rejection removes the action and its history entry until the bot answers. */
  readonly actions: Map<number, unknown>;
  readonly history: { tick: number; view: unknown; action: unknown }[];
  /** The answers by tick. A repeated request gets the same answer unless it contains the error of the earlier answer. */
  readonly answers: Map<number, Promise<unknown>>;
  readonly lastView: LastView;
  /** The number of times that the bot was asked for an action in the latest turn. */
  tries: { readonly tick: number; readonly count: number };
  /** The request that the bot has not answered yet. */
  open: MoveRequest | null;
  readonly end: AbortController;
  readonly turns: TurnContext;
}

/** Shared by all matches: an error with a stack for each match would cost 4 % of a player's CPU time in short matches. */
const MATCH_OVER = new DOMException("the match is over", "AbortError");
const WITHDRAWN = new DOMException("the match was withdrawn", "AbortError");

export function newMatch(
  invite: GameInvite,
  game: Game | undefined,
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
      seedCommitment: invite.seed_commitment,
      ...(invite.restart_reason !== undefined && { restartReason: invite.restart_reason }),
    },
    invite,
    accepted: acceptedWith(invite, accepted),
    bot: bot.create(log),
    actions: new Map(),
    history,
    answers: new Map(),
    lastView: new LastView(),
    tries: { tick: -1, count: 0 },
    open: null,
    end,
    turns: { game, invite, history: history as TurnContext["history"], end: end.signal, log, clock },
  };
}

/** Returns a request with its complete view; null if the player does not have what the request leaves out. */
export const receiveView = ({ lastView, turns }: PlayedMatch, request: MoveRequest): MoveRequest | null =>
  lastView.complete(request, turns.game?.info.history ?? null);

/** Asks the bot for an action and records it. Rejects with the error of the bot, or with NotAnAction if it returns no action. */
export async function chooseAction(match: PlayedMatch, request: MoveRequest, readsHistory: boolean): Promise<unknown> {
  const { tick, game_state: view } = request;
  const count = match.tries.tick === tick ? match.tries.count + 1 : 1;
  match.tries = { tick, count };
  removeAction(match, tick);
  match.open = request;
  let action: unknown;
  try {
    action = await match.bot.choose(turnOf(match.turns, request, count));
  } finally {
    if (match.open === request) match.open = null;
  }
  if (action === undefined) throw new NotAnAction("the bot returned nothing; it must return an action");
  removeAction(match, tick); // an earlier try may have recorded an action in the meantime
  match.actions.set(tick, action);
  if (readsHistory) match.history.push({ tick, view: shownView(match.turns.game?.info ?? {}, view), action });
  return action;
}

/** Removes the recorded action of a tick. */
function removeAction({ actions, history }: PlayedMatch, tick: number): void {
  actions.delete(tick);
  if (history.at(-1)?.tick === tick) history.pop();
}

/** Whether a result ends this match: it reveals the seed of the invitation's commitment. A result of another run or an older epoch does not. */
export const isResultOf = ({ invite }: PlayedMatch, { epoch, seed }: GameResult): boolean =>
  (epoch == null || epoch >= invite.epoch) && sha256Hex(seed) === invite.seed_commitment;

/** Aborts an open turn. */
export const endMatch = ({ end }: PlayedMatch): void => end.abort(MATCH_OVER);

/** Aborts an open turn of a match that ends without a result, because it is played again or the player stops. */
export const withdrawMatch = ({ end }: PlayedMatch): void => end.abort(WITHDRAWN);

/** Whether a turn was aborted because its match ended without a result. Its bot has then missed no time limit. */
export const isWithdrawn = ({ reason }: AbortSignal): boolean => reason === WITHDRAWN;

/** The state of a match for get_my_state. `showsActions` includes the actions and the open request, which only the owner of the player may see. */
export const matchState = ({ info, actions, open, turns }: PlayedMatch, showsActions: boolean): object => ({
  league_id: info.leagueId,
  match_id: info.matchId,
  game: info.game,
  your_role: info.role,
  roles: info.roles,
  ...(showsActions && { actions: [...actions.values()] }),
  ...(showsActions && open && { asked: questionOf(open, turns.game) }),
});

const questionOf = ({ tick, game_state, deadline }: MoveRequest, game: Game | undefined): object => ({
  tick,
  game_state: shownView(game?.info ?? {}, game_state),
  deadline,
});
