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

/**
 * Adds the REST API of the session host. The handlers contain no rules of games. They check in the order 401, 404, 403, INVALID_REQUEST
 * and then call the host.
 */
export const restRoutes =
  (context: RestDependencies) =>
  (app: Express): void => {
    const { host, streams, waits } = context;
    const metrics = createMetrics({
      sessionsInMemory: host.loaded,
      eventStreams: () => streams.count(),
      waitingCalls: waits.count,
    });
    const rest: RestContext = { ...context, metrics, limits: limitsOf(context.limitLoopback, context.creations) };
    app.set("etag", false);
    app.use(timed(metrics, context.clock));
    app.get("/openapi.json", (_request, response) => void response.json(openApi()));
    app.get("/metrics", async (_request, response) => {
      response.set("content-type", metrics.contentType).send(await metrics.text());
    });
    addSessionRoutes(rest, app);
    context.pages(app, rest.limits);
    app.use(() => {
      throw new RestError("NOT_FOUND", "No such route; /openapi.json lists them");
    });
    app.use(errorAnswers(context.log, context.rejections));
  };

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
  app.post("/sessions/:id/actions", (request, response) => submitAction(rest, request, response));
}
