import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  type Behaviour,
  type ChatEndpoint,
  sendCompletion,
  sendJson,
  startChatEndpoint,
} from "#shared/rpc/testing/chat-endpoint.ts";
import { listenOnLoopback } from "#shared/rpc/testing/loopback.ts";
import { startTestHost, type TestHost } from "../../referee/rest/testing/host.ts";
import { assassinIn, playLegally, WORDS } from "../testing/codenames-model.ts";
import {
  cleanUp,
  type Ended,
  league,
  newFolder,
  type Running,
  STACK_LINE,
  start,
  type Typist,
} from "../testing/processes.ts";

const KEY = "sk-very-secret-0123456789";
let chat: ChatEndpoint | null = null;
let host: TestHost | null = null;
afterEach(async () => {
  await cleanUp();
  await chat?.close();
  await host?.remove();
  chat = host = null;
});

/** Types the answers of a user that never stops. It guesses the first word, or the second if the first is the assassin, which the endpoint has seen. */
function newUser(): Typist {
  let firstWord = "";
  return (line) => {
    [, firstWord = firstWord] = /^ 1 (\S+)/.exec(line) ?? [];
    if (line.startsWith("Words (")) return "built-in";
    if (line.startsWith("Clue")) return "ZXQWV 1";
    if (line.startsWith("Your guess (")) return firstWord === assassinIn(chat?.requests ?? []) ? "2" : "1";
    return line.startsWith("Guess again (") ? "yes" : null;
  };
}
const endOfInput: Typist = () => ({ end: true });

const startEndpoint = async (behaviour: Behaviour = playLegally): Promise<ChatEndpoint> => {
  chat = await startChatEndpoint(behaviour);
  return chat;
};
const startGame = (args: readonly string[], typist?: Typist): Running =>
  start("scripts/league.ts", ["codenames", ...args], { OPENAI_API_KEY: KEY }, typist ?? "ignore");
const llm = ({ url }: ChatEndpoint): string[] => ["--llm", url, "--model", "scripted"];
const inFolder = (folder: string): string[] => ["--data", join(folder, "data")];

