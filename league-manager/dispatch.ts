import { matchRef } from "#shared/lib/ids.ts";
import type { Result } from "#shared/lib/result.ts";
import { inOneLine, toldAs } from "#shared/lib/text.ts";
import { type Envelope, newEnvelope } from "#shared/protocol/envelope.ts";
import type { StartGame } from "#shared/protocol/messages.ts";
import { signFor } from "#shared/protocol/signing.ts";
import { canReach } from "#shared/rpc/addresses.ts";
import { asRefused, type Peers } from "#shared/rpc/peer.ts";
import type { CallFault } from "#shared/rpc/pending.ts";
import type { Logger } from "#shared/runtime/logger.ts";
import type { Agent } from "./agents.ts";
import type { Match } from "./league.ts";
import type { AgentRegistry } from "./registry.ts";
import { createWithdrawals } from "./withdrawals.ts";

export interface DispatchOptions {
  readonly registry: AgentRegistry;
  readonly peers: Peers;
  readonly log: Logger;
  readonly sender: string;
  readonly timeoutMs: number;
  /** How long a referee may have a match. */
  readonly matchMs: number;
  /** A referee that answers its probes has not brought a match to an end in that time. */
  readonly onOverdue: (match: Match) => void;
  /** Keeps a match's referee and epoch on disk before anybody is told. */
  readonly save: (match: Match) => Promise<void>;
  readonly orderOf: (match: Match) => StartGame;
  readonly gameOf: (match: Match) => string;
  /** The match's place in its round, from 0. */
  readonly turnOf: (match: Match) => number;
  /** A referee went silent or came back; `left` is how many answer now. */
  readonly onReferee: (referee: Agent, isUp: boolean, left: number) => void;
  /** How long a referee may refuse a match before it goes to another; for tests. */
  readonly refusalsMs?: number;
  /** How long a referee that takes no match is offered none while there are others; for tests. */
  readonly unfitMs?: number;
  /** A referee answers but takes no match. */
  readonly onRefusal: (referee: Agent, why: string) => void;
  /** A match waits because no referee that answers plays its game and reaches its players; called once for each match. */
  readonly onNoReferee: (match: Match) => void;
}

export interface Dispatcher {
  /** Hands matches out to referees; those that find no free one wait. The choice is made before this returns. */
  enqueue(matches: readonly Match[]): void;
  /** The match has a result, or has failed with this referee: it has a place free, and a failed match goes to another if there is one. */
  release(match: Match, end?: "failed"): void;
  /**
   * Takes an overdue match from its referee. The match occupies its place until the referee has acknowledged that. Returns the function
   * that informs the referee; call it when the match's next epoch or result is on disk.
   */
  withdraw(match: Match): () => void;
  /** A referee has registered or come back. */
  welcome(referee: Agent): void;
  /** The matches that are a referee's own now. */
  assignedTo(refereeId: string): readonly Match[];
  /** The referees that answer no probe, and so have lost their matches: the longest silent first. */
  silent(): readonly Agent[];
  /** A silent referee is no longer registered. */
  forget(referee: Agent): void;
  stop(): void;
}

const PROBE_EVERY_MS = 1_000;
const PROBE_TIMEOUT_MS = 1_000;
/** After so many missed probes in a row a referee's matches are given to another. */
const MAX_MISSES = 3;
const RESEND_MS = 300;
/** How long a referee may refuse a match: one that was started anew does until it is registered again. */
const REFUSALS_MS = 3_000;
/** After this time an unfit referee is offered one match, which decides whether it is fit again. */
const UNFIT_MS = 10_000;

