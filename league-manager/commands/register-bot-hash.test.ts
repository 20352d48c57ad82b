import { describe, expect, it } from "vitest";
import { PlayerRegisterRequest } from "#shared/protocol/messages.ts";
import { endpointAt, given, open, player, tokenOf } from "./testing/commands.ts";

describe("a player", () => {
  it("may name the hash of its bot, and a player that returns with another bot has the new hash", () => {
    const [first, second] = ["a".repeat(64), "git:1f2e3d"];
    const registered = given(open("rps")).when(player("Ann", { bot_hash: first }));
    expect(registered.state.agents.get("P01")?.botHash).toBe(first);
    const again = given(open("rps"), player("Ann", { bot_hash: first }));
    again.when(player("Ann", { bot_hash: first, token: tokenOf("Ann") })).leadsTo();
    const returned = again.when(player("Ann", { bot_hash: second, token: tokenOf("Ann") })).leadsTo("P01 returned");
    expect(returned.state.agents.get("P01")?.botHash).toBe(second);
    expect(given(open("rps")).when(player("Bob")).state.agents.get("P01")?.botHash).toBeNull();
  });

  it.each(["", "a b", "x".repeat(101), "\u0007"])("may not name a hash such as %j", (bot_hash) => {
    const request = { display_name: "Ann", game_types: [], contact_endpoint: endpointAt(1), bot_hash };
    expect(PlayerRegisterRequest.safeParse(request).success).toBe(false);
  });
});
