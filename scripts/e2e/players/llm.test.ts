import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  type Behaviour,
  type ChatEndpoint,
  type ChatRequest,
  sendCompletion,
  sendJson,
  startChatEndpoint,
} from "#shared/rpc/testing/chat-endpoint.ts";
import type { ResultsDocument } from "../../../league-manager/projections/results-document.ts";
import { LlmManifest, type LlmRecord, matchRecordsIn } from "../../../player/llm/records.ts";
import { gameIn } from "../../testing/game-host.ts";
import { cleanUp, league, newFolder } from "../../testing/processes.ts";
import { documentOf, run, runFolders, testLeague } from "../../testing/test-league.ts";

const KEY = "sk-very-secret-0123456789";
const USAGE = { usage: { prompt_tokens: 900, completion_tokens: 100 } };

let chat: ChatEndpoint;
afterEach(async () => {
  await chat.close();
  await cleanUp();
});

/** The legal moves in the prompt of a request. */
const listedIn = ({ messages }: ChatRequest): readonly string[] =>
  /Legal moves[^:]*: (.*)\n/.exec(messages[1]?.content ?? "")?.[1]?.split(", ") ?? [];

/** Answers with the first legal move. */
const firstMove: Behaviour = (request, response) =>
  sendCompletion(response, JSON.stringify({ reason: "r", action: listedIn(request)[0] }), {}, USAGE);

/** The records and the manifest of the only model in the folder of a run. */
function recordsIn(folder: string): { readonly manifest: LlmManifest; readonly records: readonly LlmRecord[] } {
  const [name = "", ...others] = readdirSync(join(folder, "llm"));
  expect(others).toEqual([]);
  const own = join(folder, "llm", name);
  const manifest = LlmManifest.parse(JSON.parse(readFileSync(join(own, "manifest.json"), "utf8")));
  return { manifest, records: matchRecordsIn(own).flatMap(({ records }) => records) };
}

const answersIn = (records: readonly LlmRecord[]) => records.filter((record) => record.type === "answer");

describe("league play with a language model", () => {
  it("plays on after a 429 with retry-after and a refusal, and records prompts, answers and the manifest", async () => {
    chat = await startChatEndpoint((request, response, n, requests) => {
      if (n === 1) sendJson(response, 429, { error: { message: "busy" } }, { "retry-after": "0" });
      else if (n === 2) sendCompletion(response, null, { refusal: "I would rather not" }, USAGE);
      else firstMove(request, response, n, requests);
    });
    const data = join(newFolder(), "data");
    const args = ["play", `llm:${chat.url}#m`, "counter", "--game", "rps", "--option", "best_of=3", "--data", data];
    const { code, stdout, stderr } = await league([...args, "--seed", "7"], { OPENAI_API_KEY: KEY });
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^rps\.v1 \(best_of=3\)\nplayer_1: llm:m\nplayer_2: counter\n\n1\. player_1 rock\n/);
    expect(stdout).toMatch(/\n(llm:m wins|counter wins|draw).*\n$/);
    expect(stderr).toMatch(/^llm:m \(m\): \d answers; [\d,]+ tokens in, \d+ out; .*faults: refusal 1$/m);

    const [runs = ""] = runFolders({ folder: join(data, "..") });
    const { manifest, records } = recordsIn(runs);
    const answers = answersIn(records);
    expect(answers[0]).toMatchObject({ requests: 2, attempt: 1, answer: "", fault: { cause: "refusal" } });
    expect(answers[1]).toMatchObject({ requests: 1, attempt: 2, action: "rock", fault: null, tokens_in: 900 });
    expect(answers[1]?.prompt).toContain("the model refused to answer");
    expect(chat.requests.length).toBe(answers.length + 1);
    expect(records.at(0)).toMatchObject({ type: "begin", game: "rps.v1", role: "player_1", model: "m" });
    expect(records.at(-1)).toMatchObject({ type: "end", termination: "normal" });
    expect(manifest).toMatchObject({ settings: { base_url: chat.url, model: "m" }, matches: [{ match_id: "R1M1" }] });
    expect(chat.requests.map(({ authorization }) => authorization)).toEqual(chat.requests.map(() => `Bearer ${KEY}`));
    expect(stdout + stderr + JSON.stringify([manifest, records])).not.toContain(KEY);
  });

  it("plays a game of a file", async () => {
    chat = await startChatEndpoint(firstMove);
    const game = gameIn(newFolder());
    const { code, stdout, stderr } = await league(["play", `llm:${chat.url}#m`, "random", "--game", game, "--json"]);
    expect(code, stderr).toBe(0);
    const { moves, ...result } = JSON.parse(stdout);
    expect(result).toMatchObject({ termination: "normal", reason: "last_taken", faults: [] });
    expect(moves[0]).toEqual({ role: "first_player", action: 1 });
    expect(chat.requests[0]?.messages[1]?.content).toContain("5 sticks left, first_player to move.");
  });

  it("forfeits with the cause when the model never chooses an action", async () => {
    chat = await startChatEndpoint((_, response) => sendCompletion(response, "I take the centre.", {}, USAGE));
    const { code, stdout } = await league(["play", `llm:${chat.url}#m`, "random", "--game", "tic_tac_toe"]);
    expect(code).toBe(1);
    expect(stdout).toContain("LLM no_action: the answer contains no action");
    expect(stdout).toMatch(/\nrandom wins \(llm:m: bot error\)\n$/);
  });
});

it("a league with a language model has its totals and records, and its model forfeits when its budget is spent", async () => {
  chat = await startChatEndpoint(firstMove);
  const test = await testLeague([], [{ league_id: "rps", game: "rps.v1", options: { best_of: 3 } }], {
    config: {
      players: [
        {
          name: "Model",
          llm: { base_url: chat.url, model: "m", price: { input: 1, output: 2 }, budget: { tokens: 1_500 } },
        },
        { name: "Paper", bot: "cycle" },
        { name: "Chance", bot: "random" },
      ],
    },
  });
  const ended = await run(test, "--json").ended;
  expect(ended.code, ended.stderr).toBe(0);
  const { leagues, llm } = documentOf(ended) as ResultsDocument & { readonly llm: unknown };
  const played = leagues[0]?.matches.filter(({ roles }) => Object.values(roles).includes("P01"));
  expect(played).toMatchObject([{}, {}]);
  // Two answers of 1,000 tokens exceed the budget. The model sends no third request.
  expect(chat.requests).toHaveLength(2);
  expect(leagues[0]?.matches).toHaveLength(3);
  expect(played?.at(-1)).toMatchObject({
    termination: "forfeit",
    reason: "bot_error",
    winner: expect.not.stringMatching("P01"),
  });
  expect(llm).toMatchObject([
    { player: "Model", model: "m", totals: { answers: 2, tokens_in: 1_800, tokens_out: 200, cost: 0.0022 } },
  ]);
  const [folder = ""] = runFolders(test);
  const { manifest, records } = recordsIn(folder);
  expect(manifest.matches).toHaveLength(2);
  const faults = answersIn(records).flatMap(({ fault }) => fault?.cause ?? []);
  expect(new Set(faults)).toEqual(new Set(["budget"]));

  const out = join(test.folder, "export");
  expect((await league(["export", join(test.folder, "data"), "--out", out])).code).toBe(0);
  expect((await league(["verify", out])).stdout).toContain("3 matches replayed");
  expect(readdirSync(out)).toContain("llm");
});
