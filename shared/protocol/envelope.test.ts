import { describe, expect, test } from "vitest";
import { z } from "zod";
import { derivedMessageId, systemIds } from "../lib/ids.ts";
import {
  Envelope,
  faultsText,
  fieldFaults,
  looksLikeEnvelope,
  messageTypes,
  newEnvelope,
  PROTOCOL,
} from "./envelope.ts";

const valid = {
  protocol: "league.v2",
  message_id: "0b5c2f6e-7d3a-4c1b-9e2f-8a7d6c5b4a39",
  type: "GAME_INVITE",
  sender: "referee:REF01",
  timestamp: "2025-01-01T00:00:00.000Z",
  payload: { match_id: "R1M1" },
};

/** Returns the paths of the faults of a value; empty if it is a valid envelope. */
function faultsOf(value: unknown): readonly string[] {
  const parsed = Envelope.safeParse(value);
  return parsed.success ? [] : [...new Set(fieldFaults(parsed.error).map((fault) => fault.path))];
}

const without = (field: keyof typeof valid) =>
  Object.fromEntries(Object.entries(valid).filter(([key]) => key !== field));

describe("Envelope, required fields", () => {
  test("accepts the example of PROTOCOL.md unchanged", () => {
    expect(Envelope.parse({ ...valid, auth_token: "optional_token" })).toEqual({
      ...valid,
      auth_token: "optional_token",
    });
  });

  test.each(Object.keys(valid) as (keyof typeof valid)[])(
    "reports the path of the field %s if it is missing, null or of a wrong type",
    (field) => {
      expect(faultsOf(without(field))).toEqual([field]);
      expect(faultsOf({ ...valid, [field]: null })).toEqual([field]);
      expect(faultsOf({ ...valid, [field]: 7 })).toEqual([field]);
    },
  );

  test("reports all faults in one error", () => {
    expect(faultsOf({})).toEqual(Object.keys(valid));
    expect(faultsOf({ ...valid, sender: "P01", timestamp: "now" })).toEqual(["sender", "timestamp"]);
  });

  test.each([null, undefined, "league.v2", 7, [], [valid]])("rejects %j, which is not an object", (value) => {
    expect(Envelope.safeParse(value).success).toBe(false);
  });
});

describe("Envelope, protocol, message_id and type", () => {
  test.each(["league.v1", "league.v3", "League.v2", "league.v2 ", ""])("rejects the protocol %j", (protocol) => {
    expect(faultsOf({ ...valid, protocol })).toEqual(["protocol"]);
  });

  test("accepts a UUID v4 in upper case", () => {
    expect(faultsOf({ ...valid, message_id: valid.message_id.toUpperCase() })).toEqual([]);
  });

  test.each([
    ["UUID v1", "0b5c2f6e-7d3a-1c1b-9e2f-8a7d6c5b4a39"],
    ["UUID of another variant", "0b5c2f6e-7d3a-4c1b-ce2f-8a7d6c5b4a39"],
    ["UUID without dashes", "0b5c2f6e7d3a4c1b9e2f8a7d6c5b4a39"],
    ["UUID with a trailing line break", "0b5c2f6e-7d3a-4c1b-9e2f-8a7d6c5b4a39\n"],
    ["UUID in braces", "{0b5c2f6e-7d3a-4c1b-9e2f-8a7d6c5b4a39}"],
    ["empty text", ""],
  ])("rejects as message_id: %s", (_, message_id) => {
    expect(faultsOf({ ...valid, message_id })).toEqual(["message_id"]);
  });

  // The types of PROTOCOL.md, section 2.
  const documented =
    `REFEREE_REGISTER_REQUEST REFEREE_REGISTER_RESPONSE PLAYER_REGISTER_REQUEST PLAYER_REGISTER_RESPONSE
    ROUND_ANNOUNCEMENT ROUND_START ROUND_END ROUND_RESULT GAME_INVITE GAME_INVITE_RESPONSE GAME_START MOVE_REQUEST
    MOVE_RESPONSE GAME_RESULT LEAGUE_STANDINGS_UPDATE MATCH_RESULT LEAGUE_ERROR GAME_ERROR`.split(/\s+/);

  test.each(documented)("accepts the type %s", (type) => {
    expect(faultsOf({ ...valid, type })).toEqual([]);
  });

  test.each(["GAME_OVER", "move_request", "", "toString", "__proto__"])("rejects the type %j", (type) => {
    expect(messageTypes as readonly string[]).not.toContain(type);
    expect(faultsOf({ ...valid, type })).toEqual(["type"]);
  });
});

