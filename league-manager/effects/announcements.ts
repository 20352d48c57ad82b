import { z } from "zod";
import type { Clock } from "#shared/lib/clock.ts";
import { parsedJson } from "#shared/lib/text.ts";
import { NATIVE } from "#shared/protocol/dialects/dialect.ts";
import type { Agent } from "../agents/registered-agent.ts";
import { announceRound, completeLeague } from "../commands/league-commands.ts";
import { opensAtOnce } from "../league/format-view.ts";
import { type League, type Round, roundOf } from "../league/league.ts";
import type { OpenWork } from "../league/open-work.ts";
import type { Commit } from "../ledger.ts";
import { type Announcement, AnnouncementQueues, receiveLimitMs, type Sending } from "./announcement-queues.ts";
import { type EffectsContext, type Part, Tasks } from "./effects-context.ts";

/** The longest time that the end of a league waits for agents to answer its last announcements. */
const LAST_MS = 1_000;
/** The same time if a player speaks another dialect. Such a player receives one message at a time, and may end its process only at the last one. */
const LAST_OF_DIALECTS_MS = 5_000;

/** The time for which the announcement of a round waits until all managers have assigned their matches of the round. */
const MAX_ASSIGNING_MS = 250;
const LOOK_EVERY_MS = 25;

/** An agent and the delivery of its announcements. */
interface Recipient {
  readonly agent: Agent;
  readonly sending: Sending;
}

interface AnnouncementsOptions {
  /** Resolves when the pending assignments of a league are committed: ROUND_ANNOUNCEMENT names the referees. */
  readonly assigned: (leagueId: string) => Promise<void>;
  /** Resolves when an agent listens or the time limit for its start has passed. */
  readonly ready: (agentId: string) => Promise<void>;
  readonly ownsLeague: (leagueId: string) => boolean;
  /** Signals to the other managers; null if there are none. */
  readonly signals: Signals | null;
}

/**
 * Announces rounds and standings to the players of a league and to the referees. Delivery is best effort: an agent that does not answer misses
 * messages. After a restart the messages of a round that is not recorded as announced are sent again with the same ids.
 */
export class Announcements implements Part {
  readonly duty = "league";
  readonly #context: EffectsContext;
  readonly #options: AnnouncementsOptions;
  readonly #queues: AnnouncementQueues;
  readonly #tasks = new Tasks();
  /** The gates of the rounds that are not recorded as announced, by `roundKey`. */
  readonly #gates = new Map<string, Gate>();
  /** The leagues whose end was announced since the start of the manager. */
  readonly #announcedEnds = new Set<string>();
  readonly #receipts: Receipts | null;
  readonly #removeListener: () => void;

  constructor(context: EffectsContext, options: AnnouncementsOptions) {
    this.#context = context;
    this.#options = options;
    this.#queues = new AnnouncementQueues(context, options.ready);
    this.#receipts = options.signals && this.#receiptsOf(options.signals);
    this.#removeListener = context.ledger.onCommit((commit) => this.#onCommit(commit));
  }

  reconcile({ leagueId }: League, { roundsToAnnounce, isToComplete }: OpenWork): void {
    for (const roundId of roundsToAnnounce) {
      this.#start(leagueId, roundKey(leagueId, roundId), () => this.#announce(leagueId, roundId));
    }
    // The earlier rounds are announced first, so that each agent receives its messages in order.
    if (isToComplete && roundsToAnnounce.size === 0) {
      this.#start(leagueId, leagueId, (signal) => this.#complete(leagueId, signal));
    }
  }

