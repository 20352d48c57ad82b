import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { afterEach, describe, expect, test, vi } from "vitest";
import { hmacBase64Url, sha256Hex } from "#shared/lib/hash.ts";
import { createRandom } from "#shared/lib/rng.ts";
import { signFor } from "#shared/protocol/signing.ts";
import type { RunningAgent } from "#shared/runtime/agent.ts";
import { matchSeeds } from "../../../league-manager/league/seeds.ts";
import { startTestLeague, type TestLeague, type TestPlace } from "../../testing/league.ts";

/** The data that one player has received. */
interface Received {
  /** Requests and answers with headers, until the result of the match. */
  readonly open: string[];
  /** The player's token. */
  readonly tokens: string[];
  readonly messages: Message[];
  /** Secrets that the player may know: signatures of its messages and its bot seeds. */
  readonly ownSecrets: string[];
}

interface Message {
  readonly type: string;
  readonly message_id: string;
  readonly auth_token?: string;
  readonly payload: Record<string, unknown>;
}

/**
 * Returns a function that starts a player on plain HTTP. The player answers with the move of `choose`, calls `before` first, and records what it
 * receives in `received`.
 */
function scriptedPlayer(received: Received, choose: (tick: number) => unknown, before: (ask: Ask) => Promise<void>) {
  return async ({ name, manager, port }: TestPlace): Promise<RunningAgent> => {
    let referee = "";
    let self = name;
    const envelope = (type: string, payload: object, correlation_id?: string) => {
      const timestamp = new Date().toISOString();
      return {
        protocol: "league.v2",
        message_id: randomUUID(),
        type,
        sender: `player:${self}`,
        timestamp,
        payload,
        correlation_id,
      };
    };
    const post = async (url: string, method: string, params: object): Promise<string> => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
      return (await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body })).text();
    };
    const answer = async ({ type, message_id, payload, auth_token }: Message): Promise<object> => {
      const { match_id, tick } = payload as { match_id: string; tick: number };
      if (auth_token !== undefined) received.ownSecrets.push(auth_token);
      if (type === "ROUND_ANNOUNCEMENT") {
        const { matches } = payload as { matches: { referee_endpoint: string }[] };
        referee = matches[0]?.referee_endpoint ?? "";
      }
      if (type === "GAME_INVITE") {
        received.ownSecrets.push(String(payload.bot_seed));
        self = (payload.roles as Record<string, string>)[String(payload.your_role)] ?? "";
        return envelope("GAME_INVITE_RESPONSE", { match_id, accept: true }, message_id);
      }
      if (type !== "MOVE_REQUEST") return {};
      await before(async (to, method, params) => {
        received.open.push(await post(to === "referee" ? referee : manager, method, params));
      });
      const move = choose(tick);
      return envelope("MOVE_RESPONSE", { match_id, tick, move }, message_id);
    };
    const server = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request.setEncoding("utf8")) body += chunk;
      const { id, params } = JSON.parse(body) as { id: number; params: { arguments: Message } };
      received.messages.push(params.arguments);
      if (params.arguments.type !== "GAME_RESULT") received.open.push(JSON.stringify(request.headers) + body);
      const result = { content: [{ type: "text", text: JSON.stringify(await answer(params.arguments)) }] };
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    });
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    const me = {
      display_name: name,
      game_types: ["rps.v1", "even_odd.v1"],
      contact_endpoint: `http://127.0.0.1:${port}/mcp`,
    };
    const registered = await post(manager, "tools/call", {
      name: "league_message",
      arguments: envelope("PLAYER_REGISTER_REQUEST", me),
    });
    received.tokens.push(...(/"auth_token\\":\\"([\w-]+)/.exec(registered)?.slice(1) ?? []));
    return { stop: async () => void server.close().closeAllConnections() };
  };
}

type Ask = (to: "referee" | "manager", method: string, params: object) => Promise<void>;

/** Calls every interface from which a player could try to learn an open choice. */
async function probe(ask: Ask): Promise<void> {
  const tool = (name: string, args: object) => ({ name, arguments: args });
  await ask("referee", "tools/call", tool("get_game_state", { match_id: "R1M1" }));
  await ask("referee", "tools/call", tool("get_game_state", { match_id: "game/R1M1", auth_token: "guess" }));
  await ask("referee", "tools/call", tool("validate_move", { player_id: "P01", move: "rock" }));
  await ask("referee", "tools/call", tool("validate_move", { player_id: "P01", move: 3, match_id: "R1M1" }));
  await ask("referee", "resources/read", { uri: "game://state/R1M1" });
  await ask("referee", "resources/read", { uri: "game://state/game/R1M1" });
  await ask("manager", "resources/read", { uri: "match://game/R1M1" });
  await ask("manager", "resources/read", { uri: "league://schedule" });
  await ask("manager", "tools/call", tool("get_standings", { league_id: "game" }));
}

const newReceived = (): Received => ({ open: [], tokens: [], messages: [], ownSecrets: [] });
const doNothing = async (): Promise<void> => {};

/** Replaces values that differ between runs, such as ids and times. */
const normalized = (texts: readonly string[]): string[] =>
  texts.map((text) =>
    text
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g, "UUID")
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
      .replace(/127\.0\.0\.1:\d+/g, "HOST")
      .replace(/"(time_limit_seconds|last_round_trip_ms)":(null|[\d.]+)/g, '"$1":0')
      .replace(/"content-length":"\d+"/g, "LENGTH")
      .replace(/"auth_token":"[\w-]+"/g, "SIGNATURE")
      .replace(/"run_id":"[\w-]+"/g, "RUN")
      .replace(/"id":\d+/g, "ID"),
  );

