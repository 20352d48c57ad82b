import type { NextFunction, Request, RequestHandler, Response } from "express";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { Clock } from "#shared/lib/clock.ts";

/** The metrics of the process, its sessions and requests, which `GET /metrics` returns in Prometheus form. */
export interface Metrics {
  readonly contentType: string;
  text(): Promise<string>;
  /** Counts an accepted action, by template. */
  acted(template: string): void;
  /** Records the duration of an answered request. */
  answered(route: string, status: number, seconds: number): void;
}

interface Gauges {
  readonly sessionsInMemory: () => number;
  readonly eventStreams: () => number;
  readonly waitingCalls: () => number;
}

export function createMetrics({ sessionsInMemory, eventStreams, waitingCalls }: Gauges): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  const gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(value());
      },
    });
  gauge("host_sessions_in_memory", "Sessions in memory; the others are replayed on demand.", sessionsInMemory);
  gauge("host_event_streams", "Open Server-Sent Events streams and WebSockets of sessions.", eventStreams);
  gauge("host_waiting_calls", "Long polls and waitForNextTurn calls that wait for a turn, and bots.", waitingCalls);
  const actions = new Counter({
    name: "host_actions_total",
    help: "Actions accepted over REST, WebSockets included.",
    labelNames: ["template"],
    registers,
  });
  const requests = new Histogram({
    name: "http_request_duration_seconds",
    help: "Time from request to answer; event streams and long polls are not included.",
    labelNames: ["route", "status"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
    registers,
  });
  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    acted: (template) => actions.inc({ template }),
    answered: (route, status, seconds) => requests.observe({ route, status: String(status) }, seconds),
  };
}

/** A handler that measures the duration of requests, except long polls and streams, and forbids caching. */
export const timed =
  (metrics: Metrics, clock: Clock): RequestHandler =>
  (request: Request, response: Response, next: NextFunction) => {
    const startedAt = clock.monotonic();
    response.set("cache-control", "no-store");
    response.once("finish", () => {
      if (response.locals.waits === true) return;
      const route = typeof request.route?.path === "string" ? request.route.path : "none";
      metrics.answered(`${request.method} ${route}`, response.statusCode, (clock.monotonic() - startedAt) / 1000);
    });
    next();
  };
