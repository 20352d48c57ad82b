import { createParser, type EventSourceMessage } from "eventsource-parser";

/**
 * Parses the events of a `text/event-stream` (WHATWG HTML, section 9.2). Throws if an event has more than
 * `maxCharacters` characters. An id without data is not an event.
 */
export async function* serverEvents(
  body: AsyncIterable<Uint8Array>,
  maxCharacters: number,
): AsyncGenerator<EventSourceMessage> {
  const decoder = new TextDecoder();
  let events: EventSourceMessage[] = [];
  const parser = createParser({
    maxBufferSize: maxCharacters,
    onEvent: (event) => void events.push(event),
    // Other faults, such as unknown fields, are ignored, as the standard requires.
    onError({ type }) {
      if (type === "max-buffer-size-exceeded") throw new Error(`an event of more than ${maxCharacters} characters`);
    },
  });
  for await (const chunk of body) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    const ready = events;
    events = [];
    yield* ready;
  }
}
