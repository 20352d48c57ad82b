import { z } from "zod";
import { restStatus } from "../sessions/rejections.ts";

/** The schemas of the answers of the host. Tests check every answer against them. */
const status = z.enum(["active", "completed"]);
const tick = z.int().min(0).describe("number of actions in the session");
const state = z.unknown().describe("the state of the game as the caller may see it");
const sessionId = z.string();

export const Health = z.strictObject({ status: z.literal("ok") });
export const Readiness = z.strictObject({ status: z.enum(["ready", "starting"]) });

export const RegisteredAgent = z.strictObject({
  agent_id: z.string(),
  token: z.string().describe("shown once: send it as Authorization: Bearer"),
});

export const CreatedSession = z.strictObject({ session_id: sessionId, template: z.string(), status });

export const SessionList = z.strictObject({
  sessions: z.array(
    z.strictObject({
      session_id: sessionId,
      template: z.string(),
      status,
      tick,
      your_role: z.string(),
      created_at: z.iso.datetime(),
    }),
  ),
});

export const SessionState = z.strictObject({
  session_id: sessionId,
  template: z.string(),
  status,
  tick,
  state,
  your_role: z.string().describe("a role of the game, or spectator"),
  legal_actions: z.array(z.unknown()),
  termination: z
    .enum(["forfeit", "aborted", "expired"])
    .optional()
    .describe("only if the session has ended by forfeit, abort or expiry"),
  reason: z.string().optional(),
});

export const ActionTaken = z.strictObject({ tick, state, status });

export const SessionLog = z.strictObject({
  actions: z.array(
    z.strictObject({
      tick,
      role: z.string(),
      action: z.unknown(),
      agent_id: z.string(),
      created_at: z.iso.datetime(),
    }),
  ),
});

export const ErrorBody = z.strictObject({
  error: z.strictObject({
    code: z.enum(Object.keys(restStatus) as [keyof typeof restStatus]),
    message: z.string().describe("for people"),
  }),
});
