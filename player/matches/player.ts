import { findGame } from "#shared/games/registry.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { messageOf } from "#shared/lib/result.ts";
import type { GameInvite, GameResult, MoveRequest } from "#shared/protocol/messages.ts";
import { NotAnAction } from "../bot-process/action.ts";
import { type LoadedBot, LoggedFault } from "../loaded-bot.ts";
import { winningRoles } from "../notifications.ts";
import type { MatchInfo } from "../sdk.ts";
import { type Invitation, isOlder, judgeInvitation } from "./invitation.ts";
import {
  chooseAction,
  endMatch,
  isResultOf,
  isWithdrawn,
  matchState,
  newMatch,
  type PlayedMatch,
  receiveView,
  withdrawMatch,
} from "./match.ts";

/** The limit of open matches. At the limit the oldest one is dropped, because a referee may never report the end of a match. */
const MAX_MATCHES = 10_000;
/** The number of message ids of invitations that are remembered, and of matches that are over. */
const MAX_REMEMBERED = 10_000;

/**
 * The time for which a player waits before it reports that its bot did not answer in time. The time of the referee is then over, too. Otherwise the
 * referee could take the report for an invalid answer.
 */
const LATE_MS = 1_000;

/** The part of the time limit of an invitation that is reserved for the way of the answer. It is a quarter of a short limit. */
const ANSWER_MS = 1_000;
/** The longest time of a timer of Node. A longer one ends at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Shows a line to the user. A line that the bot has written in a match has the invitation of the match. */
type ShowLine = (line: string, match?: GameInvite) => void;

type InviteAnswer = { accept: true } | { accept: false; reason: string } | "wrong_role";
type MoveAnswer = { move: unknown } | { failed: string } | "unknown_match" | "old_epoch" | "wrong_role";

/**
 * The matches of a player. The bot is asked for an action at most once for each tick, unless its action is rejected. A match is identified by its name
 * and the token of its invitation: a message with another token is about another match, so a caller can neither read nor disturb a
 * match to which it has not invited the player.
 */
export class Player {
  readonly #bot: LoadedBot;
  readonly #showLine: ShowLine;
  readonly #clock: Clock;
  readonly #matches = new Map<string, PlayedMatch>();
  /** Message ids of invitations that were accepted. */
  readonly #envelopes = new Set<string>();
  /** The invitations to matches that are over. A referee that lost the match, and cannot reach the manager, may still invite to an older epoch. */
  readonly #ended = new Map<string, Invitation>();
  #begun = 0;
  #won = 0;
  #lastResult: GameResult | null = null;

  constructor(bot: LoadedBot, showLine: ShowLine, clock: Clock) {
    this.#bot = bot;
    this.#showLine = showLine;
    this.#clock = clock;
  }

