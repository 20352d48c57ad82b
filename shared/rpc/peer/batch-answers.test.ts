import { describe, expect, test } from "vitest";
import { answerTo, batched, idsOf, inLines } from "../testing/batch.ts";
import {
  failure,
  message,
  newPeers,
  peers,
  REPLY,
  REQUEST,
  scripted,
  status,
  success,
  texts,
  usePeers,
} from "../testing/peer.ts";

usePeers();

/** A batch of calls with the ids 1 to `count`, answered by `text`. */
async function answered(text: string, count = 3, code = 200) {
  newPeers();
  return batched((await scripted(status(code, text))).url, count);
}

const three = [success, success, success];
const missing = failure("bad_reply", "the answer to a batch holds none to this call");
const array = [3, 1, 2].map((id) => JSON.parse(answerTo(id)));
const long = "é☃😀".repeat(30);
const wordy = (id: number) => JSON.stringify({ jsonrpc: "2.0", id, result: { ...texts(REPLY), mood: long } });

describe("the array may have any form and order", () => {
  test.each<[string, string]>([
    ["one element a line, commas behind", `[\n${array.map((one) => JSON.stringify(one)).join(",\n")}\n]`],
    ["one element a line, commas before", inLines([2, 3, 1].map(answerTo))],
    ["one element a line, the end behind the last", `[\n${[2, 3, 1].map(answerTo).join(",\n")}]`],
    ["a newline at its end", `${inLines([2, 3, 1].map(answerTo))}\n`],
    ["one line", JSON.stringify(array)],
    ["indented", JSON.stringify(array, null, 2)],
    ["many lines, not indented", JSON.stringify(array, null, 1).replaceAll(/^ +/gm, "")],
    ["spaces around it", ` \n${JSON.stringify(array)}\n `],
    ["explicit nulls for errors", JSON.stringify(array.map((one) => ({ ...one, error: null })))],
  ])("%s", async (_, text) => {
    expect(await answered(text)).toEqual(three);
  });

  test.each([inLines([1, 2, 3].map(wordy)), `[${[1, 2, 3].map(wordy)}]`])("in many pieces", async (text) => {
    newPeers();
    const { url } = await scripted(async ({ response }) => {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length; at += 7) {
        response.write(bytes.subarray(at, at + 7));
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    });
    expect(await batched(url, 3)).toEqual(three);
  });
});

describe("an answer that is none, and why", () => {
  const rpc = (id: unknown, fields: object) => JSON.stringify({ jsonrpc: "2.0", id, ...fields });
  const error = { code: -32603, message: "Internal error" };
  const nothing = failure("bad_reply", "the answer is not a JSON-RPC response");
  const noJson = failure("bad_json", "the answer is not JSON");

  test.each<[string, readonly string[], readonly unknown[]]>([
    ["the first of two answers counts", [answerTo(1), rpc(1, { error }), answerTo(2), answerTo(3)], three],
    ["one is missing", [answerTo(3), answerTo(1)], [success, missing, success]],
    ["an id that nobody asked for", [answerTo(1), answerTo(2), answerTo(4)], [success, success, missing]],
    ["ids of other types", [answerTo("1"), answerTo(null), answerTo([2]), answerTo(3)], [missing, missing, success]],
    ["none at all", [], [missing, missing, missing]],
    ["elements that are no objects", ["null", "7", '"text"', "[]", answerTo(2)], [missing, success, missing]],
    ["elements that are no responses", [rpc(1, {}), '{"id":2}', answerTo(3)], [nothing, nothing, success]],
    [
      "errors and wrong results",
      [rpc(1, { error }), rpc(2, { result: "rock" }), rpc(3, { result: texts(7) })],
      [failure("bad_reply", "JSON-RPC error -32603: Internal error"), failure("bad_reply"), failure("bad_reply")],
    ],
  ])("%s", async (_, elements, expected) => {
    expect(await answered(inLines(elements))).toEqual(expected);
    expect(await answered(`[${elements}]`)).toEqual(expected);
  });

  test("a line that is no JSON harms only those whose answers are missing", async () => {
    expect(await answered(inLines([answerTo(1), '{"jsonrpc"', answerTo(3)]))).toEqual([success, noJson, success]);
    expect(await answered(`[\n${answerTo(2)}\n,{"jsonrpc"`)).toEqual([noJson, success, noJson]);
    expect(await answered(`[${answerTo(2)},{"jsonrpc"`)).toEqual([noJson, noJson, noJson]);
  });

  test.each<[number, string, unknown]>([
    [200, "", noJson],
    [202, "", noJson],
    [200, "<html>", noJson],
    [200, "null", nothing],
    [200, "{}", nothing],
    [
      200,
      rpc(null, { error: { code: -32600, message: "no batches" } }),
      failure("bad_reply", expect.stringMatching("no batches")),
    ],
    [
      400,
      rpc(null, { error: { code: -32600, message: "no batches" } }),
      failure("http_error", expect.stringMatching("no batches")),
    ],
    [500, "oops", failure("http_error", "HTTP 500")],
    [500, inLines([1, 2, 3].map(answerTo)), failure("http_error", "HTTP 500")],
    [413, "[]", failure("http_error", "HTTP 413")],
    [302, "", failure("http_error", "HTTP 302")],
  ])("what is no array answers all alike: HTTP %i %j", async (code, text, expected) => {
    expect(await answered(text, 3, code)).toEqual([expected, expected, expected]);
  });

  test("a single object answers the call that it names", async () => {
    const other = failure("bad_reply", "the answer has id 2, not 1");
    expect(await answered(answerTo(2), 2)).toEqual([other, success]);
  });

  test("100,000 brackets are an answer that is none", async () => {
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    expect(await answered(deep)).toEqual([missing, missing, missing]);
    expect(await answered(`[${answerTo(1)},${deep}]`, 2)).toEqual([success, missing]);
    expect(await answered(inLines([deep, answerTo(2)]), 2)).toEqual([missing, success]);
  });

  test("what came back and answers nobody is kept, cut to 20,000 characters", async () => {
    const stray = JSON.stringify({ sorry: "x".repeat(30_000) });
    for (const text of [inLines([answerTo(1), stray, stray]), `[${answerTo(1)},${stray}]`]) {
      const [first, second] = await answered(text, 2);
      expect(first).toEqual(success);
      expect(second).toMatchObject({ error: { raw: stray.slice(0, 20_000) } });
    }
  });
});

