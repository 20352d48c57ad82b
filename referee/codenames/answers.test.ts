import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CodenamesTurn } from "#shared/games/codenames-view.ts";
import { startTestHost, type TestAgent, type TestHost } from "../rest/testing/host.ts";
import { type AskedQuestion, accept, MODELS, people, rejectionLog, USERS, withdrawn } from "./testing/answers.ts";
import { connectHost, eras } from "./testing/host.ts";

let host: TestHost;
let url: string;
let spectator: TestAgent;
const { log, rejections } = rejectionLog();
beforeAll(async () => {
  host = await startTestHost({ log });
  url = `${host.url}/mcp`;
  spectator = await host.agent();
});
afterAll(() => host.remove());

const SECRET = "GUESSAPPLEANDPEAR";

describe.each(eras)("an invalid answer in the era %s", (era) => {
  /** Plays until the first three answers to questions of a stage were invalid and another question follows, then ends the game. */
  async function playInvalid(
    seats: object,
    stage: AskedQuestion["stage"],
    answer: (question: AskedQuestion, signal: AbortSignal) => unknown,
    to = url,
  ) {
    const done = Promise.withResolvers<void>();
    const invalid: AskedQuestion[] = [];
    const after: AskedQuestion[] = [];
    const respondent = people((question, _n, signal) => {
      if (invalid.length === 3 && question.stage !== "leave") {
        after.push(question);
        done.resolve();
      }
      if (invalid.length === 3 || question.stage !== stage) return undefined;
      invalid.push(question);
      return answer(question, signal);
    });
    const client = await connectHost(to, era, respondent, { bearer: `${era}-${Math.random()}` });
    const call = client.call("create_new_game", seats);
    await Promise.race([done.promise, call]);
    const { turns, game_id } = await client.read("game://state/history");
    await client.call("end_game");
    await call.catch(() => {}); // the call was interrupted, or returns the end of the game
    await client.close();
    const log = to === url ? (await host.call("GET", `/sessions/${game_id}/log`, { token: spectator.token })).text : "";
    return { invalid, after, turns: turns as readonly CodenamesTurn[], log, gameId: game_id as string };
  }

  const problem = ({ text }: AskedQuestion): string =>
    /rejected \(now attempt (\d)\): (.*)/.exec(text)?.slice(1).join(": ") ?? "";
  /** Expects a log entry with the reason for each of the three attempts. */
  const expectLogged = (gameId: string, stages: readonly string[], reason: string, problemPattern: RegExp): void => {
    const role = expect.stringMatching(stages.includes("guess") ? /_team$/ : /_spymaster$/);
    const problem = expect.stringMatching(problemPattern);
    const entries = stages.map((stage, index) => ({ role, stage, attempt: index + 1, reason, problem }));
    const logged = rejections.filter(({ session }) => session === gameId);
    expect(logged).toEqual(entries.map((entry) => expect.objectContaining(entry)));
  };
  const skipped = (turns: readonly CodenamesTurn[]) => turns.flatMap((turn) => turn.skipped ?? []);

  it.each<[string, AskedQuestion["stage"], string, RegExp, string]>([
    ["a clue in words", "clue", "My clue: OCEAN 2", /contains no valid JSON object; answer with/, "not_as_asked"],
    ["a number of letters", "clue", '{"clue": "OCEAN", "number": "two"}', /"number" must be a number/, "not_as_asked"],
    ["a clue of two words", "clue", '{"clue": "DEEP OCEAN", "number": 1}', /one word of letters/, "illegal_clue"],
    [
      "a clue that is too long",
      "clue",
      `{"clue": "${SECRET.repeat(3)}", "number": 1}`,
      /at most 30 letters/,
      "illegal_clue",
    ],
    [
      "a word that is not on the board",
      "guess",
      '{"guess": "NOWHERE"}',
      /that word is not on the board/,
      "illegal_guess",
    ],
    ["many words", "guess", '{"guess": ["A", "B"]}', /"guess" must be one word, not \["A","B"\]/, "not_as_asked"],
    ["an apology", "clue", `I'm sorry, I can't do that. ${SECRET}`, /contains no valid JSON object/, "not_as_asked"],
  ])(
    "of a model is rejected three times, then the turn is skipped: %s",
    async (_name, stage, text, problemPattern, reason) => {
      const { invalid, turns, log, gameId } = await playInvalid(MODELS, stage, () => text);
      expect(invalid.map(({ by }) => by)).toEqual(["prompt", "prompt", "prompt"]);
      expect(problem(invalid[0] as AskedQuestion)).toBe("");
      expect(problem(invalid[1] as AskedQuestion)).toMatch(/^2: /);
      expect(problem(invalid[2] as AskedQuestion)).toMatch(new RegExp(`^3: .*${problemPattern.source}`));
      expect(skipped(turns)).toEqual([reason]);
      expect(log).toContain(`"reason":"${reason}"`);
      expect(log).not.toContain(SECRET);
      expectLogged(gameId, [stage, stage, stage], reason, problemPattern);
    },
  );

  it("of a model with a word on the board as the clue is not repeated in the log", async () => {
    const words: string[] = [];
    const { invalid, turns, log } = await playInvalid(MODELS, "clue", ({ text }) => {
      const word = /([A-Z]+) \(red\)/.exec(text)?.[1] ?? "";
      words.push(word);
      return JSON.stringify({ clue: word.toLowerCase(), number: 1 });
    });
    expect(problem(invalid[2] as AskedQuestion)).toContain(`the clue ${words[1]} is ${words[1]}, a word on the board`);
    expect(skipped(turns)).toEqual(["illegal_clue"]);
    expect(log).not.toContain(words[2]);
  });

  it.each<[string, AskedQuestion["stage"], unknown, RegExp, string]>([
    ["a clue of two words", "clue", accept({ word: "DEEP OCEAN", number: "1" }), /one word of letters/, "illegal_clue"],
    ["an empty form", "clue", { action: "accept" }, /not completed as requested/, "not_as_asked"],
    [
      "a number that was not offered",
      "clue",
      accept({ word: "OCEAN", number: "12" }),
      /not completed as requested/,
      "not_as_asked",
    ],
    [
      "a word that is not on the board",
      "guess",
      accept({ word: "NOWHERE" }),
      /that word is not on the board/,
      "illegal_guess",
    ],
  ])(
    "of a person is rejected three times, then the turn is skipped: %s",
    async (_name, stage, answer, problemPattern, reason) => {
      const { invalid, turns, gameId } = await playInvalid(USERS, stage, () => answer);
      expect(problem(invalid[2] as AskedQuestion)).toMatch(problemPattern);
      expect(skipped(turns)).toEqual([reason]);
      expectLogged(gameId, [stage, stage, stage], reason, problemPattern);
    },
  );

  it("of a person that cancels the form is followed by the question whether to continue, and the third one skips the turn", async () => {
    const { invalid, turns, gameId } = await playInvalid(USERS, "clue", () => ({ action: "cancel" }));
    expect(invalid).toHaveLength(3);
    expect(problem(invalid[2] as AskedQuestion)).toBe("3: the form was closed without an answer");
    expect(skipped(turns)).toEqual(["form_left"]);
    expectLogged(gameId, ["leave", "leave", "leave"], "form_left", /^the form was closed without an answer$/);
  });

  it("of a person that cancels the form can be corrected at the same question", async () => {
    const actions = ["decline", "accept", "cancel", "cancel", "accept"] as const;
    const stages: string[] = [];
    const respondent = people(({ stage }) => {
      if (stage === "source" || stages.length === actions.length) return undefined;
      stages.push(stage);
      const action = actions[stages.length - 1] ?? "cancel";
      if (stage === "leave" && action === "accept") return accept({ go_on: true });
      return action === "accept" ? accept({ word: "ZZZZ", number: "1" }) : { action };
    });
    const client = await connectHost(url, era, respondent);
    const { structuredContent } = await client.call("create_new_game", USERS);
    await client.close();
    expect(stages).toEqual(["clue", "leave", "clue", "leave", "clue"]);
    expect(structuredContent).toMatchObject({ status: "completed", history: expect.stringContaining(": ZZZZ 1") });
  });

  it("of a person that cancels the form can end the game", async () => {
    const client = await connectHost(
      url,
      era,
      people(({ stage }) => {
        if (stage === "guess") return { action: "decline" };
        return stage === "leave" ? accept({ go_on: false }) : undefined;
      }),
    );
    const { structuredContent, isError } = await client.call("create_new_game", USERS);
    await client.close();
    expect(isError).toBeUndefined();
    expect(structuredContent).toMatchObject({ status: "ended", winner: null, reason: "ended_by_user", turns: 1 });
  });

  if (era === "session") {
    it("that is an error of the MCP host is reported without the text of the error", async () => {
      const { invalid, turns, log } = await playInvalid(MODELS, "clue", () =>
        Promise.reject(new Error(`rejected ${SECRET}`)),
      );
      expect(problem(invalid[2] as AskedQuestion)).toBe("3: no answer: the host answered with an error");
      expect(skipped(turns)).toEqual(["no_answer"]);
      expect(JSON.stringify([invalid, turns, log])).not.toContain(SECRET);
    });

    it("that does not arrive in time withdraws the question, which is asked again", async () => {
      const impatientHost = await startTestHost({ answerWithinMs: 300 });
      const signals: AbortSignal[] = [];
      const noAnswer = (_question: AskedQuestion, signal: AbortSignal) => {
        signals.push(signal);
        return new Promise(() => {});
      };
      const { invalid, turns } = await playInvalid(MODELS, "clue", noAnswer, `${impatientHost.url}/mcp`).finally(
        impatientHost.remove,
      );
      await Promise.all(signals.map(withdrawn));
      expect(problem(invalid[2] as AskedQuestion)).toBe("3: no answer: the time limit was exceeded");
      expect(skipped(turns)).toEqual(["no_answer"]);
    });
  }
});