describe("Envelope, sender (agent_type:agent_id)", () => {
  test.each([
    "player:P01",
    "referee:REF01",
    "league_manager:LM01",
    "player:Agent Alpha",
    "player:a:b",
    `player:${"x".repeat(200)}`,
  ])("accepts the sender %s", (sender) => expect(faultsOf({ ...valid, sender })).toEqual([]));

  test.each([
    "league_manager",
    "player:",
    ":P01",
    "P01",
    "spectator:P01",
    "Player:P01",
    " player:P01",
    "myplayer:P01",
    `player:${"x".repeat(201)}`,
    "player:P01\u001b[2J",
    "player:P01\nP02",
  ])("rejects the sender %j", (sender) => expect(faultsOf({ ...valid, sender })).toEqual(["sender"]));

  test("reports one fault of a sender that is neither of this form nor a name", () => {
    expect(Envelope.safeParse({ ...valid, sender: "player:a\nb" }).error?.issues).toHaveLength(1);
  });
});

describe("Envelope, timestamp (ISO 8601 UTC, ending in Z or +00:00)", () => {
  test.each([
    "2025-01-01T00:00:00Z",
    "2025-01-01T00:00:00.1Z",
    "2025-01-01T00:00:00.000Z",
    "2025-01-01T00:00:00.123456+00:00",
    "2025-01-01T00:00:00.123456789Z",
    "2024-02-29T23:59:59+00:00",
  ])("accepts the timestamp %s unchanged", (timestamp) => {
    expect(Envelope.parse({ ...valid, timestamp }).timestamp).toBe(timestamp);
  });

  test.each([
    "2025-01-01T00:00:00",
    "2025-01-01T00:00:00+01:00",
    "2025-01-01T00:00:00-00:00",
    "2025-01-01T00:00:00+0000",
    "2025-01-01 00:00:00Z",
    "2025-01-01T00:00Z",
    "2025-01-01",
    "20250101T000000Z",
    "Wed, 01 Jan 2025 00:00:00 GMT",
    " 2025-01-01T00:00:00Z",
    "2025-01-01T00:00:00Z\n",
    "2025-01-01T00:00:00.Z",
  ])("rejects the timestamp %j", (timestamp) => expect(faultsOf({ ...valid, timestamp })).toEqual(["timestamp"]));

  test.each([
    "2025-13-01T00:00:00Z",
    "2025-01-32T00:00:00Z",
    "2025-01-01T25:00:00Z",
    "2025-01-01T00:60:00Z",
    "2025-02-29T00:00:00Z",
    "2025-04-31T00:00:00Z",
  ])("rejects the timestamp %s, which is not a date of the calendar", (timestamp) =>
    expect(faultsOf({ ...valid, timestamp })).toEqual(["timestamp"]),
  );

  test("reports one fault for a wrong timestamp", () => {
    const parsed = Envelope.safeParse({ ...valid, timestamp: "now" });
    expect(parsed.error && fieldFaults(parsed.error)).toEqual([
      { path: "timestamp", message: "must be ISO 8601 UTC, ending in Z or +00:00" },
    ]);
  });
});

