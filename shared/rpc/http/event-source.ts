import { serverEvents } from "../../lib/server-events.ts";

/** The maximum number of characters of one event. A round of 1,000 players has 25,000. */
const MAX_EVENT_CHARACTERS = 1_000_000;

/** A stream of server-sent events: its HTTP status, and the data of each event with its type. */
export interface EventStream {
  readonly status: number;
  readonly events: AsyncIterable<{ readonly event: string; readonly data: string }>;
}

/** Opens a stream of server-sent events. Rejects if the server does not answer, or when `signal` is aborted. */
export async function openEventStream(url: string, signal: AbortSignal): Promise<EventStream> {
  const response = await fetch(url, { headers: { accept: "text/event-stream" }, signal });
  return { status: response.status, events: eventsOf(response.body) };
}

async function* eventsOf(body: AsyncIterable<Uint8Array> | null): EventStream["events"] {
  if (body === null) return;
  for await (const { event = "message", data } of serverEvents(body, MAX_EVENT_CHARACTERS)) yield { event, data };
}
