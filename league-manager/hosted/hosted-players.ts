import type { Clock } from "#shared/lib/clock.ts";
import { type Ids, matchRef } from "#shared/lib/ids.ts";
import { ok, type Result } from "#shared/lib/result.ts";
import { parsedJson } from "#shared/lib/text.ts";
import { Envelope, newEnvelope } from "#shared/protocol/envelope.ts";
import type { ProtocolError } from "#shared/protocol/errors.ts";
import { isHosted } from "../agents/registered-agent.ts";
import type { Homes } from "../cluster/other-managers.ts";
import type { Inboxes } from "../inbox/inboxes.ts";
import type { Commit, Ledger } from "../ledger.ts";
import {
  decideMove,
  HAS_LEFT,
  type HostedPlayer,
  newHostedPlayer,
  type OpenMatch,
  type Reply,
  received,
  turnsOf,
  withMove,
  withResultsReported,
  withView,
} from "./hosted-player.ts";

interface HostedPlayersOptions {
  readonly ledger: Ledger;
  readonly inboxes: Inboxes;
  readonly homes: Homes;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Resolves with the final view of a completed match for a role; null if the match was not played. */
  readonly finalView: (leagueId: string, matchId: string, role: string) => Promise<unknown>;
  readonly onError: (thrown: unknown) => void;
}

const WAIT_MS = 60_000;

/**
 * The players without a program: people in a browser and models in MCP hosts. The manager reads their inboxes and answers invitations and notifications;
 * a request for a move stays open until the player moves. In memory only: after a restart or a move to another manager the referees invite them again.
 */
export class HostedPlayers {
  readonly #options: HostedPlayersOptions;
  readonly #entries = new Map<string, HostedEntry>();
  #removeListeners: readonly (() => void)[] = [];

  constructor(options: HostedPlayersOptions) {
    this.#options = options;
  }

  /** Begins to read the inboxes of the hosted players. */
  start(): void {
    const { ledger, homes } = this.#options;
    const updateAll = (): void => {
      for (const id of ledger.state.agents.keys()) this.#update(id);
    };
    updateAll();
    this.#removeListeners = [ledger.onCommit((commit) => this.#onCommit(commit)), homes.onChange(updateAll)];
  }

  /** Ends all waits, whose requests are answered with the last state, and stops reading the inboxes. */
  stop(): void {
    for (const remove of this.#removeListeners) remove();
    for (const { stopped } of this.#entries.values()) stopped.abort();
  }

  /** Returns the matches of a hosted player. */
  player(playerId: string): HostedPlayer {
    return this.#entries.get(playerId)?.player ?? newHostedPlayer();
  }

  version(playerId: string): number {
    return this.#entries.get(playerId)?.version ?? 0;
  }

  /** Returns the open turns of a player, the most urgent first. */
  turns(playerId: string): readonly OpenMatch[] {
    return turnsOf(this.player(playerId), (number) => this.#options.inboxes.isOpen(playerId, number));
  }

  reportResults(playerId: string): void {
    const entry = this.#entries.get(playerId);
    if (entry) entry.player = withResultsReported(entry.player);
  }

  /** Resolves with true when a change makes `isOver` true, or immediately if it is true; with false after the time limit or when `signal` is aborted. */
  async wait(playerId: string, isOver: () => boolean, options: WaitOptions): Promise<boolean> {
    const entry = this.#entries.get(playerId);
    if (isOver() || !entry || options.signal?.aborted) return isOver();
    return waitForChange(entry, isOver, this.#options.clock, options);
  }

  /** Makes a move in an open turn: of the match that `matchId` names, or of the most urgent one. An illegal move changes nothing. */
  move(playerId: string, matchId: string | null, move: unknown): Result<OpenMatch, ProtocolError> {
    const decided = decideMove(this.turns(playerId), matchId, move);
    if (!decided.ok) return decided;
    const { open, action, view } = decided.value;
    const entry = this.#entries.get(playerId);
    if (entry) entry.player = withMove(entry.player, open.ref, action, view, this.#options.clock.monotonic());
    const { number, messageId, request } = open.turn;
    const payload = { match_id: request.match_id, tick: request.tick, move: action };
    this.#answer(playerId, number, messageId, { type: "MOVE_RESPONSE", payload });
    this.#change(playerId);
    return ok(open);
  }

  #onCommit({ events }: Commit): void {
    const changed = new Set<string>();
    for (const committed of events) {
      if (committed.kind === "agent") this.#update(committed.agentId);
      else {
        const league = this.#options.ledger.state.leagues.get(committed.leagueId);
        for (const id of league?.entrants.keys() ?? []) if (this.#entries.has(id)) changed.add(id);
        const { event } = committed;
        if (event.type === "match_completed") this.#complete(committed.leagueId, event.match_id, changed);
      }
    }
    for (const id of changed) this.#change(id);
  }

  /** Shows the hosted players of a completed match its final position. */
  #complete(leagueId: string, matchId: string, playerIds: ReadonlySet<string>): void {
    const ref = matchRef(leagueId, matchId);
    for (const id of playerIds) {
      const entry = this.#entries.get(id);
      const match = entry?.player.matches.get(ref);
      if (!entry || !match) continue;
      const shown = this.#options
        .finalView(leagueId, matchId, match.invite.your_role)
        .then((view) => {
          if (view !== null) entry.player = withView(entry.player, ref, view);
          this.#change(id);
        })
        .catch(this.#options.onError);
      entry.finalViews = entry.finalViews.then(() => shown);
    }
  }

  /** Starts or ends the loop of an agent, according to its registration and its home. */
  #update(playerId: string): void {
    const agent = this.#options.ledger.state.agents.get(playerId);
    const hosts = isHosted(agent?.endpoint ?? "") && this.#options.homes.of(playerId) === "here";
    const isRunning = this.#entries.has(playerId);
    if (agent?.state === "SHUTDOWN") this.#endTurns(playerId);
    if (hosts && !isRunning) this.#begin(playerId);
    else if (!hosts && isRunning) this.#end(playerId);
    else if (hosts) this.#change(playerId);
  }

  #begin(playerId: string): void {
    const entry = newHostedEntry();
    this.#entries.set(playerId, entry);
    this.#read(playerId, entry.stopped.signal).catch(this.#options.onError);
  }

  #end(playerId: string): void {
    this.#entries.get(playerId)?.stopped.abort();
    this.#entries.delete(playerId);
  }

  /** Answers the open turns of a player that has left its leagues, so that its opponents do not wait for the time limit. */
  #endTurns(playerId: string): void {
    for (const { turn } of this.turns(playerId)) this.#answer(playerId, turn.number, turn.messageId, HAS_LEFT);
  }

  #change(playerId: string): void {
    const entry = this.#entries.get(playerId);
    if (entry) recordChange(entry);
  }

