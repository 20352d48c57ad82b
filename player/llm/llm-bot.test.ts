import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Game } from "#shared/games/game.ts";
import { gameIds, games, registerGame } from "#shared/games/registry.ts";
import { systemClock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { createRandom } from "#shared/lib/rng.ts";
import {
  type Behaviour,
  type ChatEndpoint,
  type ChatRequest,
  sendCompletion,
  sendJson,
  startChatEndpoint,
} from "#shared/rpc/testing/chat-endpoint.ts";
import type { LlmSettings } from "#shared/runtime/config/llm.ts";
import type { LoadedBot } from "../loaded-bot.ts";
import type { BotObject, GameResult, MatchInfo, Turn } from "../sdk.ts";
import { botHome } from "../testing/home.ts";
import { llmBot, llmSpec } from "./llm-bot.ts";
import { type LlmRecord, manifestIn, matchRecordsIn } from "./records.ts";

const KEY = "sk-very-secret-0123456789";
const USAGE = { usage: { prompt_tokens: 900, completion_tokens: 100 } };
let folder = "";
let chat: ChatEndpoint;
let bots: LoadedBot[] = [];
let lines: string[] = [];
let said: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "llm-"));
  [bots, lines, said] = [[], [], []];
  process.env.LLM_TEST_KEY = KEY;
});
afterEach(async () => {
  delete process.env.LLM_TEST_KEY;
  for (const bot of bots) await bot.close?.();
  await chat.close();
  rmSync(folder, { recursive: true, force: true });
});

const info = (game: Game, role: string, more: Partial<MatchInfo> = {}): MatchInfo => ({
  leagueId: "l",
  matchId: "R1M1",
  epoch: 1,
  game: game.id,
  options: game.options.parse({}),
  role,
  roles: Object.fromEntries(game.roles.map((one, index) => [one, `P0${index + 1}`])),
  seedCommitment: sha256Hex("seed"),
  ...more,
});

const turnOf = (game: Game, view: unknown, role: string, more: Partial<Turn> = {}): Turn =>
  ({
    game: game.id,
    role,
    view,
    tick: 0,
    history: [],
    rejection: null,
    random: createRandom("turn"),
    legal: game.legalActions(view, role),
    clock: { deadline: new Date(0), remainingMs: () => 20_000 },
    signal: new AbortController().signal,
    log: (line: string) => void lines.push(line),
    ...more,
  }) as unknown as Turn;

async function load(behaviour: Behaviour, settings: Partial<LlmSettings> = {}): Promise<LoadedBot> {
  chat = await startChatEndpoint(behaviour);
  const all = { base_url: chat.url, model: "m", api_key_env: "LLM_TEST_KEY", max_tokens: 50, answer: "auto" } as const;
  return loadSpec(llmSpec({ ...all, ...settings }));
}

async function loadSpec(spec: string): Promise<LoadedBot> {
  const clock = { ...systemClock, pause: async () => true };
  const home = botHome({ recordsFolder: () => folder, say: (line) => void said.push(line) });
  const bot = await llmBot(spec, clock, home);
  bots.push(bot);
  return bot;
}

/** Starts an endpoint with this behaviour, and a match of tic-tac-toe of a model at it. */
async function begin(behaviour: Behaviour, settings: Partial<LlmSettings> = {}): Promise<BotObject> {
  const player = (await load(behaviour, settings)).create(() => {});
  player.start?.(info(TIC_TAC_TOE, "x"));
  return player;
}

const TIC_TAC_TOE = games["tic_tac_toe.v1"] as Game;
const firstTurn = (more: Partial<Turn> = {}): Turn =>
  turnOf(TIC_TAC_TOE, TIC_TAC_TOE.initialState({ options: {}, seed: "" }), "x", more);
const records = (): readonly LlmRecord[] => matchRecordsIn(folder).flatMap((match) => match.records);
const answers = () => records().filter((record) => record.type === "answer");
const playing =
  (...actions: readonly string[]): Behaviour =>
  (_, response, n) =>
    sendCompletion(response, JSON.stringify({ reason: "r", action: actions[n - 1] ?? actions.at(-1) }), {}, USAGE);
/** The legal moves in the prompt of a request. */
const listedIn = ({ messages }: ChatRequest): readonly string[] =>
  /Legal moves[^:]*: (.*)\n/.exec(messages[1]?.content ?? "")?.[1]?.split(", ") ?? [];

