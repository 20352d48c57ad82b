import type { RequestListener } from "node:http";
import type { ErrorRequestHandler, Express } from "express";
import type { Logger } from "./process/logger.ts";

/** An agent's own pages and routes. */
type Routes = (app: Express) => void | Promise<void>;

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
    app.use(errorHandler(log));
    return app;
  } catch (thrown) {
    log.error({ err: thrown }, "the pages could not be loaded");
    throw thrown;
  }
};

/** Answers in JSON and without a stack, which would name paths of this machine. Express recognizes an error handler by its four parameters. */
const errorHandler =
  (log: Logger): ErrorRequestHandler =>
  (thrown, _request, response, next) => {
    const status = statusOf(thrown);
    if (status === 500) log.error({ err: thrown }, "a page or route failed");
    // Express closes the connection of a response that has begun.
    if (response.headersSent) return next(thrown);
    const error =
      status === 500
        ? { code: "INTERNAL_ERROR", message: "Internal error" }
        : { code: "INVALID_REQUEST", message: "The request cannot be read; check its path and its body" };
    response.status(status).json({ error });
  };

/** The status that express and its parsers give to a request that cannot be read; 500 for any other error. */
function statusOf(thrown: unknown): number {
  const { status } = (thrown ?? {}) as { status?: unknown };
  return typeof status === "number" && status >= 400 && status < 500 ? status : 500;
}
