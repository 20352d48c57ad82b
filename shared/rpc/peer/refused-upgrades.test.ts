import { createServer, type RequestListener } from "node:http";
import { expect, test } from "vitest";
import { rpcResponse, textResult } from "../testing/json-rpc.ts";
import { listen, message, REPLY, success, usePeers } from "../testing/peer.ts";

usePeers();

const answer: RequestListener = async (request, response) => {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  response.end(JSON.stringify(rpcResponse(JSON.parse(text).id, textResult(REPLY))));
};

/** The bytes with which a server or a proxy refuses a request for a WebSocket. */
test.each([
  ["404", "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"],
  ["a rate limit", "HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\n\r\n"],
  ["an internal error", "HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n"],
  ["an answer as to a plain request", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"],
  ["a redirect", "HTTP/1.1 302 Found\r\nlocation: /other\r\ncontent-length: 0\r\n\r\n"],
  [
    "a wrong key",
    "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: no\r\n\r\n",
  ],
  ["a text that is not HTTP", "SSH-2.0-OpenSSH_9.9\r\n"],
  ["the end of the connection", ""],
])("calls are made by POST if the request for a WebSocket is answered with %s", async (_, refusal) => {
  const server = createServer(answer);
  let upgrades = 0;
  server.on("upgrade", (_request, connection) => {
    upgrades++;
    connection.on("error", () => {});
    connection.end(refusal);
  });
  const url = `http://127.0.0.1:${await listen(server)}/mcp`;
  expect(await message(url, { socket: true })).toEqual(success);
  expect(await message(url, { socket: true })).toEqual(success);
  expect(upgrades).toBe(1);
});

test("a server without WebSockets answers by POST", async () => {
  const server = createServer((request, response) => {
    if (request.method === "POST") answer(request, response);
    else response.writeHead(405).end();
  });
  const url = `http://127.0.0.1:${await listen(server)}/mcp`;
  expect(await message(url, { socket: true })).toEqual(success);
});
