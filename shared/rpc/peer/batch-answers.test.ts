import { describe, expect, test } from "vitest";
import { answerTo, batched, idsOf, inLines } from "../testing/batch.ts";
import { rpcResponse, textResult } from "../testing/json-rpc.ts";
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
  usePeers,
} from "../testing/peer.ts";

usePeers();

/** Returns the results of a batch of calls with the ids 1 to `count` that a server answers with `text` and the HTTP status `code`. */
async function resultsOfAnswer(text: string, count = 3, code = 200) {
  newPeers();
  return batched((await scripted(status(code, text))).url, count);
}

const threeSuccesses = [success, success, success];
const missing = failure("bad_reply", "the answer to the batch has no element for this call");
const array = [3, 1, 2].map((id) => JSON.parse(answerTo(id)));
const nonAscii = "é☃😀".repeat(30);
const nonAsciiAnswerTo = (id: number) => JSON.stringify(rpcResponse(id, { ...textResult(REPLY), mood: nonAscii }));

describe("the array of answers", () => {
  test.each<[string, string]>([
    [
      "one element per line, commas at the end of lines",
      `[\n${array.map((element) => JSON.stringify(element)).join(",\n")}\n]`,
    ],
    ["one element per line, commas at the start of lines", inLines([2, 3, 1].map(answerTo))],
    ["one element per line, the closing bracket on the last line", `[\n${[2, 3, 1].map(answerTo).join(",\n")}]`],
    ["a newline at the end", `${inLines([2, 3, 1].map(answerTo))}\n`],
    ["all elements on one line", JSON.stringify(array)],
    ["indentation", JSON.stringify(array, null, 2)],
    ["many lines without indentation", JSON.stringify(array, null, 1).replaceAll(/^ +/gm, "")],
    ["white space around it", ` \n${JSON.stringify(array)}\n `],
    [
      "an explicit null as the error of each element",
      JSON.stringify(array.map((element) => ({ ...element, error: null }))),
    ],
  ])("is read in any order with %s", async (_, text) => {
    expect(await resultsOfAnswer(text)).toEqual(threeSuccesses);
  });

  test.each([inLines([1, 2, 3].map(nonAsciiAnswerTo)), `[${[1, 2, 3].map(nonAsciiAnswerTo)}]`])(
    "is read from chunks of seven bytes",
    async (text) => {
      newPeers();
      const { url } = await scripted(async ({ response }) => {
        const bytes = Buffer.from(text);
        for (let offset = 0; offset < bytes.length; offset += 7) {
          response.write(bytes.subarray(offset, offset + 7));
          await new Promise((resolve) => setImmediate(resolve));
        }
        response.end();
      });
      expect(await batched(url, 3)).toEqual(threeSuccesses);
    },
  );
});

describe("an invalid answer to a batch", () => {
  const rpc = (id: unknown, fields: object) => JSON.stringify({ jsonrpc: "2.0", id, ...fields });
  const error = { code: -32603, message: "Internal error" };
  const noResponse = failure("bad_reply", "the answer is not a JSON-RPC response");
  const noJson = failure("bad_json", "the answer is not JSON");

  test.each<[string, readonly string[], readonly unknown[]]>([
    [
      "two answers to one call, of which the first counts",
      [answerTo(1), rpc(1, { error }), answerTo(2), answerTo(3)],
      threeSuccesses,
    ],
    ["a missing answer", [answerTo(3), answerTo(1)], [success, missing, success]],
    ["an unknown id", [answerTo(1), answerTo(2), answerTo(4)], [success, success, missing]],
    ["ids of other types", [answerTo("1"), answerTo(null), answerTo([2]), answerTo(3)], [missing, missing, success]],
    ["no element", [], [missing, missing, missing]],
    ["elements that are not objects", ["null", "7", '"text"', "[]", answerTo(2)], [missing, success, missing]],
    ["elements that are not responses", [rpc(1, {}), '{"id":2}', answerTo(3)], [noResponse, noResponse, success]],
    [
      "errors and wrong results",
      [rpc(1, { error }), rpc(2, { result: "rock" }), rpc(3, { result: textResult(7) })],
      [failure("bad_reply", "JSON-RPC error -32603: Internal error"), failure("bad_reply"), failure("bad_reply")],
    ],
  ])("with %s settles each call by its element, in lines or on one line", async (_, elements, expected) => {
    expect(await resultsOfAnswer(inLines(elements))).toEqual(expected);
    expect(await resultsOfAnswer(`[${elements}]`)).toEqual(expected);
  });

  test("with a line that is not JSON is a fault of the calls without another line only", async () => {
    expect(await resultsOfAnswer(inLines([answerTo(1), '{"jsonrpc"', answerTo(3)]))).toEqual([
      success,
      noJson,
      success,
    ]);
    expect(await resultsOfAnswer(`[\n${answerTo(2)}\n,{"jsonrpc"`)).toEqual([noJson, success, noJson]);
    expect(await resultsOfAnswer(`[${answerTo(2)},{"jsonrpc"`)).toEqual([noJson, noJson, noJson]);
  });

  test.each<[number, string, unknown]>([
    [200, "", noJson],
    [202, "", noJson],
    [200, "<html>", noJson],
    [200, "null", noResponse],
    [200, "{}", noResponse],
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
  ])("with HTTP status %i and body %j is the same fault for all calls", async (code, text, expected) => {
    expect(await resultsOfAnswer(text, 3, code)).toEqual([expected, expected, expected]);
  });

  test("that is a single object settles the call of its id and is a fault of the others", async () => {
    const wrongId = failure("bad_reply", "the answer has id 2, not 1");
    expect(await resultsOfAnswer(answerTo(2), 2)).toEqual([wrongId, success]);
  });

  test("with 100,000 nested arrays is a fault of the calls without an answer", async () => {
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    expect(await resultsOfAnswer(deep)).toEqual([missing, missing, missing]);
    expect(await resultsOfAnswer(`[${answerTo(1)},${deep}]`, 2)).toEqual([success, missing]);
    expect(await resultsOfAnswer(inLines([deep, answerTo(2)]), 2)).toEqual([missing, success]);
  });

  test("has its unmatched elements in the faults, cut to 20,000 characters", async () => {
    const unmatched = JSON.stringify({ sorry: "x".repeat(30_000) });
    for (const text of [inLines([answerTo(1), unmatched, unmatched]), `[${answerTo(1)},${unmatched}]`]) {
      const [first, second] = await resultsOfAnswer(text, 2);
      expect(first).toEqual(success);
      expect(second).toMatchObject({ error: { raw: unmatched.slice(0, 20_000) } });
    }
  });
});

