import { findGame } from "#shared/games/registry.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { messageOf } from "#shared/lib/result.ts";
import type { GameInvite, GameResult, MoveRequest } from "#shared/protocol/messages.ts";
import type { LoadedBot } from "../loaded-bot.ts";
import { whereThrown } from "../loaders/load-bot.ts";
import { winningRoles } from "../notifications.ts";
import type { MatchInfo } from "../sdk.ts";
import { judgeInvitation } from "./invitation.ts";
import { chooseAction, endMatch, isResultOf, matchState, NoAction, newMatch, type PlayedMatch } from "./match.ts";

/** Matches held at once. The oldest is dropped at the limit, because a referee may never report the end of a match. */
const MAX_MATCHES = 10_000;
/** Message ids of accepted invitations that are remembered at once. */
const MAX_ENVELOPES = 10_000;

type InviteAnswer = { accept: true } | { accept: false; reason: string } | "wrong_role";
type MoveAnswer = { move: unknown } | { failed: string } | "unknown_match" | "old_epoch" | "wrong_role";

/**
 * A player's matches: its bot is asked for an action at most once for each tick. A match is known by its name and by the token of its invitation:
 * a message with another token is about another match, so a caller can neither read nor disturb a match that it did not invite to.
 */
export class Player {
  readonly #bot: LoadedBot;
  readonly #say: (line: string) => void;
  readonly #clock: Clock;
  readonly #matches = new Map<string, PlayedMatch>();
  /** Message ids of accepted invitations. */
  readonly #envelopes = new Set<string>();
  #begun = 0;
  #won = 0;
  #lastResult: GameResult | null = null;

  constructor(bot: LoadedBot, say: (line: string) => void, clock: Clock) {
    this.#bot = bot;
    this.#say = say;
    this.#clock = clock;
  }

  /** `messageId` is that of the invitation's envelope: the same envelope begins no second match. */
  async invite(invite: GameInvite, token: string, messageId: string | null = null): Promise<InviteAnswer> {
    const bot = this.#bot;
    const game = findGame(invite.game);
    if (!game || (bot.games && !bot.games.some((id) => id === invite.game))) {
      return { accept: false, reason: `${bot.name} does not play ${invite.game}` };
    }
    if (!Object.hasOwn(invite.roles, invite.your_role)) return "wrong_role";
    const key = keyOf(invite, token);
    const known = this.#matches.get(key);
    const accepted = known?.accepted ?? [];
    const verdict = judgeInvitation(invite, accepted);
    if (verdict === "old_epoch") return { accept: false, reason: "the match goes on under a newer epoch" };
    if (verdict === "repeat") {
      if (invite.your_role !== known?.info.role) return "wrong_role";
      this.#remember(messageId);
      return { accept: true };
    }
    if (messageId !== null && this.#envelopes.has(messageId)) return { accept: false, reason: "this match is over" };
    drop(this.#matches, key);
    if (this.#matches.size >= MAX_MATCHES) drop(this.#matches, this.#matches.keys().next().value ?? "");
    const playing = newMatch(invite, game, accepted, { bot, log: this.#say, clock: this.#clock });
    this.#matches.set(key, playing);
    this.#remember(messageId);
    this.#begun++;
    await this.#guard(() => playing.bot.start?.(playing.info));
    return { accept: true };
  }

  /**
   * The bot's action; `unknown_match` when this process has accepted no invitation to it with this token, `wrong_role` when it was invited in
   * another role.
   */
  async move(request: MoveRequest, token: string): Promise<MoveAnswer> {
    const playing = this.#matches.get(keyOf(request, token));
    const { epoch = null } = request;
    // The player has no invitation of a newer epoch yet. The referee invites it again after this answer.
    if (!playing || (epoch !== null && epoch > playing.invite.epoch)) return "unknown_match";
    if (epoch !== null && epoch < playing.invite.epoch) return "old_epoch";
    if (request.your_role !== playing.info.role) return "wrong_role";
    let answer = request.error == null ? playing.answers.get(request.tick) : undefined;
    if (!answer) {
      answer = chooseAction(playing, request, this.#bot.looksBack);
      playing.answers.set(request.tick, answer);
    }
    try {
      return { move: await answer };
    } catch (thrown) {
      playing.answers.delete(request.tick);
      return { failed: this.#faultOf(thrown) };
    }
  }

  /** Ends a match. Resolves with the match, or null if this process does not play the match of the result. */
  async finish(result: GameResult, token: string): Promise<MatchInfo | null> {
    const key = keyOf(result, token);
    const playing = this.#matches.get(key);
    if (!playing || !isResultOf(playing, result)) return null;
    drop(this.#matches, key);
    this.#lastResult = result;
    if (winningRoles(playing.info, result).includes(playing.info.role)) this.#won++;
    await this.#guard(() => playing.bot.end?.(result));
    return playing.info;
  }

  /** Whether a match of this name (`league_id/match_id`) is under way whose invitation came with this token. */
  isPlaying(ref: string, token: string): boolean {
    return this.#matches.has(keyOfRef(ref, token));
  }

  /** This player's id in such a match. */
  idIn(ref: string, token: string): string | null {
    const { roles, role } = this.#matches.get(keyOfRef(ref, token))?.info ?? {};
    return (role !== undefined && roles?.[role]) || null;
  }

  /** The player's matches and results. Its actions and the open requests hold hidden choices and views, so only its owner may see them. */
  state(showsActions: boolean): object {
    return {
      bot: this.#bot.name,
      matches_begun: this.#begun,
      matches_won: this.#won,
      last_result: this.#lastResult,
      playing: [...this.#matches.values()].map((one) => matchState(one, showsActions)),
    };
  }

  close(): void {
    for (const key of [...this.#matches.keys()]) drop(this.#matches, key);
  }

  #remember(messageId: string | null): void {
    if (messageId === null) return;
    const envelopes = this.#envelopes;
    if (envelopes.size >= MAX_ENVELOPES) envelopes.delete(envelopes.values().next().value ?? "");
    envelopes.add(messageId);
  }

  /** Runs a hook of the bot. Its errors are shown to the user and do not end the match. */
  async #guard(hook: () => unknown): Promise<void> {
    try {
      await hook();
    } catch (thrown) {
      this.#say(this.#explain(thrown));
    }
  }

  /** Shows the user why the bot has chosen no action. Returns the reason that the referee may know. */
  #faultOf(thrown: unknown): string {
    if (thrown instanceof NoAction) {
      this.#say(`${this.#bot.name}: ${thrown.message}`);
      return thrown.message;
    }
    this.#say(this.#explain(thrown));
    return this.#bot.file ? "the bot threw an error" : messageOf(thrown);
  }

  #explain(thrown: unknown): string {
    return this.#bot.file ? whereThrown(thrown, this.#bot.file) : messageOf(thrown);
  }
}

const keyOfRef = (ref: string, token: string): string => `${ref} ${token}`;

const keyOf = ({ league_id, match_id }: { league_id: string; match_id: string }, token: string): string =>
  keyOfRef(matchRef(league_id, match_id), token);

function drop(matches: Map<string, PlayedMatch>, key: string): void {
  const match = matches.get(key);
  if (match) endMatch(match);
  matches.delete(key);
}
