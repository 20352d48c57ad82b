import { expect, it } from "vitest";
import { given, open, player } from "./testing/commands.ts";

it("a player enters every open league if it plays any game", () => {
  const { state } = given(open("rps"))
    .when(player("Ann", { game_types: ["*", "chess", "*"] }))
    .replies({ agentId: "P01", leagueIds: ["rps"] });
  expect(state.agents.get("P01")?.gameTypes).toEqual(["chess", "*"]);
});
