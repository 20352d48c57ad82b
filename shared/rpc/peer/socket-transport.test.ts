import { beforeEach, describe, expect, it } from "vitest";
import type { FrameEvents, OpeningEvents, SocketAddress } from "#shared/rpc/websocket/websocket.ts";
import { type ManualClock, manualClock } from "../../lib/testing/clock.ts";
import { Call, type CallOptions, type Request, type Transport } from "./call.ts";
import { createSocketTransport } from "./socket-transport.ts";

const ENDPOINT = "http://127.0.0.1:8101/mcp";

/** An opening of a WebSocket, which a test answers. */
interface Opening {
  readonly address: SocketAddress;
  isCancelled: boolean;
  /** The ids of the requests that were sent over the WebSocket. */
  readonly sent: number[];
  readonly closed: string[];
  bufferedBytes: number;
  accept(): void;
  refuse(): void;
  answer(text: string): void;
  lose(): void;
}

let clock: ManualClock;
let transport: Transport;
let openings: Opening[];
/** The ids of the calls that were made by POST. */
let posted: number[];
let lastId: number;

beforeEach(() => {
  clock = manualClock();
  openings = [];
  posted = [];
  lastId = 0;
  const fallback: Transport = { send: ({ id }) => void posted.push(id), close: async () => {} };
  transport = createSocketTransport({ clock, open: record, fallback });
});

