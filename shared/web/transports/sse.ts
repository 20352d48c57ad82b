export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/** A longer event means that something else than our server answers. */
const MAX_EVENT_CHARACTERS = 4_000_000;

/**
 * The events of a `text/event-stream` (HTML standard, 9.2.6), as far as we send them; `EventSource` cannot send a seat's token.
 * Ends with the body; throws what reading it throws.
 */
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      // A "\r" at the end may be half of a line break.
      text = `${text}${decoder.decode(value, { stream: true })}`.replace(/\r\n|\r(?!$)/g, "\n");
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      if (text.length > MAX_EVENT_CHARACTERS) throw new Error("an event without an end");
      for (const block of blocks) yield* eventIn(block);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** Comments and lone ids are no events. */
function* eventIn(block: string): Generator<ServerEvent> {
  const fields = block.split("\n").map((line) => /^(event|data): ?(.*)$/.exec(line) ?? []);
  const data = fields.flatMap(([, name, value]) => (name === "data" ? [value ?? ""] : []));
  const event = fields.findLast(([, name]) => name === "event")?.[2] ?? "message";
  if (data.length > 0) yield { event, data: data.join("\n") };
}
