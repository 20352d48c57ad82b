import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createRandom, type Random } from "#shared/lib/rng.ts";
import { openSqlite } from "#shared/store/sqlite.ts";
import { startTestHost, type TestAgent, type TestHost } from "../rest/testing/host.ts";
import { type AskedQuestion, accept, people, players } from "./testing/answers.ts";
import { type CodenamesClient, connectHost, type Era } from "./testing/host.ts";
import { type Card, cardsIn, leaksIn } from "./testing/key-secrecy.ts";

let host: TestHost;
let db: DatabaseSync;
let agent: TestAgent;
beforeAll(async () => {
  host = await startTestHost();
  agent = await host.agent();
  db = openSqlite(join(host.dataFolder, `referee-${host.port}.sqlite`), "");
});
afterAll(async () => {
  db.close();
  await host.remove();
});

/** The cards of a game now. A card that is covered now was covered when the received messages were sent. */
function cardsNow(gameId: string): readonly Card[] {
  const { seed } = db.prepare("SELECT seed FROM sessions WHERE session_id = ?").get(gameId) as { seed: string };
  const rows = db.prepare("SELECT body FROM entries WHERE session_id = ? ORDER BY seq").all(gameId);
  return cardsIn(
    seed,
    rows.map(({ body }) => String(body)),
  );
}

