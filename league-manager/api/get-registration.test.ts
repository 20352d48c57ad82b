import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestManager, type TestManager } from "../testing/test-manager.ts";

let manager: TestManager;
beforeEach(async () => {
  manager = await startTestManager([{ league_id: "rps", game: "rps.v1", min_players: 9 }]);
  await manager.register("P01", "P02", "P03", "Eve", "REF01");
  await manager.tool("remove_player", { player_id: "P02" }, manager.operator);
});
afterEach(() => manager.stop());

const ask = (sender: string, display_name: string, token: string) =>
  manager.message("GET_REGISTRATION", sender, { display_name }, manager.tokens[token] ?? token);

test("GET_REGISTRATION of a registered agent is answered with its id", async () => {
  expect((await ask("player:P01", "P01", "P01")).payload).toEqual({ agent_id: "P01" });
  expect((await ask("referee:REF01", "REF01", "REF01")).payload).toEqual({ agent_id: "REF01" });
});

test.each<[string, boolean, string, string, string]>([
  ["a player with an id that is not assigned yet", true, "player:P05", "Ann", "unknown"],
  ["a player with an id that another player has", true, "player:P04", "Ann", "unknown"],
  ["a player that was removed", false, "player:P02", "P02", "P02"],
  ["a player whose token was reset", false, "player:P03", "P03", "old"],
  ["an unknown referee", true, "referee:REF07", "Referee 8007", "unknown"],
  ["a referee under the id of another one", true, "referee:REF02", "REF01", "REF01"],
])("GET_REGISTRATION of %s is rejected; it may register again: %s", async (_agent, retryable, sender, name, token) => {
  expect((await ask(sender, name, token)).payload).toMatchObject({ error_code: "L004", retryable });
});
