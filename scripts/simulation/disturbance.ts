import { z } from "zod";

const ms = z.number().min(0);
const at = ms.describe("the start in ms since the start of the run");
const machine = z.string().min(1);

/** A disturbance of a run. */
export const Disturbance = z.discriminatedUnion("type", [
  /** The process is killed and started again after `downMs`. */
  z.strictObject({ type: z.literal("crash"), at, machine, downMs: ms }),
  /** The process is killed at its next commit: before the commit is written, or after it and before the process is notified. */
  z.strictObject({ type: z.literal("crash at commit"), at, machine, downMs: ms, isCommitted: z.boolean() }),
  /** The process is killed `afterMs` after the arrival of its next message of a type, or of the `count`th one. The answer is lost if `afterMs` is 0. */
  z.strictObject({
    type: z.literal("crash at message"),
    ...{ at, machine, message: z.string().min(1), count: z.int().min(1), afterMs: ms, downMs: ms },
  }),
  /** Of this share of the requests to a machine by POST a copy arrives up to `delayMs` later, when its caller no longer waits. */
  z.strictObject({ type: z.literal("late copies"), at, ms, machine, share: z.number().min(0).max(1), delayMs: ms }),
  /** Two machines cannot connect to each other. The caller gets an error or, as on a half-open connection, no answer. */
  z.strictObject({
    type: z.literal("partition"),
    ...{ at, ms },
    between: z.tuple([machine, machine]).readonly(),
    isSilent: z.boolean(),
  }),
  /** Of this share of the machine's requests the request or the reply is lost with the connection, or the request arrives twice. */
  z.strictObject({ type: z.literal("lossy"), at, ms, machine, share: z.number().min(0).max(1) }),
  /** Requests and replies of the machine are delayed by at most `delayMs`. */
  z.strictObject({ type: z.literal("slow"), at, ms, machine, delayMs: ms }),
  /** The machine's date is changed by `byMs`, and alternately changed back and again every 250 ms during `ms`. */
  z.strictObject({ type: z.literal("clock set"), at, ms, machine, byMs: z.number() }),
  /** Commits of the machine fail. */
  z.strictObject({ type: z.literal("disk full"), at, ms, machine }),
  /** The process does not run during `ms`, as after SIGSTOP. What arrives meanwhile waits. */
  z.strictObject({ type: z.literal("stop"), at, ms, machine }),
  /** The server of the shared database is killed and started again after `downMs`. */
  z.strictObject({ type: z.literal("database crash"), at, downMs: ms }),
  /** This share of the manager's commits is rolled back, or its connection is lost before or after the commit, or long before it is made. */
  z.strictObject({ type: z.literal("commit faults"), at, ms, machine, share: z.number().min(0).max(1) }),
  /** The player is stopped and not started again. It stays until its first invitation, so that the league can start. */
  z.strictObject({ type: z.literal("leave"), at, machine }),
  /** The referee tells the manager that it ends for good. It is stopped, and not started again. */
  z.strictObject({ type: z.literal("retire"), at, machine }),
  /** A second process of the player starts with a copy of its files, not before its first invitation. */
  z.strictObject({ type: z.literal("copy"), at, machine }),
]);
export type Disturbance = Readonly<z.infer<typeof Disturbance>>;

/** Disturbances start within this time. */
export const DISTURBANCES_MS = 4_000;
/** Longer than the time limit of a run: the process is not started again, and the connection is not restored. */
export const PERMANENT_MS = 3_600_000;

/** The time at which a disturbance ends, in ms since the start of the run. */
export const endOf = (one: Disturbance): number => {
  if ("ms" in one) return one.ms < PERMANENT_MS ? one.at + one.ms : one.at;
  return "downMs" in one && one.downMs < PERMANENT_MS ? one.at + one.downMs : one.at;
};
