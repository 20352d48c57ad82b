import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import type { MessageType } from "#shared/protocol/envelope.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import { rpcToolCall } from "#shared/rpc/testing/json-rpc.ts";
import { startTestHost, type TestHost } from "../rest/testing/host.ts";
import { type AskedQuestion, accept, MODELS, people, players, rejectionLog, USERS } from "./testing/answers.ts";
import { connectHost, eras } from "./testing/host.ts";

let host: TestHost;
let url: string;
const { log, rejections } = rejectionLog();
beforeAll(async () => {
  host = await startTestHost({ log });
  url = `${host.url}/mcp`;
});
afterAll(() => host.remove());

const ownWords = Array.from({ length: 25 }, (_, place) => `WORD ${String.fromCharCode(65 + place).repeat(2)}`);
const SEATS = players(0b0101); // models as spymasters, people as teams
/** A respondent that chooses a source of words and gives the answers of `answerTo` to the questions about them. */
const wordsFrom = (source: string, answerTo: (n: number) => unknown) => {
  let wordRequests = 0;
  return people(({ stage, by }) => {
    if (stage === "source") return accept({ source });
    if (stage !== "words") return undefined;
    const answer = answerTo(++wordRequests);
    return by === "form" && typeof answer === "string" ? accept({ words: answer }) : answer;
  });
};

describe.each(eras)("the words of a new game in the era %s", (era) => {
  /** Creates a game with these answers. Resolves with its board, the questions about the words and the log entries of rejected answers. */
  const created = async (respondent: ReturnType<typeof people>, seats: object = SEATS, capabilities?: object) => {
    rejections.length = 0;
    const client = await connectHost(url, era, respondent, capabilities ? { capabilities } : {});
    const { structuredContent, content, isError } = await client.call("create_new_game", seats);
    await client.close();
    const questions = respondent.questions.filter(({ stage }) => stage === "words" || stage === "source");
    const logged = rejections.filter((entry) => "setup" in entry);
    return {
      questions,
      isError,
      text: content[0].text as string,
      board: String(structuredContent?.board ?? ""),
      logged,
    };
  };
  /** The log entries of these problems, one for each attempt. */
  const entries = (setup: string, problems: readonly unknown[]) =>
    problems.map((problem, place) => expect.objectContaining({ setup, attempt: place + 1, problem }));
  const textOf = (questions: readonly AskedQuestion[], index: number): string => questions[index]?.text ?? "";

  it("can be given by a person, who is asked again after an invalid list", async () => {
    const bad = [ownWords.slice(0, 24).join(","), `${ownWords.slice(1).join(",")},R2D2`];
    const { questions, board, logged } = await created(wordsFrom("own", (n) => bad[n - 1] ?? ownWords.join("\n")));
    expect(questions.map(({ stage }) => stage)).toEqual(["source", "words", "words", "words"]);
    expect(textOf(questions, 2)).toContain("25 different words are needed, these are 24");
    expect(textOf(questions, 3)).toContain("each word has letters, at most 30: R2D2");
    const problems = ["25 different words are needed, these are 24", "each word has letters, at most 30: R2D2"];
    expect(logged).toEqual(entries("own", problems));
    for (const word of ownWords) expect(board).toContain(word);
  });

  /** Gives three lists that are too short, and then answers the question about the built-in words with `then`. */
  const failing = (then: unknown) => {
    const respondent = people(({ stage, text }) => {
      if (text.startsWith("Your own words cannot be used")) return then;
      if (stage === "source") return accept({ source: "own" });
      return stage === "words" ? accept({ words: "ONE, TWO" }) : undefined;
    });
    return created(respondent).then((made) => ({ ...made, respondent }));
  };

  it("are the built-in ones after three short lists of a person, if the person agrees", async () => {
    const { questions, board, respondent, logged } = await failing(accept({ go_on: true }));
    expect(questions.map(({ stage }) => stage)).toEqual(["source", "words", "words", "words"]);
    expect(respondent.questions[4]).toMatchObject({
      by: "form",
      text: "Your own words cannot be used: 25 different words are needed, these are 2.\n\nDo you want to play with the built-in words?",
    });
    expect(board.split("\n").slice(0, 5)).toHaveLength(5);
    const problem = "25 different words are needed, these are 2";
    expect(logged).toEqual(entries("own", [problem, problem, problem]));
  });

  it.each([accept({ go_on: false }), { action: "decline" }, { action: "cancel" }])(
    "are not replaced by the built-in ones if the person answers %j: no game is created",
    async (answer) => {
      const { isError, text } = await failing(answer);
      expect([isError, text]).toEqual([true, "No game was created: its words could not be used"]);
    },
  );

  it("can be given by a model, with the same checks", async () => {
    const given = [
      `Sure! ${ownWords.join(", ")}`,
      JSON.stringify([...ownWords.slice(0, 24), ownWords[0]]),
      `\`\`\`json\n${JSON.stringify(ownWords)}\n\`\`\``,
    ];
    const { questions, board, logged } = await created(wordsFrom("llm", (n) => given[n - 1]));
    expect(questions.map(({ by }) => by)).toEqual(["form", "prompt", "prompt", "prompt"]);
    expect(textOf(questions, 2)).toContain("Your last answer was rejected: your answer contains no valid JSON list");
    expect(textOf(questions, 3)).toContain("these are 24");
    const problems = [/contains no valid JSON list/, /these are 24$/].map((problem) => expect.stringMatching(problem));
    expect(logged).toEqual(entries("llm", problems));
    for (const word of ownWords) expect(board).toContain(word);
  });

  it("are the built-in ones after three invalid answers of a model", async () => {
    const garbage = ['{"toString": 1}', '[{"toString": 1}]', "[".repeat(5_000)];
    const { questions, isError } = await created(wordsFrom("llm", (n) => garbage[n - 1]));
    expect([questions.length, isError]).toEqual([4, undefined]);
  });

  it("are the built-in ones after a person has chosen three times a source that is not offered", async () => {
    const { questions, isError, logged } = await created(wordsFrom("dictionary", () => undefined));
    expect([questions.map(({ stage }) => stage), isError]).toEqual([["source", "source", "source"], undefined]);
    const problem = "choose one of built-in, own, llm";
    expect(logged).toEqual(entries("source", [problem, problem, problem]));
  });

  it.each(["decline", "cancel"])("are not chosen if the person answers %s, and no game is created", async (action) => {
    const { isError, text } = await created(people(({ stage }) => (stage === "source" ? { action } : undefined)));
    expect(isError).toBe(true);
    expect(text).toBe("No game was created: the question about the words was declined or cancelled");
  });

  it("cannot come from a model if the client has none", async () => {
    const { questions } = await created(people(), USERS, { elicitation: {} });
    expect(textOf(questions, 0)).not.toContain("llm");
  });

  it("are the built-in ones if the client has no forms", async () => {
    const { questions, isError } = await created(people(), MODELS, { sampling: {} });
    expect([questions, isError]).toEqual([[], undefined]);
  });

  it.each([
    [{ blue_team: "robot" }, "blue_team: "],
    [{ red_team: undefined }, "red_team: "],
    [{ red_spymaster: "person" }, "red_spymaster: "],
  ])("create_new_game rejects a missing role and an unknown type of player: %j", async (wrong, named) => {
    const { isError, text, questions } = await created(people(), { ...MODELS, ...wrong });
    expect([isError, questions]).toEqual([true, []]);
    expect(text).toMatch(/^Invalid arguments\. /);
    expect(text).toContain(named);
  });

  it.each<[string, object, object, RegExp]>([
    ["nothing", {}, SEATS, /does not offer forms \(elicitation\) and prompts \(sampling\)/],
    ["no forms", { sampling: {} }, SEATS, /does not offer forms \(elicitation\), which/],
    ["no prompts", { elicitation: {} }, SEATS, /does not offer prompts \(sampling\), which/],
    ["pages instead of forms", { elicitation: { url: {} }, sampling: {} }, USERS, /does not offer forms/],
  ])(
    "are not requested from an MCP host that offers %s: the error names the missing capability and the alternatives",
    async (...args) => {
      const [, capabilities, seats, missing] = args;
      const { isError, text } = await created(people(), seats, capabilities);
      expect(isError).toBe(true);
      expect(text).toMatch(missing);
      expect(text).toContain("codenames.v1 with createGame");
    },
  );
});

