import type { RequestListener } from "node:http";
import type { Express } from "express";

export interface WebOptions {
  /** Whether the agent can do its work now; decides between 200 and 503 of `GET /ready`. */
  readonly isReady: () => boolean;
  /** The agent's own pages and routes. */
  readonly routes?: (app: Express) => void | Promise<void>;
}

/** Everything of an agent that is not `/mcp`: `GET /health`, `GET /ready` and its own routes, on express, loaded when first asked for. */
export const webApp =
  ({ isReady, routes }: WebOptions) =>
  async (): Promise<RequestListener> => {
    const { default: express } = await import("express");
    const app = express();
    app.disable("x-powered-by");
    app.get("/health", (_request, response) => {
      response.json({ status: "ok" });
    });
    app.get("/ready", (_request, response) => {
      const ready = isReady();
      response.status(ready ? 200 : 503).json({ status: ready ? "ready" : "starting" });
    });
    await routes?.(app);
    app.use((_request, response) => {
      response
        .status(404)
        .json({ error: { code: "NOT_FOUND", message: "No such page; agents are called at POST /mcp" } });
    });
    return app;
  };
