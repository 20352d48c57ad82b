import { findGame } from "#shared/games/registry.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { messageOf } from "#shared/lib/result.ts";
import type { GameInvite, GameResult, MoveRequest } from "#shared/protocol/messages.ts";
import { acceptedWith, type Invitation, judgeInvitation } from "./invitation.ts";
import { whereThrown } from "./load-bot.ts";
import type { LoadedBot } from "./loaded-bot.ts";
import { winningRoles } from "./news.ts";
import type { BotObject, MatchInfo } from "./sdk.ts";
import { type TurnOf, turnOf } from "./turn.ts";

/**
 * A player's matches: what its bot is asked, at most once for each tick. A match is known by its name and by the token of its invitation:
 * a message with another token is about another match, so a caller can neither read nor disturb a match that it did not invite to.
 */
export interface Player {
  /** `messageId` is that of the invitation's envelope: the same envelope begins no second match. */
  invite(
    invite: GameInvite,
    token: string,
    messageId?: string | null,
  ): Promise<{ accept: true } | { accept: false; reason: string } | "wrong_role">;
  /**
   * The bot's action; `unknown_match` when this process has accepted no invitation to it with this token, `wrong_role` when it was invited in
   * another role.
   */
  move(
    request: MoveRequest,
    token: string,
  ): Promise<{ move: unknown } | { failed: string } | "unknown_match" | "old_epoch" | "wrong_role">;
  /** Ends a match. Resolves with the match, or null if this process does not play the match of the result. */
  finish(result: GameResult, token: string): Promise<MatchInfo | null>;
  /** Whether a match of this name (`league_id/match_id`) is under way whose invitation came with this token. */
  isPlaying(ref: string, token: string): boolean;
  /** This player's id in such a match. */
  idIn(ref: string, token: string): string | null;
  /** How it fares. Its actions and the open question hold choices and views that are hidden from others, so they are for its owner alone. */
  state(showsActions: boolean): object;
  close(): void;
}

interface Playing {
  readonly info: MatchInfo;
  readonly invite: GameInvite;
  /** Invitations to this match in the order of their epochs; the last one is `invite`. */
  readonly accepted: readonly Invitation[];
  readonly bot: BotObject;
  /** By tick. Of a turn that is asked again the refused one is neither here nor in the history: both hold earlier turns. */
  readonly actions: Map<number, unknown>;
  readonly history: { tick: number; view: unknown; action: unknown }[];
  /** Ticks that were asked before: a repeated request gets the same answer, unless it says what was wrong with it. */
  readonly answers: Map<number, Promise<unknown>>;
  /** How often the bot was asked for the action of the turn that was asked last. */
  tries: { readonly tick: number; readonly count: number };
  /** The request that the bot has not answered yet. */
  open: MoveRequest | null;
  readonly end: AbortController;
  readonly turns: TurnOf;
}

/** A mistake of the bot that cannot be shown with file and line. */
class NoAction extends Error {}

/** Made once: an error of its own for each match, with its stack, was a twenty-fifth of a player's work where matches are short. */
const MATCH_OVER = new DOMException("the match is over", "AbortError");
/** Matches held at once; the oldest goes when a referee never says how it ended. */
const MAX_MATCHES = 10_000;
/** Message ids of accepted invitations that are remembered at once. */
const MAX_ENVELOPES = 10_000;

