import { serverEvents } from "../../lib/server-events.ts";

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
}

/** Opens a stream of server-sent events. Rejects if the server does not answer or redirects, or when `signal` is aborted. */
export async function openEventStream(url: string, { signal, lastEventId }: StreamRequest): Promise<EventStream> {
  const headers = { accept: "text/event-stream", ...(lastEventId && { "last-event-id": lastEventId }) };
  const response = await fetch(url, { headers, signal, redirect: "error" });
  return { status: response.status, events: eventsOf(response.body) };
}

async function* eventsOf(body: AsyncIterable<Uint8Array> | null): EventStream["events"] {
  if (body === null) return;
  for await (const { event = "message", data, id = "" } of serverEvents(body, MAX_EVENT_CHARACTERS))
    yield { event, data, id };
}
