import { describe, expect, test } from "vitest";
import { z } from "zod";
import { derivedMessageId, systemIds } from "../lib/ids.ts";
import { Envelope, fieldFaults, looksLikeEnvelope, newEnvelope, PROTOCOL } from "./envelope.ts";
import { messageTypes } from "./messages.ts";

const sound = {
  protocol: "league.v2",
  message_id: "0b5c2f6e-7d3a-4c1b-9e2f-8a7d6c5b4a39",
  type: "GAME_INVITE",
  sender: "referee:REF01",
  timestamp: "2025-01-01T00:00:00.000Z",
  payload: { match_id: "R1M1" },
};

/** The paths at fault; empty when it is accepted. */
function faultsOf(value: unknown): readonly string[] {
  const parsed = Envelope.safeParse(value);
  return parsed.success ? [] : [...new Set(fieldFaults(parsed.error).map((fault) => fault.path))];
}

const without = (field: keyof typeof sound) =>
  Object.fromEntries(Object.entries(sound).filter(([key]) => key !== field));

describe("the required fields of an envelope", () => {
  test("the document's example is accepted as it is", () => {
    expect(Envelope.parse({ ...sound, auth_token: "optional_token" })).toEqual({
      ...sound,
      auth_token: "optional_token",
    });
  });

  test.each(Object.keys(sound) as (keyof typeof sound)[])("%s must be there and not null, and is named", (field) => {
    expect(faultsOf(without(field))).toEqual([field]);
    expect(faultsOf({ ...sound, [field]: null })).toEqual([field]);
    expect(faultsOf({ ...sound, [field]: 7 })).toEqual([field]);
  });

  test("every fault is named at once", () => {
    expect(faultsOf({})).toEqual(Object.keys(sound));
    expect(faultsOf({ ...sound, sender: "P01", timestamp: "now" })).toEqual(["sender", "timestamp"]);
  });

  test.each([null, undefined, "league.v2", 7, [], [sound]])("%j is no envelope", (value) => {
    expect(Envelope.safeParse(value).success).toBe(false);
  });
});

describe("protocol, message_id and type", () => {
  test.each(["league.v1", "league.v3", "League.v2", "league.v2 ", ""])("protocol %j is refused", (protocol) => {
    expect(faultsOf({ ...sound, protocol })).toEqual(["protocol"]);
  });

  test("a UUID v4 in capitals is taken", () => {
    expect(faultsOf({ ...sound, message_id: sound.message_id.toUpperCase() })).toEqual([]);
  });

  test.each([
    ["v1", "0b5c2f6e-7d3a-1c1b-9e2f-8a7d6c5b4a39"],
    ["another variant", "0b5c2f6e-7d3a-4c1b-ce2f-8a7d6c5b4a39"],
    ["without dashes", "0b5c2f6e7d3a4c1b9e2f8a7d6c5b4a39"],
    ["with something behind it", "0b5c2f6e-7d3a-4c1b-9e2f-8a7d6c5b4a39\n"],
    ["in braces", "{0b5c2f6e-7d3a-4c1b-9e2f-8a7d6c5b4a39}"],
    ["empty", ""],
  ])("a message_id that is %s is refused", (_, message_id) => {
    expect(faultsOf({ ...sound, message_id })).toEqual(["message_id"]);
  });

  // The types of PROTOCOL.md, section 2.
  const documented =
    `REFEREE_REGISTER_REQUEST REFEREE_REGISTER_RESPONSE PLAYER_REGISTER_REQUEST PLAYER_REGISTER_RESPONSE
    ROUND_ANNOUNCEMENT ROUND_START ROUND_END ROUND_RESULT GAME_INVITE GAME_INVITE_RESPONSE GAME_START MOVE_REQUEST
    MOVE_RESPONSE GAME_RESULT LEAGUE_STANDINGS_UPDATE MATCH_RESULT LEAGUE_ERROR GAME_ERROR`.split(/\s+/);

  test.each(documented)("%s is a known type", (type) => {
    expect(faultsOf({ ...sound, type })).toEqual([]);
  });

  test.each(["GAME_OVER", "move_request", "", "toString", "__proto__"])("type %j is refused", (type) => {
    expect(messageTypes as readonly string[]).not.toContain(type);
    expect(faultsOf({ ...sound, type })).toEqual(["type"]);
  });
});

describe("sender is agent_type:agent_id", () => {
  test.each([
    "player:P01",
    "referee:REF01",
    "league_manager:LM01",
    "player:Agent Alpha",
    "player:a:b",
    `player:${"x".repeat(200)}`,
  ])("%s is taken", (sender) => expect(faultsOf({ ...sound, sender })).toEqual([]));

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
  ])("%j is refused", (sender) => expect(faultsOf({ ...sound, sender })).toEqual(["sender"]));
});