  /** Reads the inbox of a player until it is no longer hosted. */
  async #read(playerId: string, signal: AbortSignal): Promise<void> {
    const { inboxes, clock } = this.#options;
    let after = 0;
    while (!signal.aborted) {
      const polled = await inboxes.poll(playerId, { after, waitMs: WAIT_MS, signal });
      if (typeof polled === "string") {
        await clock.nextTurn(); // the inbox has ended, e.g. because the token was reset, and begins anew
        after = 0;
        continue;
      }
      after = polled.next;
      for (const text of polled.requests) {
        // The result of a match is shown with its final position.
        await this.#entries.get(playerId)?.finalViews;
        if (!signal.aborted) this.#receive(playerId, text);
      }
    }
  }

  #receive(playerId: string, text: string): void {
    const { clock, ledger, inboxes } = this.#options;
    const entry = this.#entries.get(playerId);
    const { id: number, params } = parsedJson(text) as { id: number; params: { arguments: unknown } };
    const envelope = Envelope.safeParse(params.arguments);
    if (!entry || !envelope.success) {
      inboxes.answer(playerId, [{ id: number, error: { code: -32602, message: "Invalid params" } }]);
      return;
    }
    const isPlaying = ledger.state.agents.get(playerId)?.state !== "SHUTDOWN";
    const message = { number, envelope: envelope.data, nowMs: clock.monotonic() };
    const { player, reply } = received(entry.player, message, isPlaying);
    entry.player = player;
    if (reply) this.#answer(playerId, number, envelope.data.message_id, reply);
    this.#change(playerId);
  }

  #answer(playerId: string, number: number, messageId: string, { type, payload }: Reply): void {
    const { ids, clock, inboxes } = this.#options;
    const about = { messageId: ids.uuid(), correlationId: messageId, at: clock.iso() };
    const reply = newEnvelope(type, `player:${playerId}`, payload, about);
    const result = { content: [{ type: "text", text: JSON.stringify(reply) }] };
    inboxes.answer(playerId, [{ id: number, result }]);
  }
}

/** A player that the manager hosts, with the requests that wait for its changes. */
interface HostedEntry {
  player: HostedPlayer;
  /** Grows with each change that the player can see. */
  version: number;
  /** Called after each change. */
  readonly changed: Set<() => void>;
  /** Aborted when the manager no longer hosts the player. */
  readonly stopped: AbortController;
  /** Settles when the final views of all completed matches have been read. */
  finalViews: Promise<unknown>;
}

const newHostedEntry = (): HostedEntry => ({
  player: newHostedPlayer(),
  version: 1,
  changed: new Set(),
  stopped: new AbortController(),
  finalViews: Promise.resolve(),
});

/** Tells the waiting requests of a player that it has changed. */
function recordChange(entry: HostedEntry): void {
  entry.version++;
  for (const check of [...entry.changed]) check();
}

interface WaitOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Resolves with true when a change makes `isOver` true; with false after the time limit, when `signal` is aborted or when the player is no longer hosted. */
async function waitForChange(
  { changed, stopped }: HostedEntry,
  isOver: () => boolean,
  clock: Pick<Clock, "after">,
  { timeoutMs, signal }: WaitOptions,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const check = (): void => {
    if (isOver()) resolve(true);
  };
  const end = (): void => resolve(false);
  const cancelTimer = clock.after(timeoutMs, end);
  changed.add(check);
  signal?.addEventListener("abort", end);
  stopped.signal.addEventListener("abort", end);
  const isDone = await promise;
  cancelTimer();
  changed.delete(check);
  signal?.removeEventListener("abort", end);
  stopped.signal.removeEventListener("abort", end);
  return isDone;
}
