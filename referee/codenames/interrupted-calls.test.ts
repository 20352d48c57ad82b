import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { z } from "zod";
import { startTestHost, type TestHost } from "../rest/testing/host.ts";
import {
  type AskedQuestion,
  answerTo,
  formAnswer,
  MODELS,
  people,
  players,
  questionIn,
  round,
  stateIn,
  textAnswer,
  USERS,
  withRightWords,
} from "./testing/answers.ts";
import { connectHost, eras } from "./testing/host.ts";

let host: TestHost;
let url: string;
beforeAll(async () => {
  host = await startTestHost();
  url = `${host.url}/mcp`;
});
afterAll(() => host.remove());

/** A respondent that gives valid answers until the `nth` question of a stage, which it does not answer until `giveUp` is called. */
function hesitantPlayers(stage: AskedQuestion["stage"], nth = 1) {
  const stuck = Promise.withResolvers<AskedQuestion>();
  const silence = Promise.withResolvers<never>();
  silence.promise.catch(() => {});
  let count = 0;
  let key = "";
  const respondent = people((question, n) => {
    if (question.stage === "clue") key = question.text;
    if (question.stage !== stage || ++count < nth) {
      const known = withRightWords(question, key);
      return question.by === "form" ? formAnswer(known, n) : textAnswer(known, n);
    }
    stuck.resolve(question);
    return silence.promise;
  });
  return { ...respondent, stuck: stuck.promise, giveUp: () => silence.reject(new Error("given up")) };
}

/** The number of actions of a game. */
const tickOf = async (token: string): Promise<number> => {
  const { tick } = await historyOf(token);
  return tick;
};
const History = z.object({ tick: z.int(), text: z.string(), status: z.string(), game_id: z.string() });
async function historyOf(token: string) {
  const client = await connectHost(url, "stateless", null);
  const read = await client.read(`game://state/history/${token}`);
  await client.close();
  return History.parse(read);
}
async function ticksInLog(gameId: string): Promise<readonly number[]> {
  const { token } = await host.agent();
  const { actions } = (await host.call("GET", `/sessions/${gameId}/log`, { token })).json;
  return actions.map(({ tick }: { tick: number }) => tick);
}

const INTERRUPTIONS = ["closes", "aborts", "drops"] as const;
const STAGES = ["clue", "guess", "continue"] as const;
const cases = eras.flatMap((era) =>
  INTERRUPTIONS.flatMap((how) =>
    STAGES.map((stage, place) => ({ era, how, stage, seats: place % 2 ? MODELS : USERS })),
  ),
);

describe("an interrupted call", () => {
  it.each(cases)(
    "($era) whose client $how at a $stage is continued by another client at the same question",
    async (one) => {
      const { era, how, stage, seats } = one;
      const asking = hesitantPlayers(stage);
      const dropped = new AbortController();
      const interruptible: typeof fetch = (to, init) =>
        fetch(to, { ...init, signal: AbortSignal.any([dropped.signal, ...(init?.signal ? [init.signal] : [])]) });
      const client = await connectHost(url, era, asking, { fetch: interruptible });
      const cancelled = new AbortController();
      let token = "";
      const onprogress = ({ message = "" }) => {
        token ||= /game_token (\S+);/.exec(message)?.[1] ?? "";
      };
      const call = client.call("create_new_game", seats, { signal: cancelled.signal, onprogress }).catch(() => null);
      const open = await asking.stuck;
      const before = await historyOf(token);
      if (how === "closes") await client.close();
      else if (how === "aborts") cancelled.abort(new Error("enough"));
      else {
        dropped.abort(new Error("connection lost"));
        cancelled.abort(); // the connection is lost, so the server is not notified
      }
      asking.giveUp();
      await call;
      const other = hesitantPlayers(stage);
      const successor = await connectHost(url, era === "session" ? "stateless" : "session", other);
      const going = successor.call("continue_game", { game_token: token }).catch(() => null);
      expect(await other.stuck).toEqual(open);
      expect(other.questions).toHaveLength(1);
      expect(await historyOf(token)).toEqual(before);
      await successor.close();
      await client.close();
      other.giveUp();
      await going;
      const last = await connectHost(url, "stateless", people());
      const isPlayed = stage === "clue"; // one stage for each interruption is enough
      const { structuredContent } = await last.call(isPlayed ? "continue_game" : "end_game", { game_token: token });
      await last.close();
      expect(structuredContent.status).toBe(isPlayed ? "completed" : "ended");
      const ticks = await ticksInLog(before.game_id);
      expect(ticks).toEqual(Array.from({ length: await tickOf(token) }, (_, tick) => tick));
    },
  );

  test("can be continued by the same session, and by the same bearer token in any era", async () => {
    const asking = hesitantPlayers("guess", 2);
    const client = await connectHost(url, "session", asking);
    const cancelled = new AbortController();
    const call = client.call("create_new_game", MODELS, { signal: cancelled.signal }).catch(() => null);
    await asking.stuck;
    cancelled.abort();
    await call;
    const again = client.call("create_new_game", MODELS);
    expect(await again).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("call continue_game") }],
    });
    const { status } = await client.read("game://state/board");
    expect(status).toBe("active");
    await client.close();

    const bearer = "one-bearer";
    for (const era of eras) {
      const first = hesitantPlayers("continue");
      const creator = await connectHost(url, era, first, { bearer });
      void creator.call("create_new_game", MODELS).catch(() => null);
      const open = await first.stuck;
      await creator.close();
      const second = hesitantPlayers("continue");
      const successor = await connectHost(url, era === "session" ? "stateless" : "session", second, { bearer });
      expect((await successor.call("create_new_game", MODELS)).content[0].text).toContain("is already open");
      void successor.call("continue_game").catch(() => null);
      expect(await second.stuck).toEqual(open);
      expect((await successor.call("end_game")).structuredContent).toMatchObject({ status: "ended" });
      await successor.close();
    }
  });

  test("a session that has given the game token does not need it again", async () => {
    const begun = await round(host.url, "create_new_game", MODELS, { capabilities: { sampling: {} } });
    const token = begun.result._meta["agent-league/game_token"];
    const asking = hesitantPlayers("clue");
    const successor = await connectHost(url, "session", asking);
    void successor.call("continue_game", { game_token: token }).catch(() => null);
    await asking.stuck;
    expect(await successor.read("game://state/board")).toMatchObject({ status: "active" });
    expect((await successor.call("end_game")).structuredContent).toMatchObject({ status: "ended" });
    await successor.close();
  });
});

