import type { Server } from "node:http";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { afterEach, beforeEach, expect, it, test } from "vitest";
import { httpEndpoint } from "#shared/rpc/http/http-server.ts";
import { systemClock } from "../../lib/clock.ts";
import { systemIds } from "../../lib/ids.ts";
import type { CallerAnswer, CallerInput } from "../jsonrpc/caller-input.ts";
import { listenOnLoopback } from "../testing/loopback.ts";
import { type McpEndpoint, mcpEndpoint } from "./mcp-endpoint.ts";
import type { Tool } from "./methods.ts";

/** The answers that the tool has received, one for each call. */
let answers: (CallerAnswer | null)[];
let inputs: (CallerInput | undefined)[];
let errors: unknown[];
let makeObsolete: (() => void) | null;
let stopped: PromiseWithResolvers<void>;
let mcp: McpEndpoint;
let server: Server;
let url: string;

/** A tool that asks for a number once and accepts any answer. */
const asking: Tool = {
  name: "ask",
  title: "T",
  description: "D",
  annotations: {},
  waits: true,
  inputSchema: { type: "object" },
  outputSchema: { type: "object" },
  async call(_args, { input }) {
    answers.push(input?.answer ?? null);
    inputs.push(input);
    if (input?.answer) return { content: [], structuredContent: {} };
    return {
      question: { kind: "form", message: "How many?", fields: { number: { type: "integer", minimum: 1 } } },
      state: 1,
      _meta: { "test/source": "tool" },
      onObsolete: (listener) => {
        makeObsolete = listener;
        return stopped.resolve;
      },
    };
  },
};

beforeEach(async () => {
  [answers, inputs, errors, makeObsolete, stopped] = [[], [], [], null, Promise.withResolvers()];
  await listen({});
});
afterEach(close);

async function listen(more: { answerWithinMs?: number }): Promise<void> {
  const surface = {
    serverInfo: { name: "t", version: "1.0.0" },
    tools: [asking],
    resources: [],
    templates: [],
    ...more,
  };
  mcp = mcpEndpoint(surface, (error) => errors.push(error), systemClock, systemIds);
  const web = () => Promise.reject();
  server = httpEndpoint({
    handler: mcp.handler,
    sessions: mcp.sessions,
    web,
    bodyLimit: () => 64 * 1024,
    allowedHosts: [],
  });
  url = `http://127.0.0.1:${await listenOnLoopback(server)}/mcp`;
}
async function close(): Promise<void> {
  await mcp.close();
  server.closeAllConnections();
  server.close();
}

type Form = (signal: AbortSignal) => Promise<{ action: "accept"; content: Record<string, number> }>;

async function connect(
  form: Form,
  elicitation: Readonly<Record<string, object>> = {},
  dropped = new AbortController(),
): Promise<Client> {
  const client = new Client({ name: "test", version: "1.0.0" }, { capabilities: { elicitation } });
  client.setRequestHandler(ElicitRequestSchema, (_request, { signal }) => form(signal));
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: (to, init) =>
      fetch(to, { ...init, signal: AbortSignal.any([dropped.signal, ...(init?.signal ? [init.signal] : [])]) }),
  });
  await client.connect(transport as Parameters<Client["connect"]>[0]);
  return client;
}

/** A form that is filled in once and then stays open. `shown` resolves with the signal that withdraws it. */
function unanswered() {
  const shown = Promise.withResolvers<AbortSignal>();
  let isFirst = true;
  const form: Form = async (signal) => {
    if (!isFirst) {
      shown.resolve(signal);
      return new Promise(() => {});
    }
    isFirst = false;
    return { action: "accept", content: { number: 1 } };
  };
  return { form, shown: shown.promise };
}

/** A client with one answered question: SDK 1 ignores the cancellation of the request with the id 0. */
async function connectAsked(form: Form, dropped?: AbortController): Promise<Client> {
  const client = await connect(form, {}, dropped);
  await client.callTool({ name: "ask" });
  answers = [];
  stopped = Promise.withResolvers();
  return client;
}

const withdrawn = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve());
  });

it.each<[string, Record<string, object>, boolean]>([
  ["without a mode", {}, true],
  ["with forms", { form: {} }, true],
  ["with pages only", { url: {} }, false],
  ["with both", { form: {}, url: {} }, true],
])("a client that declares elicitation %s can fill in forms, or not", async (_name, elicitation, canFillForms) => {
  const client = await connect(async () => ({ action: "accept", content: { number: 1 } }), elicitation);
  await client.callTool({ name: "ask" });
  expect(inputs[0]).toMatchObject({ canFillForms, canPrompt: false });
  await client.close();
});

test("a question is sent with its metadata", async () => {
  const client = await connect(async () => ({ action: "accept", content: { number: 1 } }));
  const about = Promise.withResolvers<unknown>();
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    about.resolve(params._meta);
    return { action: "decline" };
  });
  await client.callTool({ name: "ask" });
  expect(await about.promise).toMatchObject({ "test/source": "tool" });
  await client.close();
});

test("an answer that does not fit the form is passed to the tool", async () => {
  const client = await connect(async () => ({ action: "accept", content: { number: -7, more: 1 } }));
  await client.callTool({ name: "ask" });
  expect(answers).toEqual([null, { kind: "form", action: "accept", content: { number: -7, more: 1 } }]);
  await client.close();
});

test("an error of the host is a failed answer with a text of this program", async () => {
  const client = await connect(() => Promise.reject(new Error("the key is RED APPLE")));
  await client.callTool({ name: "ask" });
  expect(answers).toEqual([null, { kind: "failed", reason: "the host answered with an error" }]);
  await client.close();
});

test("a form without an answer in time is withdrawn", async () => {
  await close();
  await listen({ answerWithinMs: 500 });
  const { form, shown } = unanswered();
  const client = await connectAsked(form);
  await client.callTool({ name: "ask" });
  await withdrawn(await shown);
  expect(answers).toEqual([null, { kind: "failed", reason: "the time limit was exceeded" }]);
  await stopped.promise;
  await client.close();
});

test("an obsolete question is withdrawn, and the tool is called again", async () => {
  const { form, shown } = unanswered();
  const client = await connectAsked(form);
  const call = client.callTool({ name: "ask" });
  const signal = await shown;
  makeObsolete?.();
  await call;
  await withdrawn(signal);
  expect(answers).toEqual([null, { kind: "failed", reason: "the question is obsolete" }]);
  await client.close();
});

test.each(["cancels", "closes", "is cut off"])(
  "a caller that %s is not waited for, gives no answer and causes no internal error",
  async (how) => {
    const { form, shown } = unanswered();
    const dropped = new AbortController();
    const client = await connectAsked(form, dropped);
    const cancelled = new AbortController();
    const call = client.callTool({ name: "ask" }, undefined, { signal: cancelled.signal }).catch(() => null);
    await shown;
    if (how === "cancels") cancelled.abort();
    else if (how === "closes") await client.close();
    else dropped.abort(new Error("connection lost"));
    await stopped.promise;
    cancelled.abort();
    await call;
    await new Promise((resolve) => setImmediate(resolve));
    expect(answers).toEqual([null]);
    expect(errors).toEqual([]);
    await client.close();
  },
);
