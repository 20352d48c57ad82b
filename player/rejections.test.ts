import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { WAIT_OPTIONS } from "#shared/lib/testing/wait-options.ts";
import { Envelope, type MessageType } from "#shared/protocol/envelope.ts";
import { signFor } from "#shared/protocol/signing.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { rpcRequest, rpcToolCall } from "#shared/rpc/testing/json-rpc.ts";
import { serveTools } from "#shared/rpc/testing/loopback.ts";
import { silentProcess } from "#shared/runtime/testing/process.ts";
import { startPlayer } from "./service.ts";

const TOKEN = "the player's own token";
const MANAGER = "league_manager:LM01";
const signed = (subject: string): string => signFor(sha256Hex(TOKEN), subject);

// biome-ignore lint/suspicious/noExplicitAny: parsed JSON from the wire
type Wire = any;

const ends: (() => void | Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

interface Start {
  readonly limitLoopback?: boolean;
  /** Runs before the manager answers the registration, with the URL and the token of the player. */
  readonly beforeAnswer?: (url: string, token: string) => Promise<void>;
}

/** Starts a player with the manual bot. Resolves, when it is registered, with its lines on the terminal and functions that call it. */
async function startRegistered({ limitLoopback = false, beforeAnswer }: Start = {}) {
  const manager = await serveTools(async ({ args }) => {
    await beforeAnswer?.(await ready.promise, Envelope.parse(args).auth_token ?? "");
    const accepted = { status: "ACCEPTED", player_id: "P01", auth_token: TOKEN, league_ids: ["rps"] };
    return newEnvelope("PLAYER_REGISTER_RESPONSE", MANAGER, accepted);
  });
  ends.push(manager.close);
  const dataFolder = mkdtempSync(join(tmpdir(), "rejections-"));
  ends.push(() => rmSync(dataFolder, { recursive: true, force: true }));
  const lines: string[] = [];
  const ready = Promise.withResolvers<string>();
  const registered = Promise.withResolvers<void>();
  const self = silentProcess("player", {
    report: (report: Wire) => ready.resolve(report.url),
    say(line: string) {
      lines.push(line);
      if (line.startsWith("registered")) registered.resolve();
    },
  });
  const place = { host: "127.0.0.1", ports: [0], dataFolder, limitLoopback };
  const at = { manager: manager.url };
  const player = await startPlayer({ bot: "manual", name: "P", ...place, ...at }, self);
  ends.push(() => player.stop());
  const { port } = new URL(await ready.promise);
  await registered.promise;
  const post = (name: string, args: object): Promise<Response> => {
    const body = JSON.stringify(rpcToolCall(name, args));
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
  return { stop: () => player.stop(), lines, port, post, tool, message, state };
}

/** The sender of each notification that does not come from the referee. */
const SENDERS: Partial<Record<MessageType, string>> = Object.fromEntries(
  ["ROUND_ANNOUNCEMENT", "ROUND_START", "ROUND_END", "LEAGUE_STANDINGS_UPDATE"].map((type) => [type, MANAGER]),
);
const match = { league_id: "rps", match_id: "R1M1" };
const invite = (epoch = 1) => ({
  ...match,
  round_id: 1,
  epoch,
  game: "rps.v1",
  options: { best_of: 3 },
  your_role: "player_1",
  roles: { player_1: "P01", player_2: "P02" },
  seed_commitment: sha256Hex("s"),
  bot_seed: "seed",
});
const moveRequest = (epoch: number, seconds: number) => ({
  ...match,
  epoch,
  tick: 0,
  your_role: "player_1",
  game_state: { phase: "choosing" },
  legal_actions: ["rock", "paper", "scissors"],
  time_limit_seconds: seconds,
  deadline: new Date(Date.now() + seconds * 1000).toISOString(),
});

describe("an earlier epoch", () => {
  it("gets no move: its invitation is declined, its MOVE_REQUEST is rejected and the bot is not asked", async () => {
    const { tool, message, state } = await startRegistered();
    const mine = signed("rps/R1M1");
    expect(await message("GAME_INVITE", invite(2), mine)).toMatchObject({ payload: { accept: true } });
    const declined = await message("GAME_INVITE", invite(1), mine);
    expect(declined).toMatchObject({ isError: false, payload: { accept: false, reason: expect.any(String) } });
    const rejected = await message("MOVE_REQUEST", moveRequest(1, 0.2), mine);
    expect(rejected).toMatchObject({ isError: true, type: "GAME_ERROR", payload: { error_code: "G003" } });
    expect(await state()).toMatchObject({ matches_begun: 1, asked: [], playing: [{ match_id: "R1M1", actions: [] }] });
    const moving = message("MOVE_REQUEST", moveRequest(2, 20), mine);
    await vi.waitFor(async () => expect((await state()).asked).toHaveLength(1), WAIT_OPTIONS);
    await tool("make_move", { move: "rock" });
    expect((await moving).payload).toMatchObject({ tick: 0, move: "rock" });
  });

  it("cannot end the match with its GAME_RESULT", async () => {
    const { lines, message, state } = await startRegistered();
    await message("GAME_INVITE", invite(2), signed("rps/R1M1"));
    const before = [await state(), [...lines]];
    const late = await message("GAME_RESULT", { ...NOTIFICATIONS.GAME_RESULT, epoch: 1 }, signed("rps/R1M1"));
    expect(late).toMatchObject({ isError: true, payload: { error_code: "G003" } });
    expect([await state(), lines]).toEqual(before);
  });
});

describe("a player whose registration is not answered yet", () => {
  /** Starts a player that receives a signed invitation before the manager answers. Resolves with the player and its answer. */
  async function startInvited(epoch: number, signatureFor: (token: string) => string) {
    let early: Wire;
    const player = await startRegistered({
      beforeAnswer: async (url, token) => {
        const invited = newEnvelope("GAME_INVITE", "referee:REF01", invite(epoch), { authToken: signatureFor(token) });
        const params = { name: "league_message", arguments: invited };
        const body = JSON.stringify(rpcRequest("tools/call", params));
        const headers = { "content-type": "application/json" };
        const response = await fetch(`${url}/mcp`, { method: "POST", headers, body });
        early = JSON.parse(((await response.json()) as Wire).result.content[0].text);
      },
    });
    return { ...player, early };
  }

  it("rejects an unsigned invitation with a higher epoch and accepts the signed one after it", async () => {
    const { early, message } = await startInvited(1_000_000, () => "made up");
    expect(early).toMatchObject({ type: "LEAGUE_ERROR", payload: { error_code: "L004" } });
    expect(await message("GAME_INVITE", invite(), signed("rps/R1M1"))).toMatchObject({ payload: { accept: true } });
  });

  it("accepts an invitation that is signed with the token of its request", async () => {
    const { early } = await startInvited(1, (token) => signFor(sha256Hex(token), "rps/R1M1"));
    expect(early).toMatchObject({ type: "GAME_INVITE_RESPONSE", payload: { accept: true } });
  });
});

it("rejects a signed message whose sender does not send messages of this type: -32602", async () => {
  const { tool, state } = await startRegistered();
  for (const sender of ["player:P02", MANAGER]) {
    const forged = newEnvelope("GAME_INVITE", sender, invite(), { authToken: signed("rps/R1M1") });
    const message = `GAME_INVITE must come from a referee, not from ${sender}`;
    expect(await tool("league_message", forged)).toMatchObject({
      code: -32602,
      data: { faults: [{ path: "sender", message }] },
    });
  }
  expect(await state()).toMatchObject({ matches_begun: 0 });
});

it("rejects a message with another role than that of the invitation: -32602 with the path of the role", async () => {
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
  const answer = await message("MOVE_REQUEST", { ...moveRequest(1, 20), your_role: "player_2" }, mine);
  expect(answer).toMatchObject(rejected("player_2"));
  expect(await state()).toMatchObject({ matches_begun: 1, asked: [] });
});

describe("a player whose match has ended", () => {
  it("declines a replayed invitation and rejects a replayed result", async () => {
    const { lines, tool, state } = await startRegistered();
    const mine = { authToken: signed("rps/R1M1") };
    const invited = newEnvelope("GAME_INVITE", "referee:REF01", invite(), mine);
    const result = newEnvelope("GAME_RESULT", "referee:REF01", NOTIFICATIONS.GAME_RESULT, mine);
    expect(await tool("league_message", invited)).toMatchObject({ payload: { accept: true } });
    expect(await tool("league_message", result)).toMatchObject({ type: "ACK" });
    const before = [await state(), [...lines]];
    expect(await tool("league_message", invited)).toMatchObject({ payload: { accept: false } });
    expect(await tool("league_message", result)).toMatchObject({ type: "GAME_ERROR", payload: { error_code: "G003" } });
    expect([await state(), lines]).toEqual(before);
  });
});

const ended = { final_scores: { P01: 2 }, match_points: { P01: 3 }, seed: "s", log_head: "h" };
const row = { rank: 1, player_id: "P01", display_name: "P", played: 1, wins: 1, draws: 0, losses: 0, points: 3 };
/** The payloads of all notifications to a player, which it answers with ACK. */
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
    "%s is accepted only with the signature for its subject",
    async (type) => {
      const { lines, message, state } = await startRegistered();
      await message("GAME_INVITE", invite(), signed("rps/R1M1"));
      const before = [await state(), [...lines]];
      const subjects = ["rps/R1M1", "rps/R1M2", "go/R1M1", "rps", "go"];
      const subject = "match_id" in NOTIFICATIONS[type] ? "rps/R1M1" : "rps";
      const others = subjects.filter((other) => other !== subject).map(signed);
      const wrong = [undefined, "", "wrong", TOKEN, sha256Hex(TOKEN), signFor(TOKEN, subject), ...others];
      for (const token of wrong) {
        const rejected = await message(type, NOTIFICATIONS[type], token);
        expect(rejected, `signed ${token}`).toMatchObject({ isError: true, payload: { error_code: "L004" } });
      }
      expect([await state(), lines]).toEqual(before);
      expect(await message(type, NOTIFICATIONS[type], signed(subject))).toMatchObject({ isError: false, type: "ACK" });
    },
  );
});

