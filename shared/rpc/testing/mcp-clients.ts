import { createInterface } from "node:readline";
import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport as ModernStdio } from "@modelcontextprotocol/client/stdio";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";

/** Where a client connects to: an endpoint, or a command that it starts and talks to on stdio. */
export type Target =
  | string
  | {
      readonly command: string;
      readonly args: string[];
      readonly env?: Record<string, string>;
      readonly cwd?: string;
      /** A line that the command has written to stderr. */
      readonly onLine?: (line: string) => void;
    };

/** An official MCP client of one revision, as far as the tests need it. */
export interface TestClient {
  readonly revision: string;
  tools(): Promise<readonly { readonly name: string; readonly description?: string | undefined }[]>;
  /** `more` is the SDK's own: a signal, a listener to progress. */
  call(name: string, args: object, more?: CallOptions): Promise<unknown>;
  resources(): Promise<readonly string[]>;
  templates(): Promise<readonly string[]>;
  read(uri: string): Promise<unknown>;
  /** The text of a resource that need not be JSON. */
  text(uri: string): Promise<string>;
  /** From now on `updated` fills with the URIs that the server tells of. */
  subscribe(uris: readonly string[]): Promise<void>;
  readonly updated: readonly string[];
  /** What the client found wrong with its connection, e.g. a line that is no message. */
  readonly errors: readonly string[];
  close(): Promise<void>;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { readonly progress: number }) => void;
}

/** What a client says when it is asked for a completion, and for its user's input. */
const SAMPLED = { role: "assistant", model: "test", content: { type: "text", text: "forty-two" } } as const;
const ELICITED = { action: "accept", content: { username: "ann", email: "a@example.org" } } as const;

const ABOUT = { name: "test", version: "1.0.0" };
const SESSION_REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const;

/** How to connect a client of each revision: SDK 1 for those with sessions, SDK 2 for the newest of them and the stateless one. */
export const clients: Readonly<Record<string, (target: Target) => Promise<TestClient>>> = {
  ...Object.fromEntries(SESSION_REVISIONS.map((revision) => [revision, (target: Target) => sdkOne(target, revision)])),
  "2025-11-25 of SDK 2": (target) => sdkTwo(target, null),
  "2026-07-28": (target) => sdkTwo(target, "2026-07-28"),
};

/** The SDK's clients take a result before a notification of progress that they have read together with it, and then do not know its token. */
const isLateProgress = ({ message }: Error): boolean => message.includes("progress notification for an unknown token");

async function sdkOne(target: Target, revision: string): Promise<TestClient> {
  const client = new Client(ABOUT, { capabilities: { sampling: {}, elicitation: {} } });
  client.setRequestHandler(CreateMessageRequestSchema, () => SAMPLED);
  client.setRequestHandler(ElicitRequestSchema, () => ELICITED);
  const errors: string[] = [];
  client.onerror = (error) => void (isLateProgress(error) || errors.push(error.message));
  const transport = (
    typeof target === "string"
      ? new StreamableHTTPClientTransport(new URL(target))
      : listened(new StdioClientTransport({ ...target, stderr: "pipe" }), target)
  ) as Parameters<Client["connect"]>[0];
  const send = transport.send.bind(transport);
  // SDK 1 asks for the newest revision it knows; an older client is this one with an older number.
  transport.send = (message, options) => {
    const asks = "method" in message && message.method === "initialize";
    return send(asks ? { ...message, params: { ...message.params, protocolVersion: revision } } : message, options);
  };
  await client.connect(transport);
  const updated: string[] = [];
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void updated.push(params.uri));
  return {
    revision,
    tools: async () => (await client.listTools()).tools,
    call: (name, args, more) => client.callTool({ name, arguments: { ...args } }, undefined, more),
    resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    templates: async () => (await client.listResourceTemplates()).resourceTemplates.map((one) => one.uriTemplate),
    read: async (uri) => JSON.parse(textOf(await client.readResource({ uri }))),
    text: async (uri) => textOf(await client.readResource({ uri })),
    async subscribe(uris) {
      for (const uri of uris) await client.subscribeResource({ uri });
    },
    updated,
    errors,
    close: () => client.close(),
  };
}

async function sdkTwo(target: Target, pin: string | null): Promise<TestClient> {
  const versionNegotiation = { mode: pin === null ? ("legacy" as const) : { pin } };
  const client = new ModernClient(ABOUT, { versionNegotiation, capabilities: { sampling: {}, elicitation: {} } });
  client.setRequestHandler("sampling/createMessage", () => SAMPLED);
  client.setRequestHandler("elicitation/create", () => ELICITED);
  const errors: string[] = [];
  client.onerror = (error) => void (isLateProgress(error) || errors.push(error.message));
  const transport =
    typeof target === "string"
      ? new ModernTransport(new URL(target))
      : listened(new ModernStdio({ ...target, stderr: "pipe" }), target);
  await client.connect(transport);
  const updated: string[] = [];
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => void updated.push(params.uri));
  return {
    revision: client.getNegotiatedProtocolVersion() ?? "",
    tools: async () => (await client.listTools()).tools,
    call: (name, args, more) => client.callTool({ name, arguments: { ...args } }, more),
    resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    templates: async () => (await client.listResourceTemplates()).resourceTemplates.map((one) => one.uriTemplate),
    read: async (uri) => JSON.parse(textOf(await client.readResource({ uri }))),
    text: async (uri) => textOf(await client.readResource({ uri })),
    async subscribe(uris) {
      if (pin !== null) await client.listen({ resourceSubscriptions: [...uris] });
      else for (const uri of uris) await client.subscribeResource({ uri });
    },
    updated,
    errors,
    close: () => client.close(),
  };
}

const textOf = ({ contents: [first] }: { contents: readonly object[] }): string =>
  first && "text" in first ? String(first.text) : "null";

/** The lines that a command writes to stderr, passed on. */
function listened<T extends { readonly stderr: unknown }>(transport: T, { onLine }: Exclude<Target, string>): T {
  const lines = createInterface({ input: transport.stderr as NodeJS.ReadableStream });
  lines.on("line", (line) => onLine?.(line));
  return transport;
}
