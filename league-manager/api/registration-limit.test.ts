import { afterEach, beforeEach, expect, it } from "vitest";
import { knownGameIds } from "#shared/games/registry.ts";
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

/** Sends a tool call as a proxy on the manager's machine forwards it for a remote caller. */
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
/** A registration as a message. It equals that of the tool, so that repeating it changes nothing. */
const envelopeCall = (sender: string, display_name: string, auth_token: string) => ({
  name: "league_message",
  arguments: newEnvelope(
    "PLAYER_REGISTER_REQUEST",
    sender,
    { display_name, version: "1", game_types: [...knownGameIds()], contact_endpoint: `http://${REMOTE}:9000/mcp` },
    { authToken: auth_token },
  ),
});
const wireOf = ({ text }: { text: string }): Wire => JSON.parse(JSON.parse(text).result.content[0].text);
const count = (statuses: readonly number[], status: number): number =>
  statuses.filter((candidate) => candidate === status).length;

it("the rate limit applies to new agents of a network even if they send a token, and not to a returning agent", async () => {
  const token = systemIds.token();
  expect(wireOf(await callFrom(REMOTE, playerCall("Eve", REMOTE, 9000, token)))).toMatchObject({ player_id: "P01" });
  const statuses: number[] = [];
  for (let n = 1; n <= 105; n++) {
    const calls = [
      playerCall(`P ${n}`, REMOTE, 10_000 + n),
      refereeCall(`R ${n}`, REMOTE, 10_000 + n),
      envelopeCall("player:x", `E ${n}`, token),
    ];
    statuses.push((await callFrom(REMOTE, calls[n % 3] as object, token)).status);
  }
  expect(count(statuses, 200)).toBe(99);
  // The token belongs to a player, so a referee with its name is new.
  expect((await callFrom(REMOTE, refereeCall("Eve", REMOTE, 9001), token)).status).toBe(429);
  // The tool reads only `player_name`, so `display_name` does not make this a return.
  const twoNames = playerCall("New", REMOTE, 9002);
  const disguised = { ...twoNames, arguments: { ...twoNames.arguments, display_name: "Eve" } };
  expect((await callFrom(REMOTE, disguised, token)).status).toBe(429);
  for (let n = 1; n <= 20; n++) {
    const returned = await callFrom(REMOTE, playerCall("Eve", REMOTE, 9000, token));
    expect(wireOf(returned)).toMatchObject({ status: "ACCEPTED", player_id: "P01" });
    expect((await callFrom(REMOTE, envelopeCall("player:Eve", "Eve", token))).status).toBe(200);
  }
  expect((await callFrom(REMOTE, { name: "list_leagues", arguments: {} }, token)).status).toBe(200);
  expect((await callFrom(OTHER, playerCall("Ann", OTHER, 9000, systemIds.token()))).status).toBe(200);
});

it("programs on the manager's machine register without a limit", async () => {
  const statuses: number[] = [];
  for (let n = 0; n < 120; n++) {
    const call = playerCall(`P ${n}`, "127.0.0.1", 10_000 + n);
    statuses.push((await manager.post(rpcOf("tools/call", call))).status);
  }
  expect(count(statuses, 200)).toBe(120);
});

it("at most 33 referees of one remote network are registered, and other networks are not affected", async () => {
  const register = async (address: string, n: number) =>
    wireOf(await callFrom(address, refereeCall(`R ${address} ${n}`, address, 10_000 + n)));
  const tokens: string[] = [];
  for (let n = 0; n < 33; n++) {
    const answer = await register(REMOTE, n);
    expect(answer).toMatchObject({ status: "ACCEPTED" });
    tokens.push(answer.auth_token);
  }
  const rejected = await register(REMOTE, 33);
  expect(rejected).toMatchObject({ status: "REJECTED", error_code: "L002" });
  expect(rejected.reason).toContain("33 referees of your network");
  expect(await register(OTHER, 0)).toMatchObject({ status: "ACCEPTED" });
  const returned = await callFrom(REMOTE, refereeCall(`R ${REMOTE} 0`, REMOTE, 10_000), tokens[0]);
  expect(wireOf(returned)).toMatchObject({ status: "ACCEPTED", auth_token: tokens[0] });
  const local = await manager.tool("register_referee", {
    referee_name: "local",
    endpoint: manager.endpointOf("local"),
  });
  expect(local).toMatchObject({ status: "ACCEPTED" });
});