function record(address: SocketAddress, _clock: unknown, { onOpen, onFail }: OpeningEvents) {
  let events: FrameEvents | null = null;
  const end = (error: Error | null): void => events?.onClose({ error, isTooLarge: false });
  const opening: Opening = {
    address,
    isCancelled: false,
    sent: [],
    closed: [],
    bufferedBytes: 0,
    refuse: onFail,
    answer: (text) => events?.onText(text),
    lose: () => end(Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" })),
    accept: () =>
      onOpen((given) => {
        events = given;
        return {
          send: (text) => void opening.sent.push(JSON.parse(text).id),
          ping: () => given.onPong(),
          get bufferedBytes() {
            return opening.bufferedBytes;
          },
          close(code) {
            opening.closed.push(`${code}`);
            end(null);
          },
          terminate: () => end(null),
        };
      }),
  };
  openings.push(opening);
  return () => {
    opening.isCancelled = true;
  };
}

/** The latest opening. */
function last(): Opening {
  const opening = openings.at(-1);
  if (!opening) throw new Error("no WebSocket was opened");
  return opening;
}

/** Starts a call. Its outcome is `open` until it settles, then its text or the cause of its fault. */
function call(options: Partial<CallOptions> = {}, endpoint = ENDPOINT) {
  const request: Request = { endpoint, method: "POST", id: ++lastId, body: JSON.stringify({ id: lastId }) };
  const started = { id: lastId, outcome: "open" };
  const made = new Call(
    { timeoutMs: 30_000, ...options },
    clock,
    (result) => {
      started.outcome = result.ok ? result.value.text : result.error.cause;
    },
    () => {},
  );
  transport.send(request, made);
  return started;
}

const reply = (id: unknown): string => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":1}`;

/** Opens the WebSocket and makes a call that is answered. */
function openedSocket(): Opening {
  const { id } = call();
  last().accept();
  last().answer(reply(id));
  return last();
}

describe("the opening of a WebSocket", () => {
  it("begins with the first call; further calls wait for it too", () => {
    expect(openings).toEqual([]);
    call();
    call();
    expect(openings).toHaveLength(1);
    last().accept();
    expect([last().sent, posted]).toEqual([[1, 2], []]);
  });

  it("is made for each endpoint and each bearer token", () => {
    call({ bearer: "secret" }, "https://league.example/mcp?key=1");
    call({}, "https://league.example/mcp?key=1");
    call();
    expect(openings.map(({ address }) => [address.url, address.bearer])).toEqual([
      ["wss://league.example/mcp?key=1", "secret"],
      ["wss://league.example/mcp?key=1", undefined],
      ["ws://127.0.0.1:8101/mcp", undefined],
    ]);
  });

  it("that is refused sends the waiting calls by POST", () => {
    call();
    call();
    last().refuse();
    expect(posted).toEqual([1, 2]);
  });

  it("ends after two seconds, and the waiting calls are made by POST", async () => {
    call();
    await clock.advance(1_999);
    expect(posted).toEqual([]);
    await clock.advance(1);
    expect([posted, last().isCancelled]).toEqual([[1], true]);
  });

  it("does not send calls that have ended meanwhile", async () => {
    const ended = call({ timeoutMs: 100 });
    await clock.advance(100);
    last().accept();
    expect([ended.outcome, last().sent, posted]).toEqual(["timeout", [], []]);
  });

  it("is repeated after a pause, which doubles with each failure up to a minute, and in which calls are made by POST", async () => {
    const pauses: number[] = [];
    for (let failures = 0; failures < 8; failures++) {
      call();
      last().refuse();
      const before = openings.length;
      let pauseMs = 0;
      for (; openings.length === before; pauseMs += 500) {
        await clock.advance(500);
        call();
      }
      pauses.push(pauseMs);
    }
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
  });

  it("is not made for an answer above 256 KiB, for a call that closes its connection and for an invalid endpoint", () => {
    call({ maxReplyBytes: 1_000_000 });
    call({ closeConnection: true });
    call({}, "ftp://127.0.0.1/mcp");
    expect([openings.length, posted]).toEqual([0, [1, 2, 3]]);
  });
});

describe("an open WebSocket", () => {
  it("takes 128 calls at the same time, and further ones are made by POST", () => {
    const { sent } = openedSocket();
    const calls = Array.from({ length: 130 }, () => call());
    expect(sent).toHaveLength(129);
    expect(posted).toEqual(calls.slice(128).map(({ id }) => id));
  });

  it("takes no calls while the peer has not read a megabyte", () => {
    const opening = openedSocket();
    opening.bufferedBytes = 2 ** 20 + 1;
    const busy = call();
    opening.bufferedBytes = 0;
    const free = call();
    expect([posted, opening.sent.at(-1)]).toEqual([[busy.id], free.id]);
  });

  it("that is lost fails its calls, and is opened again after a second, while calls are made by POST", async () => {
    const opening = openedSocket();
    const calls = [call(), call()];
    opening.lose();
    expect(calls.map(({ outcome }) => outcome)).toEqual(["refused", "refused"]);
    call();
    await clock.advance(1_000);
    expect([posted, openings.length]).toEqual([[4], 1]);
    call();
    expect([posted, openings.length]).toEqual([[4, 5], 2]);
    last().accept();
    call();
    expect(last().sent).toEqual([6]);
  });

  it("is closed with 1002 by a message that answers no request, if it is not the answer to the only call", () => {
    for (const text of ["{", reply(99), reply("x"), '{"jsonrpc":"2.0","method":"hello"}', "[]"]) {
      transport = createSocketTransport({ clock, open: record, fallback: { send: () => {}, close: async () => {} } });
      const opening = openedSocket();
      const calls = [call(), call()];
      opening.answer(text);
      expect([text, opening.closed, calls.map(({ outcome }) => outcome)]).toEqual([
        text,
        ["1002"],
        ["refused", "refused"],
      ]);
    }
  });

  it("is closed when its first call ends without an answer, and later calls are made by POST", async () => {
    call({ timeoutMs: 5_000 });
    last().accept();
    await clock.advance(5_000);
    call();
    expect([last().closed, posted]).toEqual([["1002"], [2]]);
  });

  it("stays open when a call ends without an answer after others were answered", async () => {
    const { closed, sent } = openedSocket();
    call({ timeoutMs: 5_000 });
    await clock.advance(5_000);
    call();
    expect([closed, sent, posted]).toEqual([[], [1, 2, 3], []]);
  });

  it("ignores 1,000 late or repeated answers, and is closed by the next one", () => {
    const opening = openedSocket();
    for (let count = 0; count < 1_000; count++) opening.answer(reply(1));
    expect(opening.closed).toEqual([]);
    opening.answer(reply(1));
    expect(opening.closed).toEqual(["1002"]);
  });

  it("is closed when another endpoint is called, after five minutes without a call", async () => {
    const opening = openedSocket();
    await clock.advance(5 * 60_000);
    call({}, "http://127.0.0.1:8102/mcp");
    expect(opening.closed).toEqual([]);
    await clock.advance(1);
    call({}, "http://127.0.0.1:8103/mcp");
    expect(opening.closed).toEqual(["1000"]);
  });

  it("stays open while a call is under way", async () => {
    const opening = openedSocket();
    const open = call({ timeoutMs: 3_600_000 });
    await clock.advance(600_000);
    call({}, "http://127.0.0.1:8102/mcp");
    opening.answer(reply(open.id));
    expect([opening.closed, open.outcome]).toEqual([[], reply(open.id)]);
  });
});
