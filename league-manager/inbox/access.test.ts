import { describe, expect, it } from "vitest";
import { ALONE } from "../cluster/other-managers.ts";
import { type InboxContext, inboxRoutes, inboxSocket } from "./inbox-routes.ts";

const PLAYER = { id: "P01", endpoint: "inbox://P01", tokenHash: "hash" };

/** An inbox at a manager that knows the player P01 only after the commits of the others. `hasDatabase` is whether it reaches them. */
function inboxOfNewPlayer(hasDatabase = true) {
  const calls = { catchUps: 0 };
  let isKnown = false;
  const context = {
    homes: ALONE.homes,
    catchUp: async () => {
      calls.catchUps++;
      isKnown = hasDatabase;
      return hasDatabase;
    },
    inboxes: {
      answer: () => [],
      poll: async () => ({ next: 0, requests: [] }),
    } as unknown as InboxContext["inboxes"],
    projections: {
      agent: () => (isKnown ? PLAYER : null),
      authenticate: (token: string | null) => (isKnown && token === "token" ? PLAYER : null),
    },
  };
  const httpOf = (bearer: string | null) => ({ bearer, remoteAddress: "127.0.0.1", target: "/inbox/P01?wait_s=0" });
  return {
    calls,
    poll: async (bearer: string | null = "token") => inboxRoutes(context).handler("[]", httpOf(bearer)),
    connect: async (bearer: string | null = "token") => {
      const http = httpOf(bearer);
      return inboxSocket(context)({ path: "/inbox/P01", query: new URLSearchParams(), http });
    },
  };
}

describe("the inbox of a player that has registered at another manager a moment ago", () => {
  it("answers a poll and accepts a WebSocket after the commits of that manager", async () => {
    expect(await inboxOfNewPlayer().poll()).toMatchObject({ status: 200 });
    expect(await inboxOfNewPlayer().connect()).toMatchObject({ accept: expect.any(Function) });
  });

  it("asks the player to try again while the database does not answer", async () => {
    expect(await inboxOfNewPlayer(false).poll()).toMatchObject({ isRefused: true });
    expect(await inboxOfNewPlayer(false).connect()).toMatchObject({ status: 503 });
  });

  it("waits for no commits for a known player, nor for a caller without a token", async () => {
    const { poll, connect, calls } = inboxOfNewPlayer();
    expect([await poll(null), await connect(null)]).toMatchObject([{ status: 401 }, { status: 401 }]);
    expect(calls.catchUps).toBe(0);
    await poll();
    await poll();
    await connect();
    expect(calls.catchUps).toBe(1);
  });

  it("rejects a wrong token", async () => {
    const { poll, connect } = inboxOfNewPlayer();
    expect([await poll("wrong"), await connect("wrong")]).toMatchObject([{ status: 401 }, { status: 401 }]);
  });
});
