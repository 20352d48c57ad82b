import { setTimeout as wait } from "node:timers/promises";
import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type ElicitRequestFormParams,
  type EventStore,
  type GetPromptResult,
  type InputRequests,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type JSONRPCMessage,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { INVALID_PARAMS, rpcError } from "#shared/rpc/jsonrpc/json-rpc.ts";
import {
  directTools,
  type McpSurface,
  mcpMethods,
  type ResourceTemplate,
  subscriptionCheck,
} from "#shared/rpc/mcp/methods.ts";
import type { McpMethod, McpService } from "#shared/rpc/mcp/sdk-server.ts";

const CallParams = z.object({ name: z.string(), arguments: z.record(z.string(), z.unknown()).default({}) });
const ReadParams = z.object({ uri: z.string() });
const NO_ARGUMENTS = { type: "object", properties: {} };
const ANONYMOUS = { bearer: null, remoteAddress: "" };

/**
 * Adds the fixtures of the official conformance suite to a surface, before its tools and resources. They use the same router, sessions and stateless
 * handler, so the suite tests these. Fixtures that send messages to the client exist only for MCP clients, not for plain JSON-RPC.
 */
export function withFixtures(surface: McpSurface, stateKey: string): McpService {
  const agentMethods = mcpMethods({ ...surface, templates: [template, ...surface.templates] });
  const states = createRequestStateCodec<number>({ key: stateKey });
  const seal: Seal = (round) => states.mint(round);
  const tools = (context?: ServerContext) =>
    context ? [...plainTools, ...contextTools(context), ...inputTools(context, seal)] : plainTools;
  const prompts = (context?: ServerContext) => (context ? [...plainPrompts, ...inputPrompts(context)] : plainPrompts);
  const agentList = async (method: string, key: string): Promise<readonly object[]> =>
    ((await agentMethods[method]?.({}, ANONYMOUS)) as Readonly<Record<string, readonly object[]>> | undefined)?.[key] ??
    [];

  const methods: Readonly<Record<string, McpMethod>> = {
    "tools/list": async (_params, _http, context) => ({
      tools: [
        ...tools(context).map((tool) => ({ inputSchema: NO_ARGUMENTS, ...descriptionOf(tool) })),
        ...(await agentList("tools/list", "tools")),
      ],
    }),
    "tools/call": (params, http, context) =>
      callFixture(tools(context), params) ?? agentMethods["tools/call"]?.(params, http),
    "resources/list": async () => ({
      resources: [
        ...resources.map(({ uri, mimeType }) => ({ uri, mimeType, name: uri, description: "A fixture" })),
        ...(await agentList("resources/list", "resources")),
      ],
    }),
    "resources/read": (params, http) => {
      const fixture = resources.find(({ uri }) => uri === ReadParams.safeParse(params).data?.uri);
      return fixture ? { contents: [fixture] } : agentMethods["resources/read"]?.(params, http);
    },
    "prompts/list": (_params, _http, context) => ({ prompts: prompts(context).map(descriptionOf) }),
    "prompts/get": (params, _http, context) => {
      const answer = callFixture(prompts(context), params);
      if (answer === undefined) throw rpcError(INVALID_PARAMS, "Unknown prompt");
      return answer;
    },
    "completion/complete": complete,
  };
  const isSubscribable = subscriptionCheck(surface);
  return {
    serverInfo: surface.serverInfo,
    instructions: surface.instructions,
    methods: { ...agentMethods, ...methods },
    direct: new Set([...plainTools.map(({ name }) => name), ...directTools(surface)]),
    isSubscribable: (uri) => isSubscribable(uri) || resources.some((fixture) => fixture.uri === uri),
    stateKey,
    options: {
      capabilities: { prompts: {}, completions: {}, logging: {} },
      requestState: { verify: states.verify },
    },
    eventStore,
  };
}

/** Returns the fields of a fixture that lists contain. */
const descriptionOf = <T extends Fixture<unknown>>({ call: _, ...rest }: T): Omit<T, "call"> => rest;

/** Calls the named fixture and returns its answer; undefined if no fixture has this name. */
function callFixture(fixtures: readonly Fixture<unknown>[], params: unknown): unknown {
  const request = CallParams.safeParse(params).data;
  return fixtures.find(({ name }) => name === request?.name)?.call(request?.arguments ?? {});
}

/** Creates the signed request state of a round, which clients cannot forge. */
type Seal = (round: number) => Promise<string>;

type Properties = ElicitRequestFormParams["requestedSchema"]["properties"];
type Answers = Readonly<Record<string, unknown>>;

const elicit = (message: string, properties: Properties) =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: "object", properties, required: Object.keys(properties) },
  });

