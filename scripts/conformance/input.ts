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
import { type PromptFixture, userMessage } from "./content.ts";
import { type ToolFixture, text } from "./tools.ts";

/** Creates the signed request state of a round, which clients cannot forge. */
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
export function inputTools(context: ServerContext, seal: Seal): readonly ToolFixture[] {
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
export const inputPrompts = (context: ServerContext): readonly PromptFixture[] => [
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