describe("a language model", () => {
  it.each(Object.values(games).map((game) => [game.id, game as unknown as Game] as const))(
    "plays a whole match of %s in every role, asked about its own view only",
    async (_, game) => {
      const random = createRandom("model");
      const bot = await load((request, response) =>
        sendCompletion(response, JSON.stringify({ reason: "r", action: random.pick(listedIn(request)) }), {}, USAGE),
      );
      let state = game.initialState({ options: game.options.parse({}), seed: "a seed" });
      const players = game.roles.map((role) => ({ role, player: bot.create(() => {}) }));
      for (const { role, player } of players) player.start?.(info(game, role, { matchId: role }));
      for (let tick = 0; !game.isTerminal(state); tick++) {
        expect(tick).toBeLessThan(game.info.maxActions);
        for (const role of game.toAct(state)) {
          const view = game.viewState(state, role);
          const player = players.find((one) => one.role === role)?.player;
          const action = await player?.choose(
            turnOf(game, view, role, { tick, random: createRandom(`${role}${tick}`) }),
          );
          expect(chat.requests.at(-1)?.messages[1]?.content).toContain(game.toText(view, role));
          const next = game.applyAction(state, role, action);
          if (!next.ok) throw new Error(next.error.message);
          state = next.value;
        }
      }
      const end = { seed: "seed", winner: null, termination: "normal", reason: "over" } as GameResult;
      for (const { player } of players) player.end?.(end);
      expect(manifestIn(folder)?.matches.map(({ match_id, seed }) => [match_id, seed])).toEqual(
        game.roles.map((role) => [role, "seed"]),
      );
    },
  );
});

it("a file of settings and the answers of an endpoint may begin with a byte order mark", async () => {
  const answer = { choices: [{ message: { content: '{"action": "a1"}' } }] };
  chat = await startChatEndpoint((_, response) => void response.end(`\uFEFF${JSON.stringify(answer)}`));
  const file = join(folder, "llm.json");
  writeFileSync(file, `\uFEFF${JSON.stringify({ base_url: chat.url, model: "m" })}`);
  const player = (await loadSpec(`llm:${file}`)).create(() => {});
  player.start?.(info(TIC_TAC_TOE, "x"));
  expect(await player.choose(firstTurn())).toBe("a1");
});

it.each(["a1", "action", '"', "{", "c"])(
  "an answer that contains the key %j is played, and recorded without the key",
  async (key) => {
    process.env.LLM_TEST_KEY = key;
    const player = await begin((_, response) => sendCompletion(response, '{"action": "a1", "reason": "c"}'));
    expect(await player.choose(firstTurn())).toBe("a1");
    const [played] = answers();
    expect(played).toMatchObject({ action: key === "a1" ? "***" : "a1", fault: null, mode: "json_schema" });
    expect(played?.answer).toBe('{"action": "a1", "reason": "c"}'.replaceAll(key, "***"));
  },
);

it("an illegal answer that contains the key is rejected, shown and recorded without the key", async () => {
  const key = KEY.repeat(10);
  process.env.LLM_TEST_KEY = key;
  const player = await begin((_, response) => sendCompletion(response, JSON.stringify({ action: key })));
  const detail = "LLM illegal_move: illegal move: ***";
  await expect(player.choose(firstTurn())).rejects.toThrow(detail);
  expect(answers().map(({ fault }) => fault?.detail)).toEqual(Array(3).fill("illegal move: ***"));
  player.end?.({ seed: "s", winner: null, termination: "forfeit", reason: `${key} is not a move` } as GameResult);
  expect(records().at(-1)).toMatchObject({ reason: "*** is not a move" });
  expect(lines.join() + said.join() + JSON.stringify(records())).not.toContain(KEY);
});

it("a rejection of the referee that quotes the key is shown and recorded without the key", async () => {
  process.env.LLM_TEST_KEY = "a1";
  const player = await begin(playing("a1", "b2"));
  expect(await player.choose(firstTurn())).toBe("a1");
  expect(await player.choose(firstTurn({ rejection: "a1 is taken" }))).toBe("b2");
  expect(records().find(({ type }) => type === "rejected")).toMatchObject({ reason: "*** is taken" });
  expect(lines.join()).not.toContain("a1");
});

it.each(["**a1**", "`A1`.", '"a1"', '{"action": "**a1**"}'])(
  "a language model may write its action as %s",
  async (text) => {
    const player = await begin((_, response) => sendCompletion(response, text));
    expect(await player.choose(firstTurn())).toBe("a1");
  },
);

it.each([
  "After some thought: \\boxed{a1}",
  "First \\boxed{b2}, no: $\\boxed{\\text{a1}}$.",
  "I choose a1 because b2 is too obvious.",
  "b2 is possible, too.\nI'll play **a1**.",
  "**Move:** a1",
  "My final answer is: A1!",
])("a language model may name its action as %j", async (text) => {
  const player = await begin((_, response) => sendCompletion(response, text));
  expect(await player.choose(firstTurn())).toBe("a1");
});

