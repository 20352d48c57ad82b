import { afterEach, describe, expect, it } from "vitest";
import { type Behaviour, type ChatEndpoint, sendCompletion, sendJson, startChatEndpoint } from "../testing/openai.ts";
import { createModel } from "./model.ts";

let chat: ChatEndpoint | null = null;
afterEach(async () => {
  await chat?.close();
  chat = null;
});

const PROMPT = { kind: "prompt", system: "s", text: "t", maxTokens: 500 } as const;
const reset: Behaviour = (_, response) => void response.socket?.resetAndDestroy();
const status =
  (code: number, headers: object = {}): Behaviour =>
  (_, response) =>
    sendJson(response, code, {}, headers);
const answers: Behaviour = (_, response) => sendCompletion(response, "an answer");

/** Asks a model whose endpoint shows one behaviour for each request. Returns the pauses between requests, which take no time in this test. */
async function asked(...behaviours: readonly Behaviour[]) {
  chat = await startChatEndpoint((request, response, n) => (behaviours[n - 1] ?? answers)(request, response, n));
  const pausesMs: number[] = [];
  const lines: string[] = [];
  const model = createModel({
    ...{
      url: chat.url,
      model: "m",
      key: null,
      timeoutMs: 20_000,
      maxTokens: null,
      signal: new AbortController().signal,
    },
    tell: (line) => lines.push(line),
    async wait(ms) {
      pausesMs.push(ms);
      return true;
    },
  });
  return { said: await model(PROMPT), pausesMs, lines, requests: chat.requests.length };
}

describe("an endpoint that does not answer at once", () => {
  it.each([
    ["429", status(429)],
    ["500", status(500)],
    ["502", status(502)],
    ["503", status(503)],
    ["529", status(529)],
    ["a reset", reset],
  ])("%s: is asked again after 1, 2 and 4 seconds", async (_, fails) => {
    const { said, pausesMs } = await asked(fails, fails, fails);
    expect([said, pausesMs]).toEqual([{ kind: "text", text: "an answer" }, [1000, 2000, 4000]]);
  });

  it.each([
    ["503", status(503), "HTTP 503"],
    ["a reset", reset, expect.stringMatching(/ECONNRESET|other side closed|socket/i)],
  ])("%s: has failed when the fourth request fails too", async (_, fails, why) => {
    const { said, requests } = await asked(fails, fails, fails, fails);
    expect([said, requests]).toEqual([{ kind: "failed", why }, 4]);
  });

  it("says in seconds how long to wait", async () => {
    const busy = status(429, { "retry-after": "30" });
    const { pausesMs, lines } = await asked(busy, busy, status(500));
    expect(pausesMs).toEqual([30_000, 30_000, 4000]);
    expect(lines[0]).toBe("the LLM answers HTTP 429; asking again in 30 s");
  });

  it("says by a date how long to wait, at most a day", async () => {
    const until = (ms: number) => status(503, { "retry-after": new Date(Date.now() + ms).toUTCString() });
    const { pausesMs } = await asked(until(3_600_000), until(-60_000), until(365 * 86_400_000));
    const [hour = 0, past, year] = pausesMs;
    expect(Math.abs(hour - 3_600_000)).toBeLessThan(60_000);
    expect([past, year]).toEqual([0, 86_400_000]);
  });

  it("names no time that can be read: 1, 2, 4 seconds", async () => {
    expect((await asked(status(429, { "retry-after": "soon" }))).pausesMs).toEqual([1000]);
  });

  it.each([400, 422])("%i: is not asked again", async (code) => {
    expect((await asked(status(code))).pausesMs).toEqual([]);
  });
});
