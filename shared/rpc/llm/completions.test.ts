import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../lib/clock.ts";
import {
  type Behaviour,
  type ChatEndpoint,
  sendCompletion,
  sendJson,
  startChatEndpoint,
} from "../testing/chat-endpoint.ts";
import { type CompletionOptions, Completions, completionOf } from "./completions.ts";

const KEY = "sk-very-secret-0123456789";
const FORMAT = { name: "move", description: "a move", schema: { type: "object" } };
let chat: ChatEndpoint;
let completions: Completions;
afterEach(async () => {
  await completions.close();
  await chat.close();
});

/** Starts an endpoint and its client. The pauses of the client are not waited for. */
async function start(behaviour: Behaviour, options: Partial<CompletionOptions> = {}): Promise<void> {
  chat = await startChatEndpoint(behaviour);
  const clock = { ...systemClock, pause: async () => true };
  completions = new Completions({ url: chat.url, model: "m", key: KEY, clock, ...options });
}

const ask = (remainingMs = 10_000) =>
  completions.request(
    { messages: [{ role: "user", content: "hello" }], maxTokens: 100, format: FORMAT, seed: 7 },
    { signal: systemClock.timeout(remainingMs), remainingMs: () => remainingMs },
  );
const contentOf = (completed: Awaited<ReturnType<typeof ask>>) =>
  completionOf(completed, (text) => completions.masked(text));
const answer = async () => contentOf(await ask());
const fault = async () => {
  const result = await answer();
  return result.ok ? null : result.error;
};

/** The fields of each request that the endpoint may not accept. */
const sentFields = () =>
  chat.requests.map((request) => [
    request.response_format ? "json_schema" : request.tools ? "tool" : "text",
    ...("seed" in request ? ["seed"] : []),
    ...("max_tokens" in request ? ["max_tokens"] : []),
    ...("max_completion_tokens" in request ? ["max_completion_tokens"] : []),
  ]);

const rejecting =
  (fields: (request: Parameters<Behaviour>[0]) => string | null): Behaviour =>
  (request, response) => {
    const unknown = fields(request);
    if (unknown === null) sendCompletion(response, "{}");
    else sendJson(response, 400, { error: { message: `unknown field ${unknown}` } });
  };

describe("a client of chat completions remembers", () => {
  it.each([
    ["response_format", "tool"],
    ["response_format and tools", "text"],
  ])("that the endpoint does not accept %s", async (names, mode) => {
    await start(
      rejecting((request) =>
        request.response_format ? "a" : request.tools && names.endsWith("tools") ? "tools" : null,
      ),
    );
    expect(await answer()).toMatchObject({ ok: true });
    const first = chat.requests.length;
    expect(first).toBe(mode === "tool" ? 2 : 3);
    await answer();
    await answer();
    expect(sentFields().slice(first)).toEqual([
      [mode, "seed", "max_tokens"],
      [mode, "seed", "max_tokens"],
    ]);
  });

  it("that the endpoint accepts no seed and no max_tokens", async () => {
    await start(
      rejecting((request) => ("seed" in request ? "seed" : request.max_tokens ? "max_completion_tokens" : null)),
    );
    await answer();
    await answer();
    expect(sentFields()).toEqual([
      ["json_schema", "seed", "max_tokens"],
      ["json_schema", "max_tokens"],
      ["json_schema", "max_completion_tokens"],
      ["json_schema", "max_completion_tokens"],
    ]);
  });

  it("nothing about formats from an error after an accepted answer", async () => {
    await start((_, response, n) => (n === 2 ? sendJson(response, 400, {}) : sendCompletion(response, "{}")));
    expect([await fault(), await fault(), await fault()]).toMatchObject([null, { cause: "rejected_request" }, null]);
    expect(sentFields().map(([mode]) => mode)).toEqual(["json_schema", "json_schema", "json_schema"]);
  });
});

