import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { startTestHost, type TestHost } from "../../referee/rest/testing/host.ts";
import {
  type Behaviour,
  type ChatEndpoint,
  playLegally,
  sendCompletion,
  sendJson,
  startChatEndpoint,
  WORDS,
} from "../testing/openai.ts";
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

/** A person that never stops, and guesses the first word that is not the assassin, which the endpoint has seen. */
function aPerson(): Typist {
  let first = "";
  return (line) => {
    [, first = first] = /^ 1 (\S+)/.exec(line) ?? [];
    if (line.startsWith("Words (")) return "built-in";
    if (line.startsWith("Clue")) return "ZXQWV 1";
    if (line.startsWith("Your guess (")) return first === chat?.requests.at(-1)?.assassin ? "2" : "1";
    return line.startsWith("Guess again (") ? "yes" : null;
  };
}
const nobody: Typist = () => ({ end: true });

const endpoint = async (behaviour?: Behaviour): Promise<ChatEndpoint> => {
  chat = await startChatEndpoint(behaviour);
  return chat;
};
const begin = (args: readonly string[], typist?: Typist): Running =>
  start("scripts/league.ts", ["codenames", ...args], { OPENAI_API_KEY: KEY }, typist ?? "ignore");
const llm = ({ url }: ChatEndpoint): string[] => ["--llm", url, "--model", "scripted"];
const inFolder = (folder: string): string[] => ["--data", join(folder, "data")];

