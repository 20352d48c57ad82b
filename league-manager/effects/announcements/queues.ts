import type { Cancel } from "#shared/lib/clock.ts";
import { derivedMessageId } from "#shared/lib/ids.ts";
import { newEnvelope } from "#shared/protocol/envelope.ts";
import { signFor } from "#shared/protocol/signing.ts";
import { leagueStream } from "../../league/events.ts";
import { type EffectsContext, MANAGER_SENDER } from "../part.ts";
import { Tasks } from "../tasks.ts";
import { type Announcement, AnnouncementMessages } from "./messages.ts";

/** Announcements that wait for one agent; further ones are dropped. */
const MAX_WAITING = 100;
/** An invitation waits at most this long for announcements that were queued together. The time begins when the agent listens. */
const SLOW_MS = 250;

/** Announcements that were put into one agent's queue together. */
interface Batch {
  left: number;
  readonly received: PromiseWithResolvers<void>;
  readonly answered: PromiseWithResolvers<void>;
  /** Cancels the timer of `received`. */
  cancel: Cancel;
}

interface Waiting extends Announcement {
  readonly batch: Batch;
}

interface Queue {
  readonly waiting: Waiting[];
  /** Batches that have not been answered. */
  readonly batches: Set<Batch>;
  /** Resolves when the agent listens, or has had enough time to start. */
  readonly ready: Promise<void>;
}

export interface Sending {
  /** Resolves when the agent has answered all of them or has failed to, 250 ms after they were queued at the latest. */
  readonly received: Promise<void>;
  /** Resolves when the agent has answered all of them or has failed to. */
  readonly answered: Promise<void>;
}

/** Sends announcements to agents: in order for each agent, each once, without waiting for other agents. */
export class AnnouncementQueues {
  readonly #context: EffectsContext;
  readonly #ready: (agentId: string) => Promise<void>;
  readonly #messages: AnnouncementMessages;
  readonly #queues = new Map<string, Queue>();
  readonly #tasks = new Tasks();
  #opened = 0;

  constructor(context: EffectsContext, ready: (agentId: string) => Promise<void>) {
    this.#context = context;
    this.#ready = ready;
    this.#messages = new AnnouncementMessages(() => context.ledger.state);
  }

  /** After `stop` nothing is sent, and both promises are resolved. */
  push(agentId: string, announcements: readonly Announcement[]): Sending {
    if (this.#tasks.signal.aborted) return { received: Promise.resolve(), answered: Promise.resolve() };
    const queue = this.#queues.get(agentId) ?? this.#open(agentId);
    const [received, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const batch: Batch = { left: 0, received, answered, cancel: () => {} };
    queue.batches.add(batch);
    for (const announcement of announcements) {
      if (announcement.type === "LEAGUE_STANDINGS_UPDATE") removeOlderStandings(queue, announcement);
      if (queue.waiting.length >= MAX_WAITING) break;
      queue.waiting.push({ ...announcement, batch });
      batch.left++;
    }
    if (batch.left === 0) end(queue, batch);
    else void queue.ready.then(() => this.#limit(queue, batch));
    return { received: received.promise, answered: answered.promise };
  }

  #limit({ batches }: Queue, batch: Batch): void {
    const { clock } = this.#context;
    if (!batches.has(batch)) return;
    // An answer that has arrived already is read before the agent counts as slow.
    batch.cancel = clock.after(SLOW_MS, () => clock.defer(() => batch.received.resolve()));
  }

  stop(): Promise<void> {
    return this.#tasks.stop();
  }

  /** A queue exists while its task sends. It ends in the same turn in which the task finds nothing to send. */
  #open(agentId: string): Queue {
    const queue: Queue = { waiting: [], batches: new Set(), ready: this.#ready(agentId) };
    this.#queues.set(agentId, queue);
    const { failures } = this.#context;
    this.#tasks.start(`${agentId}/${++this.#opened}`, (signal) =>
      this.#sendAll(agentId, queue, signal).catch((thrown) => failures.other(thrown, "an announcement failed")),
    );
    return queue;
  }

  async #sendAll(agentId: string, queue: Queue, signal: AbortSignal): Promise<void> {
    try {
      await queue.ready;
      while (!signal.aborted) {
        const next = queue.waiting.shift();
        if (!next) break;
        await this.#send(agentId, next, signal);
        if (--next.batch.left === 0) end(queue, next.batch);
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
    if (!agent || !payload || agent.endpoint === "") return;
    const runId = ledger.state.leagues.get(leagueId)?.runId ?? "";
    const envelope = newEnvelope(type, MANAGER_SENDER, payload, {
      at: clock.iso(),
      authToken: signFor(agent.tokenHash, leagueId),
      messageId: derivedMessageId(runId, leagueStream(leagueId), `${roundId}`, type, agentId),
    });
    await peers.notify(agent.endpoint, envelope, { timeoutMs: timeouts.default_ms, signal });
  }
}

/** Standings of a league that have not been sent are replaced by newer ones. */
function removeOlderStandings(queue: Queue, { leagueId }: Announcement): void {
  const { waiting } = queue;
  const index = waiting.findIndex((one) => one.type === "LEAGUE_STANDINGS_UPDATE" && one.leagueId === leagueId);
  const [older] = index < 0 ? [] : waiting.splice(index, 1);
  if (older && --older.batch.left === 0) end(queue, older.batch);
}

function end({ batches }: Queue, batch: Batch): void {
  batches.delete(batch);
  batch.cancel();
  batch.received.resolve();
  batch.answered.resolve();
}
