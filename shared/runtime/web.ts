import type { RequestListener, ServerResponse } from "node:http";
import type { Express } from "express";

export interface WebOptions {
  /** Whether the agent can do its work now; decides between 200 and 503 of `GET /ready`. */
  readonly isReady: () => boolean;
  /** The agent's own pages and routes. */
  readonly routes?: (app: Express) => void | Promise<void>;
}

/**
 * Everything of an agent that is not `/mcp`: `GET /health`, `GET /ready` and its own routes on express, which is loaded with the first
 * request for one of those: a manager asks its referees for their health every second, and most agents are never asked for more.
 */
export const webApp =
  ({ isReady, routes }: WebOptions) =>
  async (): Promise<RequestListener> => {
    let app: Promise<Express> | null = null;
    return (request, response) => {
      const isRead = request.method === "GET" || request.method === "HEAD";
      const path = isRead ? request.url?.split("?", 1)[0] : undefined;
      if (path === "/health") sendJson(response, 200, { status: "ok" });
      else if (path === "/ready") {
        const ready = isReady();
        sendJson(response, ready ? 200 : 503, { status: ready ? "ready" : "starting" });
      } else {
        app ??= expressApp(routes);
        app.then(
          (listener) => listener(request, response),
          () => sendJson(response, 500, { error: { code: "INTERNAL_ERROR", message: "Internal error" } }),
        );
      }
    };
  };

function sendJson(response: ServerResponse, status: number, content: object): void {
  const body = JSON.stringify(content);
  const headers = { "content-type": "application/json; charset=utf-8", "content-length": Buffer.byteLength(body) };
  response.writeHead(status, headers).end(body);
}

async function expressApp(routes: WebOptions["routes"]): Promise<Express> {
  const { default: express } = await import("express");
  const app = express();
  app.disable("x-powered-by");
  await routes?.(app);
  app.use((_request, response) => {
    response
      .status(404)
      .json({ error: { code: "NOT_FOUND", message: "No such page; agents are called at POST /mcp" } });
  });
  return app;
}
