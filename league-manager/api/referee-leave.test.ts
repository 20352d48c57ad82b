import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestManager, type TestManager } from "../testing/test-manager.ts";

let manager: TestManager;
/** A running league of P01 and P02; R1M1 is assigned to REF01, no match to REF02. */
beforeEach(async () => {
  manager = await startTestManager([{ league_id: "rps", game: "rps.v1" }]);
  await manager.register("P01", "P02", "REF01", "REF02");
  await manager.tool("start_league", { league_id: "rps" }, manager.operator);
  expect(await manager.assigned("rps", "R1M1")).toMatchObject({ referee_id: "REF01" });
});
afterEach(() => manager?.stop());

const leave = (sender: string, token?: string) =>
  manager.message("REFEREE_LEAVE", sender, {}, token && (manager.tokens[token] ?? token));

test("the matches of a referee that leaves are assigned to another one", async () => {
  expect(await leave("referee:REF01", "REF01")).toMatchObject({
    isError: false,
    type: "REFEREE_LEAVE_RESPONSE",
    payload: { released: 1 },
  });
  await expect.poll(async () => (await manager.schedule("rps"))[0]).toMatchObject({ referee_id: "REF02" });
  expect(await leave("referee:REF01", "REF01")).toMatchObject({ isError: true, payload: { error_code: "L004" } });
});

test.each([
  ["a caller without a token", "referee:REF01", undefined],
  ["a caller with a wrong token", "referee:REF01", "wrong"],
  ["a player", "referee:P01", "P01"],
  ["a referee under another's name", "referee:REF02", "REF01"],
])("REFEREE_LEAVE from %s changes nothing", async (_caller, sender, token) => {
  expect(await leave(sender, token)).toMatchObject({ isError: true, payload: { error_code: "L004" } });
  expect((await manager.schedule("rps"))[0]).toMatchObject({ status: "assigned", referee_id: "REF01" });
});