const isOver = ({ code, stdout, stderr }: Ended): void => {
  expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^The game is over: team (red|blue) wins, because [a-z ]+\.\n/);
  expect(stdout).toContain("Agents to find: red");
  // It is for people: the key, and neither JSON nor names of fields and codes.
  expect(stdout).toMatch(/\S \((red|blue|neutral|assassin)\)/);
  expect(stdout).not.toMatch(/[{}"]|\w_\w/);
};
/** How an open game is gone on with, as the command says it; no stack trace is shown. */
const wayOn = ({ stderr }: Ended): string[] => {
  expect(stderr).not.toMatch(STACK_LINE);
  const [, token = "", data = ""] =
    /The game waits\. Go on with it: league codenames (--continue=\S+) --data (\S+)/.exec(stderr) ?? [];
  return [token, "--data", data];
};

describe("league codenames", () => {
  it("plays with an endpoint for every role; the key goes to the endpoint and is shown nowhere", async () => {
    const scripted = await endpoint();
    const ended = await begin([...llm(scripted), "--people", "none", ...inFolder(newFolder())]).ended;
    isOver(ended);
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

  it("plays with a person whose answers come by a pipe, and with words of one's own", async () => {
    const scripted = await endpoint();
    const people = ["--people", "red_spymaster", "--red-team", "user", "--words", WORDS.join()];
    const ended = await begin([...llm(scripted), ...people, ...inFolder(newFolder())], aPerson()).ended;
    isOver(ended);
    expect(ended.stderr).toContain("You are the spymaster of team red.");
    expect(ended.stdout).toContain("WORDA");
    const prompts = scripted.requests.map(({ messages }) => messages.at(-1)?.content);
    expect(prompts.filter((text) => text?.includes("team red."))).toEqual([]);
  });

  it("plays with people alone, and needs no endpoint for them", async () => {
    isOver(await begin(["--people", "all", ...inFolder(newFolder())], aPerson()).ended);
  });

  it("plays at a referee that runs already, with words that the model makes up", async () => {
    host = await startTestHost();
    const scripted = await endpoint();
    const more = ["--people", "none", "--words", "llm", "--url", host.url];
    const ended = await begin([...llm(scripted), ...more, ...inFolder(newFolder())]).ended;
    isOver(ended);
    expect(ended.stdout).toContain("WORDY");
  });
});

describe("an endpoint that does not answer as it should", () => {
  const down: readonly (readonly [string, Behaviour, RegExp])[] = [
    [
      "500",
      (_, response) => sendJson(response, 500, { error: { message: `no luck with ${KEY}` } }),
      /HTTP 500: no luck with \*\*\*/,
    ],
    ["garbage", (_, response) => void response.end("<html>"), /no chat completion/],
    ["never", () => {}, /none in 500 ms/],
    ["429", (_, response) => sendJson(response, 429, { error: { message: "slow down" } }), /HTTP 429: slow down/],
  ];
  it.each(down)("%s three times in a row: the game waits and is gone on with", async (_, behaviour, why) => {
    const scripted = await endpoint(behaviour);
    const fast = ["--timeout-ms", "500"];
    const ended = await begin([...llm(scripted), ...fast, "--people", "none", ...inFolder(newFolder())]).ended;
    expect([ended.code, ended.stdout]).toEqual([1, ""]);
    expect(ended.stderr).toMatch(why);
    expect(ended.stderr).not.toContain(KEY);
    expect(scripted.requests).toHaveLength(3);
    expect(scripted.requests[1]?.messages.at(-1)?.content).toContain(
      "Your last answer was not taken (attempt 2 now): no answer came",
    );
    const next = wayOn(ended);
    scripted.setBehaviour(playLegally);
    isOver(await begin(next).ended);
    // It is over, and no longer kept.
    expect(await begin(next).ended).toMatchObject({ code: 1, stderr: expect.stringContaining("no open game") });
  });

  it("401: nothing is tried again", async () => {
    const scripted = await endpoint((_, response) => sendJson(response, 401, { error: { message: `bad key ${KEY}` } }));
    const ended = await begin([...llm(scripted), "--people", "none", ...inFolder(newFolder())]).ended;
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining("answers HTTP 401: bad key ***") });
    expect(scripted.requests).toHaveLength(1);
  });

  it("pauses when it is asked to, says the limit as newer models want it, and goes on after single failures", async () => {
    const scripted = await endpoint((request, response, n) => {
      if (request.max_tokens !== undefined)
        sendJson(response, 400, { error: { message: "use max_completion_tokens" } });
      else if (n % 4 === 0) sendJson(response, 429, { error: "slow down" }, { "retry-after": "0" });
      else if (n % 5 === 0) sendJson(response, 500, {}, { "retry-after": "0" });
      else playLegally(request, response, n);
    });
    const ended = await begin([...llm(scripted), "--max-tokens", "900", "--people", "none", ...inFolder(newFolder())])
      .ended;
    isOver(ended);
    expect(ended.stderr).toContain("the LLM answers HTTP 429; asking again in 0 s");
    expect(scripted.requests.at(-1)).toMatchObject({ max_completion_tokens: 900 });
  });

  it("a model that refuses, says nothing or chatters loses turns, not the game", async () => {
    const scripted = await endpoint((request, response, n) => {
      const text = request.messages.at(-1)?.content ?? "";
      if (text.includes('{"clue"') && !text.includes("So far")) {
        // The last of three attempts is what the history names.
        if (text.includes("attempt 3")) sendCompletion(response, null, { refusal: "I would rather not" });
        else sendCompletion(response, text.includes("attempt 2") ? "" : "Sure! ZXQWV 1");
      } else if (text.includes('{"clue"')) sendCompletion(response, '<think>hm</think>{"clue": "ZXQWV", "number": 1}');
      else playLegally(request, response, n);
    });
    const ended = await begin([...llm(scripted), "--people", "none", ...inFolder(newFolder())]).ended;
    isOver(ended);
    expect(ended.stderr).toMatch(/(red|blue) gave up its turn \(no answer came\); (red|blue) gives a clue/);
    expect(ended.stderr).toContain("the LLM gave no answer: an empty answer");
    expect(ended.stderr).toContain("the LLM gave no answer: it refused: I would rather not");
  });
});

describe("a game that is left", () => {
  it.each(["SIGKILL", "SIGINT"] as const)("by %s goes on exactly there", async (signal) => {
    const scripted = await endpoint();
    /** Leaves at the second guess; null when the game was over before that. */
    const leftIn = async (folder: string): Promise<Ended | null> => {
      let guesses = 0;
      const person = aPerson();
      const running = begin([...llm(scripted), "--words", "built-in", ...inFolder(folder)], (line) => {
        if (line.startsWith("Your guess (") && ++guesses === 2) running.signal(signal);
        return guesses === 2 ? null : person(line);
      });
      const ended = await running.ended;
      return guesses === 2 ? ended : null;
    };
    let folder = newFolder();
    let ended = await leftIn(folder);
    while (!ended) {
      folder = newFolder();
      ended = await leftIn(folder);
    }
    expect(ended.code).toBe(signal === "SIGINT" ? 130 : null);
    const way = signal === "SIGINT" ? wayOn(ended) : ["--continue", ...inFolder(folder)];
    const next = await begin(way, aPerson()).ended;
    isOver(next);
    const history = /So far:\n[\s\S]*$/.exec(next.stdout)?.[0] ?? "";
    for (const [, word] of ended.stderr.matchAll(/^\w+ guessed (\w+):/gm)) expect(history).toContain(`${word} was `);
  });

  it("goes on at any free port when another program uses its old port", async () => {
    const scripted = await endpoint();
    const folder = newFolder();
    const ended = await begin([...llm(scripted), "--words", "built-in", ...inFolder(folder)], nobody).ended;
    const games = join(folder, "data", "codenames");
    const [kept = ""] = readdirSync(games);
    const { port } = JSON.parse(readFileSync(join(games, kept), "utf8"));
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(port, "127.0.0.1", resolve));
    isOver(await begin(wayOn(ended), aPerson()).ended);
    await new Promise((resolve) => other.close(resolve));
  });

  it("and is open in another terminal is not opened a second time", async () => {
    const scripted = await endpoint();
    const folder = newFolder();
    const left = await begin([...llm(scripted), "--words", "built-in", ...inFolder(folder)], nobody).ended;
    const person = aPerson();
    const asked = Promise.withResolvers<void>();
    const second = Promise.withResolvers<string>();
    const first = begin(wayOn(left), (line) => {
      if (line.startsWith("Your guess (")) asked.resolve();
      const typed = person(line);
      if (typed === null || typed === undefined) return null;
      void second.promise.then(() => first.stdin?.write(`${typed}\n`));
      return null;
    });
    await asked.promise;
    const refused = await begin(["--continue", ...inFolder(folder)], nobody).ended;
    second.resolve("");
    expect(refused).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("open in another terminal") });
    isOver(await first.ended);
  });

  it("by the end of a pipe waits for more answers", async () => {
    const scripted = await endpoint();
    const ended = await begin([...llm(scripted), "--words", "built-in", ...inFolder(newFolder())], nobody).ended;
    expect(ended).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("no more answers come on stdin"),
    });
    isOver(await begin(wayOn(ended), aPerson()).ended);
  });

  it("by its form may be ended", async () => {
    const scripted = await endpoint();
    const ended = await begin([...llm(scripted), ...inFolder(newFolder())], (line) => {
      if (line.startsWith("Words (")) return "buil"; // any beginning that fits one choice alone
      if (line.startsWith("Your guess (")) return "stop";
      return line.startsWith("Go on with the game (") ? "no" : null;
    }).ended;
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/^The game was ended/) });
  });
});

