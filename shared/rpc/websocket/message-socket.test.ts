import { describe, expect, it } from "vitest";
import { manualClock } from "../../lib/testing/clock.ts";
import { type MessageSocket, messageSocket } from "./message-socket.ts";
import type { FrameEvents } from "./websocket.ts";

/** Opens a message socket whose frames are recorded. `events` are the events of its connection. */
function opened() {
  const clock = manualClock();
  const log: string[] = [];
  let events: FrameEvents | null = null;
  const socket: MessageSocket = messageSocket(
    (given) => {
      events = given;
      return {
        send: (text) => log.push(`send ${text}`),
        ping: () => log.push("ping"),
        bufferedBytes: 5,
        close: (code, reason) => log.push(`close ${code} ${reason}`),
        terminate() {
          log.push("terminate");
          given.onClose({ error: null, isTooLarge: false });
        },
      };
    },
    () => ({ onMessage: (text) => log.push(`message ${text}`), onClose: () => log.push("closed") }),
    clock,
  );
  return { clock, log, socket, events: events as unknown as FrameEvents };
}

describe("a message socket", () => {
  it("sends a ping every 20 s and stays open while messages or pongs arrive", async () => {
    const { clock, log, events } = opened();
    await clock.advance(20_000);
    events.onPong();
    await clock.advance(20_000);
    events.onText("hello");
    await clock.advance(20_000);
    expect(log).toEqual(["ping", "ping", "message hello", "ping"]);
  });

  it("is terminated if nothing arrives between two pings", async () => {
    const { clock, log } = opened();
    await clock.advance(39_999);
    expect(log).toEqual(["ping"]);
    await clock.advance(60_001);
    expect(log).toEqual(["ping", "terminate", "closed"]);
  });

  it("is terminated if the peer does not answer the closing handshake, and sends nothing after its end", async () => {
    const { clock, log, socket } = opened();
    socket.close(1000, "done");
    await clock.advance(300);
    socket.send("late");
    socket.close(1000, "again");
    expect(log).toEqual(["close 1000 done", "terminate", "closed"]);
  });
});
