import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from "@modelcontextprotocol/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ResourceUpdatedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { WAIT_MS } from "#shared/lib/testing/wait-options.ts";

/** A form that the MCP host of a person receives. */
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

/** Answers the questions to people and to the model. The signal is aborted when the question is withdrawn. */
interface Respondent {
  form(form: Form, signal: AbortSignal): FormAnswer | Promise<FormAnswer>;
  prompt(prompt: Prompt, signal: AbortSignal): string | Promise<string>;
}

export interface Progress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}
interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: Progress) => void;
}

const text = z.string().default("");
const nullable = z.string().nullable().default(null);
const CodenamesAnswer = z.object({
  isError: z.boolean().optional(),
  content: z.tuple([z.object({ text: z.string() })], z.unknown()),
  structuredContent: z
    .object({
      status: text,
      winner: nullable,
      reason: nullable,
      game_id: text,
      game_token: text,
      turns: z.int().default(0),
      board: text,
      history: text,
    })
    .prefault({}),
});
/** The answer of a tool of Codenames. The fields of the report of a game are empty if the answer has none. */
type CodenamesAnswer = z.infer<typeof CodenamesAnswer>;

/** A resource as parsed JSON. Each resource of Codenames has some of these fields. */
const CodenamesResource = z.looseObject({
  game_id: text,
  board: text,
  role: nullable,
  player_type: nullable,
  status: z.string().optional(),
  turns: z.array(z.unknown()).default([]),
});
type CodenamesResource = z.infer<typeof CodenamesResource>;

/** An MCP client with a person and a model, with the calls that Codenames needs. */
export interface CodenamesClient {
  call(name: string, args?: object, options?: CallOptions): Promise<CodenamesAnswer>;
  read(uri: string): Promise<CodenamesResource>;
  /** Calls `updated` for each update notification about these resources. */
  subscribe(uris: readonly string[], updated: (uri: string) => void): Promise<void>;
  close(): Promise<void>;
}

interface HostOptions {
  /** The declared capabilities; by default elicitation and sampling if there is a respondent. */
  readonly capabilities?: object;
  readonly bearer?: string;
  /** Replaces `fetch`. */
  readonly fetch?: typeof fetch;
}

/** The two eras of MCP: with sessions, and stateless. */
export const eras = ["session", "stateless"] as const;
export type Era = (typeof eras)[number];
const CLIENT_INFO = { name: "test", version: "1.0.0" };
const CAPABILITIES = { elicitation: {}, sampling: {} };

export const textOf = ({ messages: [message] }: Prompt): string =>
  String((message?.content as { text?: unknown } | undefined)?.text ?? "");

/** Connects an official client of an era. Without a respondent it offers neither forms nor prompts. */
export const connectHost = (
  url: string,
  era: Era,
  respondent: Respondent | null,
  options: HostOptions = {},
): Promise<CodenamesClient> => (era === "session" ? inSession : stateless)(url, respondent, options);

const transportOptions = ({ bearer, fetch }: HostOptions) => ({
  ...(fetch && { fetch }),
  requestInit: { headers: bearer === undefined ? {} : { authorization: `Bearer ${bearer}` } },
});

async function inSession(url: string, respondent: Respondent | null, options: HostOptions): Promise<CodenamesClient> {
  const { capabilities = respondent ? CAPABILITIES : {} } = options;
  const client = new Client(CLIENT_INFO, { capabilities });
  if (respondent && "elicitation" in capabilities) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }, { signal }) => ({
      ...(await respondent.form(params as Form, signal)),
    }));
  }
  if (respondent && "sampling" in capabilities) {
    client.setRequestHandler(CreateMessageRequestSchema, async ({ params }, { signal }) =>
      modelAnswer(await respondent.prompt(params, signal)),
    );
  }
  const transport = new StreamableHTTPClientTransport(new URL(url), transportOptions(options));
  await client.connect(transport as Parameters<Client["connect"]>[0]);
  return {
    call: async (name, args = {}, options = {}) =>
      CodenamesAnswer.parse(
        await client.callTool({ name, arguments: { ...args } }, undefined, {
          timeout: WAIT_MS,
          ...options,
        } as never),
      ),
    read: async (uri) => CodenamesResource.parse(contentOf(await client.readResource({ uri }))),
    async subscribe(uris, updated) {
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => updated(params.uri));
      for (const uri of uris) await client.subscribeResource({ uri });
    },
    close: () => client.close(),
  };
}

async function stateless(url: string, respondent: Respondent | null, options: HostOptions): Promise<CodenamesClient> {
  const { capabilities = respondent ? CAPABILITIES : {} } = options;
  const client = new ModernClient(CLIENT_INFO, {
    capabilities,
    versionNegotiation: { mode: { pin: "2026-07-28" } },
    inputRequired: { maxRounds: 1_000 },
  });
  if (respondent && "elicitation" in capabilities) {
    client.setRequestHandler("elicitation/create", async ({ params }, { mcpReq }) => ({
      ...(await respondent.form(params as Form, mcpReq.signal)),
    }));
  }
  if (respondent && "sampling" in capabilities) {
    client.setRequestHandler("sampling/createMessage", async ({ params }, { mcpReq }) =>
      modelAnswer(await respondent.prompt(params, mcpReq.signal)),
    );
  }
  await client.connect(new ModernTransport(new URL(url), transportOptions(options)));
  return {
    call: async (name, args = {}, options = {}) =>
      CodenamesAnswer.parse(
        await client.callTool({ name, arguments: { ...args } }, { timeout: WAIT_MS, ...options } as never),
      ),
    read: async (uri) => CodenamesResource.parse(contentOf(await client.readResource({ uri }))),
    async subscribe(uris, updated) {
      client.setNotificationHandler("notifications/resources/updated", ({ params }) => updated(params.uri));
      await client.listen({ resourceSubscriptions: [...uris] });
    },
    close: () => client.close(),
  };
}

const modelAnswer = (text: string) => ({
  model: "scripted",
  role: "assistant" as const,
  content: { type: "text" as const, text },
});

const contentOf = ({ contents: [first] }: { contents: readonly object[] }): unknown =>
  JSON.parse(first && "text" in first ? String(first.text) : "null");