it.each([
  "If I choose a1, I lose.",
  "I choose a1. No, I choose b2.",
  "\\boxed{a1} is bad: \\boxed{z9}",
  "I will not play a1.",
  "I choose another move than a1.",
])("a language model names no action as %j", async (text) => {
  const player = await begin((_, response) => sendCompletion(response, text));
  await expect(player.choose(firstTurn())).rejects.toThrow("no_action: the answer contains no action");
});

it.each([
  ['{"action": "a1"}', "a1"],
  ["I choose a1", null],
])("an answer without content and with the reasoning %j has the action %j", async (reasoning_content, action) => {
  const player = await begin((_, response) => sendCompletion(response, null, { reasoning_content }));
  const chosen = Promise.resolve(player.choose(firstTurn()));
  if (action === null) await expect(chosen).rejects.toThrow("no_action: the answer is empty");
  else expect(await chosen).toBe(action);
});

it("a language model plays only games that its process knows, because its prompts contain the texts of the game", async () => {
  const remove = registerGame({ ...TIC_TAC_TOE, id: "own_game.v1" });
  const bot = await load(playing("a1"));
  remove();
  expect(bot.games).toEqual([...gameIds, "own_game.v1"]);
});

describe("a language model without a legal action", () => {
  it.each<[string, Behaviour, string, string]>([
    [
      "a refusal",
      (_, r) => sendCompletion(r, null, { refusal: "I would rather not" }),
      "refusal",
      "the model refused to answer",
    ],
    ["prose", (_, r) => sendCompletion(r, "I take the centre."), "no_action", "the answer contains no action"],
    ["an empty answer", (_, r) => sendCompletion(r, ""), "no_action", "the answer is empty"],
    ["an illegal move", (_, r) => sendCompletion(r, '{"action": "d9"}'), "illegal_move", "illegal move: d9"],
    [
      "truncated JSON",
      (_, r) => sendCompletion(r, '{"reason": "the cen', {}, { finish_reason: "length" }),
      "truncated",
      "the answer was cut off at the limit of tokens",
    ],
  ])(
    "is asked three times with the reason after %s, and then answers with the cause",
    async (_, behaviour, cause, detail) => {
      const player = await begin(behaviour);
      await expect(player.choose(firstTurn())).rejects.toThrow(`LLM ${cause}: ${detail}`);
      expect(chat.requests).toHaveLength(3);
      expect(chat.requests[2]?.messages.at(-1)?.content).toContain(`Your answer was not accepted: ${detail}.`);
      expect(answers().map(({ fault, action, attempt }) => [fault?.cause, action, attempt])).toEqual(
        [1, 2, 3].map((attempt) => [cause, undefined, attempt]),
      );
      expect(lines[0]).toContain(`l R1M1: ${cause}: ${detail}`);
      // The referee repeats its request. The model is not asked again.
      await expect(player.choose(firstTurn({ rejection: "answered GAME_ERROR" }))).rejects.toThrow(detail);
      expect(chat.requests).toHaveLength(3);
    },
  );

  const error = { error: { message: `about ${KEY}` } };
  it.each<[string, Behaviour, string, number]>([
    ["401", (_, r) => sendJson(r, 401, error), "LLM wrong_key: the endpoint rejects the API key (HTTP 401)", 1],
    [
      "404",
      (_, r) => sendJson(r, 404, error),
      "LLM unknown_model: the endpoint does not know the model or the address (HTTP 404)",
      1,
    ],
    ["500", (_, r) => sendJson(r, 500, error), "LLM server_error: the endpoint failed (HTTP 500)", 4],
    [
      "429 with a longer pause than the time that remains",
      (_, r) => sendJson(r, 429, error, { "retry-after": "60" }),
      "LLM rate_limited: the endpoint is busy and asks to wait 60 s (HTTP 429)",
      1,
    ],
    ["a page", (_, r) => void r.end("<html>"), "LLM bad_completion: the response is not a chat completion", 1],
  ])("answers with the cause after HTTP %s", async (_, behaviour, fault, requests) => {
    const player = await begin(behaviour);
    await expect(player.choose(firstTurn())).rejects.toThrow(fault);
    expect(chat.requests).toHaveLength(requests);
    expect(answers().at(-1)).toMatchObject({ answer: null, requests, fault: { cause: expect.any(String) } });
    expect(lines.join() + JSON.stringify(records())).not.toContain(KEY);
  });

  it("answers before the time limit if the model does not", async () => {
    const player = await begin(() => {});
    const startedAt = performance.now();
    const clock = { deadline: new Date(0), remainingMs: () => 2_000 - (performance.now() - startedAt), match: null };
    await expect(player.choose(firstTurn({ clock }))).rejects.toThrow("LLM timeout: the model did not answer in time");
    expect(clock.remainingMs()).toBeGreaterThan(0);
  });

  it("sends no request after its budget is spent, also when it is started again", async () => {
    const settings = { price: { input: 1, output: 1 }, budget: { cost: 0.002 } };
    const player = await begin(playing("a1"), settings);
    for (const tick of [0, 1]) expect(await player.choose(firstTurn({ tick }))).toBe("a1");
    const spent = "LLM budget: the budget is spent";
    await expect(player.choose(firstTurn({ tick: 2 }))).rejects.toThrow(spent);
    const { base_url } = { base_url: chat.url };
    const file = matchRecordsIn(folder)[0]?.file ?? "";
    appendFileSync(join(folder, file), '{"type": "answ'); // the process was killed
    const again = await llmBot(
      llmSpec({ base_url, model: "m", max_tokens: 50, answer: "auto", ...settings }),
      systemClock,
      botHome({ recordsFolder: () => folder }),
    );
    bots.push(again);
    const next = again.create(() => {});
    next.start?.(info(TIC_TAC_TOE, "x"));
    await expect(next.choose(firstTurn({ tick: 2 }))).rejects.toThrow(spent);
    expect(chat.requests).toHaveLength(2);
    expect(records().map(({ type }) => type)).toEqual(["begin", "answer", "answer", "answer", "answer"]);
  });

  it("tells the model why the referee has rejected its action", async () => {
    const game = games["codenames.v1"] as unknown as Game;
    const bot = await load(playing("ANTS 2", "ZXQWV 1"));
    const player = bot.create(() => {});
    player.start?.(info(game, "red_spymaster"));
    const options = game.options.parse({ starting_team: "red" });
    const view = game.viewState(game.initialState({ options, seed: "s" }), "red_spymaster");
    expect(await player.choose(turnOf(game, view, "red_spymaster"))).toEqual({ type: "clue", word: "ANTS", number: 2 });
    const rejection = "illegal move: ANTS is a form of ANT";
    expect(await player.choose(turnOf(game, view, "red_spymaster", { rejection }))).toMatchObject({ word: "ZXQWV" });
    expect(chat.requests[1]?.messages.slice(2)).toMatchObject([
      { role: "assistant" },
      { role: "user", content: expect.stringContaining(rejection) },
    ]);
  });

  it("sends no action if its record cannot be written", async () => {
    const player = await begin(playing("a1"));
    rmSync(folder, { recursive: true });
    await expect(player.choose(firstTurn())).rejects.toThrow(
      "LLM no_record: the record of the match cannot be written",
    );
  });
});

