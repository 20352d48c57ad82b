import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";

/** An official MCP client of one revision, as far as the tests need it. */
export interface TestClient {
  readonly revision: string;
  tools(): Promise<readonly { readonly name: string; readonly description?: string | undefined }[]>;
  call(name: string, args: object): Promise<unknown>;
  resources(): Promise<readonly string[]>;
  templates(): Promise<readonly string[]>;
  read(uri: string): Promise<unknown>;
  /** From now on `updated` fills with the URIs that the server tells of. */
  subscribe(uris: readonly string[]): Promise<void>;
  readonly updated: readonly string[];
  close(): Promise<void>;
}

const ABOUT = { name: "test", version: "1.0.0" };
const SESSION_REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const;

/** How to connect a client of each revision: SDK 1 for those with sessions, SDK 2 for the newest of them and the stateless one. */
export const clients: Readonly<Record<string, (url: string) => Promise<TestClient>>> = {
  ...Object.fromEntries(SESSION_REVISIONS.map((revision) => [revision, (url: string) => sdkOne(url, revision)])),
  "2025-11-25 of SDK 2": (url) => sdkTwo(url, null),
  "2026-07-28": (url) => sdkTwo(url, "2026-07-28"),
};

async function sdkOne(url: string, revision: string): Promise<TestClient> {
  const client = new Client(ABOUT);
  const transport = new StreamableHTTPClientTransport(new URL(url));
  const send = transport.send.bind(transport);
  // SDK 1 asks for the newest revision it knows; an older client is this one with an older number.
  transport.send = (message, options) => {
    const asks = "method" in message && message.method === "initialize";
    return send(asks ? { ...message, params: { ...message.params, protocolVersion: revision } } : message, options);
  };
  await client.connect(transport as Parameters<Client["connect"]>[0]);
  const updated: string[] = [];
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void updated.push(params.uri));
  return {
    revision,
    tools: async () => (await client.listTools()).tools,
    call: (name, args) => client.callTool({ name, arguments: { ...args } }),
    resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    templates: async () => (await client.listResourceTemplates()).resourceTemplates.map((one) => one.uriTemplate),
    read: async (uri) => contentOf(await client.readResource({ uri })),
    async subscribe(uris) {
      for (const uri of uris) await client.subscribeResource({ uri });
    },
    updated,
    close: () => client.close(),
  };
}

async function sdkTwo(url: string, pin: string | null): Promise<TestClient> {
  const client = new ModernClient(ABOUT, { versionNegotiation: { mode: pin === null ? "legacy" : { pin } } });
  await client.connect(new ModernTransport(new URL(url)));
  const updated: string[] = [];
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => void updated.push(params.uri));
  return {
    revision: client.getNegotiatedProtocolVersion() ?? "",
    tools: async () => (await client.listTools()).tools,
    call: (name, args) => client.callTool({ name, arguments: { ...args } }),
    resources: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    templates: async () => (await client.listResourceTemplates()).resourceTemplates.map((one) => one.uriTemplate),
    read: async (uri) => contentOf(await client.readResource({ uri })),
    async subscribe(uris) {
      if (pin !== null) await client.listen({ resourceSubscriptions: [...uris] });
      else for (const uri of uris) await client.subscribeResource({ uri });
    },
    updated,
    close: () => client.close(),
  };
}

const contentOf = ({ contents: [first] }: { contents: readonly object[] }): unknown =>
  JSON.parse(first && "text" in first ? String(first.text) : "null");
