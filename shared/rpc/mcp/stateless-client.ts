import {
  type CallToolResult,
  Client,
  type InputRequest,
  type InputResponse,
  isInputRequiredResult,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import type { CallerAnswer, CallerQuestion } from "../jsonrpc/caller-input.ts";

interface McpHostOptions {
  /** The endpoint of a server, e.g. `http://127.0.0.1:8001/mcp`. */
  readonly endpoint: string;
  readonly name: string;
  readonly version: string;
  /** The capabilities that this host declares: forms for its user, prompts for its model. */
  readonly canFillForms: boolean;
  readonly canPrompt: boolean;
}

interface CallOptions {
  /** Answers a question of the tool. `meta` is the metadata of the question. A failed answer is omitted from the next round. */
  ask(question: CallerQuestion, meta: Readonly<Record<string, unknown>>): Promise<CallerAnswer>;
  progress(message: string): void;
  readonly signal: AbortSignal;
}

/** The result of a tool call. */
export interface CallResult {
  /** The text of the result. */
  readonly text: string;
  readonly isError: boolean;
  readonly structured: Readonly<Record<string, unknown>>;
}

/** A client of the stateless revision. In this revision a tool may ask several questions in succession, without a time limit for the answers. */
export interface McpHost {
  /** Calls a tool and answers its questions until it returns a result. */
  call(name: string, args: object, options: CallOptions): Promise<CallResult>;
  /** Reads a JSON resource. */
  read(uri: string): Promise<unknown>;
  close(): Promise<void>;
}

/** The maximum number of rounds of a call. No game asks as many questions. */
const MAX_ROUNDS = 10_000;
export const STATELESS_REVISION = "2026-07-28";

/** Connects to a server. Rejects if the server cannot be reached or does not support the stateless revision. */
export async function connectMcpHost(options: McpHostOptions): Promise<McpHost> {
  const { endpoint, name, version, canFillForms, canPrompt } = options;
  const client = new Client(
    { name, version },
    {
      capabilities: { ...(canFillForms && { elicitation: {} }), ...(canPrompt && { sampling: {} }) },
      versionNegotiation: { mode: { pin: STATELESS_REVISION } },
      // The rounds of the SDK would end the call at a failed answer and would not pass on the metadata of a question.
      inputRequired: { autoFulfill: false },
    },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(endpoint)));
  return {
    async call(tool, args, { ask, progress, signal }) {
      let round: object = {};
      for (let rounds = 0; rounds < MAX_ROUNDS; rounds++) {
        const result: unknown = await client.callTool(
          { name: tool, arguments: { ...args }, ...round },
          { allowInputRequired: true, signal, onprogress: ({ message }) => message && progress(message) },
        );
        if (!isInputRequiredResult(result)) return callResultOf(result as CallToolResult);
        const { inputRequests = {}, requestState, _meta = {} } = result;
        const inputResponses: Record<string, InputResponse> = {};
        for (const [key, request] of Object.entries(inputRequests)) {
          const question = questionIn(request);
          const response = question && responseOf(await ask(question, _meta));
          if (response) inputResponses[key] = response;
        }
        // An answer after the abort is not sent.
        signal.throwIfAborted();
        round = { inputResponses, ...(requestState !== undefined && { requestState }) };
      }
      throw new Error(`${tool} asked more than ${MAX_ROUNDS} times`);
    },
    async read(uri) {
      const { contents } = await client.readResource({ uri });
      const [first] = contents;
      return JSON.parse(first && "text" in first ? first.text : "null");
    },
    close: () => client.close(),
  };
}

/** Returns the question in a request; null for a kind of request that this host does not answer. */
export function questionIn({ method, params }: InputRequest): CallerQuestion | null {
  if (method === "elicitation/create" && "requestedSchema" in params) {
    const { message, requestedSchema } = params;
    return {
      kind: "form",
      message,
      fields: requestedSchema.properties as Extract<CallerQuestion, { kind: "form" }>["fields"],
    };
  }
  if (method !== "sampling/createMessage") return null;
  const { systemPrompt = "", messages, maxTokens } = params;
  const blocks = messages.flatMap(({ content }) => content);
  const text = blocks.flatMap((block) => (block.type === "text" ? block.text : [])).join("\n\n");
  return { kind: "prompt", system: systemPrompt, text, maxTokens };
}

/** Returns an answer as a response to a request of the server; null for a failed answer. */
export function responseOf(answer: CallerAnswer): InputResponse | null {
  switch (answer.kind) {
    case "form":
      return { action: answer.action, content: answer.content as Record<string, string | number | boolean> };
    case "text":
      return { role: "assistant", model: "", content: { type: "text", text: answer.text } };
    case "failed":
      return null;
  }
}

const callResultOf = ({ content, isError = false, structuredContent = {} }: CallToolResult): CallResult => ({
  text: content.flatMap((block) => (block.type === "text" ? block.text : [])).join("\n"),
  isError,
  structured: structuredContent as Record<string, unknown>,
});
