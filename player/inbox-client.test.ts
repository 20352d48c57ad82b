import { createServer } from "node:http";
import { expect, it, onTestFinished } from "vitest";
import { forwardClock } from "#shared/lib/testing/clock.ts";
import { createPeers } from "#shared/rpc/peer/peer.ts";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { pollInbox } from "./inbox-client.ts";

interface Poll {
  /** The ids of the answers in the poll. */
  readonly ids: readonly number[];
  reply(page: { readonly requests?: readonly number[]; readonly ignored?: readonly number[] }): void;
}

/** A manager and a player that polls its inbox there. `next` resolves with the next poll. */
async function startPolling() {
  const clock = forwardClock();
  const stopping = new AbortController();
  const polls: Poll[] = [];
  const waiting: ((poll: Poll) => void)[] = [];
  const manager = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const poll: Poll = {
      ids: (JSON.parse(body) as { id: number }[]).map(({ id }) => id),
      reply({ requests = [], ignored = [] }) {
        response.end(JSON.stringify({ next: requests.at(-1) ?? 0, requests: requests.map((id) => ({ id })), ignored }));
      },
    };
    const taken = waiting.shift();
    if (taken) taken(poll);
    else polls.push(poll);
  });
  const url = `http://127.0.0.1:${await listenOnLoopback(manager)}/inbox/P01`;
  const peers = createPeers({ clock });
  const ended = pollInbox({
    clock,
    peers,
    signal: stopping.signal,
    warn: () => {},
    renewals: () => 0,
    renew: async () => {},
    inbox: () => ({ url, token: "T" }),
    handler: async (body) => ({ status: 200, body: JSON.stringify({ ...JSON.parse(body), result: {} }) }),
  });
  onTestFinished(async () => {
    stopping.abort();
    await Promise.all([ended, peers.close()]);
    manager.close().closeAllConnections();
  });
  const next = (): Promise<Poll> => {
    const poll = polls.shift();
    return poll ? Promise.resolve(poll) : new Promise((resolve) => waiting.push(resolve));
  };
  /** Resolves with the next poll that carries answers. */
  const nextWithAnswers = async (): Promise<Poll> => {
    const poll = await next();
    return poll.ids.length > 0 ? poll : nextWithAnswers();
  };
  return { clock, next, nextWithAnswers };
}

it("an answer that the manager has ignored is sent again, because the inbox may have moved", async () => {
  const { next, nextWithAnswers } = await startPolling();
  (await next()).reply({ requests: [7] });
  (await nextWithAnswers()).reply({ ignored: [7] });
  const repeated = await next();
  expect(repeated.ids).toEqual([7]);
  repeated.reply({});
  expect((await next()).ids).toEqual([]);
});

it("an answer that the manager has ignored for ten seconds is dropped", async () => {
  const { clock, next, nextWithAnswers } = await startPolling();
  (await next()).reply({ requests: [7] });
  (await nextWithAnswers()).reply({ ignored: [7] });
  const repeated = await next();
  clock.forward(10_000);
  repeated.reply({ ignored: [7] });
  expect((await next()).ids).toEqual([]);
});
