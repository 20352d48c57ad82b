import { execFile } from "node:child_process";
import { createServer } from "node:http";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { newEnvelope } from "../../protocol/testing/envelope.ts";
import { rpcResponse, textResult } from "../testing/json-rpc.ts";
import { listenOnLoopback } from "../testing/loopback.ts";

test("a call without a free file is repeated until its time limit and then rejects, and notify returns a fault", async () => {
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    const reply = newEnvelope("ACK", "player:P01", {});
    const result = textResult(reply);
    response.end(JSON.stringify(rpcResponse(JSON.parse(text).id, result)));
  });
  const url = `http://127.0.0.1:${await listenOnLoopback(server)}/mcp`;
  const script = fileURLToPath(new URL("../testing/file-shortage.ts", import.meta.url));
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [script, url]);
    expect(JSON.parse(stdout)).toEqual({
      notified: {
        ok: false,
        error: { cause: "refused", detail: expect.any(String), systemMessage: expect.stringContaining("EMFILE") },
      },
      rejection: "EMFILE",
      answered: true,
    });
  } finally {
    server.close().closeAllConnections();
  }
});