describe("an answer that is too large (a limit on everything)", () => {
  const sized = (id: number, bytes: number) => {
    const text = answerTo(id).slice(0, -1);
    return `${text},"pad":"${"x".repeat(bytes - text.length - 10)}"}`;
  };
  const tooLarge = (bytes: number) => failure("too_large", `an answer of more than ${bytes} bytes`);

  test.each([inLines, (answers: readonly string[]) => `[${answers}]`])("each has its own limit", async (form) => {
    const { url } = await scripted((call) => void call.response.end(form(idsOf(call).map((id) => sized(id, 4_000)))));
    const limits = [4_000, 3_999, undefined];
    const options = limits.map((limit) => ({ batch: true, ...(limit !== undefined && { maxReplyBytes: limit }) }));
    const all = options.map((one) => message(url, one));
    expect(await Promise.all(all)).toEqual([success, tooLarge(3_999), success]);
  });

  test("10 MB in one line: those that came before it count", async () => {
    const text = inLines([answerTo(2), sized(1, 10 << 20), answerTo(3)]);
    expect(await answered(text)).toEqual([tooLarge(256 * 1024), success, tooLarge(256 * 1024)]);
  });

  test("10 MB in one array", async () => {
    const all = tooLarge(3 * 256 * 1024);
    expect(await answered(`[${[1, 2, 3].map((id) => sized(id, 4 << 20))}]`)).toEqual([all, all, all]);
  });
});

describe("notify in a batch: any 2xx will do", () => {
  const notify = (url: string) => peers.notify(url, REQUEST, { timeoutMs: 2_000, batch: true });

  test.each([
    ["an array without its answer", 200, inLines([answerTo(1)])],
    ["one with an error for it", 200, inLines([answerTo(1), '{"jsonrpc":"2.0","id":2,"error":{}}'])],
  ])("%s", async (_, code, text) => {
    newPeers();
    const { url } = await scripted(status(code, text));
    expect(await Promise.all([message(url, { batch: true }), notify(url)])).toEqual([
      success,
      { ok: true, value: null },
    ]);
  });

  test("no body at all is an answer to it, but none to a message", async () => {
    const { url } = await scripted(status(204, ""));
    const all = [message(url, { batch: true }), notify(url), notify(url)];
    const told = { ok: true, value: null };
    expect(await Promise.all(all)).toEqual([failure("bad_json"), told, told]);
  });

  test("anything else is a fault", async () => {
    const { url } = await scripted(status(500, inLines([])));
    expect(await Promise.all([notify(url), notify(url)])).toEqual(Array(2).fill(failure("http_error", "HTTP 500")));
  });
});
