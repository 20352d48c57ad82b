import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RemoteService } from "../mcp/remote-service.ts";
import type { OtherService } from "../mcp/routed-service.ts";
import {
  connectLocal,
  INITIALIZE,
  STATELESS,
  serviceWithCalls,
  startTestServer,
  type TestServer,
  type TestWire,
  type WaitCall,
  type Wire,
} from "../testing/stdio.ts";

const errors: unknown[] = [];
const onError = (error: unknown): void => void errors.push(error);
let wire: TestWire & { notify(uri: string): void };
afterEach(async () => {
  await wire.close();
  expect(errors.splice(0)).toEqual([]);
});

const initialize = async (): Promise<void> => {
  await wire.ask("init", "initialize", INITIALIZE);
  wire.send({ method: "notifications/initialized" });
};
const called = async (calls: readonly WaitCall[]): Promise<void> => {
  while (calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
};
const isUpdate = ({ method }: Wire): boolean => method === "notifications/resources/updated";
const isQuestion = ({ method }: Wire): boolean => method === "sampling/createMessage";
const sampled = (text: string) => ({ role: "assistant", content: { type: "text", text }, model: "m" });

/** The same tests for both eras: the parameters of each request, the first messages and the subscription. */
const ERAS = {
  "2025-11-25": {
    params: {},
    begin: initialize,
    subscribe: (uri: string) => wire.ask("sub", "resources/subscribe", { uri }),
  },
  "2026-07-28": {
    params: STATELESS,
    begin: async () => {},
    subscribe: async (uri: string) => {
      const params = { ...STATELESS, notifications: { resourceSubscriptions: [uri] } };
      wire.send({ id: "sub", method: "subscriptions/listen", params });
      return wire.next(({ id, method }) => id === "sub" || method === "notifications/subscriptions/acknowledged");
    },
  },
} as const;

describe.each(Object.keys(ERAS) as (keyof typeof ERAS)[])("a local client at %s", (revision) => {
  const { params, begin, subscribe } = ERAS[revision];
  let calls: readonly WaitCall[];
  beforeEach(async () => {
    const test = serviceWithCalls();
    calls = test.calls;
    wire = connectLocal(test.service, onError);
    await begin();
  });

  it("receives answers, errors and progress", async () => {
    expect((await wire.ask(1, "tools/list", params)).result.tools.at(-1)).toMatchObject({ name: "wait" });
    expect((await wire.ask("two", "resources/read", { ...params, uri: "test://state" })).result).toMatchObject({
      contents: [{ text: '{"state":true}' }],
    });
    expect((await wire.ask(3, "no/such", params)).error.code).toBe(-32601);
    const { _meta } = { _meta: {}, ...params };
    const count = { name: "count", arguments: {}, _meta: { ..._meta, progressToken: "p" } };
    expect((await wire.ask(4, "tools/call", count)).result.content[0].text).toBe("Done");
    const progress = wire.received.filter(({ method }) => method === "notifications/progress");
    expect(progress.map((message) => [message.params.progressToken, message.params.progress])).toEqual([
      ["p", 0],
      ["p", 50],
      ["p", 100],
    ]);
  });

  it.each([null, "", "{}"])("may call a tool with the arguments %j", async (args) => {
    const call = { ...params, name: "greet", arguments: args };
    expect((await wire.ask(1, "tools/call", call)).result?.content).toMatchObject([{ text: "Hello" }]);
  });

  it("cancels a request at the tool and receives no answer", async () => {
    wire.send({ id: 1, method: "tools/call", params: { ...params, name: "wait" } });
    await called(calls);
    wire.send({ method: "notifications/cancelled", params: { requestId: 1 } });
    await calls[0]?.cancelled;
    await wire.ask(2, "tools/list", params);
    expect(wire.received.filter(({ id }) => id === 1)).toEqual([]);
  });

  it("is notified of the resources that it has subscribed to", async () => {
    await subscribe("test://state");
    wire.notify("test://other");
    wire.notify("test://state");
    expect((await wire.next(isUpdate)).params.uri).toBe("test://state");
  });

  it("cannot subscribe to an unknown resource", async () => {
    const { error } = await subscribe("test://nothing");
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("Unknown resource: test://nothing") });
  });
});

describe("a local session", () => {
  beforeEach(async () => {
    wire = connectLocal(serviceWithCalls().service, onError);
    await initialize();
  });

  it("carries a question of a tool and its answer", async () => {
    const call = wire.ask(1, "tools/call", { name: "sample", arguments: { prompt: "?" } });
    const { id } = await wire.next(isQuestion);
    wire.send({ id, result: sampled("forty-two") });
    expect(JSON.stringify(await call)).toContain("forty-two");
  });

  it("begins without subscriptions when the client initializes a second time", async () => {
    await wire.ask(1, "resources/subscribe", { uri: "test://state" });
    await initialize();
    await wire.ask(2, "resources/subscribe", { uri: "test://other" });
    wire.notify("test://state");
    wire.notify("test://other");
    expect((await wire.next(isUpdate)).params.uri).toBe("test://other");
  });
});

