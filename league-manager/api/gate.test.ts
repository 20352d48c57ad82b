import { expect, it } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import type { HttpContext } from "#shared/rpc/jsonrpc/http-context.ts";
import { REQUESTS_PER_MINUTE } from "#shared/rpc/jsonrpc/rate-limit.ts";
import { ALONE } from "../cluster/other-managers.ts";
import { inboxRoutes } from "../inbox/inbox-routes.ts";
import { Inboxes } from "../inbox/inboxes.ts";
import { managerGate } from "./api.ts";

const projections = { authenticate: () => null, agent: () => null };
const gate = managerGate({
  config: { limits: { loopback: false } },
  projections,
  operatorToken: "T",
  limitCreations: async () => null,
  inbox: inboxRoutes({ ...ALONE, inboxes: new Inboxes(systemClock, 0.5), projections }),
  others: ALONE,
});

/** Returns the number of requests that pass, of ten more than the limit. */
async function passed(http: Partial<HttpContext>): Promise<number> {
  const request: HttpContext = { bearer: null, remoteAddress: "", target: "/inbox/P01/attended", ...http };
  const count = REQUESTS_PER_MINUTE.manager + 10;
  const verdicts = await Promise.all(Array.from({ length: count }, () => gate("", request)));
  return verdicts.filter((verdict) => !verdict?.rejection).length;
}

it("does not limit the questions of another manager, which come from no address", async () => {
  expect(await passed({ isPassedOn: true })).toBe(REQUESTS_PER_MINUTE.manager + 10);
});

it("limits all other requests of an address without a token", async () => {
  const limit = REQUESTS_PER_MINUTE.manager;
  expect(await passed({ remoteAddress: "192.0.2.1" })).toBe(limit);
  expect(await passed({ remoteAddress: "192.0.2.2", isPassedOn: true, target: "/inbox/P01" })).toBe(limit);
});
