import { z } from "zod";
import {
  Envelope,
  type FieldFault,
  faultOfSender,
  fieldFaults,
  looksLikeEnvelope,
  type MessageType,
  newEnvelope,
} from "#shared/protocol/envelope.ts";
import type { HttpContext } from "#shared/rpc/jsonrpc/http-context.ts";
import { INVALID_PARAMS, rpcError } from "#shared/rpc/jsonrpc/json-rpc.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Ids } from "../../lib/ids.ts";
import type { Result } from "../../lib/result.ts";
import { readWritten } from "../../lib/written-values.ts";
import { errorType, type ProtocolError } from "../../protocol/errors.ts";
import { type CallerInput, type InputNeeded, isInputNeeded } from "../jsonrpc/caller-input.ts";
import type { Tool, ToolResult } from "./methods.ts";

/** The caller of an operation and its credentials, for requests of all interfaces. */
export interface Caller {
  /** `agent_type:agent_id`, as the envelope claims; null for plain calls. */
  readonly sender: string | null;
  /** The id of the envelope; absent for plain calls. */
  readonly messageId?: string;
  /** The token of the envelope, else of the argument `auth_token`, else of `Authorization: Bearer`. */
  readonly authToken: string | null;
  readonly remoteAddress: string;
  /** The scheme, host and port by which the caller has called this server; absent for requests that did not arrive over HTTP. */
  readonly origin?: string | undefined;
  /** Whether another server of this service has passed the request on, so that this server answers it. */
  readonly isPassedOn?: boolean;
  /** Whether a page of another site has sent the request in a browser. */
  readonly isCrossOrigin?: boolean;
  readonly abortSignal?: HttpContext["abortSignal"];
  /** Reports the progress of the request; absent unless the caller has asked for progress. */
  readonly progress?: HttpContext["progress"];
  readonly sessionId?: string | undefined;
  /** Whether the caller has declared that it shows MCP Apps. */
  readonly showsApps?: boolean;
  /** The questions that the caller can answer; absent for callers that cannot be asked. */
  readonly input?: CallerInput | undefined;
}

export type Answer = Result<object, ProtocolError>;
/** The answer of a tool, or its question to the caller. */
export type AnswerOrQuestion = Answer | InputNeeded;

/** A request that an agent answers: through `league_message` by its type, and through a separate tool if it has a name. */
export interface Operation<Payload> {
  readonly request: MessageType;
  readonly reply: MessageType;
  readonly payload: z.ZodType<Payload>;
  /** The named tool. Its plain arguments are read by `readWritten` and parsed into the payload; its result is plain. */
  readonly tool?: {
    readonly name: string;
    readonly title: string;
    readonly description: string;
    readonly plain: z.ZodType<Payload>;
    /** The input schema for clients, if LLM hosts would reject that of `plain`: it is a union, or a field has no type. */
    readonly input?: z.ZodType;
    /** The schema of the result, unless the request is rejected. */
    readonly result: z.ZodType<object>;
    readonly annotations: Tool["annotations"];
    /** `_meta` of the tool for hosts, e.g. the page of the tool. */
    readonly meta?: object;
    /** Whether the tool may wait before it answers. */
    readonly waits?: boolean;
    /** Returns the text of a result for an LLM or a person; a rejection is then plain text too. Without it, both are JSON. */
    readonly shown?: (
      value: never,
      payload: Payload,
      caller: Caller,
    ) => Pick<ToolResult, "content" | "_meta"> | Promise<Pick<ToolResult, "content" | "_meta">>;
  };
  handle(payload: Payload, caller: Caller): AnswerOrQuestion | Promise<AnswerOrQuestion>;
}

/** Checks the type of one operation and returns it for a list of operations with different payloads. */
export const operation = <Payload>(definition: Operation<Payload>): Operation<unknown> =>
  definition as Operation<unknown>;

/** The request to which a reply belongs. */
export interface RepliedRequest {
  readonly payload: unknown;
  readonly authToken: string | null;
}

/**
 * Returns the tools of an agent: `league_message`, and one for each operation with a name. Replies have the sender `self`, the time of `clock`
 * and message ids from `ids`.
 */