const sample = (prompt: string) =>
  inputRequired.createMessage({
    messages: [{ role: "user", content: { type: "text", text: prompt } }],
    maxTokens: 100,
  });

const YOUR_NAME = elicit("What is your name?", { name: { type: "string" } });
const CONFIRM = elicit("Please confirm", { ok: { type: "boolean" } });

const DEFAULTS: Properties = {
  name: { type: "string", default: "John Doe" },
  age: { type: "integer", default: 30 },
  score: { type: "number", default: 95.5 },
  status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
  verified: { type: "boolean", default: true },
};

const OPTIONS = ["option1", "option2", "option3"];
const TITLED = OPTIONS.map((_, index) => ({ const: `value${index + 1}`, title: `Choice ${index + 1}` }));
const ENUMS: Properties = {
  untitledSingle: { type: "string", enum: OPTIONS },
  titledSingle: { type: "string", oneOf: TITLED },
  legacyEnum: {
    type: "string",
    enum: ["opt1", "opt2", "opt3"],
    enumNames: ["Option One", "Option Two", "Option Three"],
  },
  untitledMulti: { type: "array", items: { type: "string", enum: OPTIONS } },
  titledMulti: { type: "array", items: { anyOf: TITLED } },
};

/**
 * Asks the questions of each round in turn, repeats questions without an answer, and returns the result of `done` for the last answers. Clients of the
 * stateless revision send their answers with a repeated call; for clients with a session the SDK asks the questions. With `seal`, the number of the round
 * is sent as request state, and answers without this state are ignored.
 */
async function inRounds<T>(
  { mcpReq }: ServerContext,
  rounds: readonly InputRequests[],
  done: (answers: Answers) => T,
  seal?: Seal,
): Promise<T | InputRequiredResult> {
  const answers = mcpReq.inputResponses ?? {};
  const askedRound = seal ? (mcpReq.requestState<number>() ?? -1) : 0;
  const isAnswered = Object.keys(rounds[askedRound] ?? {}).every(
    (key) => inputResponse(answers, key).kind !== "missing",
  );
  const nextRound = isAnswered ? askedRound + 1 : askedRound;
  const inputRequests = rounds[nextRound];
  if (!inputRequests) return done(answers);
  return inputRequired({ inputRequests, ...(seal && { requestState: await seal(nextRound) }) });
}

const showAnswers = (answers: Answers) => text(`The client answered ${JSON.stringify(answers)}`);
const greet = (answers: Answers) => text(`Hello, ${acceptedContent(answers, "user_name")?.name ?? "player"}!`);
const stateOk = () => text("state-ok");
const argument = (name: string) => ({
  type: "object",
  properties: { [name]: { type: "string" } },
  required: [name],
});

/** Returns the tools that need input from the client, in sessions and in the stateless revision. */
function inputTools(context: ServerContext, seal: Seal): readonly ToolFixture[] {
  const questionTool = (
    name: string,
    rounds: readonly InputRequests[],
    done: (answers: Answers) => ReturnType<typeof text> = showAnswers,
    sealed?: Seal,
  ): ToolFixture => ({
    name,
    description: "Asks the client for input",
    call: () => inRounds(context, rounds, done, sealed),
  });
  const questionsOfAllKinds = {
    user_name: YOUR_NAME,
    greeting: sample("Generate a greeting"),
    client_roots: inputRequired.listRoots(),
  };
  const steps = [
    { step1: elicit("Step 1: What is your name?", { name: { type: "string" } }) },
    { step2: elicit("Step 2: What is your favorite color?", { color: { type: "string" } }) },
  ];
  return [
    {
      name: "test_sampling",
      description: "Asks the client's model to answer a prompt",
      inputSchema: argument("prompt"),
      call: ({ prompt }) => inRounds(context, [{ answer: sample(String(prompt)) }], showAnswers),
    },
    {
      name: "test_elicitation",
      description: "Asks the user for a name and an address",
      inputSchema: argument("message"),
      call: ({ message }) => {
        const user = elicit(String(message), { username: { type: "string" }, email: { type: "string" } });
        return inRounds(context, [{ user }], showAnswers);
      },
    },
    questionTool("test_elicitation_sep1034_defaults", [{ form: elicit("Please check these values", DEFAULTS) }]),
    questionTool("test_elicitation_sep1330_enums", [{ form: elicit("Please choose", ENUMS) }]),
    questionTool("test_missing_capability", [{ answer: sample("Are you there?") }]),
    questionTool("test_streaming_elicitation", [{ user_name: YOUR_NAME }], greet),
    questionTool("test_input_required_result_elicitation", [{ user_name: YOUR_NAME }], greet),
    questionTool("test_input_required_result_sampling", [
      { capital_question: sample("What is the capital of France?") },
    ]),
    questionTool("test_input_required_result_list_roots", [{ client_roots: inputRequired.listRoots() }]),
    questionTool("test_input_required_result_request_state", [{ confirm: CONFIRM }], stateOk, seal),
    questionTool("test_input_required_result_tampered_state", [{ confirm: CONFIRM }], stateOk, seal),
    questionTool("test_input_required_result_multiple_inputs", [questionsOfAllKinds], showAnswers, seal),
    questionTool("test_input_required_result_multi_round", steps, showAnswers, seal),
    questionTool("test_input_required_result_capabilities", supportedQuestions(context)),
  ];
}

