import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { rpcResourceRead, rpcToolCall } from "#shared/rpc/testing/json-rpc.ts";
import { startTestHost, type TestHost } from "../rest/testing/host.ts";
import {
  type AskedQuestion,
  accept,
  MODELS,
  people,
  players,
  questionIn,
  round,
  USERS,
  withdrawn,
} from "./testing/answers.ts";
import { type CodenamesClient, connectHost, type Era, eras, type Progress } from "./testing/host.ts";

let host: TestHost;
let url: string;
beforeAll(async () => {
  host = await startTestHost();
  url = `${host.url}/mcp`;
});
afterAll(() => host.remove());

const BOARD = "game://state/board";
const HISTORY = "game://state/history";
const ROLE = "game://context/current-role";
const IDENTITY = /"identity":"(red|blue|neutral|assassin)"|\((red|blue|neutral|assassin)\)/;

/** Starts a game whose call waits for the first clue. Resolves when the clue is requested. */
async function startWaiting(era: Era, seats: object, bearer?: string) {
  const stuck = Promise.withResolvers<{ asked: AskedQuestion; signal: AbortSignal }>();
  const go = Promise.withResolvers<unknown>();
  go.promise.catch(() => {});
  const progress: Progress[] = [];
  const respondent = people((asked, _n, signal) => {
    if (asked.stage !== "clue") return undefined;
    stuck.resolve({ asked, signal });
    return go.promise;
  });
  const client = await connectHost(url, era, respondent, bearer === undefined ? {} : { bearer });
  const call = client.call("create_new_game", seats, { onprogress: (one) => progress.push(one) });
  call.catch(() => {});
  const { asked, signal } = await stuck.promise;
  const token = progress.flatMap(({ message }) => /game_token (\S+);/.exec(message ?? "")?.[1] ?? [])[0] ?? "";
  return { client, call, token, progress, asked, signal, respondent, go };
}

/** Runs `act` with a client of another caller. */
const withOtherClient = async <T>(era: Era, act: (client: CodenamesClient) => Promise<T>): Promise<T> => {
  const client = await connectHost(url, era, people(), { bearer: "other caller" });
  return act(client).finally(() => client.close());
};

/** An answer without a report of a game. */
const NO_REPORT = { winner: null, reason: null, game_id: "", game_token: "", turns: 0, board: "", history: "" };

describe.each(eras)("end_game in the era %s", (era) => {
  it("ends the game of a waiting call, which withdraws its question and returns the same report as end_game", async () => {
    const { client, call, token, signal, go } = await startWaiting(era, USERS, `ender-${era}`);
    expect((await withOtherClient(era, (one) => one.call("end_game"))).structuredContent).toEqual({
      ...NO_REPORT,
      status: "no_game",
    });
    const wrong = await withOtherClient(era, (one) => one.call("end_game", { game_token: `${token}x` }));
    expect([wrong.isError, wrong.content[0].text]).toEqual([true, "No game of Codenames has this game_token"]);
    const ended = await client.call("end_game");
    expect(ended.structuredContent).toMatchObject({ status: "ended", reason: "ended_by_user", game_token: token });
    expect(await client.call("end_game")).toEqual(ended);
    expect(await withOtherClient(era, (one) => one.call("end_game", { game_token: token }))).toEqual(ended);
    if (era === "stateless") go.resolve(undefined); // a stateless client receives the end with its next round
    expect(await call).toEqual(ended);
    if (era === "session") await withdrawn(signal);
    expect(await client.call("continue_game")).toEqual(ended);
    await client.close();
  });

  it("needs the game token for an anonymous caller", async () => {
    const { client, call, token, go } = await startWaiting(era, USERS);
    const own = (await client.call("end_game")).structuredContent;
    expect(own).toMatchObject({ status: era === "session" ? "ended" : "no_game" });
    expect((await client.call("end_game", { game_token: token })).structuredContent).toMatchObject({ status: "ended" });
    go.resolve(undefined);
    await call;
    await client.close();
  });
});

