import type { Cancel } from "#shared/lib/clock.ts";
import { derivedMessageId } from "#shared/lib/ids.ts";
import { type Contact, dialectToken, NATIVE, parseSpeech } from "#shared/protocol/dialects/dialect.ts";
import { newEnvelope } from "#shared/protocol/envelope.ts";
import { signFor } from "#shared/protocol/signing.ts";
import { createTally, type Standing, type StandingsPlayer, type Tally } from "#shared/standings/standings.ts";
import type { Agent } from "../agents/registered-agent.ts";
import { leagueStream } from "../league/events.ts";
import { type League, type Match, roundOf } from "../league/league.ts";
import { winnerOf } from "../league/outcome.ts";
import { rankedStandings } from "../league/standings-of.ts";
import type { ManagerState } from "../ledger.ts";
import { type EffectsContext, MANAGER_SENDER, Tasks } from "./effects-context.ts";

/** The maximum number of announcements in the queue of one agent. Further announcements are dropped. */
const MAX_QUEUED = 100;
/**
 * `received` of announcements that were queued together resolves at the latest when this time has passed since the last answer to one of them. The first
 * time begins when the agent listens.
 */
const MAX_RECEIVE_MS = 250;
/** The largest number of announcements that are queued together. */
const MAX_TOGETHER = 4;
/** The time for all of them for a player of another dialect, which may begin to listen after its registration and needs the announcement for its answers. */
const MAX_RECEIVE_OF_DIALECTS_MS = 10_000;

/** The time limit for an agent to receive announcements that were queued together. */
export const receiveLimitMs = (agent: Pick<Agent, "dialect"> | undefined): number =>
  agent?.dialect === NATIVE ? MAX_TOGETHER * MAX_RECEIVE_MS : MAX_RECEIVE_OF_DIALECTS_MS;

/** Announcements that were put into one agent's queue together. */
interface AnnouncementBatch {
  /** The number of announcements that are not answered yet. */
  unanswered: number;
  readonly received: PromiseWithResolvers<void>;
  readonly answered: PromiseWithResolvers<void>;
  /** Cancels the timer of `received`. */
  cancel: Cancel;
  /** Whether the timer has fired. */
  isOverdue: boolean;
}

interface QueuedAnnouncement extends Announcement {
  readonly batch: AnnouncementBatch;
}

interface Queue {
  readonly announcements: QueuedAnnouncement[];
  /** Batches with unanswered announcements. */
  readonly batches: Set<AnnouncementBatch>;
  /** Resolves when the agent listens or the time limit for its start has passed. */
  readonly ready: Promise<void>;
}

/** The delivery of announcements that were queued together. */
export interface Sending {
  /** Resolves when each announcement is answered or has failed, or the agent is late (`MAX_RECEIVE_MS`). */
  readonly received: Promise<void>;
  /** Resolves when each announcement is answered or has failed. */
  readonly answered: Promise<void>;
}

/** Sends announcements to agents: to each agent in order, each announcement once, independently of other agents. */
export class AnnouncementQueues {
  readonly #context: EffectsContext;
  readonly #ready: (agentId: string) => Promise<void>;
  readonly #messages: AnnouncementMessages;
  readonly #queues = new Map<string, Queue>();
  readonly #tasks = new Tasks();
  #openedCount = 0;

  constructor(context: EffectsContext, ready: (agentId: string) => Promise<void>) {
    this.#context = context;
    this.#ready = ready;
    this.#messages = new AnnouncementMessages(() => context.ledger.state);
  }

  /** Queues announcements for an agent. After `stop` nothing is sent, and both promises are resolved. */
  push(agentId: string, announcements: readonly Announcement[]): Sending {
    if (this.#tasks.signal.aborted) return { received: Promise.resolve(), answered: Promise.resolve() };
    const queue = this.#queues.get(agentId) ?? this.#open(agentId);
    const [received, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const batch: AnnouncementBatch = { unanswered: 0, received, answered, cancel: () => {}, isOverdue: false };
    queue.batches.add(batch);
    for (const announcement of announcements) {
      if (announcement.type === "LEAGUE_STANDINGS_UPDATE") removeOlderStandings(queue, announcement);
      if (queue.announcements.length >= MAX_QUEUED) break;
      queue.announcements.push({ ...announcement, batch });
      batch.unanswered++;
    }
    if (batch.unanswered === 0) end(queue, batch);
    else void queue.ready.then(() => this.#limit(agentId, queue, batch));
    return { received: received.promise, answered: answered.promise };
  }

  /** Starts the timer of `received`, which `#sendAll` starts again after each answer of a native agent. */
  #limit(agentId: string, { batches }: Queue, batch: AnnouncementBatch): void {
    const { clock, ledger } = this.#context;
    if (!batches.has(batch) || batch.isOverdue) return;
    const agent = ledger.state.agents.get(agentId);
    const limitMs = agent?.dialect === NATIVE ? MAX_RECEIVE_MS : receiveLimitMs(agent);
    batch.cancel();
    const expire = (): void => {
      batch.isOverdue = true;
      batch.received.resolve();
    };
    // An answer that has already arrived is processed before the time limit.
    batch.cancel = clock.after(limitMs, () => clock.defer(expire));
  }

  stop(): Promise<void> {
    return this.#tasks.stop();
  }

  /** Opens a queue and starts its task. The task deletes the queue in the same turn in which it finds the queue empty. */
  #open(agentId: string): Queue {
    const queue: Queue = { announcements: [], batches: new Set(), ready: this.#ready(agentId) };
    this.#queues.set(agentId, queue);
    const { failures } = this.#context;
    this.#tasks.start(`${agentId}/${++this.#openedCount}`, (signal) =>
      this.#sendAll(agentId, queue, signal).catch((thrown) => failures.other(thrown, "an announcement failed")),
    );
    return queue;
  }

  async #sendAll(agentId: string, queue: Queue, signal: AbortSignal): Promise<void> {
    const { ledger } = this.#context;
    try {
      await queue.ready;
      while (!signal.aborted) {
        const next = queue.announcements.shift();
        if (!next) break;
        await this.#send(agentId, next, signal);
        if (--next.batch.unanswered === 0) end(queue, next.batch);
        else if (ledger.state.agents.get(agentId)?.dialect === NATIVE) this.#limit(agentId, queue, next.batch);
      }
    } finally {
      for (const batch of queue.batches) end(queue, batch);
      this.#queues.delete(agentId);
    }
  }

