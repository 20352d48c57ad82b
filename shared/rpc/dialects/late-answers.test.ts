import { describe, expect, onTestFinished, test } from "vitest";
import { readingOf } from "#shared/protocol/dialects/incoming-answers.ts";
import type { Contact } from "../../protocol/dialects/dialect.ts";
import { LateAnswers } from "./late-answers.ts";

const ENDPOINT = "http://10.0.0.1:8150/mcp";
const CONTACT: Contact = {
  id: "classroom",
  form: { family: "tool", place: "params" },
  playerId: "P01",
  token: "tok-p01-secret",
};
const OTHER: Contact = { ...CONTACT, playerId: "P02", token: "tok-p02-secret" };
const READING = readingOf({ status: 200, text: JSON.stringify({ parity_choice: "even" }) });

const NEAR = "10.0.0.1";

/** The open requests for moves of P01 at `10.0.0.1` and, if `otherAt` is its address, of P02. */
function openRequests(otherAt: string | null = null) {
  const lateAnswers = new LateAnswers(async (endpoint, remoteAddress) => endpoint.includes(`//${remoteAddress}:`));
  const about = { kind: "move", matchId: "R1M1" } as const;
  const other =
    otherAt === null ? null : lateAnswers.expect({ ...about, contact: OTHER, endpoint: `http://${otherAt}:8151/mcp` });
  const own = lateAnswers.expect({ ...about, contact: CONTACT, endpoint: ENDPOINT });
  onTestFinished(() => {
    own.close();
    other?.close();
  });
  return {
    own,
    other,
    deliver: (token: string | null, remoteAddress: string, playerIds: readonly string[] = ["P01"]) =>
      lateAnswers.deliver({ ...about, playerIds, token, remoteAddress, reading: READING }),
  };
}

test.each<[string, string | null, string, string[]]>([
  ["with the token of the player, from any address", CONTACT.token, "10.0.0.9", ["P01"]],
  ["with the token of the player, under another id", CONTACT.token, "10.0.0.9", ["alpha"]],
  ["without a token, from the address of the endpoint", null, NEAR, ["P01"]],
  ["without a token and with an unknown id, from the address of the endpoint", null, NEAR, ["alpha"]],
  ["with a token of an earlier league, from the address of the endpoint", "tok-old", NEAR, ["P77"]],
])("an answer %s is delivered once", async (_, token, remoteAddress, ids) => {
  const { deliver, own } = openRequests("10.0.0.2");
  expect(await deliver(token, remoteAddress, ids)).toBe("delivered");
  expect(await own.answer).toBe(READING);
  expect(await deliver(token, remoteAddress, ids)).not.toBe("delivered");
});

test.each<[string, string | null]>([
  ["without a token", null],
  ["with another token", "tok-p01-guess"],
])("an answer %s from another address is rejected, and the request stays open", async (_, token) => {
  const { deliver } = openRequests();
  expect(await deliver(token, "10.0.0.9")).toBe("forbidden");
  expect(await deliver(CONTACT.token, "10.0.0.9")).toBe("delivered");
});

describe("if both players of a match have the same address", () => {
  test("the id in an answer without a token decides", async () => {
    const { deliver, other } = openRequests(NEAR);
    expect(await deliver(null, NEAR, ["P02"])).toBe("delivered");
    expect(await other?.answer).toBe(READING);
    // Not that of the other player either, whose request is still open.
    expect(await deliver(null, NEAR, ["P02"])).toBe("unexpected");
  });

  test("an answer under an unknown id is ignored, also when only one of them is still asked", async () => {
    const { deliver, other } = openRequests(NEAR);
    expect(await deliver(null, NEAR, ["alpha"])).toBe("unexpected");
    other?.close();
    expect(await deliver("tok-old", NEAR, ["alpha"])).toBe("unexpected");
    expect(await deliver(null, NEAR, ["P01"])).toBe("delivered");
  });

  test("an answer with the token of one of them is never that of the other", async () => {
    const { deliver, other } = openRequests(NEAR);
    other?.close();
    expect(await deliver(OTHER.token, NEAR, ["P01"])).toBe("unexpected");
  });
});
