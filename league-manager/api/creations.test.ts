import { afterEach, beforeEach, expect, it } from "vitest";
import { gameIds } from "#shared/games/registry.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { rpcOf, startTestManager, type TestManager, type Wire } from "../testing/test-manager.ts";

const REMOTE = "203.0.113.9";
const OTHER = "203.0.113.10";

let manager: TestManager;
beforeEach(async () => {
  manager = await startTestManager([{ league_id: "rps", game: "rps.v1", min_players: 500 }]);
});
afterEach(() => manager?.stop());

/** Sends a call as a proxy on the manager's machine does for a remote caller. */
async function callFrom(address: string, params: object, bearer?: string): Promise<{ status: number; text: string }> {
  const headers = {
    "content-type": "application/json",
    "x-forwarded-for": address,
    ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
  };
  const reply = await fetch(manager.url, { method: "POST", headers, body: rpcOf("tools/call", params) });
  return { status: reply.status, text: await reply.text() };
}

const playerCall = (name: string, address: string, port: number, auth_token?: string) => ({
  name: "register_player",
  arguments: { player_name: name, endpoint: `http://${address}:${port}/mcp`, ...(auth_token && { auth_token }) },
});
const refereeCall = (name: string, address: string, port: number) => ({
  name: "register_referee",
  arguments: { referee_name: name, endpoint: `http://${address}:${port}/mcp` },
});
/** The same registration as that of the tool, which changes nothing when it is repeated. */
const envelopeCall = (sender: string, display_name: string, auth_token: string) => ({
  name: "league_message",
  arguments: newEnvelope(
    "PLAYER_REGISTER_REQUEST",
    sender,
    { display_name, version: "1", game_types: [...gameIds], contact_endpoint: `http://${REMOTE}:9000/mcp` },
    { authToken: auth_token },
  ),
});
const wireOf = ({ text }: { text: string }): Wire => JSON.parse(JSON.parse(text).result.content[0].text);
const count = (statuses: readonly number[], status: number): number => statuses.filter((one) => one === status).length;

it("a token does not lift the rate limit of its network's registrations, but an agent that comes back is not limited", async () => {
  const token = systemIds.token();
  expect(wireOf(await callFrom(REMOTE, playerCall("Eve", REMOTE, 9000, token)))).toMatchObject({ player_id: "P01" });
  const statuses: number[] = [];
  for (let n = 1; n <= 105; n++) {
    const asked = [
      playerCall(`P ${n}`, REMOTE, 10_000 + n),
      refereeCall(`R ${n}`, REMOTE, 10_000 + n),
      envelopeCall("player:x", `E ${n}`, token),
    ];
    statuses.push((await callFrom(REMOTE, asked[n % 3] as object, token)).status);
  }
  expect(count(statuses, 200)).toBe(99);
  // Its name belongs to the player: a referee of that name is new.
  expect((await callFrom(REMOTE, refereeCall("Eve", REMOTE, 9001), token)).status).toBe(429);
  // The tool reads `player_name`, so the other name does not make this a return.
  const twoNames = playerCall("New", REMOTE, 9002);
  const disguised = { ...twoNames, arguments: { ...twoNames.arguments, display_name: "Eve" } };
  expect((await callFrom(REMOTE, disguised, token)).status).toBe(429);
  for (let n = 1; n <= 20; n++) {
    const back = await callFrom(REMOTE, playerCall("Eve", REMOTE, 9000, token));
    expect(wireOf(back)).toMatchObject({ status: "ACCEPTED", player_id: "P01" });
    expect((await callFrom(REMOTE, envelopeCall("player:Eve", "Eve", token))).status).toBe(200);
  }
  expect((await callFrom(REMOTE, { name: "list_leagues", arguments: {} }, token)).status).toBe(200);
  expect((await callFrom(OTHER, playerCall("Ann", OTHER, 9000, systemIds.token()))).status).toBe(200);
});

it("programs of the manager's machine register without a limit", async () => {
  const statuses: number[] = [];
  for (let n = 0; n < 120; n++) {
    const call = playerCall(`P ${n}`, "127.0.0.1", 10_000 + n);
    statuses.push((await manager.post(rpcOf("tools/call", call))).status);
  }
  expect(count(statuses, 200)).toBe(120);
});

it("one remote network takes 33 places for referees, which leaves the others to other networks", async () => {
  const register = async (address: string, n: number) =>
    wireOf(await callFrom(address, refereeCall(`R ${address} ${n}`, address, 10_000 + n)));
  const tokens: string[] = [];
  for (let n = 0; n < 33; n++) {
    const answer = await register(REMOTE, n);
    expect(answer).toMatchObject({ status: "ACCEPTED" });
    tokens.push(answer.auth_token);
  }
  const refused = await register(REMOTE, 33);
  expect(refused).toMatchObject({ status: "REJECTED", error_code: "L002" });
  expect(refused.reason).toContain("33 referees of your network");
  expect(await register(OTHER, 0)).toMatchObject({ status: "ACCEPTED" });
  const back = await callFrom(REMOTE, refereeCall(`R ${REMOTE} 0`, REMOTE, 10_000), tokens[0]);
  expect(wireOf(back)).toMatchObject({ status: "ACCEPTED", auth_token: tokens[0] });
  const own = await manager.tool("register_referee", { referee_name: "own", endpoint: manager.endpointOf("own") });
  expect(own).toMatchObject({ status: "ACCEPTED" });
});
