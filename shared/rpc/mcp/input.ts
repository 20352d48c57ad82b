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
import type { CallerAnswer, CallerInput, CallerQuestion, InputNeeded } from "../jsonrpc/input.ts";

/**
 * The ways to ask clients: in a session by a request of the server, in the revision 2026-07-28 (`modern`) by a result that the client answers in
 * its next call. Clients outside of a session (`stateless`) cannot be asked.
 */
export type Era = "session" | "stateless" | "modern";

const KEY = "answer";

/** Returns the questions that a client can answer, with its answer to the previous round. */
export function inputOf(era: Era, server: Server, { mcpReq }: ServerContext): CallerInput {
  const declared = capabilitiesOf(era, server, mcpReq);
  const canBeAsked = era !== "stateless";
  const state = era === "modern" ? mcpReq.requestState() : undefined;
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
  return era === "modern" ? declared[CLIENT_CAPABILITIES_META_KEY] : server.getClientCapabilities();
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
  const result = inputRequired({ inputRequests: { [KEY]: request }, requestState: await mint(state) });
  return _meta ? { ...result, _meta: { ..._meta } } : result;
}

/** The time limit of an answer in a session, and the signal that is aborted when the caller has gone. */
interface Patience {
  readonly answerWithinMs: number;
  readonly gone: AbortSignal;
}

/** Asks a client in a session. Resolves with its answer, or with a failed one. Rejects only if the caller has gone. */
export async function ask(
  { question, onObsolete, _meta }: InputNeeded,
  { mcpReq }: ServerContext,
  { answerWithinMs, gone }: Patience,
): Promise<CallerAnswer> {
  const moot = new AbortController();
  const stopWatching = onObsolete?.(() => moot.abort());
  const options = {
    timeout: answerWithinMs,
    resetTimeoutOnProgress: true,
    signal: AbortSignal.any([gone, moot.signal]),
  };
  try {
    const about = _meta && { _meta: { ..._meta } };
    // Sent on the stream of the call: requestSampling would send it on the stream of GET, which a client need not open.
    if (question.kind === "prompt") {
      const params = { ...messageFor(question), ...about };
      return textOf(await mcpReq.send({ method: "sampling/createMessage", params }, options));
    }
    // elicitInput would reject an answer that does not fit the form. The tool decides about such an answer.
    const { action, content = {} } = await mcpReq.send(
      { method: "elicitation/create", params: { ...formOf(question), ...about } },
      options,
    );
    return { kind: "form", action, content };
  } catch (thrown) {
    if (gone.aborted) throw thrown;
    if (moot.signal.aborted) return { kind: "failed", why: "the question is moot" };
    const isLate = thrown instanceof SdkError && thrown.code === SdkErrorCode.RequestTimeout;
    return { kind: "failed", why: isLate ? "the time was over" : "the host answered with an error" };
  } finally {
    stopWatching?.();
  }
}

/** A client that declares no mode of elicitation supports forms only. */
const supportsForms = (elicitation: ClientCapabilities["elicitation"]): boolean =>
  elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);

function answerOf(responses: Parameters<typeof inputResponse>[0]): CallerAnswer {
  const answer = inputResponse(responses, KEY);
  switch (answer.kind) {
    case "elicit":
      return { kind: "form", action: answer.action, content: answer.content ?? {} };
    case "sampling":
      return textOf(answer.result);
    default:
      return { kind: "failed", why: "no answer came back" };
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
