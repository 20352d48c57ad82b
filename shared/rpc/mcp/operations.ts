import { z } from "zod";
import type { Clock } from "../../lib/clock.ts";
import type { Ids } from "../../lib/ids.ts";
import type { Result } from "../../lib/result.ts";
import { Envelope, type FieldFault, fieldFaults, looksLikeEnvelope, newEnvelope } from "../../protocol/envelope.ts";
import { errorType, type ProtocolError } from "../../protocol/errors.ts";
import type { MessageType } from "../../protocol/messages.ts";
import { faultOfSender } from "../../protocol/senders.ts";
import type { HttpContext } from "../jsonrpc/http.ts";
import { type CallerInput, type InputNeeded, isInputNeeded } from "../jsonrpc/input.ts";
import { INVALID_PARAMS, rpcError } from "../jsonrpc/json-rpc.ts";
import type { Tool, ToolResult } from "./mcp.ts";

/** The caller of an operation and its credentials, for requests of all interfaces. */
export interface Caller {
  /** `agent_type:agent_id` as the envelope claims it; null for plain calls. */
  readonly sender: string | null;
  /** Of the envelope; absent for plain calls. */
  readonly messageId?: string;
  /** From the envelope, else the plain argument `auth_token`, else `Authorization: Bearer`. */
  readonly authToken: string | null;
  readonly remoteAddress: string;
  readonly gone?: HttpContext["gone"];
  /** Tells a caller that asked for it how far its request is. */
  readonly progress?: HttpContext["progress"];
  readonly sessionId?: string | undefined;
  /** Whether it is an MCP client that has declared that it shows MCP Apps. */
  readonly showsApps?: boolean;
  /** Absent for those that cannot be asked anything. */
  readonly input?: CallerInput | undefined;
}

export type Answer = Result<object, ProtocolError>;
/** What a tool may also say: that it has to ask something first. */
export type Asking = Answer | InputNeeded;

/** A request that an agent answers: through `league_message` by its type and, if it has a name, through a separate tool. */
export interface Operation<Payload> {
  readonly request: MessageType;
  readonly reply: MessageType;
  readonly payload: z.ZodType<Payload>;
  /** The named tool: plain arguments in (parsed into the payload), plain result out. */
  readonly tool?: {
    readonly name: string;
    readonly title: string;
    readonly description: string;
    readonly plain: z.ZodType<Payload>;
    /** What clients are shown, where `plain` is a union: LLM hosts refuse a tool whose input schema is no plain object. */
    readonly input?: z.ZodType;
    /** What it answers when it does not refuse. */
    readonly result: z.ZodType<object>;
    readonly annotations: Tool["annotations"];
    /** For hosts, e.g. the page that goes with the tool. */
    readonly meta?: object;
    /** Whether it may take its time to answer. */
    readonly waits?: boolean;
    /** What an LLM or a person reads, who then reads a rejection as plain text too. Without it both are JSON. */
    readonly shown?: (
      value: never,
      payload: Payload,
      caller: Caller,
    ) => Pick<ToolResult, "content" | "_meta"> | Promise<Pick<ToolResult, "content" | "_meta">>;
  };
  handle(payload: Payload, caller: Caller): Asking | Promise<Asking>;
}

/** Keeps the payload's type while a list of different operations is put together. */
export const operation = <Payload>(definition: Operation<Payload>): Operation<unknown> =>
  definition as Operation<unknown>;

/** What a reply answers. */
export interface About {
  readonly payload: unknown;
  readonly authToken: string | null;
}

