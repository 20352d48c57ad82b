import { expect, test } from "vitest";
import type { Contact } from "#shared/protocol/dialects/dialect.ts";
import { ok } from "../../lib/result.ts";
import { manualClock } from "../../lib/testing/clock.ts";
import { exchange, newConversation } from "./dialect-peers.ts";

const CONTACT: Contact = {
  id: "classroom",
  form: { family: "tool", place: "params" },
  playerId: "P01",
  token: "tok-p01",
};

test("the pause that a player demands by Retry-After is not part of its time limit", async () => {
  const clock = manualClock();
  const timeouts: number[] = [];
  const post = async (_url: string, _body: string, { timeoutMs }: { readonly timeoutMs: number }) => {
    timeouts.push(timeoutMs);
    return timeouts.length === 1
      ? ok({ status: 429, text: "slow down", retryAfter: "20" })
      : ok({ status: 200, text: JSON.stringify({ jsonrpc: "2.0", id: 1, result: { choice: "even" } }) });
  };
  const answered = exchange(
    { peers: { post }, clock, nextId: 1 },
    newConversation("http://127.0.0.1:8101/mcp"),
    CONTACT,
    [{ message_type: "CHOOSE_PARITY_CALL" }],
    { deadlineMs: clock.monotonic() + 1_000, signal: undefined, retry: true },
    { isAnswer: () => true, late: null },
  );
  await clock.advance(20_000);
  expect(await answered).toMatchObject({ ok: true });
  expect(timeouts).toEqual([1_000, 1_000]);
});
