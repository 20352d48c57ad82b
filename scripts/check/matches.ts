import { evenOdd } from "#shared/games/even-odd.ts";
import type { Game, Role } from "#shared/games/game.ts";
import { type Clock, isoAt } from "#shared/lib/clock.ts";
import { type Ids, matchRef } from "#shared/lib/ids.ts";
import { ok } from "#shared/lib/result.ts";
import { createRandom } from "#shared/lib/rng.ts";
import { type DialectId, NATIVE, parseSpeech, speechText } from "#shared/protocol/dialects/dialect.ts";
import { DEFAULT_FORM } from "#shared/protocol/dialects/forms.ts";
import { historyField, Timeouts } from "#shared/protocol/message-fields.ts";
import type { MatchResult, StartGame } from "#shared/protocol/messages.ts";
import { optionsOfNew } from "#shared/session/session.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { localWriter } from "#shared/store/writer.ts";
import {
  type DrivenMatch,
  invitationFor,
  KnownHistory,
  MatchAnswerTimes,
  type MatchDriver,
  MatchWithdrawn,
  matchResult,
  notifyResult,
  playMatch,
  seatedPlayers,
  seatsOf,
  turnFor,
} from "../../referee/match/play-match.ts";
import { type Asker, type AskFault, createAsker, type SeatedPlayer } from "../../referee/match/player-messages.ts";
import { createHost, type SessionHost, sessionOf } from "../../referee/sessions/host.ts";
import { SESSION_SCHEMA, sessionStore } from "../../referee/sessions/session-store.ts";
import { type Call, type Caller, LEAGUE_ID, REFEREE } from "./caller.ts";
import { namesGame } from "./registration-desk.ts";
import { contactOf, type Subject, signatureFor } from "./subject.ts";

/** A match of the player against opponents that move at random. */
export interface PlayedMatch {
  readonly order: StartGame;
  readonly game: Game;
  readonly role: Role;
  /** null if the match was ended before its end, because it took too long. */
  readonly result: MatchResult | null;
}

/** A match that has begun, with the payloads of the messages about it. */
export interface OpenMatch {
  readonly order: StartGame;
  readonly game: Game;
  readonly role: Role;
  readonly sessionId: string;
  readonly self: SeatedPlayer;
  /** The payload of GAME_INVITE. */
  invitation(): { readonly match_id: string };
  /** The payload of a MOVE_REQUEST for the open turn. */
  moveRequest(): { readonly match_id: string };
}

/** What a match is played about. `options` are the first ones of the settings of the game by default, and the seed is random. */
interface Seat {
  readonly game: Game;
  readonly role: Role;
  readonly options?: object;
  readonly leagueId?: string;
  readonly seed?: string;
}

/** Plays matches of the player with the driver of the referee, in memory. */
export class Matches {
  readonly #caller: Caller;
  readonly #host: SessionHost;
  readonly #driver: MatchDriver;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #timeouts: StartGame["timeouts"];
  readonly #given: GivenOptions | null;
  /** The seeds of the matches, by id. */
  readonly #seeds = new Map<string, string>();
  #count = 0;

  constructor(
    caller: Caller,
    clock: Clock,
    ids: Ids,
    limits: Pick<StartGame["timeouts"], "join_ms" | "move_ms">,
    given: GivenOptions | null = null,
  ) {
    this.#given = given;
    this.#caller = caller;
    this.#clock = clock;
    this.#ids = ids;
    this.#timeouts = { ...limits, game_over_ms: Timeouts.parse({}).game_over_ms };
    const db = openSqlite(":memory:", SESSION_SCHEMA);
    this.#host = createHost(sessionStore(db, localWriter(db, clock)), clock, ids);
    const asker = createAsker(caller.peers, () => REFEREE, clock, ids);
    this.#driver = {
      host: this.#host,
      asker: withOpponents(asker, (matchId) => this.#seeds.get(matchId) ?? ""),
      clock,
      ids,
    };
  }