describe("the record of a language model", () => {
  it("contains each prompt and answer with its tokens, cost and latency; the manifest contains the facts that repeat the match", async () => {
    const price = { input: 1, output: 10 };
    const player = await begin(playing("d9", "b2"), { price, temperature: 0, extra: { reasoning_effort: "low" } });
    expect(await player.choose(firstTurn())).toBe("b2");
    player.end?.({ seed: "seed", winner: "P01", termination: "normal", reason: "r" } as GameResult);
    const [beginning, first, second, end] = records();
    expect(beginning).toMatchObject({
      game: TIC_TAC_TOE.id,
      role: "x",
      player_id: "P01",
      seed_commitment: sha256Hex("seed"),
    });
    expect(first).toMatchObject({
      answer: '{"reason":"r","action":"d9"}',
      fault: { cause: "illegal_move" },
      cost: 0.0019,
    });
    expect(second).toMatchObject({ action: "b2", tokens_in: 900, tokens_out: 100, requests: 1, mode: "json_schema" });
    expect(end).toMatchObject({ type: "end", seed: "seed" });
    expect(manifestIn(folder)).toMatchObject({
      prompt_version: 1,
      settings: { base_url: chat.url, model: "m", temperature: 0, extra: { reasoning_effort: "low" } },
      matches: [{ match_id: "R1M1", seed: "seed" }],
    });
    expect(chat.requests[0]).toMatchObject({ temperature: 0, reasoning_effort: "low", authorization: `Bearer ${KEY}` });
    expect(chat.requests[0]?.seed).toEqual(expect.any(Number));
    const file = join(folder, matchRecordsIn(folder)[0]?.file ?? "");
    expect(readFileSync(file, "utf8") + readFileSync(join(folder, "manifest.json"), "utf8")).not.toContain(KEY);
    await bots[0]?.close?.();
    expect(said[0]).toMatch(
      /^2 answers; 1,800 tokens in, 200 out; cost 0.0038; latency .*; faults: illegal_move 1; records in /,
    );
  });

  it("contains estimated numbers of tokens if the endpoint does not count them", async () => {
    const player = await begin((_, response) => sendCompletion(response, '{"action": "b2"}'));
    await player.choose(firstTurn());
    expect(answers()).toMatchObject([{ is_estimated: true, tokens_out: 4, cost: null }]);
  });
});
