import { expect, it } from "vitest";
import { AT, applied, open, player, referee, stateAfter } from "./testing/commands.ts";

it.each([
  [["websocket"], {}, true],
  [["carrier pigeon", "websocket"], {}, true],
  [["carrier pigeon"], {}, false],
  [[], {}, false],
  [["websocket"], { dialect: "classroom:tool:params" }, false],
  [["websocket"], { contact_endpoint: null }, false],
])(
  "whether a player with the transports %j and %j can be called over a WebSocket is %s",
  (transports, more, isOffered) => {
    const before = stateAfter([open("rps")]);
    const decided = player("Ann", { transports, ...more })(before, AT);
    if (!decided.ok) throw new Error(decided.error.message);
    expect(applied(before, decided.value).agents.get("P01")?.offersWebSocket).toBe(isOffered);
    const [registered] = decided.value.agentEvents ?? [];
    // Without the offer the event has the fields that earlier versions have written.
    const { transports: stored = "absent" } = { ...registered?.event } as { transports?: unknown };
    expect(stored).toEqual(isOffered ? ["websocket"] : "absent");
  },
);

it("a referee that offers the transport websocket can be called over a WebSocket", () => {
  const both = stateAfter([open("rps"), referee("A", { transports: ["websocket"] }), referee("B", { port: 9001 })]);
  expect([...both.agents.values()].map(({ id, offersWebSocket }) => [id, offersWebSocket])).toEqual([
    ["REF01", true],
    ["REF02", false],
  ]);
});
