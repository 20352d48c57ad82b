import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type ElicitRequestFormParams,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { messageOf } from "../lib/result.ts";
import type { Ask, CallerInput, InputNeeded, Said } from "./input.ts";

/** How clients of each era are asked: in a session by requests of ours, in the stateless era by an answer that they come back from. */
export type Era = "session" | "stateless" | "modern";

const KEY = "answer";
/** A person may take this long over a form; whoever needs longer goes on in another call. */
const ANSWER_WITHIN_MS = 10 * 60_000;

/** What this client says that it can be asked, and what it brings from the last round. */
export function inputOf(era: Era, server: Server, { mcpReq }: ServerContext): CallerInput {
  const envelope: { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } = mcpReq.envelope ?? {};
  const declared = era === "modern" ? envelope[CLIENT_CAPABILITIES_META_KEY] : server.getClientCapabilities();
  const canBeAsked = era !== "stateless";
  const state = era === "modern" ? mcpReq.requestState() : undefined;
  return {
    canFillForms: canBeAsked && declared?.elicitation !== undefined,
    canPrompt: canBeAsked && declared?.sampling !== undefined,
    said: state === undefined ? null : saidOf(mcpReq.inputResponses),
    state: state ?? null,
  };
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

/** The way to ask in a session. Whatever goes wrong is an answer too; only a caller that has gone rejects. */
export async function ask(asks: Ask, { mcpReq }: ServerContext): Promise<Said> {
  const options = { timeout: ANSWER_WITHIN_MS, resetTimeoutOnProgress: true, signal: mcpReq.signal };
  try {
    if (asks.kind === "form") {
      const { action, content = {} } = await mcpReq.elicitInput(formOf(asks), options);
      return { kind: "form", action, content };
    }
    return textOf(await mcpReq.requestSampling(messageFor(asks), options));
  } catch (thrown) {
    if (mcpReq.signal.aborted) throw thrown;
    return { kind: "failed", why: messageOf(thrown).slice(0, 300) };
  }
}

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
  const blocks = (Array.isArray(content) ? content : [content]) as readonly { type?: unknown; text?: unknown }[];
  return { kind: "text", text: blocks.flatMap(({ type, text }) => (type === "text" ? String(text) : [])).join("\n") };
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
