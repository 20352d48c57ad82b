import { sha256Hex } from "#shared/lib/hash.ts";
import { derivedMessageId, matchRef } from "#shared/lib/ids.ts";
import { err, type Result } from "#shared/lib/result.ts";
import { asText } from "#shared/lib/text.ts";
import { type Envelope, newEnvelope } from "#shared/protocol/envelope.ts";
import { signFor } from "#shared/protocol/signing.ts";
import type { CallFault } from "#shared/rpc/peer/call.ts";
import { asRefused } from "#shared/rpc/peer/peer.ts";
import { releaseMatch } from "../../commands/match-commands.ts";
import { leagueStream } from "../../league/events.ts";
import { matchOf } from "../../league/evolve.ts";
import type { League, Match } from "../../league/league.ts";
import type { OpenWork } from "../../league/open-work.ts";
import type { MatchJob } from "../../match-queue.ts";
import { type EffectsContext, MANAGER_SENDER, type Part, Tasks } from "../effects-context.ts";
import type { Dispatch } from "./match-assignment.ts";
import { type Health, SILENT_PROBES } from "./referee-health.ts";
import type { Referees } from "./referees.ts";
import { type SeedOf, startGameOf } from "./start-game-message.ts";

const RESEND_MS = 300;
/** The time for which a referee may reject a match. A restarted referee rejects matches until it is registered again. */
const MAX_REJECTING_MS = 3_000;
/** A faulty referee that always claims a later epoch must not release a match without end. */
const MAX_CLAIMED_EPOCH = 20;

export interface HandOverOptions {
  readonly dispatch: Dispatch;
  readonly health: Pick<Health, "isUp">;
  readonly referees: Referees;
  readonly seedOf: SeedOf;
  /** Whether this manager holds the job of a match. */
  readonly holds: (job: MatchJob) => boolean;
  /** Resolves when a player may be invited to a match of the round: it listens and has received the announcement, or the time limits have passed. */
  readonly mayInvite: (leagueId: string, roundId: number, playerId: string) => Promise<void>;
}

/** Sends START_GAME to the referee of each assigned match until the referee accepts it or the match is completed or taken from the referee. */
export class HandOver implements Part {
  readonly duty = "match";
  readonly #context: EffectsContext;
  readonly #options: HandOverOptions;
  readonly #tasks = new Tasks();
  /** Keys of the assigned matches that their referees have accepted, by league. After a restart START_GAME is sent again, which has no effect. */
  readonly #accepted = new Map<string, Set<string>>();

  constructor(context: EffectsContext, options: HandOverOptions) {
    this.#context = context;
    this.#options = options;
  }

  reconcile(league: League, { assigned }: OpenWork): void {
    const { leagueId } = league;
    const before = this.#accepted.get(leagueId);
    const accepted = new Set<string>();
    for (const match of assigned.values()) {
      const key = keyOf(match);
      if (before?.has(key)) accepted.add(key);
      else this.#start(league, match);
    }
    if (assigned.size > 0) this.#accepted.set(leagueId, accepted);
    else this.#accepted.delete(leagueId);
  }

  /** Whether the referee of an assigned match has accepted it since the manager's start. */
  hasAccepted(leagueId: string, match: Match): boolean {
    return this.#accepted.get(leagueId)?.has(keyOf(match)) === true;
  }

  stop(): Promise<void> {
    return this.#tasks.stop();
  }