const expectOver = ({ code, stdout, stderr }: Ended): void => {
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^The game is over: team (red|blue) wins, because [a-z ]+\.\n/);
  expect(stdout).toContain("Agents to find: red");
  // The text is written for users: it shows the key card, and neither JSON nor names of fields and codes.
  expect(stdout).toMatch(/\S \((red|blue|neutral|assassin)\)/);
  expect(stdout).not.toMatch(/[{}"]|\w_\w/);
};
/** Returns the arguments with which the game is continued, as the command prints them. Expects that no stack trace is printed. */
const continueArgs = ({ stderr }: Ended): string[] => {
  expect(stderr).not.toMatch(STACK_LINE);
  const [, token = "", data = ""] =
    /The game is stored\. Continue it with: npm run league -- codenames (--continue=\S+) --data (\S+)/.exec(stderr) ??
    [];
  return [token, "--data", data];
};

describe("league codenames", () => {
  it("plays every role with an endpoint, and never prints the API key", async () => {
    const scripted = await startEndpoint();
    const ended = await startGame([...llm(scripted), "--people", "none", ...inFolder(newFolder())]).ended;
    expectOver(ended);
    expect(ended.stderr).toMatch(/^(red|blue) gives a clue\n(red|blue): ZXQWV 1; (red|blue) guesses\n/);
    expect(ended.stderr).toMatch(
      /(red|blue) guessed [A-Z]+: \w+; the game is over: team (red|blue) wins, because [a-z ]+\n$/,
    );
    expect(ended.stdout + ended.stderr).not.toContain(KEY);
    expect(scripted.requests[0]).toMatchObject({
      path: "/v1/chat/completions",
      authorization: `Bearer ${KEY}`,
      model: "scripted",
      max_tokens: 500,
      messages: [{ role: "system", content: expect.stringMatching(/^Codenames\./) }, { role: "user" }],
    });
  });

  it("reads the answers of users from a pipe, and plays with given words", async () => {
    const scripted = await startEndpoint();
    const people = ["--people", "red_spymaster", "--red-team", "user", "--words", WORDS.join()];
    const ended = await startGame([...llm(scripted), ...people, ...inFolder(newFolder())], newUser()).ended;
    expectOver(ended);
    expect(ended.stderr).toContain("You are the spymaster of team red.");
    expect(ended.stdout).toContain("WORDA");
    const prompts = scripted.requests.map(({ messages }) => messages.at(-1)?.content);
    expect(prompts.filter((text) => text?.includes("team red."))).toEqual([]);
  });

  it("needs no endpoint if users play every role", async () => {
    expectOver(await startGame(["--people", "all", ...inFolder(newFolder())], newUser()).ended);
  });

  it("plays at a running referee with words of the model", async () => {
    host = await startTestHost();
    const scripted = await startEndpoint();
    const more = ["--people", "none", "--words", "llm", "--url", host.url];
    const ended = await startGame([...llm(scripted), ...more, ...inFolder(newFolder())]).ended;
    expectOver(ended);
    expect(ended.stdout).toContain("WORDY");
  });
});

describe("league codenames with a faulty endpoint", () => {
  const failures: readonly (readonly [string, Behaviour, RegExp])[] = [
    [
      "500",
      (_, response) => sendJson(response, 500, { error: { message: `no luck with ${KEY}` } }),
      /HTTP 500: no luck with \*\*\*/,
    ],
    ["an invalid body", (_, response) => void response.end("<html>"), /not a chat completion/],
    ["no answer", () => {}, /no answer within 2000 ms/],
    ["429", (_, response) => sendJson(response, 429, { error: { message: "slow down" } }), /HTTP 429: slow down/],
  ];
  it.each(failures)("can be continued after three failures in a row: %s", async (_, behaviour, why) => {
    const scripted = await startEndpoint(behaviour);
    const limit = ["--timeout-ms", "2000"];
    const ended = await startGame([...llm(scripted), ...limit, "--people", "none", ...inFolder(newFolder())]).ended;
    expect([ended.code, ended.stdout]).toEqual([1, ""]);
    expect(ended.stderr).toMatch(why);
    expect(ended.stderr).not.toContain(KEY);
    // Within the time limit of an attempt its request is repeated, as often as the speed of the machine allows.
    const attempts = [...new Set(scripted.requests.map(({ messages }) => messages.at(-1)?.content))];
    expect(attempts).toHaveLength(3);
    expect(attempts[1]).toContain("Your last answer was rejected (now attempt 2): no answer");
    const next = continueArgs(ended);
    scripted.setBehaviour(playLegally);
    expectOver(await startGame(next).ended);
    // A game that is over is no longer stored.
    expect(await startGame(next).ended).toMatchObject({ code: 1, stderr: expect.stringContaining("no open game") });
  });

  it("ends after HTTP 401 without another request", async () => {
    const error = { message: `bad key ${KEY}` };
    const scripted = await startEndpoint((_, response) => sendJson(response, 401, { error }));
    const ended = await startGame([...llm(scripted), "--people", "none", ...inFolder(newFolder())]).ended;
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining("answered HTTP 401: bad key ***") });
    expect(scripted.requests).toHaveLength(1);
  });

  it("pauses as the endpoint requests, uses max_completion_tokens if necessary, and continues after single failures", async () => {
    const scripted = await startEndpoint((request, response, n, requests) => {
      if (request.max_tokens !== undefined)
        sendJson(response, 400, { error: { message: "use max_completion_tokens" } });
      else if (n % 4 === 0) sendJson(response, 429, { error: "slow down" }, { "retry-after": "0" });
      else if (n % 5 === 0) sendJson(response, 500, {}, { "retry-after": "0" });
      else playLegally(request, response, n, requests);
    });
    const limits = ["--max-tokens", "900", "--people", "none"];
    const ended = await startGame([...llm(scripted), ...limits, ...inFolder(newFolder())]).ended;
    expectOver(ended);
    expect(ended.stderr).toContain("the LLM answered HTTP 429; repeating the request in 0 s");
    expect(scripted.requests.at(-1)).toMatchObject({ max_completion_tokens: 900 });
  });

  it("skips turns of a model that refuses, answers nothing or adds other text, and finishes the game", async () => {
    const scripted = await startEndpoint((request, response, n, requests) => {
      const text = request.messages.at(-1)?.content ?? "";
      if (text.includes('{"clue"') && !text.includes("So far")) {
        // The history names the last of three attempts.
        if (text.includes("attempt 3")) sendCompletion(response, null, { refusal: "I would rather not" });
        else sendCompletion(response, text.includes("attempt 2") ? "" : "Sure! ZXQWV 1");
      } else if (text.includes('{"clue"')) sendCompletion(response, '<think>hm</think>{"clue": "ZXQWV", "number": 1}');
      else playLegally(request, response, n, requests);
    });
    const ended = await startGame([...llm(scripted), "--people", "none", ...inFolder(newFolder())]).ended;
    expectOver(ended);
    expect(ended.stderr).toMatch(/(red|blue) gave up its turn \(no answer\); (red|blue) gives a clue/);
    expect(ended.stderr).toContain("the LLM gave no answer: the answer is empty");
    expect(ended.stderr).toContain("the LLM gave no answer: the model refused: I would rather not");
  });
});

