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

/** The server of a client: an endpoint, or a command that the client starts and calls on stdio. */
type Target =
  | string
  | {
      readonly command: string;
      readonly args: string[];
      readonly env?: Record<string, string>;
      readonly cwd?: string;
      /** Called with each line that the command writes to stderr. */
      readonly onLine?: (line: string) => void;
    };

/** The part of an official MCP client of one revision that the tests use. */
export interface TestClient {
  readonly revision: string;
  tools(): Promise<readonly { readonly name: string; readonly description?: string | undefined }[]>;
  /** `more` are options of the SDK. */
  call(name: string, args: object, more?: CallOptions): Promise<unknown>;
  resources(): Promise<readonly string[]>;
  templates(): Promise<readonly string[]>;
  read(uri: string): Promise<unknown>;
  /** Resolves with the text of a resource, which need not be JSON. */
  text(uri: string): Promise<string>;
  /** Subscribes to resources. The URIs of their notifications are added to `updated`. */
  subscribe(uris: readonly string[]): Promise<void>;
  readonly updated: readonly string[];
  /** The errors that the client found in its connection, e.g. a line that is not a message. */
  readonly errors: readonly string[];
  close(): Promise<void>;
}

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { readonly progress: number }) => void;
}

/** The client's answers to requests for a completion and for its user's input. */
const SAMPLED = { role: "assistant", model: "test", content: { type: "text", text: "forty-two" } } as const;
const ELICITED = { action: "accept", content: { username: "ann", email: "a@example.org" } } as const;

const ABOUT = { name: "test", version: "1.0.0" };
const SESSION_REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const;

/** Connects a client of each revision: with SDK 1 for revisions with sessions, with SDK 2 for the newest of them and the stateless one. */
export const clients: Readonly<Record<string, (target: Target) => Promise<TestClient>>> = {
  ...Object.fromEntries(SESSION_REVISIONS.map((revision) => [revision, (target: Target) => sdkOne(target, revision)])),
  "2025-11-25 of SDK 2": (target) => sdkTwo(target, null),
  "2026-07-28": (target) => sdkTwo(target, "2026-07-28"),
};

/** A client of the SDK may handle a result before a progress notification that it has read together with it. Then it no longer knows the token. */
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
      : forwardStderr(new StdioClientTransport({ ...target, stderr: "pipe" }), target)
  ) as Parameters<Client["connect"]>[0];
  const send = transport.send.bind(transport);
  // SDK 1 requests the newest revision that it knows; here the revision under test.
  transport.send = (message, options) => {
    const isInitialize = "method" in message && message.method === "initialize";
    return send(
      isInitialize ? { ...message, params: { ...message.params, protocolVersion: revision } } : message,
      options,
    );
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
      : forwardStderr(new ModernStdio({ ...target, stderr: "pipe" }), target);
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

/** Forwards the lines that a command writes to stderr to `onLine`. */
function forwardStderr<T extends { readonly stderr: unknown }>(transport: T, { onLine }: Exclude<Target, string>): T {
  const lines = createInterface({ input: transport.stderr as NodeJS.ReadableStream });
  lines.on("line", (line) => onLine?.(line));
  return transport;
}
