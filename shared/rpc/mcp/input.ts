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
import type { Ask, CallerInput, InputNeeded, Said } from "../jsonrpc/input.ts";

/** How clients of each era are asked: in a session by requests of ours, in the stateless era by an answer that they come back from. */
export type Era = "session" | "stateless" | "modern";

const KEY = "answer";

/** What this client says that it can be asked, and what it brings from the last round. */
export function inputOf(era: Era, server: Server, { mcpReq }: ServerContext): CallerInput {
  const declared = capabilitiesOf(era, server, mcpReq);
  const canBeAsked = era !== "stateless";
  const state = era === "modern" ? mcpReq.requestState() : undefined;
  return {
    canFillForms: canBeAsked && knowsForms(declared?.elicitation),
    canPrompt: canBeAsked && declared?.sampling !== undefined,
    // A round that does not speak of answers is a repeated request, and asked the same again; one without ours has failed to give it.
    said: state === undefined || mcpReq.inputResponses === undefined ? null : saidOf(mcpReq.inputResponses),
    state: state ?? null,
  };
}

/** The capabilities that a client declares: when its session begins, or with each request of the stateless era. */
export function capabilitiesOf(
  era: Era,
  server: Server,
  { envelope = {} }: ServerContext["mcpReq"],
): ClientCapabilities | undefined {
  const declared: { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } = envelope;
  return era === "modern" ? declared[CLIENT_CAPABILITIES_META_KEY] : server.getClientCapabilities();
}

/** The stateless era's way to ask. */
export async function asResult(
  needed: InputNeeded,
  mint: (state: unknown) => Promise<string>,
): Promise<InputRequiredResult> {
  const { asks, state, _meta } = needed;
  const request =
    asks.kind === "form" ? inputRequired.elicit(formOf(asks)) : inputRequired.createMessage(messageFor(asks));
  const result = inputRequired({ inputRequests: { [KEY]: request }, requestState: await mint(state) });
  return _meta ? { ...result, _meta: { ..._meta } } : result;
}

/** How long a client in a session has for one answer, and what tells that it has gone. */
interface Patience {
  readonly answerWithinMs: number;
  readonly gone: AbortSignal;
}

/** The way to ask in a session. Whatever goes wrong is an answer too; only a caller that has gone rejects. */
export async function ask(
  { asks, watchMoot, _meta }: InputNeeded,
  { mcpReq }: ServerContext,
  { answerWithinMs, gone }: Patience,
): Promise<Said> {
  const moot = new AbortController();
  const stopWatching = watchMoot?.(() => moot.abort());
  const options = {
    timeout: answerWithinMs,
    resetTimeoutOnProgress: true,
    signal: AbortSignal.any([gone, moot.signal]),
  };
  try {
    const about = _meta && { _meta: { ..._meta } };
    // On the stream of the call: requestSampling sends it on the stream of GET, which a client need not have open.
    if (asks.kind === "prompt") {
      const params = { ...messageFor(asks), ...about };
      return textOf(await mcpReq.send({ method: "sampling/createMessage", params }, options));
    }
    // Not elicitInput, which would make an error of an answer that does not fit the form: that is the tool's to judge.
    const { action, content = {} } = await mcpReq.send(
      { method: "elicitation/create", params: { ...formOf(asks), ...about } },
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

/** Whoever names no mode knows forms alone. */
const knowsForms = (elicitation: ClientCapabilities["elicitation"]): boolean =>
  elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);

function saidOf(responses: Parameters<typeof inputResponse>[0]): Said {
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

function textOf({ content }: { content?: unknown }): Said {
  const blocks: readonly ({ type?: unknown; text?: unknown } | null)[] = Array.isArray(content) ? content : [content];
  const texts = blocks.flatMap((block) => (block?.type === "text" && typeof block.text === "string" ? block.text : []));
  return { kind: "text", text: texts.join("\n") };
}

const formOf = ({ message, fields }: Extract<Ask, { kind: "form" }>): ElicitRequestFormParams => ({
  mode: "form",
  message,
  requestedSchema: { type: "object", properties: fields, required: Object.keys(fields) } as never,
});

const messageFor = ({ system, text, maxTokens }: Extract<Ask, { kind: "prompt" }>) => ({
  systemPrompt: system,
  messages: [{ role: "user" as const, content: { type: "text" as const, text } }],
  maxTokens,
  includeContext: "none" as const,
});