  /** Returns the options with which a game is played, at least one object. */
  settingsOf = (subject: Subject, game: Game): readonly object[] => settingsOf(subject, game, this.#given);

  #order(subject: Subject, { game, role, options, leagueId = LEAGUE_ID }: Seat, seed: string): StartGame {
    const match_id = `R1M${++this.#count}`;
    this.#seeds.set(match_id, seed);
    const about = matchRef(leagueId, match_id);
    const { playerId, endpoint, dialect, games, wantsLegalActions, wantsRoundResults, wantsDeltaViews } = subject;
    const others = game.roles.filter((one) => one !== role);
    const opponent = (index: number) => ({
      player_id: `P${String(index + 2).padStart(2, "0")}`,
      endpoint: OPPONENT_ENDPOINT,
      dialect: "native",
      match_token: signatureFor({ token: null, playerId: `P${index + 2}` }, about),
      legal_actions: true,
      round_results: false,
    });
    const self = {
      player_id: playerId,
      endpoint,
      dialect,
      match_token: signatureFor(subject, about),
      dialect_token: contactOf(subject)?.token,
      legal_actions: wantsLegalActions || !namesGame(games ?? [], game),
      round_results: wantsRoundResults,
      ...historyField(wantsDeltaViews),
    };
    return {
      league_id: leagueId,
      round_id: 1,
      match_id,
      epoch: 1,
      run_id: LEAGUE_ID,
      game: game.id,
      options: options ?? this.settingsOf(subject, game)[0],
      seed,
      roles: Object.fromEntries(
        game.roles.map((one) => [one, one === role ? self : opponent(others.indexOf(one))] as const),
      ),
      timeouts: this.#timeouts,
    };
  }

