import { expect, it } from "vitest";
import { eventsOf, type ServerEvent } from "./transports/sse.ts";

const STREAM = `: hello\r\n\r\nid: 1\nevent: game\ndata: {"a":\ndata: "é"}\n\nid: 2\n\r\ndata:plain\n\n`;
const EVENTS = [
  { event: "game", data: `{"a":\n"é"}` },
  { event: "message", data: "plain" },
];

it("eventsOf reads events however the bytes are split", async () => {
  const bytes = new TextEncoder().encode(STREAM);
  for (let size = 1; size <= bytes.length; size++)
    expect(await read(bytes, size), `in parts of ${size}`).toEqual(EVENTS);
});

it("eventsOf throws for an event that does not end", async () => {
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(1_000_000).fill(97)),
  });
  await expect(eventsOf(endless).next()).rejects.toThrow("an event of more than 4000000 characters");
});

async function read(bytes: Uint8Array, size: number): Promise<ServerEvent[]> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
      controller.close();
    },
  });
  const events: ServerEvent[] = [];
  for await (const event of eventsOf(body)) events.push(event);
  return events;
}