describe("a caller without elicitation and sampling", () => {
  const post = (body: object) => host.call("POST", "/mcp", { body, headers: { "content-type": "application/json" } });
  const curl = async (name: string, args: object) => (await post(rpcToolCall(name, args))).json.result;

  test("receives an error with the missing capability, and can call end_game without a game", async () => {
    expect(await curl("create_new_game", MODELS)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("does not offer prompts (sampling)") }],
    });
    expect(await curl("end_game", {})).toMatchObject({ content: [{ text: "No game of Codenames was open." }] });
    expect(await curl("continue_game", {})).toMatchObject({ isError: true });
    expect(await curl("end_game", { game_token: "guess" })).toMatchObject({ isError: true });
  });

  test("receives an envelope in answer to an envelope", async () => {
    const send = async (type: MessageType, payload: object) =>
      JSON.parse((await curl("league_message", newEnvelope(type, "player:P01", payload))).content[0].text);
    expect(await send("CREATE_NEW_GAME", USERS)).toMatchObject({
      type: "GAME_ERROR",
      payload: { error_code: "G001", message: expect.stringContaining("forms (elicitation)") },
    });
    expect(await send("END_GAME", {})).toMatchObject({ type: "END_GAME_RESPONSE", payload: { status: "no_game" } });
    expect(await send("CONTINUE_GAME", {})).toMatchObject({ type: "GAME_ERROR" });
  });
});
