import type { RequestListener } from "node:http";
import type { Express } from "express";
import type { Logger } from "./logger.ts";

/** An agent's own pages and routes. */
export type Routes = (app: Express) => void | Promise<void>;

/** Everything of an agent that is neither `/mcp` nor a probe: its own routes on express, both loaded when first asked for. */
export const webApp = (log: Logger, routes?: Routes) => async (): Promise<RequestListener> => {
  try {
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
  } catch (thrown) {
    log.error({ err: thrown }, "the pages could not be loaded");
    throw thrown;
  }
};