describe.each(eras)("the resources in the era %s", (era) => {
  it("are readable by their owner or with the game token, and by no other caller", async () => {
    const { client, call, token, go } = await startWaiting(era, MODELS, `reader-${era}`);
    for (const uri of [BOARD, HISTORY, ROLE]) {
      const own = await client.read(uri);
      expect(own).toMatchObject({ status: "active", tick: 0, phase: "clue" });
      expect(await withOtherClient(era, (one) => one.read(uri))).toMatchObject({ open: false });
      expect(await withOtherClient(era, (one) => one.read(`${uri}/${token}`))).toEqual(own);
      await expect(withOtherClient(era, (one) => one.read(`${uri}/${token}x`))).rejects.toThrow(/Unknown resource/);
      expect(JSON.stringify(own)).not.toMatch(IDENTITY); // models receive the key only in their prompts
      expect(JSON.stringify(own)).not.toContain(token);
    }
    await client.call("end_game");
    expect(await client.read(BOARD)).toMatchObject({ status: "completed" });
    expect(await client.read(ROLE)).toMatchObject({ status: "completed", role: null, player_type: null });
    go.resolve(undefined);
    await call;
    await client.close();
  });

  it("contain the key only while a person who plays a spymaster is to act", async () => {
    const shown: [string, boolean][] = [];
    const client: CodenamesClient = await connectHost(
      url,
      era,
      people(async ({ stage, by }) => {
        if (stage === "source") return undefined;
        const { role, player_type } = await client.read(ROLE);
        expect(player_type).toBe(by === "form" ? "user" : "llm");
        shown.push([`${role} ${player_type}`, /\((red|blue|neutral|assassin)\)/.test((await client.read(ROLE)).board)]);
        expect((await client.read(BOARD)).board).not.toMatch(/\((red|blue|neutral|assassin)\)/);
        return undefined;
      }),
      { bearer: `key-${era}` },
    );
    await client.call("create_new_game", players(0b1010)); // people as spymasters, models as teams
    await client.close();
    for (const [who, isShown] of shown) expect([who, isShown]).toEqual([who, who.endsWith("spymaster user")]);
    expect(new Set(shown.map(([who]) => who)).size).toBeGreaterThan(1);
  });

  it("send updates to subscribers for a new game, each action and the end", async () => {
    const bearer = `watcher-${era}`;
    const watcher = await connectHost(url, era, null, { bearer });
    const updatedUris: string[] = [];
    let roleUpdated = Promise.withResolvers<void>();
    await watcher.subscribe([BOARD, ROLE], (uri) => {
      updatedUris.push(uri);
      if (uri === ROLE) roleUpdated.resolve();
    });
    const { client, call, token, go } = await startWaiting(era, USERS, bearer);
    await roleUpdated.promise;
    expect([...new Set(updatedUris)].sort()).toEqual([ROLE, BOARD]);
    const byToken = await connectHost(url, era, null);
    const ended = Promise.withResolvers<string>();
    await byToken.subscribe([`${HISTORY}/${token}`], ended.resolve);
    roleUpdated = Promise.withResolvers();
    await client.call("end_game");
    await roleUpdated.promise;
    expect(await ended.promise).toBe(`${HISTORY}/${token}`);
    go.resolve(undefined);
    await call;
    await Promise.all([watcher, byToken, client].map((one) => one.close()));
  });
});

