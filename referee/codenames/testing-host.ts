import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CreateMessageRequestSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

/** A form as a person's host is given it. */
export interface Form {
  readonly message: string;
  readonly requestedSchema: { readonly properties: Readonly<Record<string, { readonly enum?: readonly string[] }>> };
}
export interface Prompt {
  readonly systemPrompt?: string | undefined;
  readonly messages: readonly { readonly content: unknown }[];
}
export interface FormAnswer {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: Record<string, string | number | boolean>;
}

/** Who answers for the people and for the model. */
export interface Answering {
  form(form: Form): FormAnswer | Promise<FormAnswer>;
  prompt(prompt: Prompt): string | Promise<string>;
}

/** An MCP host with a person and a model, as far as Codenames needs it. */
export interface CodenamesClient {
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server says is checked by the tests
  call(name: string, args: object, signal?: AbortSignal): Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  read(uri: string): Promise<any>;
  close(): Promise<void>;
}

export type Era = "session" | "modern";
const ABOUT = { name: "test", version: "1.0.0" };
const CAPABILITIES = { elicitation: {}, sampling: {} };
const LONG_MS = 60_000;

export const textOf = ({ messages: [message] }: Prompt): string =>
  String((message?.content as { text?: unknown } | undefined)?.text ?? "");

/** An official client of one era; without `answering` it can be asked nothing. */
export const connectHost = (url: string, era: Era, answering: Answering | null): Promise<CodenamesClient> =>
  era === "session" ? inSession(url, answering) : modern(url, answering);

async function inSession(url: string, answering: Answering | null): Promise<CodenamesClient> {
  const client = new Client(ABOUT, { capabilities: answering ? CAPABILITIES : {} });
  if (answering) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => ({
      ...(await answering.form(params as Form)),
    }));
    client.setRequestHandler(CreateMessageRequestSchema, async ({ params }) =>
      modelSays(await answering.prompt(params)),
    );
  }
  await client.connect(new StreamableHTTPClientTransport(new URL(url)) as Parameters<Client["connect"]>[0]);
  return {
    call: (name, args, signal) =>
      client.callTool({ name, arguments: { ...args } }, undefined, { timeout: LONG_MS, ...(signal && { signal }) }),
    read: async (uri) => contentOf(await client.readResource({ uri })),
    close: () => client.close(),
  };
}

async function modern(url: string, answering: Answering | null): Promise<CodenamesClient> {
  const client = new ModernClient(ABOUT, {
    capabilities: answering ? CAPABILITIES : {},
    versionNegotiation: { mode: { pin: "2026-07-28" } },
    inputRequired: { maxRounds: 1_000 },
  });
  if (answering) {
    client.setRequestHandler("elicitation/create", async ({ params }) => ({
      ...(await answering.form(params as Form)),
    }));
    client.setRequestHandler("sampling/createMessage", async ({ params }) => modelSays(await answering.prompt(params)));
  }
  await client.connect(new ModernTransport(new URL(url)));
  return {
    call: (name, args, signal) =>
      client.callTool({ name, arguments: { ...args } }, { timeout: LONG_MS, ...(signal && { signal }) }),
    read: async (uri) => contentOf(await client.readResource({ uri })),
    close: () => client.close(),
  };
}

const modelSays = (text: string) => ({
  model: "scripted",
  role: "assistant" as const,
  content: { type: "text" as const, text },
});

const contentOf = ({ contents: [first] }: { contents: readonly object[] }): unknown =>
  JSON.parse(first && "text" in first ? String(first.text) : "null");