  /**
   * Resolves when a player has received ROUND_ANNOUNCEMENT and ROUND_START of a round, or has failed to answer in time, so that it can be invited to a
   * match. Resolves immediately for a round that is already announced, except for a player of another dialect: the announcement is sent to it again,
   * because the match may have had another referee or none then, and the player may send its answers to the referee that the announcement names.
   */
  received(leagueId: string, roundId: number, playerId: string): Promise<void> {
    const { leagues, agents } = this.#context.ledger.state;
    const round = roundOf(leagues.get(leagueId), roundId);
    const player = agents.get(playerId);
    if (!round || player?.wantsAnnouncements === false || this.#tasks.signal.aborted) return Promise.resolve();
    if (round.isAnnounced && (!player || player.dialect === NATIVE)) return Promise.resolve();
    if (round.isAnnounced) {
      const again = { type: "ROUND_ANNOUNCEMENT", leagueId, roundId, isRepeated: true } as const;
      return this.#queues.push(playerId, [again]).received;
    }
    const passed = this.#gateOf(leagueId, roundId).passed(playerId);
    return this.#options.ownsLeague(leagueId) ? passed : this.#within(passed, round, playerId);
  }

  async stop(): Promise<void> {
    this.#removeListener();
    this.#receipts?.stop();
    const stopped = this.#tasks.stop();
    await this.#queues.stop();
    for (const gate of this.#gates.values()) gate.openForAll();
    await stopped;
  }

  #receiptsOf(signals: Signals): Receipts {
    return new Receipts({
      signals,
      clock: this.#context.clock,
      onReceived: (leagueId, roundId, playerId) => {
        const { leagues } = this.#context.ledger.state;
        // A signal may arrive before the commit that opens the round.
        const isAnnounced = roundOf(leagues.get(leagueId), roundId)?.isAnnounced;
        if (leagues.has(leagueId) && !isAnnounced) this.#gateOf(leagueId, roundId).open(playerId);
      },
    });
  }

  /** Removes the gates of the rounds that are recorded as announced. */
  #onCommit({ events }: Commit): void {
    for (const committed of events) {
      if (committed.kind !== "league" || committed.event.type !== "round_announced") continue;
      this.#removeGate(roundKey(committed.leagueId, committed.event.round_id));
    }
  }

