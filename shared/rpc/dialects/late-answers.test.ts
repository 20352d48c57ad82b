import { expect, onTestFinished, test } from "vitest";
import { readingOf } from "../../protocol/dialects/answers.ts";
import type { Contact } from "../../protocol/dialects/dialect.ts";
import { LateAnswers } from "./late-answers.ts";

const ENDPOINT = "http://10.0.0.1:8150/mcp";
const CONTACT: Contact = {
  ...{ id: "classroom", form: { family: "tool", place: "params" } },
  ...{ playerId: "P01", token: "tok-p01-secret" },
};
const READING = readingOf({ status: 200, text: JSON.stringify({ parity_choice: "even" }) });

/** The open request for a move of P01, whose answers `10.0.0.1` may send without a token. */
function openRequest() {
  const lateAnswers = new LateAnswers(async (endpoint, remoteAddress) => endpoint.includes(`//${remoteAddress}:`));
  const expected = lateAnswers.expect({ contact: CONTACT, endpoint: ENDPOINT, kind: "move", matchId: "R1M1" });
  onTestFinished(expected.close);
  return {
    answer: expected.answer,
    deliver: (token: string | null, remoteAddress: string) =>
      lateAnswers.deliver({
        ...{ kind: "move", playerIds: ["P01"], matchId: "R1M1", token, remoteAddress },
        reading: READING,
      }),
  };
}

test.each<[string, string | null, string]>([
  ["with the token of the player, from any address", CONTACT.token, "10.0.0.9"],
  ["without a token, from the address of the endpoint", null, "10.0.0.1"],
])("an answer %s is delivered once", async (_, token, remoteAddress) => {
  const { deliver, answer } = openRequest();
  expect(await deliver(token, remoteAddress)).toBe("delivered");
  expect(await answer).toBe(READING);
  expect(await deliver(token, remoteAddress)).toBe("unexpected");
});

test.each<[string, string | null, string]>([
  ["without a token, from another address", null, "10.0.0.9"],
  ["with another token, from another address", "tok-p01-guess", "10.0.0.9"],
  ["with another token, from the address of the endpoint", "tok-p01-guess", "10.0.0.1"],
])("an answer %s is rejected, and the request stays open", async (_, token, remoteAddress) => {
  const { deliver } = openRequest();
  expect(await deliver(token, remoteAddress)).toBe("forbidden");
  expect(await deliver(CONTACT.token, remoteAddress)).toBe("delivered");
});