/** A JSON-RPC message without the questions to spymasters, which contain the key. */
function withoutKey(message: unknown): unknown {
  if (Array.isArray(message)) return message.map(withoutKey);
  if (typeof message !== "object" || message === null) return message;
  const isForSpymaster = "method" in message && JSON.stringify(message).includes("You are the spymaster");
  if (isForSpymaster && /^(elicitation|sampling)\//.test(String(message.method))) return { method: message.method };
  return Object.fromEntries(Object.entries(message).map(([key, value]) => [key, withoutKey(value)]));
}

/** A `fetch` that passes each line of a response to `onLine`. */
function recordingFetch(onLine: (text: string) => void): typeof fetch {
  return async (to, init) => {
    const response = await fetch(to, init);
    if (!response.body) return response;
    const [recorded, forwarded] = response.body.tee();
    void (async () => {
      let rest = "";
      for await (const chunk of recorded.pipeThrough(
        new TextDecoderStream() as never,
      ) as unknown as AsyncIterable<string>) {
        const lines = (rest + chunk).split("\n");
        rest = lines.pop() ?? "";
        lines.map((line) => line.replace(/^data: /, "")).forEach(onLine);
      }
      onLine(rest);
    })().catch(() => {}); // the client has disconnected
    return new Response(forwarded, response);
  };
}

/** A random answer, valid or invalid. A clue is never a word of the board, because it would look like a leak. */
function randomAnswer(random: Random, { stage, by, words }: AskedQuestion): unknown {
  const garbage = ["", "no", "{}", '{"guess": "NOWHERE"}', '{"clue": "TWO WORDS", "number": 1}', "```json\n[]\n```"];
  if (stage === "source" || random.int(0, 9) > 2) {
    if (stage !== "guess") return undefined;
    const word = random.pick(words);
    return by === "form" ? accept({ word }) : JSON.stringify({ guess: word });
  }
  if (by === "prompt") return random.int(0, 3) === 0 ? Promise.reject(new Error("rejected")) : random.pick(garbage);
  return random.pick([{ action: "decline" }, { action: "cancel" }, { action: "accept" }, accept({ word: "NOWHERE" })]);
}

/** A text that a team, a spectator or another caller has received. */
interface ReceivedText {
  readonly from: string;
  readonly text: string;
}

/** Plays a random game of at most `maxQuestions` questions. Resolves with the texts for viewers that must not know the key, and the leaks in them. */
async function play(
  era: Era,
  bits: number,
  maxQuestions: number,
): Promise<{ received: ReceivedText[]; leaks: string[] }> {
  const random = createRandom(`leaks ${era} ${bits}`);
  const [received, leaks]: [ReceivedText[], string[]] = [[], []];
  let gameId = "";
  let token = "";
  const check = (from: string, text: string): void => {
    gameId ||= /"game_id":"([\w-]+)"/.exec(text)?.[1] ?? "";
    token ||= /game_token (\S+);/.exec(text)?.[1] ?? "";
    if (text.trim() === "") return;
    received.push({ from, text });
    const found = gameId === "" ? [] : leaksIn(text, cardsNow(gameId));
    leaks.push(...found.map((leak) => `${from}: ${leak}`));
  };
  const onLine = (line: string): void => {
    if (!line.startsWith("{") && !line.startsWith("[")) return;
    const message = withoutKey(JSON.parse(line));
    // A person who plays the spymaster that is to act may see the key.
    if (JSON.stringify(message).includes('player_type\\":\\"user') && line.includes('_spymaster\\"')) return;
    check("host", JSON.stringify(message));
  };
  const url = `${host.url}/mcp`;
  const spectator = async (path: string): Promise<void> =>
    check(path, (await host.call("GET", path, { token: agent.token })).text);
  const watching = new AbortController();
  /** Opens both event streams. Resolves when each has sent its first event. */
  let watch = async (): Promise<void> => {
    watch = async () => {};
    const options = { headers: { authorization: `Bearer ${agent.token}` }, signal: watching.signal };
    const streams = [`/sessions/${gameId}/events`, `/api/games/${gameId}/events`].map((path) => {
      const begun = Promise.withResolvers<void>();
      const onEventLine = (line: string): void => {
        check(path, line);
        if (line.includes("{")) begun.resolve();
      };
      void recordingFetch(onEventLine)(host.url + path, options);
      return begun.promise;
    });
    await Promise.all(streams);
  };
  let isFirst = true;
  const otherClient = await connectHost(url, "stateless", null);
  const respondent = people(async (question, n) => {
    if (n > maxQuestions) await client.call("end_game", { game_token: token });
    if (token !== "" && (isFirst || random.int(0, 2) === 0)) {
      isFirst = false;
      const { game_id } = await client.read(`game://state/board/${token}`);
      gameId ||= game_id;
      await watch();
      const paths = ["/sessions/ID/state", "/sessions/ID/log", "/api/games/ID", "/api/games"];
      for (const path of paths) await spectator(path.replace("ID", gameId));
      await client.read(`game://context/current-role/${token}`); // checked by recordingFetch
      for (const uri of [`game://state/${gameId}`, `game://state/history/${token}`, "game://context/current-role"]) {
        check(uri, JSON.stringify(await otherClient.read(uri)));
      }
      const moved = {
        token: agent.token,
        body: { action: { type: "guess", word: question.words[0] ?? "" }, expected_tick: n },
      };
      check("rejection", (await host.call("POST", `/sessions/${gameId}/actions`, moved)).text);
    }
    return randomAnswer(random, question);
  });
  const client: CodenamesClient = await connectHost(url, era, respondent, {
    fetch: recordingFetch(onLine),
    bearer: `leaks-${era}-${bits}`,
  });
  const onprogress = ({ message = "" }) => check("progress", message);
  const failed = (error: Error) => check("error", error.message); // in rounds a model that throws ends the call
  await client.subscribe(["game://context/current-role"], (uri) => check("subscription", uri));
  await client.call("create_new_game", players(bits), { onprogress }).catch(failed);
  for (let calls = 0; calls < 40; calls++) {
    const { structuredContent } = (await client.call("continue_game", {}, { onprogress }).catch(failed)) ?? {};
    if (structuredContent && structuredContent.status !== "active") break;
  }
  watching.abort();
  await Promise.all([client, otherClient].map((one) => one.close()));
  for (const path of [`/sessions/${gameId}/state`, `/sessions/${gameId}/log`, `/api/games/${gameId}`])
    await spectator(path);
  return { received, leaks };
}

describe("no text for a team, a spectator or another caller reveals a covered card", () => {
  it.each(
    Array.from({ length: 16 }, (_, bits) => ({
      bits,
      era: bits % 2 === 0 ? ("session" as const) : ("stateless" as const),
    })),
  )("random game, players $bits, $era", async ({ era, bits }) => {
    const { received, leaks } = await play(era, bits, 14);
    expect(leaks).toEqual([]);
    const from = new Set(received.map((one) => one.from.replace(/[\w-]{36,}/, "ID")));
    for (const source of [
      "host",
      "progress",
      "/sessions/ID/log",
      "/sessions/ID/events",
      "/api/games/ID/events",
      "rejection",
    ]) {
      expect(from).toContain(source);
    }
  });
});

describe("the search for leaks", () => {
  const card = (word: string, identity: string, uncovered = false): Card => ({ word, identity, uncovered });
  const cards = [
    card("APPLE", "red"),
    card("PEAR TREE", "assassin"),
    card("PLUM", "blue", true),
    card("FIG", "neutral"),
  ];
  it.each([
    "APPLE (red)",
    "the card APPLE is red",
    "red: APPLE, FIG",
    '{"word":"APPLE","identity":"red","uncovered":false}',
    '{"identity":"assassin","word":"PEAR TREE"}',
    '{"APPLE":"red"}',
    '{"red":["APPLE"]}',
    '{"text":"{\\"word\\":\\"FIG\\",\\"identity\\":\\"neutral\\"}"}',
    "[PLUM: blue]  FIG (neutral)",
    "the assassin is PEAR TREE",
    `{"requestState":"v1.${Buffer.from('{"p":{"key":{"APPLE":"red"}}}').toString("base64url")}.x"}`,
  ])("finds a leak: %s", (text) => {
    expect(leaksIn(text, cards)).not.toEqual([]);
  });
  it.each([
    "APPLE  PEAR TREE  [PLUM: blue]  FIG",
    '{"word":"PLUM","identity":"blue","uncovered":true},{"word":"APPLE","identity":null,"uncovered":false}',
    "APPLE  FIG\n\nAgents to find: red 9, blue 8.",
    "red: ZZZZ 1 – PLUM was blue",
    "red guessed PLUM: blue; red guesses",
  ])("finds nothing in a text without a leak: %s", (text) => {
    expect(leaksIn(text, cards)).toEqual([]);
  });
});