export function toolsOf(
  operations: readonly Operation<unknown>[],
  self: (request: RepliedRequest) => string,
  clock: Clock,
  ids: Ids,
): readonly Tool[] {
  const byType = new Map<string, Operation<unknown>>(operations.map((operation) => [operation.request, operation]));

  const viaEnvelope = async (args: unknown, http: HttpContext, only?: Operation<unknown>): Promise<ToolResult> => {
    const envelope = Envelope.safeParse(args);
    if (!envelope.success) throw invalid(fieldFaults(envelope.error));
    const { type, sender, auth_token, message_id } = envelope.data;
    const found = byType.get(type);
    if (!found || (only && found !== only)) throw invalid([{ path: "type", message: `${type} is not accepted here` }]);
    const fault = faultOfSender(type, sender);
    if (fault !== null) throw invalid([{ path: "sender", message: fault }]);
    const payload = found.payload.safeParse(envelope.data.payload);
    if (!payload.success) throw invalid(fieldFaults(payload.error, "payload"));
    // The sender of an envelope cannot be asked questions.
    const caller = { ...callerOf(http, sender, auth_token, undefined), messageId: message_id };
    const answer = await found.handle(payload.data, caller);
    if (isInputNeeded(answer)) throw new Error(`${type} asks a caller that cannot be asked`);
    logRejection(http, answer, type, sender);
    const replySender = self({ payload: payload.data, authToken: caller.authToken });
    const about = { messageId: ids.uuid(), correlationId: message_id, at: clock.iso() };
    const reply = answer.ok
      ? newEnvelope(found.reply, replySender, answer.value, about)
      : newEnvelope(errorType(answer.error), replySender, answer.error, about);
    return {
      content: [{ type: "text", text: JSON.stringify(reply) }],
      ...(http.isMcpClient && answer.ok && { structuredContent: reply }),
      ...(!answer.ok && { isError: true as const }),
    };
  };

  const named = operations.flatMap((operation) =>
    operation.tool ? [namedTool(operation, operation.tool, viaEnvelope)] : [],
  );
  const schemas = { input: clientSchema(Envelope, "input"), output: clientSchema(Envelope, "output") };
  return [
    ...named,
    {
      name: "league_message",
      title: "League message",
      description: `Accepts league.v2 envelopes of these types: ${[...byType.keys()].join(", ")}.`,
      get inputSchema() {
        return schemas.input();
      },
      get outputSchema() {
        return schemas.output();
      },
      annotations: { readOnlyHint: false, openWorldHint: false },
      call: (args, http) => viaEnvelope(args, http),
    },
  ];
}

function namedTool(
  operation: Operation<unknown>,
  tool: NonNullable<Operation<unknown>["tool"]>,
  viaEnvelope: (args: unknown, http: HttpContext, only: Operation<unknown>) => Promise<ToolResult>,
): Tool {
  const { name, title, description, plain, input = plain, result, annotations, meta, waits } = tool;
  const schemas = { input: clientSchema(input, "input"), output: clientSchema(result, "output") };
  return {
    name,
    title,
    description,
    get inputSchema() {
      return schemas.input();
    },
    get outputSchema() {
      return schemas.output();
    },
    annotations: { openWorldHint: false, ...annotations },
    ...(meta && { _meta: meta }),
    ...(waits && { waits }),
    async call(args, http) {
      if (looksLikeEnvelope(args)) return viaEnvelope(args, http, operation);
      const written = readWritten(schemas.input(), args);
      const parsed = plain.safeParse(written);
      if (!parsed.success) throw invalid(fieldFaults(parsed.error));
      const { auth_token: token } = written as { readonly auth_token?: unknown };
      const caller = callerOf(http, null, typeof token === "string" && token !== "" ? token : null, http.input);
      const answer = await operation.handle(parsed.data, caller);
      if (isInputNeeded(answer)) return answer;
      logRejection(http, answer, name, null);
      // A rejection does not have the form of the output schema, so it is in the text only.
      if (!answer.ok)
        return { content: text(tool.shown ? answer.error.message : JSON.stringify(answer.error)), isError: true };
      const shown = (await tool.shown?.(answer.value as never, parsed.data, caller)) ?? {
        content: text(JSON.stringify(answer.value)),
      };
      return { ...shown, structuredContent: answer.value };
    },
  };
}

/** Logs a rejection. The answer to a rejected registration has the error code in its payload. */
function logRejection(http: HttpContext, answer: Answer, request: string, agent: string | null): void {
  if (!answer.ok) {
    const { error_code: code, message: reason } = answer.error;
    http.logRejection?.({ code, reason, agent, request });
    return;
  }
  const { error_code: code, reason } = answer.value as { readonly error_code?: unknown; readonly reason?: unknown };
  if (typeof code === "string") http.logRejection?.({ code, reason: String(reason), agent, request });
}

const text = (text: string): ToolResult["content"] => [{ type: "text", text }];

const callerOf = (
  http: HttpContext,
  sender: string | null,
  token: string | null | undefined,
  input: CallerInput | undefined,
): Caller => ({
  sender,
  authToken: token ?? http.bearer,
  remoteAddress: http.remoteAddress,
  origin: http.origin,
  isPassedOn: http.isPassedOn ?? false,
  isCrossOrigin: http.isCrossOrigin ?? false,
  abortSignal: http.abortSignal,
  progress: http.progress,
  sessionId: http.sessionId,
  showsApps: http.showsApps ?? false,
  input,
});

/** Returns the error of a request with invalid fields, for this file and for handlers of operations. */
export const invalid = (faults: readonly FieldFault[]): Error => rpcError(INVALID_PARAMS, "Invalid params", { faults });

/**
 * Returns a function that returns a schema for MCP clients. The schema is created at the first call: creating all schemas takes a twelfth of the start
 * time of a referee, and few leagues list their tools. MCP requires the type object at the root, which a union of objects does not have.
 * Bounds of JavaScript numbers and JSON keys are omitted: some hosts reject unknown keywords, and every keyword costs tokens.
 */
function clientSchema(schema: z.ZodType, io: "input" | "output"): () => object {
  let created: object | null = null;
  const create = (): object => {
    const { $schema: _, ...rest } = z.toJSONSchema(schema, {
      io,
      unrepresentable: "any",
      override: withoutDefaultBounds,
    });
    return { type: "object", ...rest };
  };
  return () => (created ??= create());
}

function withoutDefaultBounds({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (Object.keys(jsonSchema.propertyNames ?? {}).join() === "type") delete jsonSchema.propertyNames;
}