describe("wrong options", () => {
  const model = ["--llm", "http://127.0.0.1:9/v1", "--model", "m"];
  it.each([
    [[], 2, "say --llm URL and --model NAME"],
    [["--llm", "http://127.0.0.1:9/v1"], 2, "--llm URL and --model NAME go together"],
    [["--llm", "nonsense", "--model", "m"], 2, "nonsense is no http address"],
    [[...model, "--people", "red"], 2, '"red" is no role'],
    [[...model, "--red-team", "cat"], 2, "Allowed choices are user, llm"],
    [[...model, "--words", "one,two"], 2, "25 different words are needed, these are 2"],
    [[...model, "--key-env", "NO_SUCH_KEY"], 2, "NO_SUCH_KEY is not set"],
    [[...model, "--timeout-ms", "0"], 2, "whole number"],
    [[...model, "--url", "ftp://127.0.0.1"], 2, "no http address"],
    [[...model, "--continue"], 1, "no open game of Codenames is kept in"],
    [[...model, "--continue", "lost"], 1, "no open game with this token"],
    [[...model, "--people", "none", "--url", "http://127.0.0.1:9"], 1, "no referee answers at http://127.0.0.1:9/mcp"],
    [[...model, "--people", "none"], 1, "failed 3 times in a row"],
  ] as const)("%j: exit code %i", async (args, code, why) => {
    const ended = await league(["codenames", ...args, ...inFolder(newFolder())]);
    expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code, stdout: "" });
    expect(ended.stderr).toContain(why);
    expect(ended.stderr).not.toMatch(STACK_LINE);
  });
});