  /** Announces a match to a player of another dialect, which may need the endpoint of the referee for its answers. */
  async #announce(subject: Subject, { round_id, match_id, game, roles: seats, timeouts }: StartGame): Promise<void> {
    const { dialect, refereeEndpoint: referee_endpoint } = subject;
    if (dialect === NATIVE || referee_endpoint === null) return;
    const roles = Object.fromEntries(Object.entries(seats).map(([role, { player_id }]) => [role, player_id]));
    const matches = [{ match_id, game, roles, referee_endpoint }];
    const options = { timeoutMs: timeouts.join_ms, retry: true };
    await this.#caller.announce(subject, "ROUND_ANNOUNCEMENT", { round_id, matches }, options);
  }

  /** Begins a match without inviting the player, for single messages about it. The caller ends it with `abort`. */
  async begin(subject: Subject, seat: Seat): Promise<OpenMatch> {
    const order = this.#order(subject, seat, seat.seed ?? this.#ids.token());
    const { game, role } = seat;
    const options = game.options.parse(order.options);
    const { id: sessionId } = await this.#host.create({ game, options, seed: order.seed, seats: seatsOf(order) });
    const { signal } = new AbortController();
    const players = seatedPlayers(this.#driver, order, sessionId, signal);
    const self = players.find((player) => player.role === role) as SeatedPlayer;
    const session = sessionOf(this.#driver, sessionId);
    const match: DrivenMatch = {
      order,
      game,
      options: session.options,
      players,
      listeners: [],
      signal,
      closedRounds: 0,
      answerTimes: new MatchAnswerTimes(),
      knownHistory: new KnownHistory(),
    };
    const { move_ms } = order.timeouts;
    await this.#announce(subject, order);
    return {
      order,
      game,
      role,
      sessionId,
      self,
      invitation: () => ({ ...invitationFor(match, self, this.#timeouts.join_ms) }),
      moveRequest: () => ({
        ...turnFor(match, sessionOf(this.#driver, sessionId), self),
        deadline: isoAt(this.#clock.now() + move_ms),
        time_limit_seconds: move_ms / 1000,
        last_round_trip_ms: null,
      }),
    };
  }

  /** Begins a match in which the player has the first move. */
  beginFirst(subject: Subject, game: Game): Promise<OpenMatch> {
    const seed = this.#ids.token();
    const options = optionsOfNew(game, game.options.parse(this.settingsOf(subject, game)[0]));
    const [role = ""] = game.toAct(game.initialState({ options, seed }));
    return this.begin(subject, { game, role, seed });
  }

  /** Invites the player to a match. Resolves with the call, and with the fault unless the player accepts. */
  async invite({ order, self, invitation }: OpenMatch): Promise<{ call: Call; fault: AskFault | null }> {
    const answer = await this.#driver.asker.invite(self, invitation(), order.timeouts.join_ms);
    await this.#caller.findCauses();
    const call = this.callsOf(order).findLast(({ isNotification }) => !isNotification);
    if (!call) throw new Error("the invitation was not recorded");
    return { call, fault: answer.ok ? null : answer.error };
  }

  /** The calls about a match, in the order of their answers. */
  callsOf({ match_id }: Pick<StartGame, "match_id">): readonly Call[] {
    return this.#caller.calls.filter(({ message }) => message.payload.match_id === match_id);
  }

  /** Ends a match without a result and notifies the player. */
  async abort({ order, sessionId }: Pick<OpenMatch, "order" | "sessionId">): Promise<void> {
    await this.#host.abort(sessionId, "ended_by_the_check");
    const result = matchResult(this.#driver, order, sessionOf(this.#driver, sessionId));
    await notifyResult(this.#driver, order, sessionId, result, new AbortController().signal);
    this.#host.forget(sessionId);
  }

  /** Plays a match of the player to its end, or for at most `limitMs`, and sends the result. */
  async play(subject: Subject, seat: Seat, limitMs: number): Promise<PlayedMatch> {
    const { order, sessionId } = await this.begin(subject, seat);
    const { game, role } = seat;
    try {
      const result = await playMatch(this.#driver, order, sessionId, this.#clock.timeout(limitMs));
      await this.#caller.findCauses();
      await notifyResult(this.#driver, order, sessionId, result, new AbortController().signal);
      return { order, game, role, result };
    } catch (thrown) {
      if (!(thrown instanceof MatchWithdrawn)) throw thrown;
      await this.abort({ order, sessionId });
      return { order, game, role, result: null };
    }
  }
}

/** The endpoint of an opponent in the orders of the check. It is never called. */
const OPPONENT_ENDPOINT = "opponent:";

/**
 * Returns an asker whose opponents of the player move at random in this process. Their moves depend on the seed of the match only, which `seedOf` returns
 * by the id of the match. `asker` asks the player.
 */
const withOpponents = (asker: Asker, seedOf: (matchId: string) => string): Asker => ({
  invite: async (player, invitation, limitMs) =>
    isOpponent(player) ? ok(null) : asker.invite(player, invitation, limitMs),
  requestMove: async (player, request, limitMs) => {
    if (!isOpponent(player)) return asker.requestMove(player, request, limitMs);
    const { match_id, tick, legal_actions = [] } = request as OpponentRequest;
    const random = createRandom(`${seedOf(match_id)}/${player.role}/${tick}`);
    return { kind: "move", move: random.pick(legal_actions), raw: () => "", lateMs: 0 };
  },
  lastRoundTripMs: (endpoint) => asker.lastRoundTripMs(endpoint),
  inOrder: (player) => (isOpponent(player) ? null : asker.inOrder(player)),
  notify: async (player, type, payload, limitMs) => {
    if (!isOpponent(player)) await asker.notify(player, type, payload, limitMs);
  },
});

interface OpponentRequest {
  readonly match_id: string;
  readonly tick: number;
  readonly legal_actions?: readonly unknown[];
}

const isOpponent = ({ endpoint }: SeatedPlayer): boolean => endpoint === OPPONENT_ENDPOINT;

/** The options that the user gives for one game. */
export interface GivenOptions {
  readonly game: Game;
  readonly options: object;
}

/**
 * Options that leagues use often and that change the views or the number of turns of a game: a player that is correct
 * with the default options may fail with them.
 */
const FURTHER: Readonly<Record<string, readonly object[]>> = {
  "rps.v1": [{ best_of: 3 }],
  "chess.v1": [{ max_plies: 60 }],
};

/** Returns the options with which a game is played, one after the other: those of the user, or the defaults and the further ones. */
function settingsOf({ dialect }: Subject, { id }: Game, given: GivenOptions | null): readonly object[] {
  // The dialect of the classroom has even/odd only in the variant `draw`.
  const needed = parseSpeech(dialect)?.id === "classroom" && id === "even_odd.v1" ? { variant: "draw" } : {};
  if (given?.game.id === id) return [{ ...needed, ...given.options }];
  return [needed, ...(FURTHER[id] ?? [])];
}

/** Returns options as `name=value` pairs, as the command line has them. */
export const settingText = (options: unknown): string =>
  Object.entries(options as object)
    .map(([name, value]) => `${name}=${value}`)
    .join(" ");

/** The dialects in the order of the search. In league.v1 any answer without an error accepts a match, so it is tried last. */
const SEARCHED = ["classroom", "league.v1"] as const satisfies readonly DialectId[];

/**
 * Returns a player with its dialect, for a player whose registration does not show it: the first dialect in which it accepts an invitation to even/odd.
 * A player that answers in the native dialect is native, and so is a player that accepts in none.
 */
export async function withDialect(matches: Matches, subject: Subject): Promise<Subject> {
  const speeches = SEARCHED.map((id) => speechText({ id, form: DEFAULT_FORM }));
  for (const dialect of [NATIVE, ...speeches]) {
    const tried = { ...subject, dialect };
    const match = await matches.begin(tried, { game: evenOdd as unknown as Game, role: "ODD" });
    const { call, fault } = await matches.invite(match);
    const { answer } = call;
    const isUnreachable = !answer.ok && (answer.error.cause === "timeout" || answer.error.cause === "refused");
    if (isUnreachable && dialect === NATIVE) return tried;
    if (fault === null) await matches.abort(match);
    if (dialect === NATIVE ? answer.ok : fault === null) return tried;
  }
  return subject;
}
