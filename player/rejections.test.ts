import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import type { MessageType } from "#shared/protocol/messages.ts";
import { signFor } from "#shared/protocol/signing.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import { startPlayer } from "./service.ts";

const TOKEN = "the player's own token";
const MANAGER = "league_manager:LM01";
const signed = (subject: string): string => signFor(sha256Hex(TOKEN), subject);

// biome-ignore lint/suspicious/noExplicitAny: whatever came over the wire
type Wire = any;

const ends: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

interface Start {
  readonly limitLoopback?: boolean;
  /** Done before the manager answers, given where the player listens and the token that it registers with. */
  readonly meanwhile?: (url: string, token: string) => Promise<void>;
}

/** A registered player whose moves are made by hand, and all that it says. */
async function startRegistered({ limitLoopback = false, meanwhile }: Start = {}) {
  const manager = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    await meanwhile?.(await ready.promise, JSON.parse(text).params.arguments.auth_token);
    const accepted = { status: "ACCEPTED", player_id: "P01", auth_token: TOKEN, league_ids: ["rps"] };
    const reply = newEnvelope("PLAYER_REGISTER_RESPONSE", MANAGER, accepted);
    const result = { content: [{ type: "text", text: JSON.stringify(reply) }] };
    response.end(JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(text).id, result }));
  });
  await new Promise<void>((resolve) => manager.listen(0, "127.0.0.1", resolve));
  ends.push(() => void manager.close().closeAllConnections());
  const dataFolder = mkdtempSync(join(tmpdir(), "refusals-"));
  ends.push(() => rmSync(dataFolder, { recursive: true, force: true }));
  const said: string[] = [];
  const ready = Promise.withResolvers<string>();
  const registered = Promise.withResolvers<void>();
  const self = silentProcess("player", {
    report: (report: Wire) => ready.resolve(report.url),
    say(line: string) {
      said.push(line);
      if (line.startsWith("registered")) registered.resolve();
    },
  });
  const place = { host: "127.0.0.1", ports: [0], dataFolder, limitLoopback };
  const at = { manager: `http://127.0.0.1:${(manager.address() as AddressInfo).port}/mcp` };
  const player = await startPlayer({ bot: "manual", name: "P", ...place, ...at }, self);
  ends.push(() => player.stop());
  const { port } = new URL(await ready.promise);
  await registered.promise;
  const post = (name: string, args: object): Promise<Response> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } });
    return fetch(`http://127.0.0.1:${port}/mcp`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
  };
  const tool = async (name: string, args: object): Promise<Wire> => {
    const { result, error } = (await (await post(name, args)).json()) as Wire;
    return error ?? { isError: result.isError ?? false, ...JSON.parse(result.content[0].text) };
  };
  const message = (type: MessageType, payload: object, authToken?: string): Promise<Wire> =>
    tool("league_message", newEnvelope(type, SENDERS[type] ?? "referee:REF01", payload, { authToken }));
  const state = () => tool("get_my_state", { auth_token: TOKEN });
  return { stop: () => player.stop(), said, port, post, tool, message, state };
}

/** The sender of each notification that does not come from the referee. */
const SENDERS: Partial<Record<MessageType, string>> = Object.fromEntries(
  ["ROUND_ANNOUNCEMENT", "ROUND_START", "ROUND_END", "LEAGUE_STANDINGS_UPDATE"].map((type) => [type, MANAGER]),
);
const match = { league_id: "rps", match_id: "R1M1" };
const invite = (epoch = 1) => ({
  ...{ ...match, round_id: 1, epoch, game: "rps.v1", options: { best_of: 3 }, your_role: "player_1" },
  ...{ roles: { player_1: "P01", player_2: "P02" }, seed_commitment: sha256Hex("s"), bot_seed: "seed" },
});
const moveRequest = (epoch: number, seconds: number) => ({
  ...{ ...match, epoch, tick: 0, your_role: "player_1", game_state: { phase: "choosing" } },
  ...{ legal_actions: ["rock", "paper", "scissors"], time_limit_seconds: seconds },
  deadline: new Date(Date.now() + seconds * 1000).toISOString(),
});

