import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { startTestHost, type TestHost } from "../rest/testing/host.ts";
import {
  type Asked,
  answerTo,
  askedIn,
  inForm,
  inText,
  knowing,
  MODELS,
  people,
  players,
  round,
  stateIn,
  USERS,
} from "./testing/answers.ts";
import { connectHost, eras } from "./testing/host.ts";

let host: TestHost;
let url: string;
beforeAll(async () => {
  host = await startTestHost();
  url = `${host.url}/mcp`;
});
afterAll(() => host.remove());

/** Plays sensibly until it is asked such a question the `nth` time, and never answers that; it may give up in the end. */
function hesitating(stage: Asked["stage"], nth = 1) {
  const stuck = Promise.withResolvers<Asked>();
  const silence = Promise.withResolvers<never>();
  silence.promise.catch(() => {});
  let met = 0;
  let key = "";
  const everybody = people((asked, n) => {
    if (asked.stage === "clue") key = asked.text;
    if (asked.stage !== stage || ++met < nth) {
      const known = knowing(asked, key);
      return asked.by === "form" ? inForm(known, n) : inText(known, n);
    }
    stuck.resolve(asked);
    return silence.promise;
  });
  return { ...everybody, stuck: stuck.promise, giveUp: () => silence.reject(new Error("given up")) };
}

/** What the log holds that everybody may read: how many actions, and that no tick is there twice or missing. */
const ticksIn = async (token: string): Promise<number> => {
  const { tick } = await reading(token);
  return tick;
};
async function reading(token: string) {
  const client = await connectHost(url, "modern", null);
  const read = await client.read(`game://state/history/${token}`);
  await client.close();
  return read as { tick: number; text: string; status: string; game_id: string };
}
async function wholeLog(gameId: string): Promise<readonly number[]> {
  const { token } = await host.agent();
  const { actions } = (await host.call("GET", `/sessions/${gameId}/log`, { token })).json;
  return actions.map(({ tick }: { tick: number }) => tick);
}

const HOW = ["closes", "aborts", "drops"] as const;
const STAGES = ["clue", "guess", "continue"] as const;
const cases = eras.flatMap((era) =>
  HOW.flatMap((how) => STAGES.map((stage, place) => ({ era, how, stage, seats: place % 2 ? MODELS : USERS }))),
);

describe("a call that is cut", () => {
  it.each(cases)(
    "($era) when its client $how at a $stage is gone on with by another, at the same question",
    async (one) => {
      const { era, how, stage, seats } = one;
      const asking = hesitating(stage);
      const dropped = new AbortController();
      const cutting: typeof fetch = (to, init) =>
        fetch(to, { ...init, signal: AbortSignal.any([dropped.signal, ...(init?.signal ? [init.signal] : [])]) });
      const client = await connectHost(url, era, asking, { fetch: cutting });
      const cancelled = new AbortController();
      let token = "";
      const onprogress = ({ message = "" }) => {
        token ||= /game_token (\S+);/.exec(message)?.[1] ?? "";
      };
      const call = client.call("create_new_game", seats, { signal: cancelled.signal, onprogress }).catch(() => null);
      const open = await asking.stuck;
      const before = await reading(token);
      if (how === "closes") await client.close();
      else if (how === "aborts") cancelled.abort(new Error("enough"));
      else {
        dropped.abort(new Error("connection lost"));
        cancelled.abort(); // of which nothing can be told any more
      }
      asking.giveUp();
      await call;
      const other = hesitating(stage);
      const heir = await connectHost(url, era === "session" ? "modern" : "session", other);
      const going = heir.call("continue_game", { game_token: token }).catch(() => null);
      expect(await other.stuck).toEqual(open);
      expect(other.asked).toHaveLength(1);
      expect(await reading(token)).toEqual(before);
      await heir.close();
      await client.close();
      other.giveUp();
      await going;
      const last = await connectHost(url, "modern", people());
      const isPlayed = stage === "clue"; // once for each way is enough
      const { structuredContent } = await last.call(isPlayed ? "continue_game" : "end_game", { game_token: token });
      await last.close();
      expect(structuredContent.status).toBe(isPlayed ? "completed" : "ended");
      const ticks = await wholeLog(before.game_id);
      expect(ticks).toEqual(Array.from({ length: await ticksIn(token) }, (_, tick) => tick));
    },
  );

  test("is gone on with by the same session, and by the same bearer token in whatever era", async () => {
    const asking = hesitating("guess", 2);
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
      const first = hesitating("continue");
      const begun = await connectHost(url, era, first, { bearer });
      void begun.call("create_new_game", MODELS).catch(() => null);
      const open = await first.stuck;
      await begun.close();
      const second = hesitating("continue");
      const heir = await connectHost(url, era === "session" ? "modern" : "session", second, { bearer });
      expect((await heir.call("create_new_game", MODELS)).content[0].text).toContain("is open already");
      void heir.call("continue_game").catch(() => null);
      expect(await second.stuck).toEqual(open);
      expect((await heir.call("end_game")).structuredContent).toMatchObject({ status: "ended" });
      await heir.close();
    }
  });

  test("whoever shows the token in a session needs it no more", async () => {
    const begun = await round(host.url, "create_new_game", MODELS, { capabilities: { sampling: {} } });
    const token = begun.result._meta["agent-league/game_token"];
    const asking = hesitating("clue");
    const heir = await connectHost(url, "session", asking);
    void heir.call("continue_game", { game_token: token }).catch(() => null);
    await asking.stuck;
    expect(await heir.read("game://state/board")).toMatchObject({ status: "active" });
    expect((await heir.call("end_game")).structuredContent).toMatchObject({ status: "ended" });
    await heir.close();
  });
});