let league: TestLeague | undefined;
afterEach(() => league?.stop());

/** Plays one match. P01 answers immediately; P02 calls `probe` before each answer, when P01 has answered. Resolves with the data that both have received. */
async function play(
  game: string,
  options: object,
  first: (tick: number) => unknown,
  second: (tick: number) => unknown,
) {
  const [quick, curious] = [newReceived(), newReceived()];
  let firstAnswered = Promise.withResolvers<void>();
  const firstAnswers = (tick: number): unknown => {
    firstAnswered.resolve();
    return first(tick);
  };
  league = await startTestLeague({
    leagues: [{ league_id: "game", game, options }],
    players: [
      { name: "Quick", start: scriptedPlayer(quick, firstAnswers, doNothing) },
      {
        name: "Curious",
        start: scriptedPlayer(curious, second, async (ask) => {
          await firstAnswered.promise;
          firstAnswered = Promise.withResolvers();
          await probe(ask);
        }),
      },
    ],
  });
  await league.completed;
  const { log } = await league.match("game", "R1M1");
  await league.stop();
  return { quick, curious, log };
}

describe("an open turn (PROTOCOL.md, section 3)", () => {
  test.each<[string, object, readonly unknown[], unknown]>([
    ["rps.v1", {}, ["rock", "paper", "scissors"], "paper"],
    ["even_odd.v1", { rounds_to_win: 1, max_rounds: 1 }, [1, 2, 3, 4, 5], 2],
  ])("of %s sends a player the same data whatever the other player has chosen", async (...args) => {
    const [game, options, choices, ownChoice] = args;
    const seen: string[][] = [];
    for (const choice of choices) {
      const { curious } = await play(
        game,
        options,
        () => choice,
        () => ownChoice,
      );
      const beforeTheEnd = curious.open.filter(
        (text) => !text.includes("ROUND_RESULT") && !/ROUND_END|STANDINGS/.test(text),
      );
      expect(beforeTheEnd.length).toBeGreaterThan(9);
      seen.push(normalized(beforeTheEnd).sort());
    }
    for (const other of seen.slice(1)) expect(other).toEqual(seen[0]);
  });

  test.each([1, 2, 3])(
    "reveals no seed, no secret of the other player and no hash of a log entry in a random game (%i)",
    async (round) => {
      const random = createRandom(`sealed ${round}`);
      const pick = () => random.pick(["rock", "paper", "scissors"]);
      const { quick, curious, log } = await play("rps.v1", { best_of: 7 }, pick, pick);
      const bytes = curious.open.join("\n");
      const seed = matchSeeds("test")("game", "R1M1", 1);
      expect(bytes).not.toContain(seed);
      expect(bytes).toContain(sha256Hex(seed)); // the commitment is public
      const secrets = [...quick.tokens, ...quick.ownSecrets].filter((secret) => !curious.ownSecrets.includes(secret));
      expect(secrets.length).toBeGreaterThan(2);
      for (const secret of secrets) {
        expect(bytes).not.toContain(secret);
        expect(bytes).not.toContain(sha256Hex(secret));
      }
      for (const entry of log) expect(bytes).not.toContain(sha256Hex(entry));
    },
  );
});

/** Plays one match until both players have received its last notifications. Resolves with the data that they have received. */
async function playAndReceive(): Promise<readonly [Received, Received]> {
  const both = [newReceived(), newReceived()] as const;
  league = await startTestLeague({
    leagues: [{ league_id: "game", game: "rps.v1", options: { best_of: 3 } }],
    players: both.map((received, index) => ({
      name: `Player${index + 1}`,
      start: scriptedPlayer(received, () => ["rock", "paper"][index], doNothing),
    })),
  });
  await league.completed;
  const last = ["GAME_RESULT", "ROUND_END", "LEAGUE_STANDINGS_UPDATE"];
  const typesOf = ({ messages }: Received) => messages.map(({ type }) => type);
  await vi.waitFor(() => both.map((received) => expect(typesOf(received)).toEqual(expect.arrayContaining(last))), {
    timeout: 10_000,
  });
  return both;
}

describe("messages to a player", () => {
  test("contain the bot seed of its role only, which is derived from the match's seed", async () => {
    const both = await playAndReceive();
    const invitations = both.map(({ messages }) => messages.find(({ type }) => type === "GAME_INVITE")?.payload);
    const seeds = invitations.map((payload) => String(payload?.bot_seed));
    const seed = matchSeeds("test")("game", "R1M1", 1);
    expect(seeds).toEqual(invitations.map((payload) => hmacBase64Url(seed, String(payload?.your_role))));
    expect(new Set(seeds).size).toBe(2);
    for (const [index, { messages }] of both.entries()) {
      expect(JSON.stringify(messages)).toContain(seeds[index]);
      expect(JSON.stringify(messages)).not.toContain(seeds[1 - index]);
    }
  });

  test("are signed with its token for the match, and notifications of the league for the league", async () => {
    const both = await playAndReceive();
    for (const { tokens, messages } of both) {
      const key = sha256Hex(tokens[0] ?? "");
      const subjectOf = ({ payload: { match_id } }: Message) => (match_id === undefined ? "game" : `game/${match_id}`);
      const signatures = messages.map((one) => [one.type, subjectOf(one), one.auth_token]);
      expect(signatures).toEqual(signatures.map(([type, subject]) => [type, subject, signFor(key, String(subject))]));
      const notifications = signatures.filter(([, subject]) => subject === "game").map(([type]) => type);
      expect(notifications).toEqual(["ROUND_ANNOUNCEMENT", "ROUND_START", "ROUND_END", "LEAGUE_STANDINGS_UPDATE"]);
    }
  });
});
