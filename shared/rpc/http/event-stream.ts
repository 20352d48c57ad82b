import type { Clock } from "#shared/lib/clock.ts";
import { serverEvents } from "#shared/lib/server-events.ts";

/** The maximum number of characters of one event. A round of 1,000 players has 25,000. */
const MAX_EVENT_CHARACTERS = 1_000_000;

/** A stream of server-sent events: its HTTP status, and the data of each event with its type and id. */
export interface EventStream {
  readonly status: number;
  readonly events: AsyncIterable<ServerEvent>;
}

interface ServerEvent {
  readonly event: string;
  readonly data: string;
  /** Empty if the event has none. */
  readonly id: string;
}

interface StreamRequest {
  readonly signal: AbortSignal;
  /** The id of the last event that the caller has received; absent to begin. */
  readonly lastEventId?: string | undefined;
  /** Ends a connection to a server that does not answer. Absent: the caller ends it. */
  readonly limits?: SilenceLimits | undefined;
}

interface SilenceLimits {
  readonly clock: Pick<Clock, "after">;
  /** The time for the headers. */
  readonly headersMs: number;
  /** The time between two parts of the stream. Comments count. */
  readonly silenceMs: number;
}

/**
 * Opens a stream of server-sent events. Rejects if the server does not answer or redirects, or when `signal` is aborted. Only an answer with the
 * status 200 has events.
 */
export async function openEventStream(
  url: string,
  { signal, lastEventId, limits }: StreamRequest,
): Promise<EventStream> {
  const headers = { accept: "text/event-stream", ...(lastEventId && { "last-event-id": lastEventId }) };
  const silence = new AbortController();
  const limited = <T>(part: Promise<T>, ms: number | undefined): Promise<T> => {
    if (limits === undefined || ms === undefined) return part;
    const cancel = limits.clock.after(ms, () => silence.abort(new Error(`${url} has sent nothing for ${ms} ms`)));
    return part.finally(cancel);
  };
  const ended = AbortSignal.any([signal, silence.signal]);
  const { status, body } = await limited(fetch(url, { headers, signal: ended, redirect: "error" }), limits?.headersMs);
  if (status !== 200) await body?.cancel();
  const isOpen = status === 200 && body !== null;
  return { status, events: eventsOf(isOpen ? partsOf(body, (part) => limited(part, limits?.silenceMs)) : null) };
}

/** The parts of a body. `limited` limits the time in which each part must arrive. */
async function* partsOf(
  body: ReadableStream<Uint8Array>,
  limited: <T>(part: Promise<T>) => Promise<T>,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await limited(reader.read());
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

async function* eventsOf(body: AsyncIterable<Uint8Array> | null): EventStream["events"] {
  if (body === null) return;
  for await (const { event = "message", data, id = "" } of serverEvents(body, MAX_EVENT_CHARACTERS))
    yield { event, data, id };
}

/** Headers of a Server-Sent Events stream. They turn off the buffer of nginx and close the connection at the end of the stream. */
export const EVENT_STREAM_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
  connection: "close",
};