describe("timestamp is ISO 8601 UTC (PROTOCOL.md, section 1: Z or +00:00, anything else is refused)", () => {
  test.each([
    "2025-01-01T00:00:00Z",
    "2025-01-01T00:00:00.1Z",
    "2025-01-01T00:00:00.000Z",
    "2025-01-01T00:00:00.123456+00:00",
    "2025-01-01T00:00:00.123456789Z",
    "2024-02-29T23:59:59+00:00",
  ])("%s is taken and kept as it was written", (timestamp) => {
    expect(Envelope.parse({ ...sound, timestamp }).timestamp).toBe(timestamp);
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
  ])("%j is refused", (timestamp) => expect(faultsOf({ ...sound, timestamp })).toEqual(["timestamp"]));

  test.each([
    "2025-13-01T00:00:00Z",
    "2025-01-32T00:00:00Z",
    "2025-01-01T25:00:00Z",
    "2025-01-01T00:60:00Z",
    "2025-02-29T00:00:00Z",
    "2025-04-31T00:00:00Z",
  ])("%s has the form but is no date", (timestamp) => expect(faultsOf({ ...sound, timestamp })).toEqual(["timestamp"]));

  test("a fault is told once", () => {
    const parsed = Envelope.safeParse({ ...sound, timestamp: "now" });
    expect(parsed.error && fieldFaults(parsed.error)).toEqual([
      { path: "timestamp", message: "must be ISO 8601 UTC, ending in Z or +00:00" },
    ]);
  });
});

describe("payload and optional fields", () => {
  test.each([null, undefined, [], [1], "{}", 7, true])("payload %j is refused", (payload) => {
    expect(faultsOf({ ...sound, payload })).toEqual(["payload"]);
  });

  test("a payload is passed on with all that is in it", () => {
    const payload = { match_id: "R1M1", extra: { deep: [1, null] } };
    expect(Envelope.parse({ ...sound, payload }).payload).toEqual(payload);
  });

  test("unknown fields are ignored", () => {
    expect(Envelope.parse({ ...sound, conversation_id: "c", extra: { a: 1 } })).toEqual(sound);
  });

  test.each(["auth_token", "correlation_id"])("%s may be a string, null or absent, nothing else", (field) => {
    expect(faultsOf({ ...sound, [field]: "some text" })).toEqual([]);
    expect(faultsOf({ ...sound, [field]: null })).toEqual([]);
    expect(faultsOf({ ...sound, [field]: 7 })).toEqual([field]);
    expect(faultsOf({ ...sound, [field]: "x".repeat(1_001) })).toEqual([field]);
  });

  test("__proto__ from the wire changes no prototype", () => {
    const parsed = Envelope.parse(JSON.parse(`{"__proto__": {"polluted": 1}, ${JSON.stringify(sound).slice(1)}`));
    expect(parsed).toEqual(sound);
    expect("polluted" in parsed || "polluted" in {}).toBe(false);
  });
});

describe("newEnvelope", () => {
  const at = "2026-01-01T00:00:00.000Z";
  const messageId = derivedMessageId("league/L1", "17", "P01");

  test.each([messageId, systemIds.uuid()])("has the message id %s and the time that it is given", (id) => {
    const envelope = newEnvelope("ACK", "player:P01", {}, { messageId: id, at });
    expect(envelope).toEqual({
      ...{ protocol: PROTOCOL, message_id: id, timestamp: at },
      ...{ type: "ACK", sender: "player:P01", payload: {} },
    });
    expect(Envelope.parse(envelope)).toEqual(envelope);
  });

  test("optional fields are there when given, and absent, not undefined, when not", () => {
    const options = { messageId, at, authToken: "secret", correlationId: sound.message_id };
    expect(newEnvelope("ACK", "player:P01", {}, options)).toMatchObject({
      auth_token: "secret",
      correlation_id: sound.message_id,
    });
    const bare = newEnvelope(
      "ACK",
      "player:P01",
      {},
      { messageId, at, authToken: undefined, correlationId: undefined },
    );
    expect(Object.keys(bare).toSorted()).toEqual(Object.keys(sound).toSorted());
  });
});

test("fieldFaults names a place by its dotted path, behind a prefix when one is given", () => {
  const parsed = z
    .object({ players: z.array(z.object({ role: z.string() })) })
    .safeParse({ players: [{ role: "a" }, {}] });
  const faults = (prefix?: string) => parsed.error && fieldFaults(parsed.error, prefix).map((fault) => fault.path);
  expect(faults()).toEqual(["players.1.role"]);
  expect(faults("payload")).toEqual(["payload.players.1.role"]);
  expect(fieldFaults(z.object({}).safeParse(7).error as z.ZodError)[0]?.path).toBe("");
});

test("looksLikeEnvelope goes by the field `protocol`, so that a wrong version is told and not taken for plain", () => {
  expect([sound, { protocol: "league.v1" }, { protocol: null }].map(looksLikeEnvelope)).toEqual([true, true, true]);
  expect([{}, { player_name: "A" }, null, undefined, "protocol", 7].map(looksLikeEnvelope)).not.toContain(true);
});
