import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { isSignedFor } from "#shared/protocol/signing.ts";
import { createPeers } from "#shared/rpc/peer.ts";
import type { Agent } from "./agents.ts";
import type { Match } from "./league.ts";
import { createWithdrawals, type Withdrawals } from "./withdrawals.ts";

const MATCH = { leagueId: "rps", matchId: "R1M1", epoch: 2 } as Match;

/** Withdrawals of one referee, which answers with each of the statuses in turn, and with the last one from then on. */
async function withdrawalsOf(...statuses: readonly number[]) {
  // biome-ignore lint/suspicious/noExplicitAny: an envelope as it came over the wire
  const received: any[] = [];
  const acknowledged = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    received.push(JSON.parse(text).params.arguments);
    response.writeHead(statuses[received.length - 1] ?? statuses.at(-1) ?? 200).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const referee = { id: "REF01", endpoint: `http://127.0.0.1:${port}/mcp`, tokenHash: sha256Hex("token") } as Agent;
  const peers = createPeers({ clock: systemClock });
  const state = { isUp: true };
  const withdrawals: Withdrawals = createWithdrawals({
    peers,
    sender: "league_manager:LM01",
    timeoutMs: 1_000,
    isUp: () => state.isUp,
    onAcknowledged: acknowledged.resolve,
  });
  onTestFinished(async () => {
    withdrawals.stop();
    await peers.close();
    server.close().closeAllConnections();
  });
  return { withdrawals, referee, received, state, acknowledged: acknowledged.promise };
}

test("a withdrawn match occupies its place until the referee has acknowledged that, however often it fails before", async () => {
  const { withdrawals, referee, received, acknowledged } = await withdrawalsOf(503, 500, 429, 200);
  const inform = withdrawals.add(referee, MATCH);
  expect(withdrawals.count("REF01")).toBe(1);
  inform();
  await vi.waitFor(() => expect(received.length).toBeGreaterThan(1), 10_000);
  expect(withdrawals.count("REF01")).toBe(1);
  await acknowledged;
  expect(withdrawals.count("REF01")).toBe(0);
  expect(received).toHaveLength(4);
  for (const { type, payload, auth_token } of received) {
    expect([type, payload]).toEqual(["MATCH_WITHDRAWN", { league_id: "rps", match_id: "R1M1", epoch: 2 }]);
    expect(isSignedFor("token", "rps/R1M1", auth_token)).toBe(true);
  }
});

test("a referee that does not know the message has its place free again", async () => {
  const { withdrawals, referee, received, acknowledged } = await withdrawalsOf(404);
  withdrawals.add(referee, MATCH)();
  await acknowledged;
  expect([withdrawals.count("REF01"), received.length]).toEqual([0, 1]);
});

test("a silent referee is informed when it answers again, and once", async () => {
  const { withdrawals, referee, received, state, acknowledged } = await withdrawalsOf(200);
  state.isUp = false;
  withdrawals.add(referee, MATCH)();
  expect(withdrawals.count("REF01")).toBe(1);
  state.isUp = true;
  withdrawals.inform(referee);
  withdrawals.inform(referee);
  await acknowledged;
  expect([withdrawals.count("REF01"), received.length]).toEqual([0, 1]);
});

test("a referee that is forgotten occupies no places", async () => {
  const { withdrawals, referee } = await withdrawalsOf(200);
  withdrawals.add(referee, MATCH);
  withdrawals.forget("REF01");
  expect(withdrawals.count("REF01")).toBe(0);
});
