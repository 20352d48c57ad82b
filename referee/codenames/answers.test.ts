import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CodenamesTurn } from "#shared/games/codenames.ts";
import { startTestHost, type TestAgent, type TestHost } from "../rest/testing/host.ts";
import { type Asked, accept, logOfRefused, MODELS, people, takenBack, USERS } from "./testing/answers.ts";
import { connectHost, eras } from "./testing/host.ts";

let host: TestHost;
let url: string;
let spectator: TestAgent;
const { log, refused } = logOfRefused();
beforeAll(async () => {
  host = await startTestHost({ log });
  url = `${host.url}/mcp`;
  spectator = await host.agent();
});
afterAll(() => host.remove());

const SECRET = "GUESSAPPLEANDPEAR";

describe.each(eras)("answers that cannot be taken in the era %s", (era) => {
  /** Plays until the first three answers to such a question were bad and something else is asked, then ends the game. */
  async function told(
    seats: object,
    stage: Asked["stage"],
    answer: (one: Asked, signal: AbortSignal) => unknown,
    to = url,
  ) {
    const done = Promise.withResolvers<void>();
    const bad: Asked[] = [];
    const after: Asked[] = [];
    const everybody = people((one, _n, signal) => {
      if (bad.length === 3 && one.stage !== "leave") {
        after.push(one);
        done.resolve();
      }
      if (bad.length === 3 || one.stage !== stage) return undefined;
      bad.push(one);
      return answer(one, signal);
    });
    const client = await connectHost(to, era, everybody, { bearer: `${era}-${Math.random()}` });
    const call = client.call("create_new_game", seats);
    await Promise.race([done.promise, call]);
    const { turns, game_id } = await client.read("game://state/history");
    await client.call("end_game");
    await call.catch(() => {}); // it was cut, or has heard of the end
    await client.close();
    const log = to === url ? (await host.call("GET", `/sessions/${game_id}/log`, { token: spectator.token })).text : "";
    return { bad, after, turns: turns as readonly CodenamesTurn[], log, gameId: game_id as string };
  }

  const problem = ({ text }: Asked): string =>
    /not taken \(attempt (\d) now\): (.*)/.exec(text)?.slice(1).join(": ") ?? "";
  /** Each of the three attempts has a log entry with its reason. */
  const expectLogged = (gameId: string, stages: readonly string[], reason: string, why: RegExp): void => {
    const role = expect.stringMatching(stages.includes("guess") ? /_team$/ : /_spymaster$/);
    const problem = expect.stringMatching(why);
    const entries = stages.map((stage, place) => ({ role, stage, attempt: place + 1, reason, problem }));
    const logged = refused.filter(({ session }) => session === gameId);
    expect(logged).toEqual(entries.map((entry) => expect.objectContaining(entry)));
  };
  const skipped = (turns: readonly CodenamesTurn[]) => turns.flatMap((turn) => turn.skipped ?? []);

  it.each<[string, Asked["stage"], string, RegExp, string]>([
    ["a clue in words", "clue", "My clue: OCEAN 2", /holds no valid JSON object; answer with/, "not_as_asked"],
    ["a number of letters", "clue", '{"clue": "OCEAN", "number": "two"}', /"number" must be a number/, "not_as_asked"],
    ["a clue of two words", "clue", '{"clue": "DEEP OCEAN", "number": 1}', /one word of letters/, "illegal_clue"],
    [
      "a clue that says too much",
      "clue",
      `{"clue": "${SECRET.repeat(3)}", "number": 1}`,
      /at most 30 letters/,
      "illegal_clue",
    ],
    ["a word that is not there", "guess", '{"guess": "NOWHERE"}', /that word is not on the board/, "illegal_guess"],
    ["many words", "guess", '{"guess": ["A", "B"]}', /"guess" must be one word, not \["A","B"\]/, "not_as_asked"],
    ["a refusal", "clue", `I'm sorry, I can't do that. ${SECRET}`, /holds no valid JSON object/, "not_as_asked"],
  ])("of a model: %s", async (_name, stage, said, why, reason) => {
    const { bad, turns, log, gameId } = await told(MODELS, stage, () => said);
    expect(bad.map(({ by }) => by)).toEqual(["prompt", "prompt", "prompt"]);
    expect(problem(bad[0] as Asked)).toBe("");
    expect(problem(bad[1] as Asked)).toMatch(/^2: /);
    expect(problem(bad[2] as Asked)).toMatch(new RegExp(`^3: .*${why.source}`));
    expect(skipped(turns)).toEqual([reason]);
    expect(log).toContain(`"reason":"${reason}"`);
    expect(log).not.toContain(SECRET);
    expectLogged(gameId, [stage, stage, stage], reason, why);
  });

  it("of a model: a clue that is a word on the board, which the log does not repeat", async () => {
    const words: string[] = [];
    const { bad, turns, log } = await told(MODELS, "clue", ({ text }) => {
      const word = /([A-Z]+) \(red\)/.exec(text)?.[1] ?? "";
      words.push(word);
      return JSON.stringify({ clue: word.toLowerCase(), number: 1 });
    });
    expect(problem(bad[2] as Asked)).toContain(`the clue ${words[1]} is ${words[1]}, a word on the board`);
    expect(skipped(turns)).toEqual(["illegal_clue"]);
    expect(log).not.toContain(words[2]);
  });

  it.each<[string, Asked["stage"], unknown, RegExp, string]>([
    ["a clue of two words", "clue", accept({ word: "DEEP OCEAN", number: "1" }), /one word of letters/, "illegal_clue"],
    ["a form that is not filled in", "clue", { action: "accept" }, /not filled in as asked/, "not_as_asked"],
    [
      "a number that was not offered",
      "clue",
      accept({ word: "OCEAN", number: "12" }),
      /not filled in as asked/,
      "not_as_asked",
    ],
    [
      "a word that is not there",
      "guess",
      accept({ word: "NOWHERE" }),
      /that word is not on the board/,
      "illegal_guess",
    ],
  ])("of a person: %s", async (_name, stage, said, why, reason) => {
    const { bad, turns, gameId } = await told(USERS, stage, () => said);
    expect(problem(bad[2] as Asked)).toMatch(why);
    expect(skipped(turns)).toEqual([reason]);
    expectLogged(gameId, [stage, stage, stage], reason, why);
  });

  it("of a person that leaves the form: each time it is asked whether the game goes on, the third time the turn passes", async () => {
    const { bad, turns, gameId } = await told(USERS, "clue", () => ({ action: "cancel" }));
    expect(bad).toHaveLength(3);
    expect(problem(bad[2] as Asked)).toBe("3: the form was left");
    expect(skipped(turns)).toEqual(["form_left"]);
    expectLogged(gameId, ["leave", "leave", "leave"], "form_left", /^the form was left$/);
  });

  it("a person may return to the very question it has left, or leave again", async () => {
    const actions = ["decline", "accept", "cancel", "cancel", "accept"] as const;
    const stages: string[] = [];
    const everybody = people(({ stage }) => {
      if (stage === "source" || stages.length === actions.length) return undefined;
      stages.push(stage);
      const action = actions[stages.length - 1] ?? "cancel";
      if (stage === "leave" && action === "accept") return accept({ go_on: true });
      return action === "accept" ? accept({ word: "ZZZZ", number: "1" }) : { action };
    });
    const client = await connectHost(url, era, everybody);
    const { structuredContent } = await client.call("create_new_game", USERS);
    await client.close();
    expect(stages).toEqual(["clue", "leave", "clue", "leave", "clue"]);
    expect(structuredContent).toMatchObject({ status: "completed", history: expect.stringContaining(": ZZZZ 1") });
  });

  it("a person that has left may end the game", async () => {
    const client = await connectHost(
      ...[url, era],
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
    it("a host that answers with an error, as when its user rejects the prompt, and what it says is repeated to nobody", async () => {
      const { bad, turns, log } = await told(MODELS, "clue", () => Promise.reject(new Error(`rejected ${SECRET}`)));
      expect(problem(bad[2] as Asked)).toBe("3: no answer came: the host answered with an error");
      expect(skipped(turns)).toEqual(["no_answer"]);
      expect(JSON.stringify([bad, turns, log])).not.toContain(SECRET);
    });

    it("no answer in time: the question is taken back, and asked again", async () => {
      const hurried = await startTestHost({ answerWithinMs: 300 });
      const signals: AbortSignal[] = [];
      const never = (_one: Asked, signal: AbortSignal) => {
        signals.push(signal);
        return new Promise(() => {});
      };
      const { bad, turns } = await told(MODELS, "clue", never, `${hurried.url}/mcp`).finally(hurried.remove);
      await Promise.all(signals.map(takenBack));
      expect(problem(bad[2] as Asked)).toBe("3: no answer came: the time was over");
      expect(skipped(turns)).toEqual(["no_answer"]);
    });
  }
});