describe("the size of an answer to a batch", () => {
  const sized = (id: number, bytes: number) => {
    const text = answerTo(id).slice(0, -1);
    return `${text},"pad":"${"x".repeat(bytes - text.length - 10)}"}`;
  };
  const tooLarge = (bytes: number) => failure("too_large", `the answer is larger than ${bytes} bytes`);

  test.each([inLines, (answers: readonly string[]) => `[${answers}]`])(
    "is limited for each call by its maxReplyBytes",
    async (form) => {
      const { url } = await scripted((call) => void call.response.end(form(idsOf(call).map((id) => sized(id, 4_000)))));
      const limits = [4_000, 3_999, undefined];
      const options = limits.map((limit) => ({ batch: true, ...(limit !== undefined && { maxReplyBytes: limit }) }));
      const all = options.map((callOptions) => message(url, callOptions));
      expect(await Promise.all(all)).toEqual([success, tooLarge(3_999), success]);
    },
  );

  test("is limited for a line of 10 MB, and the answers before that line count", async () => {
    const text = inLines([answerTo(2), sized(1, 10 << 20), answerTo(3)]);
    expect(await resultsOfAnswer(text)).toEqual([tooLarge(256 * 1024), success, tooLarge(256 * 1024)]);
  });

  test("is limited for an array of 12 MB on one line", async () => {
    const all = tooLarge(3 * 256 * 1024);
    expect(await resultsOfAnswer(`[${[1, 2, 3].map((id) => sized(id, 4 << 20))}]`)).toEqual([all, all, all]);
  });
});

describe("notify in a batch", () => {
  const notify = (url: string) => peers.notify(url, REQUEST, { timeoutMs: 2_000, batch: true });

  test.each([
    ["has no answer to it", 200, inLines([answerTo(1)])],
    ["has an error for it", 200, inLines([answerTo(1), '{"jsonrpc":"2.0","id":2,"error":{}}'])],
  ])("succeeds with HTTP status 2xx if the array %s", async (_, code, text) => {
    newPeers();
    const { url } = await scripted(status(code, text));
    expect(await Promise.all([message(url, { batch: true }), notify(url)])).toEqual([
      success,
      { ok: true, value: null },
    ]);
  });

  test("succeeds without a body, and message does not", async () => {
    const { url } = await scripted(status(204, ""));
    const all = [message(url, { batch: true }), notify(url), notify(url)];
    const notified = { ok: true, value: null };
    expect(await Promise.all(all)).toEqual([failure("bad_json"), notified, notified]);
  });

  test("returns a fault for any other status", async () => {
    const { url } = await scripted(status(500, inLines([])));
    expect(await Promise.all([notify(url), notify(url)])).toEqual(Array(2).fill(failure("http_error", "HTTP 500")));
  });
});