describe("an epoch that is over", () => {
  it("is declined and asked about in vain, and the bot is not asked", async () => {
    const { tool, message, state } = await startRegistered();
    const mine = signed("rps/R1M1");
    expect(await message("GAME_INVITE", invite(2), mine)).toMatchObject({ payload: { accept: true } });
    const declined = await message("GAME_INVITE", invite(1), mine);
    expect(declined).toMatchObject({ isError: false, payload: { accept: false, reason: expect.any(String) } });
    const refused = await message("MOVE_REQUEST", moveRequest(1, 0.2), mine);
    expect(refused).toMatchObject({ isError: true, type: "GAME_ERROR", payload: { error_code: "G003" } });
    expect(await state()).toMatchObject({ matches_begun: 1, asked: [], playing: [{ match_id: "R1M1", actions: [] }] });
    const moving = message("MOVE_REQUEST", moveRequest(2, 20), mine);
    await vi.waitFor(async () => expect((await state()).asked).toHaveLength(1), { timeout: 10_000 });
    await tool("make_move", { move: "rock" });
    expect((await moving).payload).toMatchObject({ tick: 0, move: "rock" });
  });

  it("does not end the match with its result", async () => {
    const { said, message, state } = await startRegistered();
    await message("GAME_INVITE", invite(2), signed("rps/R1M1"));
    const before = [await state(), [...said]];
    const late = await message("GAME_RESULT", { ...NOTIFICATIONS.GAME_RESULT, epoch: 1 }, signed("rps/R1M1"));
    expect(late).toMatchObject({ isError: true, payload: { error_code: "G003" } });
    expect([await state(), said]).toEqual(before);
  });
});

describe("before its registration is answered, a player", () => {
  /** A player that is sent an invitation meanwhile, signed as a test says, and its answer. */
  async function startInvited(epoch: number, signatureFor: (token: string) => string) {
    let early: Wire;
    const player = await startRegistered({
      meanwhile: async (url, token) => {
        const invited = newEnvelope("GAME_INVITE", "referee:REF01", invite(epoch), { authToken: signatureFor(token) });
        const params = { name: "league_message", arguments: invited };
        const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
        const headers = { "content-type": "application/json" };
        const response = await fetch(`${url}/mcp`, { method: "POST", headers, body });
        early = JSON.parse(((await response.json()) as Wire).result.content[0].text);
      },
    });
    return { ...player, early };
  }

  it("refuses an unsigned invitation with a higher epoch, and accepts the signed one after it", async () => {
    const { early, message } = await startInvited(1_000_000, () => "made up");
    expect(early).toMatchObject({ type: "LEAGUE_ERROR", payload: { error_code: "L004" } });
    expect(await message("GAME_INVITE", invite(), signed("rps/R1M1"))).toMatchObject({ payload: { accept: true } });
  });

  it("accepts what is signed with the token that it sends", async () => {
    const { early } = await startInvited(1, (token) => signFor(sha256Hex(token), "rps/R1M1"));
    expect(early).toMatchObject({ type: "GAME_INVITE_RESPONSE", payload: { accept: true } });
  });
});

it("a message from an agent that does not send its type is -32602, whatever its signature", async () => {
  const { tool, state } = await startRegistered();
  for (const sender of ["player:P02", MANAGER]) {
    const forged = newEnvelope("GAME_INVITE", sender, invite(), { authToken: signed("rps/R1M1") });
    const message = `GAME_INVITE must come from a referee, not from ${sender}`;
    expect(await tool("league_message", forged)).toMatchObject({
      ...{ code: -32602, data: { faults: [{ path: "sender", message }] } },
    });
  }
  expect(await state()).toMatchObject({ matches_begun: 0 });
});

it("a message with another role than that of the invitation is -32602, with the path of the role", async () => {
  const { message, state } = await startRegistered();
  const mine = signed("rps/R1M1");
  const rejected = (your_role: string): object => {
    const fault = { path: "payload.your_role", message: `this player was not invited as ${your_role}` };
    return { code: -32602, data: { faults: [fault] } };
  };
  expect(await message("GAME_INVITE", { ...invite(), your_role: "player_3" }, mine)).toMatchObject(
    rejected("player_3"),
  );
  expect(await message("GAME_INVITE", invite(), mine)).toMatchObject({ payload: { accept: true } });
  const asked = await message("MOVE_REQUEST", { ...moveRequest(1, 20), your_role: "player_2" }, mine);
  expect(asked).toMatchObject(rejected("player_2"));
  expect(await state()).toMatchObject({ matches_begun: 1, asked: [] });
});

describe("after a match has ended", () => {
  it("a replayed invitation to it is declined and a replayed result is refused", async () => {
    const { said, tool, state } = await startRegistered();
    const mine = { authToken: signed("rps/R1M1") };
    const invited = newEnvelope("GAME_INVITE", "referee:REF01", invite(), mine);
    const result = newEnvelope("GAME_RESULT", "referee:REF01", NOTIFICATIONS.GAME_RESULT, mine);
    expect(await tool("league_message", invited)).toMatchObject({ payload: { accept: true } });
    expect(await tool("league_message", result)).toMatchObject({ type: "ACK" });
    const before = [await state(), [...said]];
    expect(await tool("league_message", invited)).toMatchObject({ payload: { accept: false } });
    expect(await tool("league_message", result)).toMatchObject({ type: "GAME_ERROR", payload: { error_code: "G003" } });
    expect([await state(), said]).toEqual(before);
  });
});

