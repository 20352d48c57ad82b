import { findGame } from "#shared/games/registry.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { messageOf } from "#shared/lib/result.ts";
import type { GameInvite, GameResult, MoveRequest } from "#shared/protocol/messages.ts";
import { whereThrown } from "./load-bot.ts";
import type { LoadedBot } from "./loaded-bot.ts";
import type { BotObject, MatchInfo } from "./sdk.ts";
import { type TurnOf, turnOf } from "./turn.ts";

/** A player's matches: what its bot is asked, at most once for each tick. */
export interface Player {
  invite(invite: GameInvite): Promise<{ accept: true } | { accept: false; reason: string }>;
  /** The bot's action; `unknown_match` when no invitation for it has been seen by this process. */
  move(request: MoveRequest): Promise<{ move: unknown } | { failed: string } | "unknown_match" | "old_epoch">;
  /** Ends a match; resolves with what it was, or null for one that this process does not play. */
  finish(result: GameResult): Promise<MatchInfo | null>;
  /** How it fares. Its actions hold the choice of a turn that is still open, so they are for its owner alone. */
  state(showsActions: boolean): object;
  close(): void;
}

interface Playing {
  readonly info: MatchInfo;
  readonly invite: GameInvite;
  readonly bot: BotObject;
  /** By tick. Of a turn that is asked again the refused one is neither here nor in the history: both hold earlier turns. */
  readonly actions: Map<number, unknown>;
  readonly history: { tick: number; view: unknown; action: unknown }[];
  /** Ticks that were asked before: a repeated request gets the same answer, unless it says what was wrong with it. */
  readonly answers: Map<number, Promise<unknown>>;
  /** How often the bot was asked for the action of the turn that was asked last. */
  tries: { readonly tick: number; readonly count: number };
  readonly end: AbortController;
  readonly turns: TurnOf;
}

/** Made once: an error of its own for each match, with its stack, was a twenty-fifth of a player's work where matches are short. */
const MATCH_OVER = new DOMException("the match is over", "AbortError");
/** Matches held at once; the oldest goes when a referee never says how it ended. */
const MAX_MATCHES = 10_000;

export function createPlayer(bot: LoadedBot, say: (line: string) => void): Player {
  const matches = new Map<string, Playing>();
  const told = { matches: 0, wins: 0, last: null as GameResult | null };

  const explain = (thrown: unknown): string => (bot.file ? whereThrown(thrown, bot.file) : messageOf(thrown));
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
    const action = await playing.bot.choose(turnOf(playing.turns, request, count));
    forget(playing, tick); // an earlier try may have been answered meanwhile
    playing.actions.set(tick, action);
    if (bot.looksBack) playing.history.push({ tick, view, action });
    return action;
  };

  return {
    async invite(invite) {
      const game = findGame(invite.game);
      if (!game || (bot.games && !bot.games.some((id) => id === invite.game))) {
        return { accept: false, reason: `${bot.name} does not play ${invite.game}` };
      }
      const key = matchRef(invite.league_id, invite.match_id);
      const known = matches.get(key);
      if (known && known.invite.epoch >= invite.epoch) {
        const same = known.invite.epoch === invite.epoch;
        return same ? { accept: true } : { accept: false, reason: "the match goes on under a newer epoch" };
      }
      known?.end.abort(MATCH_OVER);
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
        bot: bot.create(),
        actions: new Map(),
        history,
        answers: new Map(),
        tries: { tick: -1, count: 0 },
        end,
        turns: { game, invite, history: history as TurnOf["history"], end: end.signal, log: say },
      };
      matches.set(key, playing);
      told.matches++;
      await guard(() => playing.bot.start?.(info));
      return { accept: true };
    },

    async move(request) {
      const playing = matches.get(matchRef(request.league_id, request.match_id));
      if (!playing) return "unknown_match";
      if (request.epoch != null && request.epoch < playing.invite.epoch) return "old_epoch";
      let answer = request.error == null ? playing.answers.get(request.tick) : undefined;
      if (!answer) {
        answer = choose(playing, request);
        playing.answers.set(request.tick, answer);
      }
      try {
        return { move: await answer };
      } catch (thrown) {
        playing.answers.delete(request.tick);
        say(explain(thrown));
        return { failed: bot.file ? "the bot threw an error" : messageOf(thrown) };
      }
    },

    async finish(result) {
      const key = matchRef(result.league_id, result.match_id);
      const playing = matches.get(key);
      if (!playing || (result.epoch != null && result.epoch < playing.invite.epoch)) return null;
      drop(matches, key);
      told.last = result;
      if (result.winner !== null && result.winner === playing.info.roles[playing.info.role]) told.wins++;
      await guard(() => playing.bot.end?.(result));
      return playing.info;
    },

    state: (showsActions) => ({
      bot: bot.name,
      matches_begun: told.matches,
      matches_won: told.wins,
      last_result: told.last,
      playing: [...matches.values()].map(({ info, actions }) => ({
        league_id: info.leagueId,
        match_id: info.matchId,
        game: info.game,
        your_role: info.role,
        roles: info.roles,
        ...(showsActions && { actions: [...actions.values()] }),
      })),
    }),

    close() {
      for (const key of [...matches.keys()]) drop(matches, key);
    },
  };
}

/** A turn that is asked again has no action yet. */
function forget({ actions, history }: Playing, tick: number): void {
  actions.delete(tick);
  if (history.at(-1)?.tick === tick) history.pop();
}

function drop(matches: Map<string, Playing>, key: string): void {
  matches.get(key)?.end.abort(MATCH_OVER);
  matches.delete(key);
}