export function createPlayer(bot: LoadedBot, say: (line: string) => void, clock: Clock): Player {
  const matches = new Map<string, Playing>();
  /** Message ids of accepted invitations. */
  const envelopes = new Set<string>();
  const told = { matches: 0, wins: 0, last: null as GameResult | null };

  const explain = (thrown: unknown): string => (bot.file ? whereThrown(thrown, bot.file) : messageOf(thrown));
  const remember = (messageId: string | null): void => {
    if (messageId === null) return;
    if (envelopes.size >= MAX_ENVELOPES) envelopes.delete(envelopes.values().next().value ?? "");
    envelopes.add(messageId);
  };
  const guard = async (what: () => unknown): Promise<void> => {
    try {
      await what();
    } catch (thrown) {
      say(explain(thrown));
    }
  };

  const choose = async (playing: Playing, request: MoveRequest): Promise<unknown> => {
    const { tick, game_state: view } = request;
    const count = playing.tries.tick === tick ? playing.tries.count + 1 : 1;
    playing.tries = { tick, count };
    forget(playing, tick);
    playing.open = request;
    let action: unknown;
    try {
      action = await playing.bot.choose(turnOf(playing.turns, request, count));
    } finally {
      if (playing.open === request) playing.open = null;
    }
    if (action === undefined) throw new NoAction("the bot returned nothing; it must return an action");
    forget(playing, tick); // an earlier try may have been answered meanwhile
    playing.actions.set(tick, action);
    if (bot.looksBack) playing.history.push({ tick, view, action });
    return action;
  };

  return {
    async invite(invite, token, messageId = null) {
      const game = findGame(invite.game);
      if (!game || (bot.games && !bot.games.some((id) => id === invite.game))) {
        return { accept: false, reason: `${bot.name} does not play ${invite.game}` };
      }
      if (!Object.hasOwn(invite.roles, invite.your_role)) return "wrong_role";
      const key = keyOf(invite, token);
      const known = matches.get(key);
      const verdict = judgeInvitation(invite, known?.accepted ?? []);
      if (verdict === "old_epoch") return { accept: false, reason: "the match goes on under a newer epoch" };
      if (verdict === "repeat") {
        if (invite.your_role !== known?.info.role) return "wrong_role";
        remember(messageId);
        return { accept: true };
      }
      if (messageId !== null && envelopes.has(messageId)) return { accept: false, reason: "this match is over" };
      drop(matches, key);
      if (matches.size >= MAX_MATCHES) drop(matches, matches.keys().next().value ?? "");
      const info: MatchInfo = {
        leagueId: invite.league_id,
        matchId: invite.match_id,
        epoch: invite.epoch,
        game: invite.game,
        options: invite.options,
        role: invite.your_role,
        roles: invite.roles,
      };
      const [history, end]: [Playing["history"], AbortController] = [[], new AbortController()];
      const playing: Playing = {
        info,
        invite,
        accepted: acceptedWith(invite, known?.accepted ?? []),
        bot: bot.create(),
        actions: new Map(),
        history,
        answers: new Map(),
        tries: { tick: -1, count: 0 },
        open: null,
        end,
        turns: { game, invite, history: history as TurnOf["history"], end: end.signal, log: say, clock },
      };
      matches.set(key, playing);
      remember(messageId);
      told.matches++;
      await guard(() => playing.bot.start?.(info));
      return { accept: true };
    },

    async move(request, token) {
      const playing = matches.get(keyOf(request, token));
      const { epoch = null } = request;
      // The player has no invitation of a newer epoch yet. The referee invites it again after this answer.
      if (!playing || (epoch !== null && epoch > playing.invite.epoch)) return "unknown_match";
      if (epoch !== null && epoch < playing.invite.epoch) return "old_epoch";
      if (request.your_role !== playing.info.role) return "wrong_role";
      let answer = request.error == null ? playing.answers.get(request.tick) : undefined;
      if (!answer) {
        answer = choose(playing, request);
        playing.answers.set(request.tick, answer);
      }
      try {
        return { move: await answer };
      } catch (thrown) {
        playing.answers.delete(request.tick);
        if (thrown instanceof NoAction) {
          say(`${bot.name}: ${thrown.message}`);
          return { failed: thrown.message };
        }
        say(explain(thrown));
        return { failed: bot.file ? "the bot threw an error" : messageOf(thrown) };
      }
    },

    async finish(result, token) {
      const key = keyOf(result, token);
      const playing = matches.get(key);
      if (!playing || !isResultOf(playing.invite, result)) return null;
      drop(matches, key);
      told.last = result;
      if (winningRoles(playing.info, result).includes(playing.info.role)) told.wins++;
      await guard(() => playing.bot.end?.(result));
      return playing.info;
    },

    idIn(ref, token) {
      const { roles, role } = matches.get(keyOfRef(ref, token))?.info ?? {};
      return (role !== undefined && roles?.[role]) || null;
    },

    isPlaying: (ref, token) => matches.has(keyOfRef(ref, token)),

    state: (showsActions) => ({
      bot: bot.name,
      matches_begun: told.matches,
      matches_won: told.wins,
      last_result: told.last,
      playing: [...matches.values()].map(({ info, actions, open }) => ({
        league_id: info.leagueId,
        match_id: info.matchId,
        game: info.game,
        your_role: info.role,
        roles: info.roles,
        ...(showsActions && { actions: [...actions.values()] }),
        ...(showsActions && open && { asked: questionOf(open) }),
      })),
    }),

    close() {
      for (const key of [...matches.keys()]) drop(matches, key);
    },
  };
}

/** A request as its player's owner sees it. */
const questionOf = ({ tick, game_state, deadline }: MoveRequest): object => ({ tick, game_state, deadline });

const keyOfRef = (ref: string, token: string): string => `${ref} ${token}`;

const keyOf = ({ league_id, match_id }: { league_id: string; match_id: string }, token: string): string =>
  keyOfRef(matchRef(league_id, match_id), token);

/** Whether a result ends this match: it reveals the seed of the invitation's commitment. A result of another run or an older epoch does not. */
const isResultOf = (invite: GameInvite, { epoch, seed }: GameResult): boolean =>
  (epoch == null || epoch >= invite.epoch) && sha256Hex(seed) === invite.seed_commitment;

/** A turn that is asked again has no action yet. */
function forget({ actions, history }: Playing, tick: number): void {
  actions.delete(tick);
  if (history.at(-1)?.tick === tick) history.pop();
}

function drop(matches: Map<string, Playing>, key: string): void {
  matches.get(key)?.end.abort(MATCH_OVER);
  matches.delete(key);
}
