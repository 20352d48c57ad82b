import { expect, test } from "vitest";
import { systemClock } from "../../lib/clock.ts";
import { Call, type CallOptions, endFailed } from "./call.ts";
import { createHttpTransport, createTargets, type OpenPool } from "./http-transport.ts";

const OPTIONS: CallOptions = { timeoutMs: 10_000 };
const error = (code: string): Error => Object.assign(new Error(`connect ${code}`), { code });

/** Sends a request over connections that fail with this error code. Resolves with the result of the call, or with the code that it rejected with. */
function outcomeOf(code: string): Promise<unknown> {
  const open: OpenPool = () => ({
    dispatch(_, handler) {
      handler.onResponseError?.({} as never, error(code));
      return false;
    },
    isBusy: () => false,
    destroy: async () => {},
  });
  const http = createHttpTransport(createTargets(systemClock, open));
  const request = { endpoint: "http://127.0.0.1:9/mcp", method: "POST", body: "{}", id: 0 } as const;
  const call = new Promise((resolve, reject) => http.send(request, new Call(OPTIONS, systemClock, resolve, reject)));
  return call.catch(({ code }) => code);
}

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

test.each(LOCAL_SHORTAGES)("a call that fails because of the shortage %s on this machine rejects", async (code) => {
  expect(await outcomeOf(code)).toBe(code);
});

test.each(REMOTE_FAULTS)(
  "a call that fails with %j because of the called agent resolves with a fault",
  async (code) => {
    expect(await outcomeOf(code)).toEqual(refused(code));
  },
);

test.each([
  [["ECONNREFUSED", "ECONNREFUSED"], true],
  [["ECONNREFUSED", "EHOSTUNREACH"], undefined],
  [[], undefined],
])("a host whose addresses fail with %j has isNothingListening %s", async (codes, isNothingListening) => {
  const errors = new AggregateError(codes.map(error), "all addresses failed");
  const thrown = Object.assign(errors, { code: codes[0] });
  const result = await new Promise((resolve, reject) =>
    endFailed(new Call(OPTIONS, systemClock, resolve, reject), thrown),
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
