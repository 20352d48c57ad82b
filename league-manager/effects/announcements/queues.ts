import type { Cancel } from "#shared/lib/clock.ts";
import { derivedMessageId } from "#shared/lib/ids.ts";
import { NATIVE } from "#shared/protocol/dialects/dialect.ts";
import { newEnvelope } from "#shared/protocol/envelope.ts";
import { signFor } from "#shared/protocol/signing.ts";
import type { Agent } from "../../agents/agent.ts";
import { leagueStream } from "../../league/events.ts";
import { contactOf } from "../contact.ts";
import { type EffectsContext, MANAGER_SENDER } from "../effects-context.ts";
import { Tasks } from "../tasks.ts";
import { type Announcement, AnnouncementMessages } from "./messages.ts";

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
