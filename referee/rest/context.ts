import type { Express } from "express";
import type { Clock } from "#shared/lib/clock.ts";
import type { Ids } from "#shared/lib/ids.ts";
import type { CreationLimit } from "#shared/rpc/jsonrpc/rate-limit.ts";
import type { RejectionLog } from "#shared/rpc/jsonrpc/rejection-log.ts";
import type { Logger } from "#shared/runtime/process/logger.ts";
import type { AgentDirectory } from "../agents.ts";
import type { SessionHost } from "../sessions/host.ts";
import type { Replies } from "../sessions/replies.ts";
import type { SessionTable } from "../sessions/session-table.ts";
import type { Waits } from "../sessions/waits.ts";
import type { Limits } from "./callers.ts";
import type { Metrics } from "./metrics.ts";
import type { Streams } from "./streams.ts";

/** The parts that the REST API uses. */
export interface RestDependencies {
  readonly host: SessionHost;
  readonly agents: AgentDirectory;
  readonly sessions: SessionTable;
  readonly replies: Replies;
  readonly streams: Streams;
  readonly waits: Waits;
  /** Adds the pages and their routes. */
  readonly pages: (app: Express, limits: Limits) => void;
  readonly log: Logger;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly rejections: RejectionLog;
  /** Whether the rate limits also apply to callers on loopback. */
  readonly limitLoopback: boolean;
  readonly creations: CreationLimit;
}

/** The parts that the handlers of the routes use. */
export interface RestContext extends RestDependencies {
  readonly limits: Limits;
  readonly metrics: Metrics;
}
