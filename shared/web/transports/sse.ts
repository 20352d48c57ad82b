import { serverEvents } from "../../lib/server-events.ts";

export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/** A longer event means that something else than our server answers. */
const MAX_EVENT_CHARACTERS = 4_000_000;

/** The events of a response; `EventSource` cannot send a seat's token. Ends with the body; throws what reading it throws. */
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  for await (const { event = "message", data } of serverEvents(chunksOf(body), MAX_EVENT_CHARACTERS)) {
    yield { event, data };
  }
}

/** Not every browser can iterate over a ReadableStream itself. */
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
