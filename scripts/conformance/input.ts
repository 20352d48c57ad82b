import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type ElicitRequestFormParams,
  type InputRequests,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { type PromptFixture, says } from "./content.ts";
import { type ToolFixture, text } from "./tools.ts";

/** Makes the request state of a round, which no client can forge. */
export type Seal = (round: number) => Promise<string>;

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
 * Puts the questions of one round after the other, once more those that are not answered, then shows the last answers. A client
 * of the stateless era brings its answers with a retry, for one in a session the SDK asks itself. With a seal the round travels
 * as request state, and answers without it count for nothing.
 */
async function inRounds<T>(
  { mcpReq }: ServerContext,
  rounds: readonly InputRequests[],
  done: (answers: Answers) => T,
  seal?: Seal,
): Promise<T | InputRequiredResult> {
  const answers = mcpReq.inputResponses ?? {};
  const asked = seal ? (mcpReq.requestState<number>() ?? -1) : 0;
  const isAnswered = Object.keys(rounds[asked] ?? {}).every((key) => inputResponse(answers, key).kind !== "missing");
  const next = isAnswered ? asked + 1 : asked;
  const inputRequests = rounds[next];
  if (!inputRequests) return done(answers);
  return inputRequired({ inputRequests, ...(seal && { requestState: await seal(next) }) });
}

const shown = (answers: Answers) => text(`The client answered ${JSON.stringify(answers)}`);
const greeted = (answers: Answers) => text(`Hello, ${acceptedContent(answers, "user_name")?.name ?? "stranger"}!`);
const stateOk = () => text("state-ok");
const argument = (name: string) => ({
  type: "object",
  properties: { [name]: { type: "string" } },
  required: [name],
});

/** Tools of both eras that need the client's input. */
export function inputTools(context: ServerContext, seal: Seal): readonly ToolFixture[] {
  const asks = (
    name: string,
    rounds: readonly InputRequests[],
    done: (answers: Answers) => ReturnType<typeof text> = shown,
    sealed?: Seal,
  ): ToolFixture => ({
    name,
    description: "Asks the client for input",
    call: () => inRounds(context, rounds, done, sealed),
  });
  const everything = {
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
      description: "Lets the client's model answer a prompt",
      inputSchema: argument("prompt"),
      call: ({ prompt }) => inRounds(context, [{ answer: sample(String(prompt)) }], shown),
    },
    {
      name: "test_elicitation",
      description: "Asks the user for a name and an address",
      inputSchema: argument("message"),
      call: ({ message }) => {
        const user = elicit(String(message), { username: { type: "string" }, email: { type: "string" } });
        return inRounds(context, [{ user }], shown);
      },
    },
    asks("test_elicitation_sep1034_defaults", [{ form: elicit("Please check these values", DEFAULTS) }]),
    asks("test_elicitation_sep1330_enums", [{ form: elicit("Please choose", ENUMS) }]),
    asks("test_missing_capability", [{ answer: sample("Are you there?") }]),
    asks("test_streaming_elicitation", [{ user_name: YOUR_NAME }], greeted),
    asks("test_input_required_result_elicitation", [{ user_name: YOUR_NAME }], greeted),
    asks("test_input_required_result_sampling", [{ capital_question: sample("What is the capital of France?") }]),
    asks("test_input_required_result_list_roots", [{ client_roots: inputRequired.listRoots() }]),
    asks("test_input_required_result_request_state", [{ confirm: CONFIRM }], stateOk, seal),
    asks("test_input_required_result_tampered_state", [{ confirm: CONFIRM }], stateOk, seal),
    asks("test_input_required_result_multiple_inputs", [everything], shown, seal),
    asks("test_input_required_result_multi_round", steps, shown, seal),
    asks("test_input_required_result_capabilities", allowed(context)),
  ];
}

/** One round of the questions that the client has said it can answer. */
function allowed({ mcpReq }: ServerContext): readonly InputRequests[] {
  const envelope: { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities } = mcpReq.envelope ?? {};
  const declared = envelope[CLIENT_CAPABILITIES_META_KEY];
  const questions = {
    ...(declared?.sampling && { greeting: sample("Generate a greeting") }),
    ...(declared?.elicitation && { user_name: YOUR_NAME }),
  };
  return Object.keys(questions).length === 0 ? [] : [questions];
}

/** The prompt that needs the client's input. */
export const inputPrompts = (context: ServerContext): readonly PromptFixture[] => [
  {
    name: "test_input_required_result_prompt",
    description: "Asks the client for the prompt's context",
    call: () => {
      const question = elicit("What context should the prompt use?", { context: { type: "string" } });
      return inRounds(context, [{ user_context: question }], (answers) => ({
        messages: [says(`Use this context: ${acceptedContent(answers, "user_context")?.context ?? "none"}`)],
      }));
    },
  },
];