describe("an interrupted game of league codenames", () => {
  it.each(["SIGKILL", "SIGINT"] as const)("continues after %s at the same question", async (signal) => {
    const scripted = await startEndpoint();
    /** Interrupts a game at its second guess; resolves with null if the game was over before. */
    const interruptIn = async (folder: string): Promise<Ended | null> => {
      let guesses = 0;
      const user = newUser();
      const running = startGame([...llm(scripted), "--words", "built-in", ...inFolder(folder)], (line) => {
        if (line.startsWith("Your guess (") && ++guesses === 2) running.signal(signal);
        return guesses === 2 ? null : user(line);
      });
      const ended = await running.ended;
      return guesses === 2 ? ended : null;
    };
    let folder = newFolder();
    let ended = await interruptIn(folder);
    while (!ended) {
      folder = newFolder();
      ended = await interruptIn(folder);
    }
    expect(ended.code).toBe(signal === "SIGINT" ? 130 : null);
    const args = signal === "SIGINT" ? continueArgs(ended) : ["--continue", ...inFolder(folder)];
    const next = await startGame(args, newUser()).ended;
    expectOver(next);
    const history = /So far:\n[\s\S]*$/.exec(next.stdout)?.[0] ?? "";
    for (const [, word] of ended.stderr.matchAll(/^\w+ guessed (\w+):/gm)) expect(history).toContain(`${word} was `);
  });

  it("continues at another port if its former port is in use", async () => {
    const scripted = await startEndpoint();
    const folder = newFolder();
    const ended = await startGame([...llm(scripted), "--words", "built-in", ...inFolder(folder)], endOfInput).ended;
    const games = join(folder, "data", "codenames");
    const [gameFile = ""] = readdirSync(games);
    const { port } = JSON.parse(readFileSync(join(games, gameFile), "utf8"));
    const otherServer = createServer();
    await listenOnLoopback(otherServer, port);
    expectOver(await startGame(continueArgs(ended), newUser()).ended);
    await new Promise((resolve) => otherServer.close(resolve));
  });

  it("cannot be continued while it is open in another terminal", async () => {
    const scripted = await startEndpoint();
    const folder = newFolder();
    const interrupted = await startGame([...llm(scripted), "--words", "built-in", ...inFolder(folder)], endOfInput)
      .ended;
    const user = newUser();
    const isAsked = Promise.withResolvers<void>();
    const secondEnded = Promise.withResolvers<void>();
    const first = startGame(continueArgs(interrupted), (line) => {
      if (line.startsWith("Your guess (")) isAsked.resolve();
      const typed = user(line);
      if (typed === null || typed === undefined) return null;
      void secondEnded.promise.then(() => first.stdin?.write(`${typed}\n`));
      return null;
    });
    await isAsked.promise;
    const second = await startGame(["--continue", ...inFolder(folder)], endOfInput).ended;
    secondEnded.resolve();
    expect(second).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("open in another terminal") });
    expectOver(await first.ended);
  });

  it("continues after the end of its input", async () => {
    const scripted = await startEndpoint();
    const ended = await startGame([...llm(scripted), "--words", "built-in", ...inFolder(newFolder())], endOfInput)
      .ended;
    expect(ended).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("stdin ended before the form was complete"),
    });
    expectOver(await startGame(continueArgs(ended), newUser()).ended);
  });

  it("can be ended with a form", async () => {
    const scripted = await startEndpoint();
    const ended = await startGame([...llm(scripted), ...inFolder(newFolder())], (line) => {
      if (line.startsWith("Words (")) return "buil"; // an unambiguous beginning of a choice
      if (line.startsWith("Your guess (")) return "stop";
      return line.startsWith("Continue the game (") ? "no" : null;
    }).ended;
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/^The game was ended/) });
  });
});

describe("league codenames with wrong options", () => {
  const model = ["--llm", "http://127.0.0.1:9/v1", "--model", "m"];
  it.each([
    [[], 2, "add --llm URL and --model NAME"],
    [["--llm", "http://127.0.0.1:9/v1"], 2, "--llm URL and --model NAME must be used together"],
    [["--llm", "nonsense", "--model", "m"], 2, "nonsense is not an HTTP address"],
    [[...model, "--people", "red"], 2, '"red" is not a role'],
    [[...model, "--red-team", "cat"], 2, "Allowed choices are user, llm"],
    [[...model, "--words", "one,two"], 2, "25 different words are needed, these are 2"],
    [[...model, "--key-env", "NO_SUCH_KEY"], 2, "NO_SUCH_KEY is not set"],
    [[...model, "--timeout-ms", "0"], 2, "whole number"],
    [[...model, "--url", "ftp://127.0.0.1"], 2, "not an HTTP address"],
    [[...model, "--continue"], 1, "no open game of Codenames in"],
    [[...model, "--continue", "lost"], 1, "no open game with this token"],
    [[...model, "--people", "none", "--url", "http://127.0.0.1:9"], 1, "no referee answers at http://127.0.0.1:9/mcp"],
    [[...model, "--people", "none"], 1, "failed 3 times in a row"],
  ] as const)("%j exits with %i", async (args, code, why) => {
    const ended = await league(["codenames", ...args, ...inFolder(newFolder())]);
    expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code, stdout: "" });
    expect(ended.stderr).toContain(why);
    expect(ended.stderr).not.toMatch(STACK_LINE);
  });
});
