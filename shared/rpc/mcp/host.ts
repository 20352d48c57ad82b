import {
  type CallToolResult,
  Client,
  type InputRequest,
  type InputResponse,
  isInputRequiredResult,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import type { Ask, Said } from "../jsonrpc/input.ts";

interface McpHostOptions {
  /** A server's `/mcp`. */
  readonly endpoint: string;
  readonly name: string;
  readonly version: string;
  /** What this host says that it can be asked. */
  readonly canFillForms: boolean;
  readonly canPrompt: boolean;
}

export interface CallOptions {
  /** Answers what the tool asks; `meta` is what the server says beside it. One that failed is left out, and the tool is told so. */
  ask(asks: Ask, meta: Readonly<Record<string, unknown>>): Promise<Said>;
  progress(message: string): void;
  readonly signal: AbortSignal;
}

export interface Called {
  /** What the tool says in words. */
  readonly text: string;
  readonly isError: boolean;
  readonly structured: Readonly<Record<string, unknown>>;
}

/** An MCP host of our own: a client of the stateless era, whose tools may ask back as often and as slowly as they like. */
export interface McpHost {
  /** Calls a tool and takes every round of it, until it answers. */
  call(name: string, args: object, options: CallOptions): Promise<Called>;
  /** A JSON resource. */
  read(uri: string): Promise<unknown>;
  close(): Promise<void>;
}

/** Higher than any game is long. */
const MAX_ROUNDS = 10_000;
export const REVISION = "2026-07-28";

/** Connects to a server; rejects when there is none, or one that does not speak the stateless era. */
export async function connectMcpHost(options: McpHostOptions): Promise<McpHost> {
  const { endpoint, name, version, canFillForms, canPrompt } = options;
  const client = new Client(
    { name, version },
    {
      capabilities: { ...(canFillForms && { elicitation: {} }), ...(canPrompt && { sampling: {} }) },
      versionNegotiation: { mode: { pin: REVISION } },
      // Its own rounds would end the whole call when one answer fails, and would not show what is said beside a question.
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
        if (!isInputRequiredResult(result)) return calledOf(result as CallToolResult);
        const { inputRequests = {}, requestState, _meta = {} } = result;
        const inputResponses: Record<string, InputResponse> = {};
        for (const [key, request] of Object.entries(inputRequests)) {
          const asks = askIn(request);
          const response = asks && responseOf(await ask(asks, _meta));
          if (response) inputResponses[key] = response;
        }
        // Whoever has left has not answered.
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

/** What is asked, in our own words; null for what this host was never said to answer. */
export function askIn({ method, params }: InputRequest): Ask | null {
  if (method === "elicitation/create" && "requestedSchema" in params) {
    const { message, requestedSchema } = params;
    return { kind: "form", message, fields: requestedSchema.properties as Extract<Ask, { kind: "form" }>["fields"] };
  }
  if (method !== "sampling/createMessage") return null;
  const { systemPrompt = "", messages, maxTokens } = params;
  const blocks = messages.flatMap(({ content }) => content);
  const text = blocks.flatMap((block) => (block.type === "text" ? block.text : [])).join("\n\n");
  return { kind: "prompt", system: systemPrompt, text, maxTokens };
}

export function responseOf(said: Said): InputResponse | null {
  switch (said.kind) {
    case "form":
      return { action: said.action, content: said.content as Record<string, string | number | boolean> };
    case "text":
      return { role: "assistant", model: "", content: { type: "text", text: said.text } };
    case "failed":
      return null;
  }
}

const calledOf = ({ content, isError = false, structuredContent = {} }: CallToolResult): Called => ({
  text: content.flatMap((block) => (block.type === "text" ? block.text : [])).join("\n"),
  isError,
  structured: structuredContent as Record<string, unknown>,
});
