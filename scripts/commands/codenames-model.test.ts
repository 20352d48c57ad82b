import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import {
  type Behaviour,
  type ChatEndpoint,
  sendCompletion,
  sendJson,
  startChatEndpoint,
} from "#shared/rpc/testing/chat-endpoint.ts";
import { createModel } from "./codenames.ts";

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
const answer: Behaviour = (_, response) => sendCompletion(response, "an answer");

/** Sends a prompt to an endpoint with one behaviour for each request. Returns the answer and the pauses between requests, which are not waited for. */
async function sendPrompt(...behaviours: readonly Behaviour[]) {
  chat = await startChatEndpoint((request, response, n) => (behaviours[n - 1] ?? answer)(request, response, n, []));
  const pausesMs: number[] = [];
  const lines: string[] = [];
  const model = createModel({
    url: chat.url,
    model: "m",
    key: null,
    timeoutMs: 2 * 86_400_000,
    maxTokens: null,
    signal: new AbortController().signal,
    clock: {
      ...systemClock,
      async pause(ms) {
        pausesMs.push(ms);
        return true;
      },
    },
    print: (line) => lines.push(line),
  });
  const reply = await model.answer(PROMPT);
  await model.close();
  return { reply, pausesMs, lines, requests: chat.requests.length };
}

describe("the requests of a model", () => {
  it.each([
    ["429", status(429)],
    ["500", status(500)],
    ["502", status(502)],
    ["503", status(503)],
    ["529", status(529)],
    ["a reset", reset],
  ])("are repeated after 1, 2 and 4 seconds: %s", async (_, fails) => {
    const { reply, pausesMs } = await sendPrompt(fails, fails, fails);
    expect([reply, pausesMs]).toEqual([{ kind: "text", text: "an answer" }, [1000, 2000, 4000]]);
  });

  it.each([
    ["503", status(503), "HTTP 503"],
    ["a reset", reset, expect.stringMatching(/ECONNRESET|other side closed|socket/i)],
  ])("fail if the fourth attempt fails: %s", async (_, fails, reason) => {
    const { reply, requests } = await sendPrompt(fails, fails, fails, fails);
    expect([reply, requests]).toEqual([{ kind: "failed", reason }, 4]);
  });

  it("are repeated after the seconds that the endpoint names", async () => {
    const busy = status(429, { "retry-after": "30" });
    const { pausesMs, lines } = await sendPrompt(busy, busy, status(500));
    expect(pausesMs).toEqual([30_000, 30_000, 4000]);
    expect(lines[0]).toBe("the LLM answered HTTP 429; repeating the request in 30 s");
  });

  it("are repeated at the time that the endpoint names, after at most a day", async () => {
    const until = (ms: number) => status(503, { "retry-after": new Date(Date.now() + ms).toUTCString() });
    const { pausesMs } = await sendPrompt(until(3_600_000), until(-60_000), until(365 * 86_400_000));
    const [hour = 0, past, year] = pausesMs;
    expect(Math.abs(hour - 3_600_000)).toBeLessThan(60_000);
    expect([past, year]).toEqual([0, 86_400_000]);
  });

  it("are repeated after 1 second if the named time cannot be parsed", async () => {
    expect((await sendPrompt(status(429, { "retry-after": "soon" }))).pausesMs).toEqual([1000]);
  });

  it.each([400, 422])("are not repeated after HTTP %i", async (code) => {
    expect((await sendPrompt(status(code))).pausesMs).toEqual([]);
  });
});
