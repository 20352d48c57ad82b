import type { Express } from "express";
import { bodyOf, limitsOf } from "./callers.ts";
import type { RestContext, RestDependencies } from "./context.ts";
import { errorAnswers, RestError } from "./errors.ts";
import { createMetrics, timed } from "./metrics.ts";
import { openApi } from "./openapi.ts";
import { parseBody, RegisterAgent } from "./requests.ts";
import { submitAction } from "./session-actions.ts";
import { createSession } from "./session-creation.ts";
import { listSessions, readLog, readState, watchSession } from "./session-reads.ts";

/** Returns the parts that the handlers use. */
export function restContext(parts: RestDependencies): RestContext {
  const metrics = createMetrics({
    sessionsInMemory: parts.host.loaded,
    eventStreams: () => parts.streams.count(),
    waitingCalls: parts.waits.count,
  });
  return { ...parts, metrics, limits: limitsOf(parts.limitLoopback, parts.creations) };
}

/**
 * Adds the REST API of the session host. The handlers contain no rules of games. They check in the order 401, 404, 403, INVALID_REQUEST
 * and then call the host.
 */
export const restRoutes =
  (rest: RestContext) =>
  (app: Express): void => {
    const { metrics } = rest;
    app.set("etag", false);
    app.use(timed(metrics, rest.clock));
    app.get("/openapi.json", (_request, response) => void response.json(openApi()));
    app.get("/metrics", async (_request, response) => {
      response.set("content-type", metrics.contentType).send(await metrics.text());
    });
    addSessionRoutes(rest, app);
    rest.pages(app, rest.limits);
    app.use(() => {
      throw new RestError("NOT_FOUND", "No such route; /openapi.json lists them");
    });
    app.use(errorAnswers(rest));
  };

const UPGRADE_REQUIRED = { status: 426, headers: { connection: "upgrade", upgrade: "websocket" } };

function addSessionRoutes(rest: RestContext, app: Express): void {
  app.post("/agents", async (request, response) => {
    await rest.limits.creation(request, response);
    parseBody(RegisterAgent, await bodyOf(request, response));
    const { agentId, token } = await rest.agents.register();
    response.status(201).json({ agent_id: agentId, token });
  });
  app.post("/sessions", (request, response) => createSession(rest, request, response));
  app.get("/sessions", (request, response) => listSessions(rest, request, response));
  app.get("/sessions/:id/state", (request, response) => readState(rest, request, response));
  app.get("/sessions/:id/log", (request, response) => readLog(rest, request, response));
  app.get("/sessions/:id/events", (request, response) => watchSession(rest, request, response));
  app.get("/sessions/:id/socket", () => {
    throw new RestError("INVALID_REQUEST", "Open a WebSocket at this path", UPGRADE_REQUIRED);
  });
  app.post("/sessions/:id/actions", (request, response) => submitAction(rest, request, response));
}