describe("concurrent calls for one game", () => {
  test.each(eras)("play each turn exactly once (%s)", async (era) => {
    const bearer = `both-${era}`;
    const seats = players(0b0110);
    const first = hesitantPlayers("clue");
    const one = await connectHost(url, era, first, { bearer });
    void one.call("create_new_game", seats).catch(() => null);
    await first.stuck;
    const clients = await Promise.all([0, 1, 2].map(() => connectHost(url, era, people(), { bearer })));
    const ends = await Promise.all(clients.map((client) => client.call("continue_game")));
    const end = ends[0]?.structuredContent;
    for (const { structuredContent } of ends) expect(structuredContent).toEqual(end);
    expect(end?.status).toBe("completed");
    const ticks = await ticksInLog(end?.game_id ?? "");
    expect(ticks).toEqual(Array.from({ length: ticks.length }, (_, tick) => tick));
    await Promise.all([one, ...clients].map((client) => client.close()));
  });
});

describe("the state that is sent with each round", () => {
  const MODEL_ONLY = { capabilities: { sampling: {} } };
  const begin = () => round(host.url, "create_new_game", MODELS, MODEL_ONLY);
  const answer = (to: Awaited<ReturnType<typeof round>>, n: number, key = "") =>
    round(host.url, "create_new_game", MODELS, {
      ...MODEL_ONLY,
      inputResponses: answerTo(withRightWords(questionIn(to), key), n),
      requestState: to.result.requestState,
    });
  const openState = (of: Awaited<ReturnType<typeof round>>) => stateIn(of.result.requestState);

  test("a repeated answer counts once, even concurrently, and an answer to an earlier question is ignored", async () => {
    const first = await begin();
    const [one, duplicate] = await Promise.all([answer(first, 1), answer(first, 2)]);
    // The later one may have received the old question again. An answer to it would be ignored as well.
    expect([openState(one).tick, openState(duplicate).tick].sort().at(-1)).toBe(1);
    const second = openState(one).tick === 1 ? one : duplicate;
    const third = await answer(second, 3, questionIn(first).text);
    expect(openState(third).tick).toBe(2);
    for (const old of [first, one, duplicate]) {
      const replayed = await answer(old, 4);
      expect(openState(replayed)).toEqual(openState(third));
      expect(questionIn(replayed)).toEqual(questionIn(third));
    }
  });

  test("a round without answers repeats the question, and a round with another answer only is a failed attempt", async () => {
    const first = await begin();
    const args = ["create_new_game", MODELS] as const;
    const { requestState } = first.result;
    const silent = await round(host.url, ...args, { ...MODEL_ONLY, requestState });
    const other = await round(host.url, ...args, { ...MODEL_ONLY, requestState, inputResponses: { other: {} } });
    expect(openState(silent)).toEqual(openState(first));
    expect(openState(other)).toEqual({ ...openState(first), attempt: 2 });
    for (const content of [null, [null], 7, { type: "text", text: { toString: 1 } }]) {
      const broken = { answer: { role: "assistant", content } };
      const answered = await round(host.url, ...args, { ...MODEL_ONLY, requestState, inputResponses: broken });
      expect(openState(answered).tick).toBe(0);
    }
  });

  test("is rejected if it is forged, and the state of another game has no effect", async () => {
    const [mine, other] = [await begin(), await begin()];
    const { requestState } = mine.result;
    const [head, body = "", seal] = requestState.split(".");
    const state = { ...JSON.parse(Buffer.from(body, "base64url").toString()) };
    const forged = Buffer.from(JSON.stringify({ ...state, p: { ...state.p, tick: 5 } })).toString("base64url");
    for (const bad of [`${head}.${forged}.${seal}`, "", "x", `${requestState}x`]) {
      const rejections = await round(host.url, "create_new_game", MODELS, { ...MODEL_ONLY, requestState: bad });
      expect(rejections.error).toMatchObject({ code: -32602 });
    }
    const token = other.result._meta["agent-league/game_token"];
    const crossed = await round(
      host.url,
      "continue_game",
      { game_token: token },
      {
        ...MODEL_ONLY,
        inputResponses: answerTo(questionIn(mine), 1),
        requestState,
      },
    );
    expect(openState(crossed)).toEqual(openState(other));
  });

  test("a repeated first round does not create a second game", async () => {
    const source = await round(host.url, "create_new_game", MODELS);
    const options = { inputResponses: answerTo(questionIn(source), 1), requestState: source.result.requestState };
    const begun = await round(host.url, "create_new_game", MODELS, options);
    const again = await round(host.url, "create_new_game", MODELS, options);
    expect(openState(again)).toEqual(openState(begun));
    expect(again.result._meta).toEqual(begun.result._meta);
  });
});
