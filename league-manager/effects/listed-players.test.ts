import { expect, test } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { ok } from "#shared/lib/result.ts";
import type { PlayerRegisterRequest } from "#shared/protocol/messages.ts";
import type { Caller } from "#shared/rpc/mcp/operations.ts";
import { Config } from "#shared/runtime/config/config.ts";
import type { Agent } from "../agents/registered-agent.ts";
import type { Ledger } from "../ledger.ts";
import { registerListedPlayers } from "./listed-players.ts";

const SECRET = "s".repeat(43);
const config = Config.parse({
  leagues: [{ league_id: "rps", game: "rps.v1" }],
  manager: { join_code: "open-sesame" },
  players: [
    { name: "Bot", bot: "random" },
    { name: "Ann", endpoint: "http://127.0.0.1:9000/mcp", secret: SECRET },
    { name: "Bea", endpoint: "http://192.0.2.7:9000/mcp", transports: ["websocket"] },
  ],
});

/** Registers the listed players on a ledger with these agents. Each registration is answered with `reason`. */
async function register(agents: Readonly<Record<string, Partial<Agent>>> = {}, reason: string | null = null) {
  const requests: { request: PlayerRegisterRequest; caller: Caller }[] = [];
  const warnings: string[] = [];
  await registerListedPlayers({
    config,
    ledger: { state: { agents: new Map(Object.entries(agents)) } } as unknown as Ledger,
    register: async (request, caller) => {
      requests.push({ request, caller });
      return ok({ reason });
    },
    warn: (line) => warnings.push(line),
  });
  return { requests, warnings };
}

test("players that the config lists by endpoint are registered with their secrets, as if they had sent the request", async () => {
  const { requests, warnings } = await register();
  expect(requests).toMatchObject([
    {
      request: { display_name: "Ann", contact_endpoint: "http://127.0.0.1:9000/mcp", join_code: "open-sesame" },
      caller: { authToken: SECRET, remoteAddress: "127.0.0.1" },
    },
    {
      request: { display_name: "Bea", transports: ["websocket"] },
      caller: { authToken: null, remoteAddress: "192.0.2.7" },
    },
  ]);
  expect(warnings).toEqual([]);
});

test("a registered player is not registered again, and another secret in the config causes a warning", async () => {
  const { requests, warnings } = await register({ P02: { tokenHash: sha256Hex("other") }, P03: { tokenHash: "" } });
  expect(requests).toEqual([]);
  expect(warnings).toEqual([
    "Ann is registered with another secret than the config's, and rejects messages that are signed with the config's secret",
  ]);
  expect((await register({ P02: { tokenHash: sha256Hex(SECRET) }, P03: {} })).warnings).toEqual([]);
});

test("a rejected registration causes a warning with the reason", async () => {
  const { warnings } = await register({}, "the league is full");
  expect(warnings).toEqual([
    "Ann could not be registered: the league is full",
    "Bea could not be registered: the league is full",
  ]);
});
