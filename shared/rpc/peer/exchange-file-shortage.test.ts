import type { Dispatcher } from "undici";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../lib/clock.ts";
import { createBatches } from "./batch.ts";
import { endFailed, exchange, type Target } from "./exchange.ts";
import { type CallOptions, Pending } from "./pending.ts";

const OPTIONS: CallOptions = { timeoutMs: 10_000 };
const error = (code: string): Error => Object.assign(new Error(`connect ${code}`), { code });

/** Returns a target whose connections fail with this error code, and the bodies that were passed to it. */
function unreachableTarget(code: string): { readonly target: Target; readonly bodies: unknown[] } {
  const bodies: unknown[] = [];
  const dispatch = ({ body }: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean => {
    bodies.push(JSON.parse(String(body)));
    handler.onResponseError?.({} as Dispatcher.DispatchController, error(code));
    return false;
  };
  return { target: { pool: { dispatch }, path: "/mcp" }, bodies };
}

/** Resolves with the result of a call, or with the error code that it rejected with. */
const outcome = (call: Promise<unknown>): Promise<unknown> => call.catch(({ code }) => code);
const refused = (code: string) => ({
  ok: false,
  error: {
    cause: "refused",
    detail: expect.any(String),
    systemMessage: `connect ${code}`,
    ...(code === "ECONNREFUSED" && { isNothingListening: true }),
  },
});

const LOCAL_SHORTAGES = ["EMFILE", "ENFILE", "ENOMEM", "EADDRNOTAVAIL", "ENOBUFS"];
const REMOTE_FAULTS = ["ECONNREFUSED", "ECONNRESET", "EHOSTUNREACH", "UND_ERR_SOCKET", ""];

describe("a call that fails because of a shortage on this machine", () => {
  test.each(LOCAL_SHORTAGES)("rejects with %s", async (code) => {
    const pending = new Promise((resolve, reject) =>
      endFailed(new Pending(OPTIONS, systemClock, resolve, reject), error(code)),
    );
    expect(await outcome(pending)).toBe(code);
    const { target, bodies } = unreachableTarget(code);
    expect(await outcome(exchange(target, "POST", "1", OPTIONS, systemClock))).toBe(code);
    const send = createBatches(systemClock);
    expect(await outcome(send(target, 2, "2", OPTIONS))).toBe(code);
    expect(await Promise.all([3, 4, 5].map((id) => outcome(send(target, id, String(id), OPTIONS))))).toEqual([
      code,
      code,
      code,
    ]);
    expect(bodies).toEqual([1, 2, [3, 4, 5]]);
  });
});

describe("a call that fails because of the called agent", () => {
  test.each(REMOTE_FAULTS)("resolves with a fault for the code %j", async (code) => {
    const { target, bodies } = unreachableTarget(code);
    expect(await outcome(exchange(target, "POST", "1", OPTIONS, systemClock))).toEqual(refused(code));
    const send = createBatches(systemClock);
    const all = [3, 4, 5].map((id) => outcome(send(target, id, String(id), OPTIONS)));
    expect(await Promise.all(all)).toEqual([refused(code), refused(code), refused(code)]);
    expect(bodies).toEqual([1, [3, 4, 5]]);
  });
});

test.each([
  [["ECONNREFUSED", "ECONNREFUSED"], true],
  [["ECONNREFUSED", "EHOSTUNREACH"], undefined],
  [[], undefined],
])("a host whose addresses fail with %j has isNothingListening %s", async (codes, isNothingListening) => {
  const errors = new AggregateError(codes.map(error), "all addresses failed");
  const thrown = Object.assign(errors, { code: codes[0] });
  const result = await new Promise((resolve, reject) =>
    endFailed(new Pending(OPTIONS, systemClock, resolve, reject), thrown),
  );
  expect(result).toEqual({
    ok: false,
    error: {
      cause: "refused",
      detail: expect.any(String),
      systemMessage: "all addresses failed",
      ...(isNothingListening && { isNothingListening }),
    },
  });
});