const ended = { final_scores: { P01: 2 }, match_points: { P01: 3 }, seed: "s", log_head: "h" };
const row = { rank: 1, player_id: "P01", display_name: "P", played: 1, wins: 1, draws: 0, losses: 0, points: 3 };
/** Whatever a player is told and answers with an ACK. */
const NOTIFICATIONS = {
  GAME_START: { ...match, game_config: {}, players: [] },
  GAME_ERROR: { ...match, error_code: "G002", message: "no answer within 500 ms" },
  ROUND_RESULT: { ...match, game_round: 1, moves: {}, round_winner: null, scores: {} },
  GAME_RESULT: { ...match, epoch: 1, winner: "P01", termination: "normal", reason: "won", ...ended },
  ROUND_ANNOUNCEMENT: { league_id: "rps", round_id: 1, matches: [] },
  ROUND_START: { league_id: "rps", round_id: 1 },
  LEAGUE_STANDINGS_UPDATE: { league_id: "rps", round_id: 1, standings: [row] },
  ROUND_END: { league_id: "rps", round_id: 1, matches_completed: 1, next_round_id: null, summary: {} },
} as const satisfies Partial<Record<MessageType, object>>;

describe("notifications", () => {
  it.each(Object.keys(NOTIFICATIONS) as (keyof typeof NOTIFICATIONS)[])(
    "%s is taken with its own signature alone",
    async (type) => {
      const { said, message, state } = await startRegistered();
      await message("GAME_INVITE", invite(), signed("rps/R1M1"));
      const before = [await state(), [...said]];
      const subjects = ["rps/R1M1", "rps/R1M2", "go/R1M1", "rps", "go"];
      const own = "match_id" in NOTIFICATIONS[type] ? "rps/R1M1" : "rps";
      const others = subjects.filter((subject) => subject !== own).map(signed);
      const wrong = [undefined, "", "wrong", TOKEN, sha256Hex(TOKEN), signFor(TOKEN, own), ...others];
      for (const token of wrong) {
        const refused = await message(type, NOTIFICATIONS[type], token);
        expect(refused, `signed ${token}`).toMatchObject({ isError: true, payload: { error_code: "L004" } });
      }
      expect([await state(), said]).toEqual(before);
      expect(await message(type, NOTIFICATIONS[type], signed(own))).toMatchObject({ isError: false, type: "ACK" });
    },
  );
});

describe("the rate limit", () => {
  it("holds a stranger whatever token it makes up, and not who signs as the manager does", async () => {
    const { post } = await startRegistered({ limitLoopback: true });
    const call = async (authToken: string) => {
      const said = newEnvelope("ROUND_START", MANAGER, NOTIFICATIONS.ROUND_START, { authToken });
      const response = await post("league_message", said);
      return { status: response.status, text: await response.text() };
    };
    const made = ["made up", signed("go"), signed("rps/R1M1"), sha256Hex(TOKEN), signFor("x", "rps")];
    for (const token of [...made, ...made]) {
      expect(await call(token), token).toMatchObject({ status: 200, text: expect.stringContaining("L004") });
    }
    for (const token of made) expect((await call(token)).status, token).toBe(429);
    for (const _ of made) {
      expect(await call(signed("rps"))).toMatchObject({ status: 200, text: expect.stringContaining("ACK") });
    }
    expect((await call("made up")).status).toBe(429);
  });
});

it("a player is ready when it is registered, and no sooner", async () => {
  const statuses: number[] = [];
  const look = async (url: string) => void statuses.push((await fetch(`${url}/ready`)).status);
  const { port } = await startRegistered({ meanwhile: look });
  await look(`http://127.0.0.1:${port}`);
  expect(statuses).toEqual([503, 200]);
});

describe("a player that is stopped", () => {
  it("breaks off what it is asked, and gives no answer that would count", async () => {
    const { stop, message, state } = await startRegistered();
    await message("GAME_INVITE", invite(), signed("rps/R1M1"));
    const moving = message("MOVE_REQUEST", moveRequest(1, 3_600), signed("rps/R1M1")).catch(() => "broken off");
    await vi.waitFor(async () => expect((await state()).asked).toHaveLength(1), { timeout: 10_000 });
    await stop();
    expect(await moving).toBe("broken off");
  });
});