describe("a client of chat completions", () => {
  it("sends additional fields, uses their token limit instead of the default, and uses the given answer mode", async () => {
    await start((_, response) => sendCompletion(response, "{}"), {
      mode: "tool",
      extra: { reasoning_effort: "low", max_completion_tokens: 9 },
    });
    await answer();
    expect(chat.requests[0]).toMatchObject({ reasoning_effort: "low", max_completion_tokens: 9, tools: [{}] });
    expect(chat.requests[0]).not.toHaveProperty("max_tokens");
  });

  it("does not wait for a pause that is longer than the time that remains", async () => {
    await start((_, response) => sendJson(response, 429, {}, { "retry-after": "20" }));
    expect(contentOf(await ask())).toMatchObject({
      error: { cause: "rate_limited", detail: "the endpoint is busy and asks to wait 20 s (HTTP 429)" },
    });
    expect(chat.requests).toHaveLength(1);
  });

  it("does not follow a redirect, which could lead the key to another server", async () => {
    await start((_, response) => sendJson(response, 307, {}, { location: "http://127.0.0.1:9/" }));
    expect(await fault()).toMatchObject({ cause: "rejected_request", message: "HTTP 307" });
  });

  it("reads the arguments of a tool call, and counts tokens", async () => {
    await start((_, response) =>
      sendCompletion(
        response,
        null,
        { tool_calls: [{ id: "1", function: { name: "move", arguments: '{"action": "e4"}' } }] },
        { usage: { prompt_tokens: 5, completion_tokens: 2 } },
      ),
    );
    expect(await answer()).toMatchObject({
      value: { text: '{"action": "e4"}', usage: { tokensIn: 5, tokensOut: 2 }, isCutOff: false },
    });
  });

  it.each<[string, unknown]>([
    ["an object", { action: "e4" }],
    ["the JSON text of a JSON text", JSON.stringify('{"action":"e4"}')],
  ])("reads the arguments of a tool call that are %s", async (_, args) => {
    const call = { type: "function", function: { name: "move", arguments: args } };
    await start((_request, response) => sendCompletion(response, "", { tool_calls: [call] }));
    expect(await answer()).toMatchObject({ value: { text: '{"action":"e4"}' } });
  });

  it("masks the key in every text of a completion except the answer, which is parsed as it is", async () => {
    await start(
      (_, response) => {
        const message = { content: '{"action": "e4"}', refusal: "e4?" };
        sendJson(response, 200, { choices: [{ message }], model: "m e4", system_fingerprint: "e4-e4" });
      },
      { key: "e4" },
    );
    expect(await answer()).toMatchObject({
      value: { text: '{"action": "e4"}', refusal: "***?", model: "m ***", fingerprint: "***-***" },
    });
  });

  it("removes the reasoning before an answer", async () => {
    await start((_, response) => sendCompletion(response, "<think>e5?</think>\n e4"));
    expect(await answer()).toMatchObject({ value: { text: "e4" } });
  });

  it("recognizes a refusal of the model and of its content filter", async () => {
    await start((_, response, n) =>
      n === 1
        ? sendCompletion(response, null, { refusal: "no" })
        : sendCompletion(response, "", {}, { finish_reason: "content_filter" }),
    );
    expect([await answer(), await answer()]).toMatchObject([
      { value: { refusal: "no" } },
      { value: { refusal: "the content filter ended the answer" } },
    ]);
  });
});

const failing =
  (status: number, body: object = { error: { message: `about ${KEY} of org-1` } }): Behaviour =>
  (_, response) =>
    sendJson(response, status, body);

describe("the fault of a request names its cause, without the key, and without the endpoint's text for everyone", () => {
  it.each<[string, Behaviour, string, string]>([
    ["429", failing(429), "rate_limited", "the endpoint is busy (HTTP 429)"],
    ["503", failing(503), "server_error", "the endpoint failed (HTTP 503)"],
    ["401", failing(401), "wrong_key", "the endpoint rejects the API key (HTTP 401)"],
    ["404", failing(404), "unknown_model", "the endpoint does not know the model or the address (HTTP 404)"],
    ["422", failing(422), "rejected_request", "the endpoint rejected the request (HTTP 422)"],
    [
      "502 within 200",
      failing(200, { error: { code: 502, message: `about ${KEY} of org-1` } }),
      "server_error",
      "the endpoint failed (HTTP 502)",
    ],
  ])("%s", async (_, behaviour, cause, detail) => {
    await start(behaviour);
    const found = await fault();
    expect(found).toMatchObject({ cause, detail });
    expect(found?.message).toMatch(/^HTTP \d+: about \*\*\* of org-1$/);
  });

  it("a page", async () => {
    await start((_, response) => void response.end("<html>"));
    expect(await fault()).toMatchObject({ cause: "bad_completion", detail: "the response is not a chat completion" });
  });

  it("no answer in time", async () => {
    await start(() => {});
    expect(contentOf(await ask(50))).toMatchObject({ error: { cause: "timeout" } });
  });

  it("a closed connection", async () => {
    await start((_, response) => void response.socket?.resetAndDestroy());
    expect(await fault()).toMatchObject({ cause: "connection", detail: expect.not.stringContaining("127.0.0.1") });
    expect(chat.requests).toHaveLength(4);
  });

  it("a port without a server, after three repetitions if the option to repeat is set", async () => {
    await start(() => {}, { repeatsRefused: true });
    await chat.close();
    expect(await ask()).toMatchObject({ requests: 4, thrown: { code: "ECONNREFUSED" } });
  });

  it("a port without a server", async () => {
    await start(() => {});
    await chat.close();
    expect(await fault()).toEqual({
      cause: "connection",
      detail: "no connection to the endpoint: connection refused",
      message: expect.stringContaining("ECONNREFUSED"),
    });
  });
});