  async #send(agentId: string, announcement: Announcement, signal: AbortSignal): Promise<void> {
    const { ledger, peers, clock, timeouts } = this.#context;
    const { type, leagueId, roundId } = announcement;
    const agent = ledger.state.agents.get(agentId);
    const payload = agent && this.#messages.payload(announcement, agentId);
    const league = ledger.state.leagues.get(leagueId);
    if (!agent || !payload || !league || agent.endpoint === "") return;
    const envelope = newEnvelope(type, MANAGER_SENDER, payload, {
      at: clock.iso(),
      authToken: signFor(agent.tokenHash, leagueId),
      messageId: derivedMessageId(league.runId, leagueStream(leagueId), `${roundId}`, type, agentId),
    });
    const call = {
      timeoutMs: timeouts.default_ms,
      signal,
      contact: contactOf(agent, league),
      socket: agent.offersWebSocket,
    };
    await peers.notify(agent.endpoint, envelope, call);
  }
}

/** Removes the queued standings of a league, because newer ones are queued. */
function removeOlderStandings(queue: Queue, { leagueId }: Announcement): void {
  const { announcements } = queue;
  const index = announcements.findIndex(
    (queued) => queued.type === "LEAGUE_STANDINGS_UPDATE" && queued.leagueId === leagueId,
  );
  const [older] = index < 0 ? [] : announcements.splice(index, 1);
  if (older && --older.batch.unanswered === 0) end(queue, older.batch);
}

function end({ batches }: Queue, batch: AnnouncementBatch): void {
  batches.delete(batch);
  batch.cancel();
  batch.received.resolve();
  batch.answered.resolve();
}

const announcementTypes = ["ROUND_END", "LEAGUE_STANDINGS_UPDATE", "ROUND_ANNOUNCEMENT", "ROUND_START"] as const;
export type AnnouncementType = (typeof announcementTypes)[number];

/** A queued announcement. Its payload is created when it is sent. */
export interface Announcement {
  readonly type: AnnouncementType;
  readonly leagueId: string;
  readonly roundId: number;
  /** Whether it was sent before and the referees of the matches may have changed since. */
  readonly isRepeated?: boolean;
}

/** A longer list is reduced to the entries that concern the recipient. */
const MAX_ENTRIES = 100;

/** The last list of a league and type, cached so that the recipients of one announcement share it. */
interface SharedList {
  readonly roundId: number;
  readonly total: number;
  /** The payload with the complete list; null for a list that is too long. */
  readonly payload: object | null;
  /** The entries of a list that is too long, by the agent that they concern. */
  readonly entriesByAgent: ReadonlyMap<string, readonly unknown[]>;
}

/** The list of an announcement. */
interface List<T> {
  readonly all: () => readonly T[];
  /** The agents that an entry concerns. */
  readonly ownersOf: (entry: T) => readonly string[];
  readonly payload: (entries: readonly T[]) => object;
  readonly resource: string;
}

/** Creates the payloads of announcements from the state at the time of sending. */
export class AnnouncementMessages {
  readonly #state: () => ManagerState;
  readonly #shared = new Map<string, SharedList>();
  readonly #standings = new RoundStandings();

  constructor(state: () => ManagerState) {
    this.#state = state;
  }

