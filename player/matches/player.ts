import type { Game } from "#shared/games/game.ts";
import { findGame } from "#shared/games/registry.ts";
import { completeView, type HistoryPath, historyIn, shownView, withOwnHistory } from "#shared/games/view-history.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { matchRef } from "#shared/lib/ids.ts";
import { messageOf } from "#shared/lib/result.ts";
import type { GameInvite, GameResult, MoveRequest } from "#shared/protocol/messages.ts";
import { NotAnAction } from "../bot-process/bot-object.ts";
import { type LoadedBot, LoggedFault, type MatchBot } from "../loaded-bot.ts";
import { winningRoles } from "../notifications.ts";
import type { MatchInfo } from "../sdk.ts";
import { type TurnContext, turnOf } from "./turn.ts";

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

/** A match that the player has accepted. */
interface PlayedMatch {
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

function newMatch(
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
const receiveView = ({ lastView, turns }: PlayedMatch, request: MoveRequest): MoveRequest | null =>
  lastView.complete(request, turns.game?.info.history ?? null);

/** Asks the bot for an action and records it. Rejects with the error of the bot, or with NotAnAction if it returns no action. */
async function chooseAction(match: PlayedMatch, request: MoveRequest, readsHistory: boolean): Promise<unknown> {
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
const isResultOf = ({ invite }: PlayedMatch, { epoch, seed }: GameResult): boolean =>
  (epoch == null || epoch >= invite.epoch) && sha256Hex(seed) === invite.seed_commitment;

/** Aborts an open turn. */
const endMatch = ({ end }: PlayedMatch): void => end.abort(MATCH_OVER);

/** Aborts an open turn of a match that ends without a result, because it is played again or the player stops. */
const withdrawMatch = ({ end }: PlayedMatch): void => end.abort(WITHDRAWN);

/** Whether a turn was aborted because its match ended without a result. Its bot has then missed no time limit. */
export const isWithdrawn = ({ reason }: AbortSignal): boolean => reason === WITHDRAWN;

/** The state of a match for get_my_state. `showsActions` includes the actions and the open request, which only the owner of the player may see. */
const matchState = ({ info, actions, open, turns }: PlayedMatch, showsActions: boolean): object => ({
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

/** The fields that distinguish two invitations to one match. */
export type Invitation = Pick<GameInvite, "epoch" | "seed_commitment" | "run_id">;

type Verdict = "begin" | "repeat" | "old_epoch";

/**
 * Decides on an invitation. `accepted` lists the invitations to matches of the same name that the player has accepted, oldest first.
 * A later epoch may have another seed. In another run the match of this name has another seed and its epochs start at 1. Messages may
 * arrive out of order, so an invitation of an older epoch may arrive for the first time.
 */
export function judgeInvitation(invite: Invitation, accepted: readonly Invitation[]): Verdict {
  const current = accepted.at(-1);
  if (!current) return "begin";
  if (isSame(invite, current)) return "repeat";
  return isOlder(invite, current) || accepted.some((earlier) => isSame(invite, earlier)) ? "old_epoch" : "begin";
}

/** Whether an invitation is of an earlier epoch of the same run than another invitation to a match of this name. */
const isOlder = (invite: Invitation, other: Invitation): boolean =>
  isSameRun(invite, other) && invite.epoch < other.epoch;

/** The number of earlier epochs of a match that are remembered. */
const MAX_EARLIER = 10;

/** The accepted invitations to remember after `invite` was accepted. Those of an earlier run are dropped. */
export function acceptedWith(invite: Invitation, accepted: readonly Invitation[]): readonly Invitation[] {
  const current = accepted.at(-1);
  const { epoch, seed_commitment, run_id } = invite;
  return [
    ...(current && epoch > current.epoch ? accepted.slice(-MAX_EARLIER) : []),
    { epoch, seed_commitment, run_id },
  ];
}

/** Whether two invitations are known to be of the same run. Some referees do not send `run_id`. */
const isSameRun = (a: Invitation, b: Invitation): boolean =>
  a.seed_commitment === b.seed_commitment || (a.run_id != null && a.run_id === b.run_id);

const isSame = (a: Invitation, b: Invitation): boolean =>
  a.epoch === b.epoch && a.seed_commitment === b.seed_commitment;

/** The longest history that a player keeps of a match, in characters of JSON: about four times that of the largest complete request. */
const MAX_HISTORY_CHARACTERS = 1_000_000;

/** The complete view of the last turn of a match. Later requests may leave out what is in it (PROTOCOL.md, "Views without the known history"). */
export class LastView {
  #tick = -1;
  #view: unknown;
  /** The length of its history as JSON; null until a request needs it. */
  #characters: number | null = null;

  /**
   * Returns a request with its complete view, and remembers the view. Returns null if the player does not have what is left out, or if the history would
   * be too long. `path` is that of the history in the game; null if the player does not know the game.
   */
  complete(request: MoveRequest, path: HistoryPath | null): MoveRequest | null {
    const { tick, game_state, omitted_history: omitted } = request;
    if (!omitted) {
      this.#remember(tick, game_state, path, null);
      return request;
    }
    const view = completeView(game_state, omitted, this.#view);
    const characters = view === null ? 0 : this.#charactersWith(game_state, omitted);
    if (view === null || characters > MAX_HISTORY_CHARACTERS) return null;
    this.#remember(tick, view, omitted.list, characters);
    return { ...request, game_state: view };
  }

  #remember(tick: number, view: unknown, path: HistoryPath | null, characters: number | null): void {
    // A request of an earlier turn can arrive late, and its view has less.
    if (tick < this.#tick) return;
    this.#tick = tick;
    this.#view = path ? withOwnHistory(view, path) : view;
    this.#characters = characters;
  }

  /** The length of the history with the elements of a request, as JSON. A usual request adds all its elements, which need not be counted again then. */
  #charactersWith(added: unknown, { list, from }: { readonly list: HistoryPath; readonly from: number }): number {
    const known = historyIn(this.#view, list) ?? [];
    const isAllKept = from === known.length && this.#characters !== null;
    const kept = isAllKept ? (this.#characters ?? 0) : JSON.stringify(known.slice(0, from)).length;
    return kept + JSON.stringify(historyIn(added, list)).length;
  }
}