  /**
   * Accepts or declines an invitation; "wrong_role" if the invitation does not have the role or the match has another one.
   * `messageId` is that of the invitation's envelope: an envelope that is received again begins no second match.
   */
  async invite(invite: GameInvite, token: string, messageId: string | null = null): Promise<InviteAnswer> {
    const bot = this.#bot;
    const game = findGame(invite.game);
    if (bot.games && !bot.games.some((id) => id === invite.game)) {
      return { accept: false, reason: `${bot.name} does not play ${invite.game}` };
    }
    if (!Object.hasOwn(invite.roles, invite.your_role)) return "wrong_role";
    const key = keyOf(invite, token);
    const known = this.#matches.get(key);
    const accepted = known?.accepted ?? [];
    const ended = known ? undefined : this.#ended.get(key);
    const verdict = ended && isOlder(invite, ended) ? "old_epoch" : judgeInvitation(invite, accepted);
    if (verdict === "old_epoch") return { accept: false, reason: "the match has a newer epoch" };
    if (verdict === "repeat") {
      if (invite.your_role !== known?.info.role) return "wrong_role";
      this.#remember(messageId);
      return { accept: true };
    }
    if (messageId !== null && this.#envelopes.has(messageId)) return { accept: false, reason: "this match is over" };
    drop(this.#matches, key);
    if (this.#matches.size >= MAX_MATCHES) drop(this.#matches, this.#matches.keys().next().value ?? "");
    const log = (line: string): void => this.#showLine(line, invite);
    const match = newMatch(invite, game, accepted, { bot, log, clock: this.#clock });
    this.#matches.set(key, match);
    this.#remember(messageId);
    this.#begun++;
    await this.#runHook(() => match.bot.start?.(match.info, waitMsOf(invite)));
    return { accept: true };
  }

  /**
   * Resolves with the bot's action, with `failed` and a reason if it chose none, with "unknown_match" if the player has accepted no
   * invitation to the match with this token and epoch, "old_epoch" if the match has a newer epoch, or "wrong_role" if it has another role.
   */
  async move(received: MoveRequest, token: string): Promise<MoveAnswer> {
    const match = this.#matches.get(keyOf(received, token));
    const { epoch = null } = received;
    // The player has no invitation of a newer epoch yet. The referee invites it again after this answer.
    if (!match || (epoch !== null && epoch > match.invite.epoch)) return "unknown_match";
    if (epoch !== null && epoch < match.invite.epoch) return "old_epoch";
    if (received.your_role !== match.info.role) return "wrong_role";
    const request = receiveView(match, received);
    if (request === null) return "unknown_match";
    const endsAt = this.#clock.monotonic() + request.time_limit_seconds * 1000;
    let answer = request.error == null ? match.answers.get(request.tick) : undefined;
    if (!answer) {
      answer = chooseAction(match, request, this.#bot.readsHistory);
      match.answers.set(request.tick, answer);
    }
    try {
      return { move: await answer };
    } catch (thrown) {
      match.answers.delete(request.tick);
      if (isWithdrawn(match.end.signal)) return { failed: "the match was withdrawn" };
      const failed = this.#faultOf(thrown);
      if (this.#clock.monotonic() >= endsAt) await this.#clock.pause(LATE_MS, match.end.signal);
      return { failed };
    }
  }

  /** Ends a match. Resolves with the match, or null if this process does not play the match of the result. */
  async finish(result: GameResult, token: string): Promise<MatchInfo | null> {
    const key = keyOf(result, token);
    const match = this.#matches.get(key);
    if (!match || !isResultOf(match, result)) return null;
    endMatch(match);
    this.#matches.delete(key);
    this.#rememberEnd(key, match.invite);
    this.#lastResult = result;
    if (winningRoles(match.info, result).includes(match.info.role)) this.#won++;
    await this.#runHook(() => match.bot.end?.(result));
    return match.info;
  }

  /** Whether the player plays a match of this name (`league_id/match_id`) whose invitation had this token. */
  isPlaying(ref: string, token: string): boolean {
    return this.#matches.has(keyOfRef(ref, token));
  }

  /** The id of the player in that match; null if it does not play it. */
  idIn(ref: string, token: string): string | null {
    const { roles, role } = this.#matches.get(keyOfRef(ref, token))?.info ?? {};
    return (role !== undefined && roles?.[role]) || null;
  }

  /** The matches and results of the player. Actions and open requests contain hidden choices and views, so only the owner may see them. */
  state(showsActions: boolean): object {
    return {
      bot: this.#bot.name,
      matches_begun: this.#begun,
      matches_won: this.#won,
      last_result: this.#lastResult,
      playing: [...this.#matches.values()].map((match) => matchState(match, showsActions)),
    };
  }

  /** Aborts all open turns and drops all matches. */
  close(): void {
    for (const key of [...this.#matches.keys()]) drop(this.#matches, key);
  }

  #remember(messageId: string | null): void {
    if (messageId === null) return;
    const envelopes = this.#envelopes;
    if (envelopes.size >= MAX_REMEMBERED) envelopes.delete(envelopes.values().next().value ?? "");
    envelopes.add(messageId);
  }

  #rememberEnd(key: string, { epoch, seed_commitment, run_id }: Invitation): void {
    const ended = this.#ended;
    ended.delete(key); // the order is that of the ends
    if (ended.size >= MAX_REMEMBERED) ended.delete(ended.keys().next().value ?? "");
    ended.set(key, { epoch, seed_commitment, run_id });
  }

  /** Runs a hook of the bot. Its errors are shown to the user and do not end the match. */
  async #runHook(hook: () => unknown): Promise<void> {
    try {
      await hook();
    } catch (thrown) {
      this.#showLine(messageOf(thrown));
    }
  }

  /** Shows why the bot has chosen no action. Returns the reason for the referee. */
  #faultOf(thrown: unknown): string {
    if (thrown instanceof LoggedFault) return thrown.message;
    const reason = messageOf(thrown);
    this.#showLine(thrown instanceof NotAnAction ? `${this.#bot.name}: ${reason}` : reason);
    return reason;
  }
}

/** The time for which a player can wait before it answers an invitation, if the invitation says it. The rest is for the way of the answer. */
function waitMsOf({ time_limit_seconds: seconds }: GameInvite): number | undefined {
  if (seconds == null) return undefined;
  const limitMs = Math.min(Math.max(0, seconds * 1000), MAX_TIMER_MS);
  return limitMs - Math.min(ANSWER_MS, limitMs / 4);
}

const keyOfRef = (ref: string, token: string): string => `${ref} ${token}`;

const keyOf = ({ league_id, match_id }: { league_id: string; match_id: string }, token: string): string =>
  keyOfRef(matchRef(league_id, match_id), token);

/** Ends a match without a result. */
function drop(matches: Map<string, PlayedMatch>, key: string): void {
  const match = matches.get(key);
  if (!match) return;
  withdrawMatch(match);
  matches.delete(key);
  match.bot.close?.();
}
