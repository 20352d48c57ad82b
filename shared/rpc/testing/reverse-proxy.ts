import { createServer, type IncomingMessage, request } from "node:http";
import { onTestFinished } from "vitest";
import { listenOnLoopback } from "./loopback.ts";

/** Starts a reverse proxy of one test. It answers 502 with a page, as nginx does, while nothing listens at its target port. */
export async function startReverseProxy(port: number, status = 502) {
  const state = { port, failures: 0 };
  const answered = new EventTarget();
  const server = createServer((incoming, outgoing) => {
    const options = { port: state.port, method: incoming.method, path: incoming.url, headers: incoming.headers };
    const forwarded = request(options, (reply: IncomingMessage) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(outgoing);
    });
    forwarded.once("error", () => {
      outgoing.writeHead(status, { "content-type": "text/html" }).end("<html><h1>Bad Gateway</h1></html>");
      state.failures += 1;
      answered.dispatchEvent(new Event("failure"));
    });
    incoming.pipe(forwarded);
  });
  const url = `http://127.0.0.1:${await listenOnLoopback(server)}`;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url,
    /** The number of requests that could not be forwarded. */
    failures: () => state.failures,
    /** Resolves after the next request that cannot be forwarded. */
    nextFailure: () => new Promise((resolve) => answered.addEventListener("failure", resolve, { once: true })),
    /** Forwards later requests to another port. */
    forwardTo(target: number) {
      state.port = target;
    },
  };
}