export function createDispatcher(options: DispatchOptions): Dispatcher {
  const { registry, peers, log, sender, timeoutMs, save, orderOf, gameOf } = options;
  const { refusalsMs = REFUSALS_MS, unfitMs = UNFIT_MS } = options;
  const waiting = new Set<Match>();
  const assigned = new Map<string, Set<Match>>();
  const limits = new Map<Match, NodeJS.Timeout>();
  const misses = new Map<string, number>();
  /** Referees that answer and take no match, e.g. because of a wrong endpoint: until this time they are offered none while there are others. */
  const unfit = new Map<string, number>();
  /** With whom a match has failed. */
  const failedWith = new WeakMap<Match, Set<string>>();
  const withoutReferee = new WeakSet<Match>();
  let stopped = false;

  const isUp = (referee: Agent): boolean => (misses.get(referee.id) ?? 0) < MAX_MISSES;
  const matchesOf = (refereeId: string): Set<Match> => {
    const matches = assigned.get(refereeId) ?? new Set();
    assigned.set(refereeId, matches);
    return matches;
  };
  const isFit = (referee: Agent): boolean => {
    const unfitUntil = unfit.get(referee.id);
    if (unfitUntil === undefined) return isUp(referee);
    return isUp(referee) && performance.now() >= unfitUntil && matchesOf(referee.id).size === 0;
  };
  const withdrawals = createWithdrawals({ peers, sender, timeoutMs, isUp, onAcknowledged: () => deal() });
  const reaches = (referee: Agent, match: Match): boolean =>
    Object.values(match.roles).every((id) => canReach(referee.endpoint, registry.get(id)?.endpoint ?? ""));
  const plays = (referee: Agent, match: Match): boolean =>
    referee.gameTypes.includes(gameOf(match)) && reaches(referee, match);
  const hasPlace = ({ id, maxConcurrent }: Agent): boolean =>
    matchesOf(id).size + withdrawals.count(id) < maxConcurrent;

  /** The nth match of a round prefers the nth referee, so that the same league is dealt out alike each time. */
  const deal = (): void => {
    if (stopped) return;
    const able = registry.all("referee").filter(isUp);
    for (const match of waiting) {
      if (!able.some(hasPlace)) return;
      const turn = options.turnOf(match);
      const order = able.map((_, step) => able[(turn + step) % able.length] as Agent);
      const judges = order.filter((one) => plays(one, match));
      if (judges.length === 0 && !withoutReferee.has(match)) {
        withoutReferee.add(match);
        options.onNoReferee(match);
      }
      const fit = judges.filter(isFit);
      const untried = fit.filter(({ id }) => !failedWith.get(match)?.has(id));
      const best = [untried, fit, judges].find((some) => some.length > 0);
      const referee = best?.find(hasPlace);
      if (referee) assign(match, referee);
    }
  };

  const assign = (match: Match, referee: Agent): void => {
    waiting.delete(match);
    match.refereeId = referee.id;
    match.status = "assigned";
    matchesOf(referee.id).add(match);
    clearTimeout(limits.get(match));
    limits.set(match, setTimeout(options.onOverdue, options.matchMs, match).unref());
    handOver(match, referee, match.epoch).catch((thrown) =>
      log.error({ err: thrown }, "a match could not be handed out"),
    );
  };

  /** Tells the referee until it has accepted, the match is done or it belongs to another. */
  const handOver = async (match: Match, referee: Agent, epoch: number): Promise<void> => {
    await save(match);
    const begun = performance.now();
    const isStillTheirs = (): boolean =>
      !stopped && match.epoch === epoch && match.refereeId === referee.id && match.status === "assigned";
    while (isStillTheirs()) {
      const ref = matchRef(match.leagueId, match.matchId);
      const authToken = signFor(referee.tokenHash, ref);
      const envelope = newEnvelope("START_GAME", sender, orderOf(match), { authToken });
      const reply = await peers.message(referee.endpoint, envelope, { timeoutMs }).catch(asRefused);
      if (reply.ok && reply.value.type === "START_GAME_RESPONSE") {
        unfit.delete(referee.id);
        return;
      }
      const why = whyNotStarted(reply);
      const answer = reply.ok ? reply.value.payload : reply.error;
      log.warn({ match: ref, referee: referee.id, why, answer }, "start_game failed");
      // Refused connections are handled by the health probes.
      const isRefusal = reply.ok || reply.error.cause !== "refused";
      if (isRefusal && performance.now() - begun > refusalsMs && isStillTheirs()) {
        const isFull = reply.ok && reply.value.payload.error_code === "G005" && reply.value.payload.retryable === true;
        if (!isFull) markUnfit(referee, why);
        const others = registry.all("referee").filter((one) => one !== referee && isFit(one) && plays(one, match));
        // A match stays with a full referee until another one has a place.
        if (isFull ? others.some(hasPlace) : others.length > 0) {
          addFailure(match, referee.id);
          takeAway(referee, [match]);
        }
      }
      await new Promise((resolve) => setTimeout(resolve, RESEND_MS));
    }
  };

  const markUnfit = (referee: Agent, why: string): void => {
    if (!unfit.has(referee.id)) options.onRefusal(referee, inOneLine(why.slice(0, 200)));
    unfit.set(referee.id, performance.now() + unfitMs);
  };

  const addFailure = (match: Match, refereeId: string): void =>
    void failedWith.set(match, new Set(failedWith.get(match)).add(refereeId));

  const takeAway = (referee: Agent, orphans: readonly Match[]): void => {
    const informs = orphans.map((match) => {
      const inform = withdrawals.add(referee, match);
      matchesOf(referee.id).delete(match);
      match.epoch++;
      match.refereeId = null;
      match.status = "scheduled";
      waiting.add(match);
      return inform;
    });
    Promise.all(orphans.map(save)).then(
      () => {
        for (const inform of informs) inform();
        deal();
      },
      (thrown) => log.error({ err: thrown }, "matches could not be given away"),
    );
  };

  const probe = async (referee: Agent): Promise<void> => {
    const alive = await peers.isAlive(new URL("/health", referee.endpoint).href, PROBE_TIMEOUT_MS);
    if (stopped || registry.get(referee.id) !== referee) return;
    const before = isUp(referee);
    misses.set(referee.id, alive ? 0 : (misses.get(referee.id) ?? 0) + 1);
    if (before === isUp(referee)) return;
    options.onReferee(referee, alive, registry.all("referee").filter(isUp).length);
    if (alive) {
      withdrawals.inform(referee);
      deal();
    } else takeAway(referee, [...matchesOf(referee.id)]);
  };

  const timer = setInterval(() => {
    deal(); // the time of an unfit referee may be over
    for (const referee of registry.all("referee")) {
      probe(referee).catch((thrown) => log.warn({ err: thrown, referee: referee.id }, "a referee could not be probed"));
    }
  }, PROBE_EVERY_MS);
  timer.unref();

  return {
    enqueue(matches) {
      for (const match of matches) {
        const referee = match.status === "assigned" && match.refereeId ? registry.get(match.refereeId) : undefined;
        if (referee) assign(match, referee);
        else waiting.add(match);
      }
      deal();
    },
    release(match, end) {
      if (match.refereeId !== null) {
        matchesOf(match.refereeId).delete(match);
        if (end) addFailure(match, match.refereeId);
      }
      waiting.delete(match);
      clearTimeout(limits.get(match));
      limits.delete(match);
      deal();
    },
    withdraw(match) {
      const referee = registry.get(match.refereeId ?? "");
      return referee ? withdrawals.add(referee, match) : () => {};
    },
    welcome(referee) {
      misses.set(referee.id, 0);
      unfit.delete(referee.id);
      withdrawals.inform(referee);
      deal();
    },
    assignedTo: (refereeId) => [...matchesOf(refereeId)],
    silent: () =>
      registry
        .all("referee")
        .filter((referee) => !isUp(referee) && matchesOf(referee.id).size === 0)
        .sort((a, b) => (misses.get(b.id) ?? 0) - (misses.get(a.id) ?? 0)),
    forget({ id }) {
      for (const known of [misses, unfit, assigned]) known.delete(id);
      withdrawals.forget(id);
    },
    stop() {
      stopped = true;
      withdrawals.stop();
      clearInterval(timer);
      for (const limit of limits.values()) clearTimeout(limit);
    },
  };
}

/** Why a START_GAME was not accepted. */
function whyNotStarted(reply: Result<Envelope, CallFault>): string {
  if (!reply.ok) {
    const { cause, detail } = reply.error;
    const isMalformed = cause === "bad_json" || cause === "bad_reply";
    return isMalformed ? `${detail}; START_GAME takes an envelope of type START_GAME_RESPONSE as its answer` : detail;
  }
  const { type, payload } = reply.value;
  const isError = type === "GAME_ERROR" || type === "LEAGUE_ERROR";
  return isError ? toldAs(payload.message) : `it answered ${type} instead of START_GAME_RESPONSE`;
}
