import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";

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

/** Who answers for the people and for the model. The signal tells that the question has been taken back. */
export interface Answering {
  form(form: Form, signal: AbortSignal): FormAnswer | Promise<FormAnswer>;
  prompt(prompt: Prompt, signal: AbortSignal): string | Promise<string>;
}

export interface Told {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}
interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (told: Told) => void;
}

/** An MCP host with a person and a model, as far as Codenames needs it. */
export interface CodenamesClient {
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server says is checked by the tests
  call(name: string, args?: object, options?: CallOptions): Promise<any>;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  read(uri: string): Promise<any>;
  /** From now on `updated` is told of these resources. */
  subscribe(uris: readonly string[], updated: (uri: string) => void): Promise<void>;
  close(): Promise<void>;
}

interface HostOptions {
  /** What it says that it can be asked; everything that its answering can. */
  readonly capabilities?: object;
  readonly bearer?: string;
  /** Stands between the client and the network. */
  readonly fetch?: typeof fetch;
}

export const eras = ["session", "modern"] as const;
export type Era = (typeof eras)[number];
const ABOUT = { name: "test", version: "1.0.0" };
const CAPABILITIES = { elicitation: {}, sampling: {} };
const LONG_MS = 60_000;

export const textOf = ({ messages: [message] }: Prompt): string =>
  String((message?.content as { text?: unknown } | undefined)?.text ?? "");

/** An official client of one era; without `answering` it can be asked nothing. */
export const connectHost = (
  url: string,
  era: Era,
  answering: Answering | null,
  options: HostOptions = {},
): Promise<CodenamesClient> => (era === "session" ? inSession : modern)(url, answering, options);

const transportOptions = ({ bearer, fetch }: HostOptions) => ({
  ...(fetch && { fetch }),
  requestInit: { headers: bearer === undefined ? {} : { authorization: `Bearer ${bearer}` } },
});

async function inSession(url: string, answering: Answering | null, options: HostOptions): Promise<CodenamesClient> {
  const { capabilities = answering ? CAPABILITIES : {} } = options;
  const client = new Client(ABOUT, { capabilities });
  if (answering && "elicitation" in capabilities) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }, { signal }) => ({
      ...(await answering.form(params as Form, signal)),
    }));
  }
  if (answering && "sampling" in capabilities) {
    client.setRequestHandler(CreateMessageRequestSchema, async ({ params }, { signal }) =>
      modelSays(await answering.prompt(params, signal)),
    );
  }
  const transport = new StreamableHTTPClientTransport(new URL(url), transportOptions(options));
  await client.connect(transport as Parameters<Client["connect"]>[0]);
  return {
    call: (name, args = {}, options = {}) =>
      client.callTool({ name, arguments: { ...args } }, undefined, { timeout: LONG_MS, ...options } as never),
    read: async (uri) => contentOf(await client.readResource({ uri })),
    async subscribe(uris, updated) {
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => updated(params.uri));
      for (const uri of uris) await client.subscribeResource({ uri });
    },
    close: () => client.close(),
  };
}

async function modern(url: string, answering: Answering | null, options: HostOptions): Promise<CodenamesClient> {
  const { capabilities = answering ? CAPABILITIES : {} } = options;
  const client = new ModernClient(ABOUT, {
    capabilities,
    versionNegotiation: { mode: { pin: "2026-07-28" } },
    inputRequired: { maxRounds: 1_000 },
  });
  if (answering && "elicitation" in capabilities) {
    client.setRequestHandler("elicitation/create", async ({ params }, { mcpReq }) => ({
      ...(await answering.form(params as Form, mcpReq.signal)),
    }));
  }
  if (answering && "sampling" in capabilities) {
    client.setRequestHandler("sampling/createMessage", async ({ params }, { mcpReq }) =>
      modelSays(await answering.prompt(params, mcpReq.signal)),
    );
  }
  await client.connect(new ModernTransport(new URL(url), transportOptions(options)));
  return {
    call: (name, args = {}, options = {}) =>
      client.callTool({ name, arguments: { ...args } }, { timeout: LONG_MS, ...options } as never),
    read: async (uri) => contentOf(await client.readResource({ uri })),
    async subscribe(uris, updated) {
      client.setNotificationHandler("notifications/resources/updated", ({ params }) => updated(params.uri));
      await client.listen({ resourceSubscriptions: [...uris] });
    },
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
