import type { RequestListener } from "node:http";
import type { ErrorRequestHandler, Express } from "express";
import type { HelmetOptions } from "helmet";
import type { Listening, ListenOptions } from "#shared/rpc/http/http-server.ts";
import type { Network } from "#shared/rpc/network.ts";
import { StartError } from "./process/exit.ts";
import type { Logger } from "./process/logger.ts";

/** Returns the `portSetting` of an agent. An agent that a command has started gets its port from this field of the config. */
export const portSettingOf = (field: string): string =>
  process.send === undefined
    ? "with --port"
    : `as ${field} in the config, or with the environment variable LEAGUE__${field.toUpperCase().replaceAll(".", "__")}`;

/** Opens an agent's endpoint. Throws a StartError that names the port if it is in use. */
export async function listen(network: Network, options: ListenOptions): Promise<Listening> {
  const opened = await network.listen(options);
  if (!opened.ok) throw new StartError(opened.error);
  return opened.value;
}

/** Adds the pages and routes of an agent to express. */
type Routes = (app: Express) => void | Promise<void>;

/**
 * Returns a function that creates the handler of all requests to an agent except `/mcp` and the probes. It loads
 * express and the routes, so it is called at the first such request.
 */
export const webApp = (log: Logger, routes?: Routes) => async (): Promise<RequestListener> => {
  const [{ default: express }, { default: helmet }] = await Promise.all([import("express"), import("helmet")]);
  const app = express();
  app.disable("x-powered-by");
  app.use(helmet(SECURITY_HEADERS));
  await routes?.(app);
  app.use((_request, response) => {
    response
      .status(404)
      .json({ error: { code: "NOT_FOUND", message: "No such page; agents are called at POST /mcp" } });
  });
  app.use(errorHandler(log));
  return app;
};

/**
 * The headers of all responses. Pages load scripts and styles from their own server only, run no inline script and may not be framed. The addresses
 * of a local network have no certificates, so no header asks for HTTPS, and none depends on it.
 */
const SECURITY_HEADERS: HelmetOptions = {
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      workerSrc: ["'self'"],
      styleSrc: ["'self'"],
      imgSrc: ["'self'", "data:"],
      connectSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
  },
  strictTransportSecurity: false,
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
};

/**
 * Answers errors as JSON without a stack trace, which would contain paths of this machine. Express recognizes an error
 * handler by its four parameters.
 */
const errorHandler =
  (log: Logger): ErrorRequestHandler =>
  (thrown, _request, response, next) => {
    const status = statusOf(thrown);
    if (status === 500) log.error({ err: thrown }, "a page or route failed");
    // Express closes the connection if the response has begun.
    if (response.headersSent) return next(thrown);
    const error =
      status === 500
        ? { code: "INTERNAL_ERROR", message: "Internal error" }
        : { code: "INVALID_REQUEST", message: "The request cannot be read; check its path and its body" };
    response.status(status).json({ error });
  };

/** Returns the status that express and its parsers give to a request that cannot be read; 500 for any other error. */
function statusOf(thrown: unknown): number {
  const { status } = (thrown ?? {}) as { status?: unknown };
  return typeof status === "number" && status >= 400 && status < 500 ? status : 500;
}