  #start({ leagueId }: League, match: Match): void {
    const { failures } = this.#context;
    this.#tasks.start(`${leagueId}/${keyOf(match)}`, (signal) =>
      this.#handOver(leagueId, match, signal).catch((thrown) => failures.ofLeague(leagueId, thrown)),
    );
  }

  /** Returns the league if this manager still holds the match, and it is assigned to the same referee under the same epoch; else null. */
  #leagueWhileAssigned(leagueId: string, { matchId, epoch, refereeId }: Match): League | null {
    const league = this.#context.ledger.state.leagues.get(leagueId);
    const match = league && matchOf(league, matchId);
    const isSame = match?.status === "assigned" && match.epoch === epoch && match.refereeId === refereeId;
    return league && isSame && this.#options.holds({ leagueId, matchId, epoch }) ? league : null;
  }

  async #handOver(leagueId: string, match: Match, signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#context;
    await Promise.all(match.players.map((id) => this.#options.mayInvite(leagueId, match.roundId, id)));
    /** Whether the last attempt had no answer, and the time of the first of the attempts that ended in the same way. */
    let failure = { isSilent: false, sinceMs: clock.monotonic() };
    while (!signal.aborted) {
      const league = this.#leagueWhileAssigned(leagueId, match);
      if (!league) return;
      const sentAtMs = clock.monotonic();
      const reply = await this.#send(league, match, signal);
      if (signal.aborted) return;
      if (reply.ok && reply.value.type === "START_GAME_RESPONSE") {
        this.#accept(leagueId, match);
        return;
      }
      const [reason, answer] = [rejectionReason(reply), reply.ok ? reply.value.payload : reply.error];
      log.warn(
        { match: matchRef(leagueId, match.matchId), referee: match.refereeId, reason, answer },
        "start_game failed",
      );
      const isSilent = !reply.ok && (reply.error.cause === "timeout" || reply.error.cause === "refused");
      if (failure.isSilent !== isSilent) failure = { isSilent, sinceMs: sentAtMs };
      if (isSuperseded(reply, match)) await this.#release(leagueId, match, reason);
      else if (clock.monotonic() - failure.sinceMs > this.#limitMs(match, isSilent))
        await this.#onRejection(leagueId, match, reply, reason);
      await clock.pause(RESEND_MS, signal);
    }
  }

  /** The time for which a referee may reject a match, or leave START_GAME unanswered: it may be playing the match, and only be stopped for a while. */
  #limitMs(match: Match, isSilent: boolean): number {
    return isSilent ? SILENT_PROBES[this.#options.dispatch.patienceFor(match)] * 1_000 : MAX_REJECTING_MS;
  }

  #accept(leagueId: string, match: Match): void {
    this.#options.referees.markFit(match.refereeId ?? "");
    if (this.#leagueWhileAssigned(leagueId, match)) this.#accepted.get(leagueId)?.add(keyOf(match));
  }

  async #send(league: League, match: Match, signal: AbortSignal): Promise<Result<Envelope, CallFault>> {
    const { ledger, peers, clock, timeouts } = this.#context;
    const { leagueId, runId } = league;
    const referee = ledger.state.agents.get(match.refereeId ?? "");
    if (!referee) return err({ cause: "refused", detail: `${match.refereeId} is not registered` });
    const context = { ...this.#context, seedOf: this.#options.seedOf };
    const payload = startGameOf(ledger.state, league, match, referee, context);
    const envelope = newEnvelope("START_GAME", MANAGER_SENDER, payload, {
      at: clock.iso(),
      authToken: signFor(referee.tokenHash, matchRef(leagueId, match.matchId)),
      // The payload is part of the id, because a player that registers again may change its endpoint and capabilities.
      messageId: derivedMessageId(
        runId,
        leagueStream(leagueId),
        match.matchId,
        `${match.epoch}`,
        "START_GAME",
        referee.id,
        sha256Hex(JSON.stringify(payload)),
      ),
    });
    const call = { timeoutMs: timeouts.default_ms, signal, socket: referee.offersWebSocket };
    return peers.message(referee.endpoint, envelope, call).catch(asRefused);
  }

  /** Releases a match that its referee has rejected for longer than `MAX_REJECTING_MS`, if another referee can play it. */
  async #onRejection(
    leagueId: string,
    match: Match,
    reply: Result<Envelope, CallFault>,
    reason: string,
  ): Promise<void> {
    // A referee that cannot be reached at all is handled by the health probes.
    if (!reply.ok && (reply.error.cause === "refused" || !this.#options.health.isUp(match.refereeId ?? ""))) return;
    const league = this.#leagueWhileAssigned(leagueId, match);
    const { dispatch, referees } = this.#options;
    const { refereeId } = match;
    if (!league || refereeId === null) return;
    const isFull = reply.ok && reply.value.payload.error_code === "G005" && reply.value.payload.retryable === true;
    if (!isFull) referees.markUnfit(refereeId, reason);
    const others = dispatch.othersFor(league, match, refereeId);
    // A full referee keeps the match until another one has free capacity.
    const free = dispatch.freeCapacity();
    const canReassign = isFull ? others.some(({ id }) => (free.get(id) ?? 0) > 0) : others.length > 0;
    if (canReassign) await this.#release(leagueId, match, reason);
  }

  async #release(leagueId: string, { matchId, epoch }: Match, detail: string): Promise<void> {
    await this.#context.execute(leagueId, releaseMatch({ leagueId, matchId, epoch, reason: "refused", detail }));
  }
}

const keyOf = ({ matchId, epoch, refereeId }: Match): string => `${matchId}/${epoch}/${refereeId}`;

/**
 * Whether the referee knows the match under a later epoch, as after a restore of the database. It then accepts only a still later one. A claim above
 * `MAX_CLAIMED_EPOCH` is an ordinary rejection.
 */
function isSuperseded(reply: Result<Envelope, CallFault>, match: Match): boolean {
  if (!reply.ok || reply.value.payload.error_code !== "G005") return false;
  const { epoch } = (reply.value.payload.context ?? {}) as { readonly epoch?: unknown };
  return typeof epoch === "number" && epoch >= match.epoch && epoch <= MAX_CLAIMED_EPOCH;
}

/** The reason why a START_GAME was not accepted. */
function rejectionReason(reply: Result<Envelope, CallFault>): string {
  if (!reply.ok) {
    const { cause, detail } = reply.error;
    const isMalformed = cause === "bad_json" || cause === "bad_reply";
    return isMalformed ? `${detail}; the answer to START_GAME must be an envelope of type START_GAME_RESPONSE` : detail;
  }
  const { type, payload } = reply.value;
  const isError = type === "GAME_ERROR" || type === "LEAGUE_ERROR";
  return isError ? asText(payload.message) : `it answered ${type} instead of START_GAME_RESPONSE`;
}
