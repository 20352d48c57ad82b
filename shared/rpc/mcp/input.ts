import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type ElicitRequestFormParams,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  SdkError,
  SdkErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { CallerAnswer, CallerInput, CallerQuestion, InputNeeded } from "../jsonrpc/caller-input.ts";

/**
 * The ways to ask clients: in a session by a request of the server, and in the stateless revision 2026-07-28 by a result that the client answers in
 * its next call. Clients without a session in a revision with sessions (`no session`) cannot be asked.
 */
export type Era = "session" | "no session" | "stateless";

/** The name of the only question of a round in `inputRequests` and `inputResponses`. */
const QUESTION_KEY = "answer";

/** Returns the questions that a client can answer, with its answer to the previous round. */
export function inputOf(era: Era, server: Server, { mcpReq }: ServerContext): CallerInput {
  const declared = capabilitiesOf(era, server, mcpReq);
  const canBeAsked = era !== "no session";
  const state = era === "stateless" ? mcpReq.requestState() : undefined;
  return {
    canFillForms: canBeAsked && supportsForms(declared?.elicitation),
    canPrompt: canBeAsked && declared?.sampling !== undefined,
    // Without `inputResponses` the request is a repetition of the first round, and the question is asked again. With them, a missing answer has failed.
    answer: state === undefined || mcpReq.inputResponses === undefined ? null : answerOf(mcpReq.inputResponses),
    state: state ?? null,
  };
}

/** Returns the capabilities that a client declares: at the start of its session, or with each request of the stateless revision. */
export function capabilitiesOf(
  era: Era,
  server: Server,
  { envelope = {} }: ServerContext["mcpReq"],
): ClientCapabilities | undefined {
  const declared: { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } = envelope;
  return era === "stateless" ? declared[CLIENT_CAPABILITIES_META_KEY] : server.getClientCapabilities();
}

/** Returns a question as a result of the stateless revision. `mint` signs the state. */
export async function asResult(
  needed: InputNeeded,
  mint: (state: unknown) => Promise<string>,
): Promise<InputRequiredResult> {
  const { question, state, _meta } = needed;
  const request =
    question.kind === "form"
      ? inputRequired.elicit(formOf(question))
      : inputRequired.createMessage(messageFor(question));
  const result = inputRequired({ inputRequests: { [QUESTION_KEY]: request }, requestState: await mint(state) });
  return _meta ? { ...result, _meta: { ..._meta } } : result;
}

/** The conditions that end the wait for an answer in a session. */
interface AnswerLimits {
  readonly answerWithinMs: number;
  /** Aborted when the caller disconnects or cancels its request. */
  readonly abortSignal: AbortSignal;
}

/** Asks a client in a session. Resolves with its answer, or with a failed answer. Rejects only if `abortSignal` is aborted. */
export async function ask(
  { question, onObsolete, _meta }: InputNeeded,
  { mcpReq }: ServerContext,
  { answerWithinMs, abortSignal }: AnswerLimits,
): Promise<CallerAnswer> {
  const obsolete = new AbortController();
  const stopWatching = onObsolete?.(() => obsolete.abort());
  const options = {
    timeout: answerWithinMs,
    resetTimeoutOnProgress: true,
    signal: AbortSignal.any([abortSignal, obsolete.signal]),
  };
  try {
    const metadata = _meta && { _meta: { ..._meta } };
    // Sent on the stream of the call: requestSampling would send it on the stream of GET, which a client need not open.
    if (question.kind === "prompt") {
      const params = { ...messageFor(question), ...metadata };
      return textOf(await mcpReq.send({ method: "sampling/createMessage", params }, options));
    }
    // elicitInput would reject an answer that does not fit the form. The tool decides about such an answer.
    const { action, content = {} } = await mcpReq.send(
      { method: "elicitation/create", params: { ...formOf(question), ...metadata } },
      options,
    );
    return { kind: "form", action, content };
  } catch (thrown) {
    if (abortSignal.aborted) throw thrown;
    if (obsolete.signal.aborted) return { kind: "failed", reason: "the question is obsolete" };
    const isLate = thrown instanceof SdkError && thrown.code === SdkErrorCode.RequestTimeout;
    return { kind: "failed", reason: isLate ? "the time limit was exceeded" : "the host answered with an error" };
  } finally {
    stopWatching?.();
  }
}

/** A client that declares no mode of elicitation supports forms only. */
const supportsForms = (elicitation: ClientCapabilities["elicitation"]): boolean =>
  elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);

function answerOf(responses: Parameters<typeof inputResponse>[0]): CallerAnswer {
  const answer = inputResponse(responses, QUESTION_KEY);
  switch (answer.kind) {
    case "elicit":
      return { kind: "form", action: answer.action, content: answer.content ?? {} };
    case "sampling":
      return textOf(answer.result);
    default:
      return { kind: "failed", reason: "the request contains no answer" };
  }
}

function textOf({ content }: { content?: unknown }): CallerAnswer {
  const blocks: readonly ({ type?: unknown; text?: unknown } | null)[] = Array.isArray(content) ? content : [content];
  const texts = blocks.flatMap((block) => (block?.type === "text" && typeof block.text === "string" ? block.text : []));
  return { kind: "text", text: texts.join("\n") };
}

const formOf = ({ message, fields }: Extract<CallerQuestion, { kind: "form" }>): ElicitRequestFormParams => ({
  mode: "form",
  message,
  requestedSchema: { type: "object", properties: fields, required: Object.keys(fields) } as never,
});

const messageFor = ({ system, text, maxTokens }: Extract<CallerQuestion, { kind: "prompt" }>) => ({
  systemPrompt: system,
  messages: [{ role: "user" as const, content: { type: "text" as const, text } }],
  maxTokens,
  includeContext: "none" as const,
});