describe("the rate limit", () => {
  it("applies to callers with an invalid token, and not to callers with the signature of the manager", async () => {
    const { post } = await startRegistered({ limitLoopback: true });
    const call = async (authToken: string) => {
      const message = newEnvelope("ROUND_START", MANAGER, NOTIFICATIONS.ROUND_START, { authToken });
      const response = await post("league_message", message);
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

it("GET /ready answers 503 until the player is registered", async () => {
  const statuses: number[] = [];
  const readStatus = async (url: string) => void statuses.push((await fetch(`${url}/ready`)).status);
  const { port } = await startRegistered({ beforeAnswer: readStatus });
  await readStatus(`http://127.0.0.1:${port}`);
  expect(statuses).toEqual([503, 200]);
});

describe("a player that is stopped", () => {
  it("breaks the connection of an open MOVE_REQUEST instead of answering it", async () => {
    const { stop, message, state } = await startRegistered();
    await message("GAME_INVITE", invite(), signed("rps/R1M1"));
    const moving = message("MOVE_REQUEST", moveRequest(1, 3_600), signed("rps/R1M1")).catch(() => "broken off");
    await vi.waitFor(async () => expect((await state()).asked).toHaveLength(1), WAIT_OPTIONS);
    await stop();
    expect(await moving).toBe("broken off");
  });
});
