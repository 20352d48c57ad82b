import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  connectWire,
  INITIALIZE,
  startTestServer,
  type TestServer,
  type TestWire,
  type Wire,
} from "../testing/stdio.ts";

/** A client that knows one server, and a second one that has what the client names `there`. */
let servers: readonly [here: TestServer, there: TestServer];
let wire: TestWire;
const errors: unknown[] = [];
beforeEach(async () => {
  const note = (error: unknown) => errors.push(error);
  const here = await startTestServer(note);
  const there = await startTestServer(note);
  servers = [here, there];
  wire = connectWire(here.url, ({ params }) => {
    const { place } = (params?.arguments ?? params?._meta ?? {}) as { place?: string };
    if (place === "nowhere") return Promise.reject(new Error("the server has no address"));
    return place === "there" ? Promise.resolve({ name: "there", url: there.url }) : null;
  });
  await wire.ask("init", "initialize", INITIALIZE);
  wire.send({ method: "notifications/initialized" });
});
afterEach(async () => {
  await wire.stdio.close();
  for (const server of servers) await server.kill();
  expect(errors.splice(0)).toEqual([]);
});

const isAsked = ({ method }: Wire): boolean => method === "sampling/createMessage";
const sample = (place: string) => ({ name: "sample", arguments: { prompt: place, place } });
const answer = (text: string) => ({ role: "assistant", content: { type: "text", text }, model: "m" });

describe("a client of several servers", () => {
  it("answers each server's questions, whose ids may be the same", async () => {
    const calls = [wire.ask(1, "tools/call", sample("here")), wire.ask(2, "tools/call", sample("there"))];
    const questions = [await wire.next(isAsked), await wire.next(isAsked)];
    expect(new Set(questions.map(({ id }) => id)).size).toBe(2);
    for (const { id, params } of questions) {
      wire.send({ id, result: answer(`said ${params.messages[0].content.text}`) });
    }
    const texts = (await Promise.all(calls)).map(({ result }) => result.content[0].text);
    expect(texts).toEqual([expect.stringContaining("said here"), expect.stringContaining("said there")]);
  });

  it("cancels a request where it was sent", async () => {
    wire.send({ id: 1, method: "tools/call", params: { name: "wait", arguments: { place: "there" } } });
    wire.send({ method: "notifications/cancelled", params: { requestId: 1 } });
    while (servers[1].calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await servers[1].calls[0]?.cancelled;
    expect(servers[0].calls).toEqual([]);
  });

  it("is notified of changes by the server where it has subscribed", async () => {
    const uri = "test://news";
    expect((await wire.ask(1, "resources/subscribe", { uri, _meta: { place: "there" } })).result).toEqual({});
    servers[0].changed(uri);
    servers[1].changed(uri);
    await wire.next(({ method }) => method === "notifications/resources/updated");
    await wire.ask(2, "ping");
    expect(wire.got.filter(({ method }) => method === "notifications/resources/updated")).toHaveLength(1);
  });

  it("gets an error when a server has no address, and no response to a handshake that it did not make", async () => {
    const { error } = await wire.ask(1, "tools/call", sample("nowhere"));
    expect(error).toMatchObject({ code: -32000, message: "the server has no address" });
    await wire.ask(2, "tools/call", { name: "greet", arguments: { place: "there" } });
    expect(wire.got.map(({ id }) => id)).toEqual(["init", 1, 2]);
  });
});
