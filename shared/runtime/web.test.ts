import { createServer } from "node:http";
import { Writable } from "node:stream";
import { pino } from "pino";
import { expect, onTestFinished, test } from "vitest";
import { listenOnLoopback } from "../rpc/testing/loopback.ts";
import { webApp } from "./agent-server.ts";

const LOG_ERROR = 50;

/** Starts a server whose route `/files/:name` fails. `logged` contains the lines of its log. */
async function startServer() {
  const logged: { level: number; err?: { message: string } }[] = [];
  const lines = new Writable({
    write(line, _encoding, done) {
      logged.push(JSON.parse(line));
      done();
    },
  });
  const app = await webApp(pino(lines), (routes) => {
    routes.get("/files/:name", () => {
      throw new Error("cannot read /home/operator/file");
    });
  })();
  const server = createServer(app);
  const port = await listenOnLoopback(server);
  onTestFinished(() => void server.close().closeAllConnections());
  return { logged, url: `http://127.0.0.1:${port}` };
}

test("a path that cannot be decoded is answered with 400 in JSON and is not logged", async () => {
  const { logged, url } = await startServer();
  const response = await fetch(`${url}/files/%E0%A4%A`);
  expect(response.status).toBe(400);
  expect(await response.json()).toEqual({ error: { code: "INVALID_REQUEST", message: expect.any(String) } });
  expect(logged).toEqual([]);
});

test("an error of a route is answered with 500 in JSON without its message, and is logged", async () => {
  const { logged, url } = await startServer();
  const response = await fetch(`${url}/files/one`);
  expect(response.status).toBe(500);
  expect(await response.json()).toEqual({ error: { code: "INTERNAL_ERROR", message: "Internal error" } });
  expect(logged).toMatchObject([{ level: LOG_ERROR, err: { message: "cannot read /home/operator/file" } }]);
});