describe("two calls that lead one game at once", () => {
  test.each(eras)("no turn is played twice, none is lost (%s)", async (era) => {
    const bearer = `both-${era}`;
    const seats = players(0b0110);
    const first = hesitating("clue");
    const one = await connectHost(url, era, first, { bearer });
    void one.call("create_new_game", seats).catch(() => null);
    await first.stuck;
    const clients = await Promise.all([0, 1, 2].map(() => connectHost(url, era, people(), { bearer })));
    const ends = await Promise.all(clients.map((client) => client.call("continue_game")));
    const [end] = ends.map(({ structuredContent }) => structuredContent);
    for (const { structuredContent } of ends) expect(structuredContent).toEqual(end);
    expect(end.status).toBe("completed");
    const ticks = await wholeLog(end.game_id);
    expect(ticks).toEqual(Array.from({ length: ticks.length }, (_, tick) => tick));
    await Promise.all([one, ...clients].map((client) => client.close()));
  });
});

describe("the state that travels with the rounds", () => {
  const MODEL_ONLY = { capabilities: { sampling: {} } };
  const begin = () => round(host.url, "create_new_game", MODELS, MODEL_ONLY);
  const answer = (to: Awaited<ReturnType<typeof round>>, n: number, key = "") =>
    round(host.url, "create_new_game", MODELS, {
      ...MODEL_ONLY,
      inputResponses: answerTo(knowing(askedIn(to), key), n),
      requestState: to.result.requestState,
    });
  const openState = (of: Awaited<ReturnType<typeof round>>) => stateIn(of.result.requestState);

  test("an answer that comes twice counts once, also at the same time; an old one counts for nothing", async () => {
    const first = await begin();
    const [one, twin] = await Promise.all([answer(first, 1), answer(first, 2)]);
    // Whichever was later may still have been asked the old question; whatever is said to that counts for nothing either.
    expect([openState(one).tick, openState(twin).tick].sort().at(-1)).toBe(1);
    const second = openState(one).tick === 1 ? one : twin;
    const third = await answer(second, 3, askedIn(first).text);
    expect(openState(third).tick).toBe(2);
    for (const old of [first, one, twin]) {
      const replayed = await answer(old, 4);
      expect(openState(replayed)).toEqual(openState(third));
      expect(askedIn(replayed)).toEqual(askedIn(third));
    }
  });

  test("a round that speaks of no answers is asked the same again; one without ours has failed to give it", async () => {
    const first = await begin();
    const args = ["create_new_game", MODELS] as const;
    const { requestState } = first.result;
    const silent = await round(host.url, ...args, { ...MODEL_ONLY, requestState });
    const other = await round(host.url, ...args, { ...MODEL_ONLY, requestState, inputResponses: { other: {} } });
    expect(openState(silent)).toEqual(openState(first));
    expect(openState(other)).toEqual({ ...openState(first), attempt: 2 });
    for (const content of [null, [null], 7, { type: "text", text: { toString: 1 } }]) {
      const broken = { answer: { role: "assistant", content } };
      const told = await round(host.url, ...args, { ...MODEL_ONLY, requestState, inputResponses: broken });
      expect(openState(told).tick).toBe(0);
    }
  });

  test("one that is forged is refused; that of another game moves that game alone", async () => {
    const [mine, other] = [await begin(), await begin()];
    const { requestState } = mine.result;
    const [head, body, seal] = requestState.split(".");
    const state = { ...JSON.parse(Buffer.from(body, "base64url").toString()) };
    const forged = Buffer.from(JSON.stringify({ ...state, p: { ...state.p, tick: 5 } })).toString("base64url");
    for (const bad of [`${head}.${forged}.${seal}`, "", "x", `${requestState}x`]) {
      const refused = await round(host.url, "create_new_game", MODELS, { ...MODEL_ONLY, requestState: bad });
      expect(refused.error).toMatchObject({ code: -32602 });
    }
    const token = other.result._meta["agent-league/game_token"];
    const crossed = await round(
      host.url,
      "continue_game",
      { game_token: token },
      {
        ...MODEL_ONLY,
        inputResponses: answerTo(askedIn(mine), 1),
        requestState,
      },
    );
    expect(openState(crossed)).toEqual(openState(other));
  });

  test("the round that begins a game, when it comes again, begins no second one", async () => {
    const source = await round(host.url, "create_new_game", MODELS);
    const options = { inputResponses: answerTo(askedIn(source), 1), requestState: source.result.requestState };
    const begun = await round(host.url, "create_new_game", MODELS, options);
    const again = await round(host.url, "create_new_game", MODELS, options);
    expect(openState(again)).toEqual(openState(begun));
    expect(again.result._meta).toEqual(begun.result._meta);
  });
});
