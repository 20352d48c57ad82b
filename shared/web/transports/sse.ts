import { serverEvents } from "../../lib/server-events.ts";

export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/** A longer event is not an event of this project's server. */
const MAX_EVENT_CHARACTERS = 4_000_000;

/**
 * Yields the events of a response. It replaces `EventSource`, which cannot send the token of a seat. Ends with the
 * body, and throws the errors of reading it.
 */
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  for await (const { event = "message", data } of serverEvents(chunksOf(body), MAX_EVENT_CHARACTERS)) {
    yield { event, data };
  }
}

/** Yields the chunks of a stream. Some browsers cannot iterate over a ReadableStream. */
async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
