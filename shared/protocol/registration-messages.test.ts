import { expect, test } from "vitest";
import { PlayerRegisterRequest } from "./messages.ts";

const request = { display_name: "Ann", game_types: [], contact_endpoint: "http://127.0.0.1:8101/mcp" };

test("the version of a registration is optional and defaults to 1.0.0", () => {
  expect(PlayerRegisterRequest.parse(request)).toMatchObject({ version: "1.0.0" });
  expect(PlayerRegisterRequest.parse({ ...request, version: "2.1" })).toMatchObject({ version: "2.1" });
  expect(PlayerRegisterRequest.safeParse({ ...request, version: 2 }).success).toBe(false);
});
