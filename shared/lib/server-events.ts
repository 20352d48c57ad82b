import { createParser, type EventSourceMessage } from "eventsource-parser";

/** The events of a `text/event-stream` (WHATWG HTML, section 9.2). An event of more than `maxCharacters` throws. Lone ids are no events. */
export async function* serverEvents(
  body: AsyncIterable<Uint8Array>,
  maxCharacters: number,
): AsyncGenerator<EventSourceMessage> {
  const decoder = new TextDecoder();
  let events: EventSourceMessage[] = [];
  const parser = createParser({
    maxBufferSize: maxCharacters,
    onEvent: (event) => void events.push(event),
    // Unknown fields and the like are left out, as the standard demands.
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