/** The tools of an agent: `league_message`, and one for each operation that has a name. Replies are sent as `self` at the time of `clock`, with message ids from `ids`. */
export function toolsOf(
  operations: readonly Operation<unknown>[],
  self: (about: About) => string,
  clock: Clock,
  ids: Ids,
): readonly Tool[] {
  const byType = new Map<string, Operation<unknown>>(operations.map((one) => [one.request, one]));

  const viaEnvelope = async (args: unknown, http: HttpContext, only?: Operation<unknown>): Promise<ToolResult> => {
    const envelope = Envelope.safeParse(args);
    if (!envelope.success) throw invalid(fieldFaults(envelope.error));
    const { type, sender, auth_token, message_id } = envelope.data;
    const found = byType.get(type);
    if (!found || (only && found !== only)) throw invalid([{ path: "type", message: `${type} is not taken here` }]);
    const fault = faultOfSender(type, sender);
    if (fault !== null) throw invalid([{ path: "sender", message: fault }]);
    const payload = found.payload.safeParse(envelope.data.payload);
    if (!payload.success) throw invalid(fieldFaults(payload.error, "payload"));
    // An envelope cannot be answered with a question: whoever sends one is nobody who could be asked.
    const caller = { ...callerOf(http, sender, auth_token, undefined), messageId: message_id };
    const answer = await found.handle(payload.data, caller);
    if (isInputNeeded(answer)) throw new Error(`${type} asks a caller who cannot be asked`);
    logRejection(http, answer, type, sender);
    const as = self({ payload: payload.data, authToken: caller.authToken });
    const about = { messageId: ids.uuid(), correlationId: message_id, at: clock.iso() };
    const reply = answer.ok
      ? newEnvelope(found.reply, as, answer.value, about)
      : newEnvelope(errorType(answer.error), as, answer.error, about);
    return {
      content: [{ type: "text", text: JSON.stringify(reply) }],
      ...(http.isMcpClient && answer.ok && { structuredContent: reply }),
      ...(!answer.ok && { isError: true as const }),
    };
  };

  const named = operations.flatMap((one) => (one.tool ? [namedTool(one, one.tool, viaEnvelope)] : []));
  const schemas = { input: shownSchema(Envelope, "input"), output: shownSchema(Envelope, "output") };
  return [
    ...named,
    {
      name: "league_message",
      title: "League message",
      description: `Takes league.v2 envelopes of these types: ${[...byType.keys()].join(", ")}.`,
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
  one: Operation<unknown>,
  tool: NonNullable<Operation<unknown>["tool"]>,
  viaEnvelope: (args: unknown, http: HttpContext, only: Operation<unknown>) => Promise<ToolResult>,
): Tool {
  const { name, title, description, plain, input = plain, result, annotations, meta, waits } = tool;
  const schemas = { input: shownSchema(input, "input"), output: shownSchema(result, "output") };
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
      if (looksLikeEnvelope(args)) return viaEnvelope(args, http, one);
      const parsed = plain.safeParse(args);
      if (!parsed.success) throw invalid(fieldFaults(parsed.error));
      const token = (args as { auth_token?: unknown }).auth_token;
      const caller = callerOf(http, null, typeof token === "string" ? token : null, http.input);
      const answer = await one.handle(parsed.data, caller);
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
  gone: http.gone,
  progress: http.progress,
  sessionId: http.sessionId,
  showsApps: http.showsApps ?? false,
  input,
});

/** The error of a request with wrong fields; also for a handler that finds a wrong field. */
export const invalid = (faults: readonly FieldFault[]): Error => rpcError(INVALID_PARAMS, "Invalid params", { faults });

/**
 * A schema as MCP's clients are shown it, made when somebody first looks: that took a referee a twelfth of the time of its start, and few leagues are
 * asked for their tools. MCP wants an object at the top, which a union of objects does not say by itself. Bounds that only repeat what a
 * JavaScript number or a JSON key is are left out: some hosts refuse keywords that they do not know, and all of them cost tokens.
 */
function shownSchema(schema: z.ZodType, io: "input" | "output"): () => object {
  let made: object | null = null;
  const make = (): object => {
    const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any", override: withoutNoise });
    return { type: "object", ...rest };
  };
  return () => (made ??= make());
}

function withoutNoise({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  if (Object.keys(jsonSchema.propertyNames ?? {}).join() === "type") delete jsonSchema.propertyNames;
}