describe.each(eras)("the progress of a game in the era %s", (era) => {
  it("grows with each action, describes the events and contains the token once", async () => {
    const progress: Progress[] = [];
    const client = await connectHost(url, era, people());
    const { structuredContent } = await client.call("create_new_game", MODELS, {
      onprogress: (one) => progress.push(one),
    });
    await client.close();
    // The stateless client adds progress messages about its rounds.
    const ours = progress.filter(({ message }) => !message?.startsWith("Fulfilling"));
    const steps = ours.map(({ progress }) => progress);
    expect(steps).toEqual(Array.from({ length: steps.length }, (_, tick) => tick));
    expect(ours.every(({ total }) => total === 145)).toBe(true);
    const messages = ours.map(({ message = "" }) => message);
    expect(messages.filter((one) => one.includes(structuredContent.game_token))).toHaveLength(1);
    expect(messages.at(-1)).toMatch(
      /guessed .+: (red|blue|assassin); the game is over: team (red|blue) wins, because [a-z ]+$/,
    );
    for (const line of structuredContent.history.split("\n").slice(1)) {
      for (const [, word = "", identity] of line.matchAll(/([A-Z ]+) was (\w+)/g)) {
        expect(messages.some((one) => one.includes(`guessed ${word.trim()}: ${identity};`))).toBe(true);
      }
    }
  });

  it("an action on the page withdraws the open question, and the game continues after it", async () => {
    const { client, call, asked, signal, respondent, go } = await startWaiting(era, USERS, `page-${era}`);
    const [, gameId = "", seat = ""] = /\/game\/([\w-]+)#seat=(\S+)/.exec(asked.text) ?? [];
    const moved = await host.call("POST", `/api/games/${gameId}/moves`, { token: seat, body: { move: "PAGECLUE 2" } });
    expect(moved.status).toBe(200);
    if (era === "stateless") go.resolve(accept({ word: "LATECLUE", number: "1" }));
    else go.resolve(undefined); // for later clues
    const { structuredContent } = await call;
    if (era === "session") await withdrawn(signal);
    const [, first = ""] = structuredContent.history.split("\n");
    expect(first).toContain(": PAGECLUE 2");
    expect(structuredContent.history.match(/PAGECLUE/g)).toHaveLength(1);
    const stages = respondent.questions.map(({ stage }) => stage);
    expect(stages.slice(0, 3)).toEqual(["source", "clue", "guess"]);
    await client.close();
  });
});

test("game://rules/codenames contains the rules, even for a caller without a game", async () => {
  const body = rpcResourceRead("game://rules/codenames");
  const { json } = await host.call("POST", "/mcp", { body, headers: { "content-type": "application/json" } });
  const [{ text }] = json.result.contents;
  for (const part of ["spymaster", "assassin", "number + 1", "unlimited"]) expect(text).toContain(part);
});

test("the token is in the _meta of each round and in the report, only for its caller", async () => {
  const sampling = { capabilities: { sampling: {} } };
  const [mine, other] = [
    await round(host.url, "create_new_game", MODELS, { ...sampling, bearer: "mine" }),
    await round(host.url, "create_new_game", MODELS, { ...sampling, bearer: "other" }),
  ];
  const token = mine.result._meta["agent-league/game_token"];
  expect(JSON.stringify(other)).not.toContain(token);
  expect(questionIn(mine).text).not.toContain(token);
  const again = await round(host.url, "create_new_game", MODELS, { ...sampling, bearer: "other" });
  expect(again.result.content[0].text).toContain(other.result._meta["agent-league/game_token"]);
  expect(JSON.stringify(again)).not.toContain(token);
});

test("two concurrent calls of create_new_game create one game", async () => {
  const both = await Promise.all(
    [0, 1].map(() => round(host.url, "create_new_game", MODELS, { capabilities: { sampling: {} }, bearer: "twice" })),
  );
  expect(both.filter(({ result }) => result.isError)).toHaveLength(1);
});

test("the owner of a game is exempt from the rate limit, by the game token or by its bearer token", async () => {
  const limited = await startTestHost({ limitLoopback: true });
  const call = async (name: string, args: object, bearer?: string): Promise<number> => {
    const body = rpcToolCall(name, args);
    const headers = {
      "content-type": "application/json",
      ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
    };
    return (await limited.call("POST", "/mcp", { body, headers })).status;
  };
  const client = await connectHost(`${limited.url}/mcp`, "stateless", people(), { bearer: "mine" });
  const { structuredContent } = await client.call("create_new_game", MODELS);
  const { game_token } = structuredContent;
  for (let request = 0; request < 60; request++) await call("end_game", {}, "an unknown token");
  expect(await call("end_game", {}, "an unknown token")).toBe(429);
  expect(await call("end_game", { game_token })).toBe(200);
  expect(await call("end_game", {}, "mine")).toBe(200);
  await client.close();
  await limited.remove();
});