  #removeGate(key: string): void {
    this.#gates.get(key)?.openForAll();
    this.#gates.delete(key);
  }

  /** Resolves when `passed` does, or when the time in which another manager should have announced the round is over. */
  async #within(passed: Promise<void>, { openedAt }: Round, playerId: string): Promise<void> {
    const { clock, ledger } = this.#context;
    const limitMs = MAX_ASSIGNING_MS + receiveLimitMs(ledger.state.agents.get(playerId));
    const sinceOpenedMs = Math.max(0, clock.now() - Date.parse(openedAt ?? clock.iso()));
    const ended = new AbortController();
    const signal = AbortSignal.any([ended.signal, this.#tasks.signal]);
    await Promise.race([passed, clock.pause(Math.max(0, limitMs - sinceOpenedMs), signal)]);
    ended.abort();
  }

  #start(leagueId: string, key: string, run: (signal: AbortSignal) => Promise<void>): void {
    const { failures } = this.#context;
    this.#tasks.start(key, (signal) => run(signal).catch((thrown) => failures.ofLeague(leagueId, thrown)));
  }

  #gateOf(leagueId: string, roundId: number): Gate {
    const key = roundKey(leagueId, roundId);
    const gate = this.#gates.get(key) ?? new Gate();
    this.#gates.set(key, gate);
    return gate;
  }

  async #announce(leagueId: string, roundId: number): Promise<void> {
    const gate = this.#gateOf(leagueId, roundId);
    try {
      await this.#options.assigned(leagueId);
      if (this.#receipts) await this.#assignedByOthers(leagueId, roundId);
      const players = this.#pushRound(leagueId, roundId).filter(({ agent }) => agent.kind === "player");
      for (const { agent, sending } of players) {
        void sending.received.then(() => {
          gate.open(agent.id);
          this.#receipts?.add(leagueId, roundId, agent.id);
        });
      }
      await Promise.all(players.map(({ sending }) => sending.received));
      if (!this.#tasks.signal.aborted) await this.#context.execute(leagueId, announceRound(leagueId, roundId));
    } finally {
      this.#removeGate(roundKey(leagueId, roundId));
    }
  }

  /** Resolves when each match of a round has a referee, or the time limit has passed. */
  async #assignedByOthers(leagueId: string, roundId: number): Promise<void> {
    const { clock, ledger } = this.#context;
    const isAssigned = (): boolean => {
      const matches = roundOf(ledger.state.leagues.get(leagueId), roundId)?.matches ?? [];
      return matches.every(({ status }) => status !== "scheduled");
    };
    for (let ms = 0; ms < MAX_ASSIGNING_MS && !isAssigned(); ms += LOOK_EVERY_MS) {
      if (!(await clock.pause(LOOK_EVERY_MS, this.#tasks.signal))) return;
    }
  }

  async #complete(leagueId: string, signal: AbortSignal): Promise<void> {
    // Nothing changes a league without a match left, so its end is announced once, also if the commit fails and is tried again.
    if (!this.#announcedEnds.has(leagueId)) await this.#announceEnd(leagueId, signal);
    if (signal.aborted) return;
    this.#announcedEnds.add(leagueId);
    await this.#context.execute(leagueId, completeLeague(leagueId));
  }

  /** Resolves when the agents have received the end of a league, or the time limit has passed. */
  async #announceEnd(leagueId: string, signal: AbortSignal): Promise<void> {
    const { clock, ledger } = this.#context;
    // The operator can end a league before all its rounds are opened.
    const last = ledger.state.leagues.get(leagueId)?.rounds.findLast(({ isOpened }) => isOpened)?.roundId ?? 0;
    const sendings = this.#push(leagueId, endOf(leagueId, last));
    const limit = new AbortController();
    const answered = Promise.all(sendings.map(({ sending }) => sending.answered)).then(() => limit.abort());
    const limitMs = sendings.some(({ agent }) => agent.dialect !== NATIVE) ? LAST_OF_DIALECTS_MS : LAST_MS;
    await Promise.race([answered, clock.pause(limitMs, AbortSignal.any([limit.signal, signal]))]);
  }

  /**
   * Queues the start of a round, after the end of the previous one. A round that is opened at once is announced only to its players, because a league
   * can have thousands of such rounds. They have no order, so that only the last one has an end: that of the league.
   */
  #pushRound(leagueId: string, roundId: number): readonly Recipient[] {
    const league = this.#context.ledger.state.leagues.get(leagueId);
    if (!league) return [];
    if (opensAtOnce(league)) {
      const players = new Set(roundOf(league, roundId)?.matches.flatMap((match) => match.players));
      return this.#pushTo(this.#agentsOf(players), startOf(leagueId, roundId));
    }
    const endOfPrevious = roundId > 1 ? endOf(leagueId, roundId - 1) : [];
    return this.#push(leagueId, [...endOfPrevious, ...startOf(leagueId, roundId)]);
  }

  /** Queues announcements for the players of a league and for all referees. */
  #push(leagueId: string, announcements: readonly Announcement[]): readonly Recipient[] {
    const { leagues, agents } = this.#context.ledger.state;
    const players = this.#agentsOf(leagues.get(leagueId)?.entrants.keys() ?? []);
    const referees = [...agents.values()].filter(({ kind }) => kind === "referee");
    return this.#pushTo([...players, ...referees], announcements);
  }

  #agentsOf(ids: Iterable<string>): readonly Agent[] {
    const { agents } = this.#context.ledger.state;
    return [...ids].flatMap((id) => agents.get(id) ?? []);
  }

  /** Queues announcements for agents; none for agents that do not want announcements. */
  #pushTo(agents: readonly Agent[], announcements: readonly Announcement[]): readonly Recipient[] {
    return agents.map((agent) => {
      const wantedAnnouncements = agent.wantsAnnouncements ? announcements : [];
      return { agent, sending: this.#queues.push(agent.id, wantedAnnouncements) };
    });
  }
}

const roundKey = (leagueId: string, roundId: number): string => `${leagueId}/${roundId}`;