/** Returns one round of the questions that the client can answer by its declared capabilities. */
function supportedQuestions({ mcpReq }: ServerContext): readonly InputRequests[] {
  const envelope: { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } = mcpReq.envelope ?? {};
  const declared = envelope[CLIENT_CAPABILITIES_META_KEY];
  const questions = {
    ...(declared?.sampling && { greeting: sample("Generate a greeting") }),
    ...(declared?.elicitation && { user_name: YOUR_NAME }),
  };
  return Object.keys(questions).length === 0 ? [] : [questions];
}

/** Returns the prompt that needs input from the client. */
const inputPrompts = (context: ServerContext): readonly PromptFixture[] => [
  {
    name: "test_input_required_result_prompt",
    description: "Asks the client for the prompt's context",
    call: () => {
      const question = elicit("What context should the prompt use?", { context: { type: "string" } });
      return inRounds(context, [{ user_context: question }], (answers) => ({
        messages: [userMessage(`Use this context: ${acceptedContent(answers, "user_context")?.context ?? "none"}`)],
      }));
    },
  },
];

/** A PNG image of one red pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
/** A WAV file without samples. */
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const IMAGE = { type: "image" as const, data: PNG, mimeType: "image/png" };
const AUDIO = { type: "audio" as const, data: WAV, mimeType: "audio/wav" };

/** The resources that the suite reads. */
const resources = [
  {
    uri: "test://static-text",
    mimeType: "text/plain",
    text: "This is the content of the static text resource.",
  },
  { uri: "test://static-binary", mimeType: "image/png", blob: PNG },
  { uri: "test://watched-resource", mimeType: "text/plain", text: "This resource never changes." },
] as const;

/** A resource template. The surface matches it as it matches its own templates. */
const template: ResourceTemplate = {
  uriTemplate: "test://template/{id}/data",
  name: "template",
  description: "A fixture",
  read: ({ id }) => ({ id, templateTest: true, data: `Data for ID: ${id}` }),
};

interface PromptFixture extends Fixture<GetPromptResult | InputRequiredResult> {
  readonly arguments?: readonly { readonly name: string; readonly description: string; readonly required: true }[];
}

type PromptMessage = GetPromptResult["messages"][number];

/** Returns a message of a prompt. */
const userMessage = (text: string): PromptMessage => ({ role: "user", content: { type: "text", text } });

const required = (name: string, description: string) => ({ name, description, required: true as const });