describe("Envelope, payload and optional fields", () => {
  test.each([null, undefined, [], [1], "{}", 7, true])("rejects the payload %j", (payload) => {
    expect(faultsOf({ ...valid, payload })).toEqual(["payload"]);
  });

  test("keeps all fields of a payload", () => {
    const payload = { match_id: "R1M1", extra: { deep: [1, null] } };
    expect(Envelope.parse({ ...valid, payload }).payload).toEqual(payload);
  });

  test("ignores unknown fields", () => {
    expect(Envelope.parse({ ...valid, conversation_id: "c", extra: { a: 1 } })).toEqual(valid);
  });

  test.each(["auth_token", "correlation_id"])("requires %s to be a string, null or absent", (field) => {
    expect(faultsOf({ ...valid, [field]: "some text" })).toEqual([]);
    expect(faultsOf({ ...valid, [field]: null })).toEqual([]);
    expect(faultsOf({ ...valid, [field]: 7 })).toEqual([field]);
    expect(faultsOf({ ...valid, [field]: "x".repeat(1_001) })).toEqual([field]);
  });

  test("does not change a prototype by a field `__proto__`", () => {
    const parsed = Envelope.parse(JSON.parse(`{"__proto__": {"polluted": 1}, ${JSON.stringify(valid).slice(1)}`));
    expect(parsed).toEqual(valid);
    expect("polluted" in parsed || "polluted" in {}).toBe(false);
  });
});

describe("newEnvelope", () => {
  const at = "2026-01-01T00:00:00.000Z";
  const messageId = derivedMessageId("league/L1", "17", "P01");

  test.each([messageId, systemIds.uuid()])("has the message id %s and the time of its options", (id) => {
    const envelope = newEnvelope("ACK", "player:P01", {}, { messageId: id, at });
    expect(envelope).toEqual({
      protocol: PROTOCOL,
      message_id: id,
      timestamp: at,
      type: "ACK",
      sender: "player:P01",
      payload: {},
    });
    expect(Envelope.parse(envelope)).toEqual(envelope);
  });

  test("contains an optional field only if its option is defined", () => {
    const options = { messageId, at, authToken: "secret", correlationId: valid.message_id };
    expect(newEnvelope("ACK", "player:P01", {}, options)).toMatchObject({
      auth_token: "secret",
      correlation_id: valid.message_id,
    });
    const bare = newEnvelope(
      "ACK",
      "player:P01",
      {},
      { messageId, at, authToken: undefined, correlationId: undefined },
    );
    expect(Object.keys(bare).toSorted()).toEqual(Object.keys(valid).toSorted());
  });
});

test("fieldFaults returns the dotted path of each fault, after an optional prefix", () => {
  const parsed = z
    .object({ players: z.array(z.object({ role: z.string() })) })
    .safeParse({ players: [{ role: "a" }, {}] });
  const faults = (prefix?: string) => parsed.error && fieldFaults(parsed.error, prefix).map((fault) => fault.path);
  expect(faults()).toEqual(["players.1.role"]);
  expect(faults("payload")).toEqual(["payload.players.1.role"]);
  expect(fieldFaults(z.object({}).safeParse(7).error as z.ZodError)[0]?.path).toBe("");
});

test("looksLikeEnvelope checks only for the field `protocol`, so that a wrong version is reported as a fault of an envelope", () => {
  expect([valid, { protocol: "league.v1" }, { protocol: null }].map(looksLikeEnvelope)).toEqual([true, true, true]);
  expect([{}, { player_name: "A" }, null, undefined, "protocol", 7].map(looksLikeEnvelope)).not.toContain(true);
});

test("faultsText lists paths and messages on one line and cuts it after 500 characters", () => {
  const faults = [
    { path: "payload.move", message: "is missing" },
    { path: "", message: "must be an object" },
  ];
  expect(faultsText(faults)).toBe("payload.move: is missing; must be an object");
  expect(faultsText([{ path: "a\nb", message: "c" }])).not.toContain("\n");
  expect(faultsText([{ path: "", message: "x".repeat(600) }])).toBe(`${"x".repeat(500)}…`);
});