/** The client names the service that a request is meant for: this process has "here" and "there", another one has "remote". */
describe.each(["there", "remote"])("a client of several services, of which one is %s", (place) => {
  let server: TestServer;
  let other: { readonly service: OtherService; readonly calls: readonly WaitCall[]; notifyChanged(uri: string): void };
  let hereCalls: readonly WaitCall[];
  let remote: RemoteService | null = null;
  beforeEach(async () => {
    server = await startTestServer(onError);
    const here = serviceWithCalls();
    hereCalls = here.calls;
    if (place === "remote") {
      remote = new RemoteService({ url: server.url, name: "test", version: "1", onChanged: (uri) => wire.notify(uri) });
      other = { service: remote, calls: server.calls, notifyChanged: server.notifyChanged };
    } else {
      const there = serviceWithCalls();
      other = { ...there, notifyChanged: (uri) => wire.notify(uri) };
    }
    wire = connectLocal(here.service, onError, (params) => {
      const { arguments: args, uri } = params as { arguments?: { place?: string }; uri?: string };
      if (args?.place === "nowhere") return Promise.reject(new Error("the server has no address"));
      return args?.place === "other" || uri === "test://other" ? Promise.resolve(other.service) : null;
    });
  });
  afterEach(async () => {
    await remote?.close();
    remote = null;
    await server.kill();
  });

  const sample = (at: string) => ({ name: "sample", arguments: { prompt: at, place: at } });

  it("answers the questions of each service", async () => {
    await initialize();
    const answers = [wire.ask(1, "tools/call", sample("here")), wire.ask(2, "tools/call", sample("other"))];
    const questions = [await wire.next(isQuestion), await wire.next(isQuestion)];
    expect(new Set(questions.map(({ id }) => id)).size).toBe(2);
    for (const { id, params } of questions)
      wire.send({ id, result: sampled(`answer ${params.messages[0].content.text}`) });
    const texts = (await Promise.all(answers)).map(({ result }) => result.content[0].text);
    expect(texts).toEqual([expect.stringContaining("answer here"), expect.stringContaining("answer other")]);
  });

  it("answers a question of the other service in the stateless revision", async () => {
    const params = { ...sample("other"), ...STATELESS };
    const { result } = await wire.ask(1, "tools/call", params);
    const [key = ""] = Object.keys(result.inputRequests);
    const round = { inputResponses: { [key]: sampled("forty-two") }, requestState: result.requestState };
    const { result: answer } = await wire.ask(2, "tools/call", { ...params, ...round });
    expect(answer.content[0].text).toContain("forty-two");
  });

  it("receives progress of the other service", async () => {
    await initialize();
    const params = { name: "count", arguments: { place: "other" }, _meta: { progressToken: "p" } };
    expect((await wire.ask(1, "tools/call", params)).result.content[0].text).toBe("Done");
    const progress = wire.received.filter(({ method }) => method === "notifications/progress");
    expect(progress.map((message) => message.params.progress)).toEqual([0, 50, 100]);
  });

  it("cancels a request at the service that executes it", async () => {
    await initialize();
    wire.send({ id: 1, method: "tools/call", params: { name: "wait", arguments: { place: "other" } } });
    await called(other.calls);
    wire.send({ method: "notifications/cancelled", params: { requestId: 1 } });
    await other.calls[0]?.cancelled;
    expect(hereCalls).toEqual([]);
  });

  it("reads a resource of the other service and is notified of its changes", async () => {
    await initialize();
    const { result } = await wire.ask(1, "resources/read", { uri: "test://other" });
    expect(result.contents).toMatchObject([{ uri: "test://other", text: '{"other":true}' }]);
    await wire.ask(2, "resources/subscribe", { uri: "test://other" });
    const updated = wire.next(isUpdate);
    // A remote subscription is acknowledged some time after the local one.
    let isUpdated = false;
    void updated.then(() => {
      isUpdated = true;
    });
    while (!isUpdated) {
      other.notifyChanged("test://other");
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await updated).params.uri).toBe("test://other");
  });

  it("receives the errors of the other service", async () => {
    await initialize();
    const { error } = await wire.ask(1, "tools/call", { name: "no such tool", arguments: { place: "other" } });
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("Unknown tool") });
  });

  it("receives an error when a service has no address", async () => {
    await initialize();
    const { error } = await wire.ask(1, "tools/call", sample("nowhere"));
    expect(error).toMatchObject({ code: -32000, message: expect.stringContaining("the server has no address") });
  });
});

it("a client receives an error when the other process cannot be reached", async () => {
  const server = await startTestServer(onError);
  await server.kill();
  const remote = new RemoteService({ url: server.url, name: "test", version: "1", onChanged: () => {} });
  wire = connectLocal(serviceWithCalls().service, onError, () => Promise.resolve(remote));
  const { error } = await wire.ask(1, "tools/call", { name: "greet", arguments: {} });
  expect(error).toMatchObject({ code: -32000, message: expect.stringContaining(`${server.url} did not answer`) });
});