/** Prompts that need no input from the client except their arguments. */
const plainPrompts: readonly PromptFixture[] = [
  {
    name: "test_simple_prompt",
    description: "A prompt without arguments",
    call: () => ({ messages: [userMessage("This is a simple prompt for testing.")] }),
  },
  {
    name: "test_prompt_with_arguments",
    description: "A prompt that shows its arguments",
    arguments: [required("arg1", "First test argument"), required("arg2", "Second test argument")],
    call: ({ arg1, arg2 }) => ({ messages: [userMessage(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] }),
  },
  {
    name: "test_prompt_with_embedded_resource",
    description: "A prompt with a resource",
    arguments: [required("resourceUri", "URI of the resource to embed")],
    call: ({ resourceUri }) => ({
      messages: [
        {
          role: "user",
          content: {
            type: "resource",
            resource: {
              uri: String(resourceUri),
              mimeType: "text/plain",
              text: "Embedded resource content for testing.",
            },
          },
        },
        userMessage("Please process the embedded resource above."),
      ],
    }),
  },
  {
    name: "test_prompt_with_image",
    description: "A prompt with an image",
    call: () => ({ messages: [{ role: "user", content: IMAGE }, userMessage("Please analyze the image above.")] }),
  },
];

const CompletionParams = z.object({ argument: z.object({ value: z.string() }) });

/** Answers `completion/complete` with the same values for every argument. */
function complete(params: unknown): object {
  const prefix = CompletionParams.safeParse(params).data?.argument.value ?? "";
  const values = ["paris", "park", "party"].filter((word) => word.startsWith(prefix));
  return { completion: { values, total: values.length, hasMore: false } };
}

/** Creates a store of the events of one session, for clients that reconnect to a stream. */
function eventStore(): EventStore {
  const events: { readonly streamId: string; readonly message: JSONRPCMessage }[] = [];
  return {
    storeEvent: async (streamId, message) => String(events.push({ streamId, message })),
    async replayEventsAfter(lastEventId, { send }) {
      const lastSeen = Number(lastEventId);
      const streamId = events[lastSeen - 1]?.streamId;
      if (streamId === undefined) throw new Error(`unknown event ${lastEventId}`);
      for (const [index, event] of events.entries()) {
        if (index >= lastSeen && event.streamId === streamId) await send(String(index + 1), event.message);
      }
      return streamId;
    },
  };
}

/** A tool or prompt that the suite calls by name. */
interface Fixture<Answer> {
  readonly name: string;
  readonly description: string;
  call(args: Readonly<Record<string, unknown>>): Answer | Promise<Answer>;
}

interface ToolFixture extends Fixture<CallToolResult | InputRequiredResult> {
  /** The JSON Schema of the arguments. A tool without it has no arguments. */
  readonly inputSchema?: object;
}

const STEP_MS = 50;

/** Returns a tool result with one text. */
const text = (text: string): CallToolResult => ({ content: [{ type: "text", text }] });

/** A schema whose keywords must all appear in the answer to tools/list (SEP-1613, SEP-2106). */
const everyKeyword = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema; this object is never awaited
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

/** Tools that need no input from the client. */
const plainTools: readonly ToolFixture[] = [
  {
    name: "test_simple_text",
    description: "Answers with text",
    call: () => text("This is a simple text response for testing."),
  },
  {
    name: "test_image_content",
    description: "Answers with an image",
    call: () => ({ content: [IMAGE] }),
  },
  {
    name: "test_audio_content",
    description: "Answers with audio",
    call: () => ({ content: [AUDIO] }),
  },
  {
    name: "test_embedded_resource",
    description: "Answers with a resource",
    call: () => ({
      content: [
        {
          type: "resource",
          resource: {
            uri: "test://embedded-resource",
            mimeType: "text/plain",
            text: "This is an embedded resource content.",
          },
        },
      ],
    }),
  },
  {
    name: "test_multiple_content_types",
    description: "Answers with text, an image and a resource",
    call: () => ({
      content: [
        { type: "text", text: "Multiple content types test:" },
        IMAGE,
        {
          type: "resource",
          resource: {
            uri: "test://mixed-content-resource",
            mimeType: "application/json",
            text: JSON.stringify({ test: "data", value: 123 }),
          },
        },
      ],
    }),
  },
  {
    name: "test_error_handling",
    description: "Always fails",
    call: () => ({ ...text("This tool intentionally returns an error for testing"), isError: true }),
  },
  {
    name: "json_schema_2020_12_tool",
    description: "Answers with its arguments",
    inputSchema: everyKeyword,
    call: (args) => text(JSON.stringify(args)),
  },
];

/** Returns the tools that send notifications to the client before they answer. */
function contextTools({ mcpReq, http }: ServerContext): readonly ToolFixture[] {
  const report = async (progress: number): Promise<void> => {
    const progressToken = mcpReq._meta?.progressToken;
    if (progressToken === undefined) return;
    await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
  };
  return [
    {
      name: "test_tool_with_logging",
      description: "Logs three lines",
      async call() {
        await mcpReq.log("info", "Tool execution started");
        await wait(STEP_MS);
        await mcpReq.log("info", "Tool processing data");
        await wait(STEP_MS);
        await mcpReq.log("info", "Tool execution completed");
        return text("Logged three lines");
      },
    },
    {
      name: "test_logging_tool",
      description: "Logs one line, if the request has set a level",
      async call() {
        await mcpReq.log("info", "A log message");
        return text("Logged one line if the request has set a level");
      },
    },
    {
      name: "test_tool_with_progress",
      description: "Reports its progress three times",
      async call() {
        for (const progress of [0, 50, 100]) {
          await report(progress);
          await wait(STEP_MS);
        }
        return text("Done");
      },
    },
    {
      name: "test_reconnection",
      description: "Closes its stream before it answers; the client must reconnect for the answer (SEP-1699)",
      async call() {
        http?.closeSSE?.();
        await wait(STEP_MS);
        return text("Reconnection test completed successfully");
      },
    },
  ];
}