const endOf = (leagueId: string, roundId: number): readonly Announcement[] => [
  { type: "ROUND_END", leagueId, roundId },
  { type: "LEAGUE_STANDINGS_UPDATE", leagueId, roundId },
];
const startOf = (leagueId: string, roundId: number): readonly Announcement[] => [
  { type: "ROUND_ANNOUNCEMENT", leagueId, roundId },
  { type: "ROUND_START", leagueId, roundId },
];

/** Releases the invitations of a round, player by player. */
class Gate {
  readonly #players = new Map<string, PromiseWithResolvers<void>>();

  /** Resolves when the invitation of a player may be sent. */
  passed(playerId: string): Promise<void> {
    return this.#of(playerId).promise;
  }

  open(playerId: string): void {
    this.#of(playerId).resolve();
  }

  openForAll(): void {
    for (const { resolve } of this.#players.values()) resolve();
  }

  #of(playerId: string): PromiseWithResolvers<void> {
    const release = this.#players.get(playerId) ?? Promise.withResolvers<void>();
    this.#players.set(playerId, release);
    return release;
  }
}

/** Short texts to the other managers of a run. A manager that is not connected misses them. */
export interface Signals {
  /** Sends a text of at most `MAX_SIGNAL_BYTES`. Errors are not reported. */
  send(text: string): void;
  onSignal(listener: (text: string) => void): () => void;
}

/** The maximum size of a signal. */
const MAX_SIGNAL_BYTES = 7_000;
/** The receipts of this time are sent together. */
const COLLECT_MS = 50;

const Receipt = z.object({
  type: z.literal("announced"),
  league_id: z.string(),
  round_id: z.int(),
  player_ids: z.array(z.string()),
});

interface ReceiptsOptions {
  readonly signals: Signals;
  readonly clock: Pick<Clock, "after">;
  /** Called when another manager has announced a round to a player. */
  readonly onReceived: (leagueId: string, roundId: number, playerId: string) => void;
}

/** Informs the other managers which players have received the announcement of a round, because they may then be invited to their matches. */
export class Receipts {
  readonly #options: ReceiptsOptions;
  /** Player ids by league and round. */
  readonly #unsent = new Map<string, { readonly leagueId: string; readonly roundId: number; readonly ids: string[] }>();
  readonly #removeListener: () => void;
  #cancel: (() => void) | null = null;

  constructor(options: ReceiptsOptions) {
    this.#options = options;
    this.#removeListener = options.signals.onSignal((text) => this.#onSignal(text));
  }

  add(leagueId: string, roundId: number, playerId: string): void {
    const key = `${leagueId}/${roundId}`;
    const unsent = this.#unsent.get(key) ?? { leagueId, roundId, ids: [] };
    this.#unsent.set(key, unsent);
    unsent.ids.push(playerId);
    this.#cancel ??= this.#options.clock.after(COLLECT_MS, () => this.#send());
  }

  stop(): void {
    this.#removeListener();
    this.#cancel?.();
    this.#send();
  }

  #send(): void {
    this.#cancel = null;
    for (const { leagueId, roundId, ids } of this.#unsent.values()) {
      for (const player_ids of parts(ids, MAX_SIGNAL_BYTES - leagueId.length * 3 - 100)) {
        this.#options.signals.send(
          JSON.stringify({ type: "announced", league_id: leagueId, round_id: roundId, player_ids }),
        );
      }
    }
    this.#unsent.clear();
  }

  #onSignal(text: string): void {
    const receipt = Receipt.safeParse(parsedJson(text)); // other kinds of signals need not be JSON
    if (!receipt.success) return;
    const { league_id, round_id, player_ids } = receipt.data;
    for (const playerId of player_ids) this.#options.onReceived(league_id, round_id, playerId);
  }
}

/** Divides ids into lists of at most this number of bytes as JSON. */
function parts(ids: readonly string[], maxBytes: number): readonly (readonly string[])[] {
  const lists: string[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const id of ids) {
    const bytes = Buffer.byteLength(JSON.stringify(id)) + 1;
    if (size + bytes > maxBytes) {
      lists.push([]);
      size = 0;
    }
    lists.at(-1)?.push(id);
    size += bytes;
  }
  return lists;
}