  /** Returns the payload for one recipient, or null if the league or round does not exist. */
  payload(announcement: Announcement, recipientId: string): object | null {
    const { type, leagueId, roundId } = announcement;
    const league = this.#state().leagues.get(leagueId);
    const round = roundOf(league, roundId);
    if (!league || !round) return null;
    const head = { league_id: leagueId, round_id: roundId };
    switch (type) {
      case "ROUND_START":
        return head;
      case "ROUND_ANNOUNCEMENT":
        return this.#list(announcement, recipientId, {
          all: () => round.matches,
          ownersOf: agentsOf,
          payload: (matches) => ({
            ...head,
            ...(round.label !== null && { label: round.label }),
            matches: matches.map((match) => this.#scheduled(league, match)),
            ...(round.byes.length > 0 && round.byes.length <= MAX_ENTRIES && { byes: round.byes }),
          }),
          resource: `league://${leagueId}/schedule/${roundId}`,
        });
      case "ROUND_END":
        return this.#list(announcement, recipientId, {
          all: () => round.matches,
          ownersOf: agentsOf,
          payload: (matches) => ({
            ...head,
            matches_completed: round.matches.length,
            next_round_id: !league.isEnded && league.rounds.at(roundId) ? roundId + 1 : null,
            summary: {
              winners: Object.fromEntries(matches.map((match) => [match.matchId, winnerOf(match)])),
            },
          }),
          resource: `league://${leagueId}/schedule/${roundId}`,
        });
      case "LEAGUE_STANDINGS_UPDATE":
        return this.#list(announcement, recipientId, {
          all: () => this.#standings.after(league, roundId, this.#playersOf(league)),
          ownersOf: ({ player_id }) => [player_id],
          payload: (rows) => ({ ...head, standings: rows.map((row) => this.#withState(row)) }),
          resource: `league://${leagueId}/standings`,
        });
    }
  }

  #list<T>({ type, leagueId, roundId, isRepeated = false }: Announcement, recipientId: string, list: List<T>): object {
    const key = `${leagueId}/${type}`;
    let shared = this.#shared.get(key);
    if (shared?.roundId !== roundId || isRepeated) {
      shared = { roundId, ...sharedOf(list) };
      this.#shared.set(key, shared);
    }
    if (shared.payload) return shared.payload;
    const entries = (shared.entriesByAgent.get(recipientId) ?? []) as readonly T[];
    return { ...list.payload(entries), truncated: true, total: shared.total, resource: list.resource };
  }

  #scheduled(league: League, { matchId, players, refereeId }: Match): object {
    return {
      match_id: matchId,
      game: league.game,
      roles: Object.fromEntries(league.roles.map((role, index) => [role, players[index] ?? ""])),
      referee_endpoint: refereeId === null ? null : (this.#state().agents.get(refereeId)?.endpoint ?? null),
    };
  }

  #withState(row: Standing): object {
    return { ...row, state: this.#state().agents.get(row.player_id)?.state ?? null };
  }

  #playersOf({ entrants }: League): readonly StandingsPlayer[] {
    const { agents } = this.#state();
    return [...entrants.keys()].map((player_id) => ({
      player_id,
      display_name: agents.get(player_id)?.name ?? player_id,
    }));
  }
}

function sharedOf<T>({ all, ownersOf, payload }: List<T>): Omit<SharedList, "roundId"> {
  const list = all();
  const total = list.length;
  if (total <= MAX_ENTRIES) return { total, payload: payload(list), entriesByAgent: new Map() };
  const entriesByAgent = new Map<string, T[]>();
  for (const entry of list) {
    for (const id of ownersOf(entry)) entriesByAgent.set(id, [...(entriesByAgent.get(id) ?? []), entry]);
  }
  return { total, payload: null, entriesByAgent };
}

const agentsOf = ({ players, refereeId }: Match): readonly string[] =>
  refereeId === null ? players : [...players, refereeId];

/**
 * Computes the standings of leagues after each round. It caches one tally for each league and adds each round once, without the results of later
 * rounds, such as the forfeits that are committed when a round is opened.
 */
class RoundStandings {
  readonly #tallies = new Map<string, { tally: Tally; rounds: number; annulled: number }>();

  /** The standings of these players after a round. The caller ensures that this round and all earlier ones are completed. */
  after(league: League, roundId: number, players: readonly StandingsPlayer[]): readonly Standing[] {
    const { leagueId, rounds, annulledCount: annulled } = league;
    let progress = this.#tallies.get(leagueId);
    // An earlier round than that of the previous call is rare: the queue of an agent is more than a round behind. An annulled match is rare too.
    if (!progress || progress.rounds > roundId || progress.annulled !== annulled) {
      progress = { tally: createTally(), rounds: 0, annulled };
    }
    for (const { matches, byes } of rounds.slice(progress.rounds, roundId)) {
      for (const match of matches) progress.tally.addMatch(match);
      progress.tally.addByes(byes);
    }
    progress.rounds = roundId;
    this.#tallies.set(leagueId, progress);
    return rankedStandings(league, players, progress.tally, () => rounds.slice(0, roundId));
  }
}

/** Returns how to address a player of another dialect in messages about a league; null for a native agent. */
function contactOf(
  { id, dialect, tokenHash }: Pick<Agent, "id" | "dialect" | "tokenHash">,
  league: Pick<League, "completedCount">,
): Contact | null {
  const speech = parseSpeech(dialect);
  const token = dialectToken(id, tokenHash);
  return speech && { ...speech, playerId: id, token, completedMatches: league.completedCount };
}
