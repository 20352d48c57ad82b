import { z } from "zod";
import { err, messageOf, ok, type Result } from "../../lib/result.ts";
import { parsedJson } from "../../lib/text.ts";
import { codeOf, connectionFault } from "../peer/connection-fault.ts";
import type { Completed } from "./completions.ts";
import type { Reply } from "./http-post.ts";

/** The content of a chat completion. */
export interface Completion {
  /** The text of the answer, or the arguments of its tool call; empty if there is neither. It may contain the key: mask it before it is shown or stored. */
  readonly text: string;
  /** The reason that the model gives for not answering; null if it gives none. */
  readonly refusal: string | null;
  /** Whether the answer ends at the limit of tokens. */
  readonly isCutOff: boolean;
  /** null if the endpoint does not count tokens. */
  readonly usage: { readonly tokensIn: number; readonly tokensOut: number } | null;
  /** The name of the model as the endpoint reports it. */
  readonly model: string | null;
  /** The version of the endpoint's system, with which a seed is repeatable. */
  readonly fingerprint: string | null;
}

/** The reasons why a request has no completion. */
export const completionFaults = [
  "timeout",
  "connection",
  "rate_limited",
  "server_error",
  "wrong_key",
  "unknown_model",
  "rejected_request",
  "bad_completion",
] as const;

export interface CompletionFault {
  readonly cause: (typeof completionFaults)[number];
  /** For everyone: without addresses, and without texts of the endpoint, which may name accounts. */
  readonly detail: string;
  /** For the operator of this process: the message of the endpoint or of the system. */
  readonly message: string;
}

const Part = z.object({ text: z.string().optional() });
const Tokens = z.int().min(0);
const Body = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({
          content: z.union([z.string(), z.array(Part)]).nullish(),
          refusal: z.string().nullish(),
          // Some servers take an answer for reasoning, so that its content is empty.
          reasoning_content: z.string().nullish().catch(null),
          // The API defines JSON text. Some servers send the object itself.
          tool_calls: z
            .array(z.object({ function: z.object({ arguments: z.union([z.string(), z.looseObject({})]) }).optional() }))
            .nullish(),
        }),
        finish_reason: z.string().nullish(),
      }),
    )
    .min(1),
  usage: z.object({ prompt_tokens: Tokens, completion_tokens: Tokens }).nullish().catch(null),
  model: z.string().nullish().catch(null),
  system_fingerprint: z.string().nullish().catch(null),
});
const ErrorBody = z.object({
  error: z.union([z.string(), z.object({ message: z.string(), code: z.unknown().optional() })]),
});

/** Masks the key in a text of the endpoint. */
type Mask = (text: string) => string;

/** Returns the completion of a request, or the reason why it has none. All texts except that of the answer are masked. */
export function completionOf(completed: Completed, mask: Mask): Result<Completion, CompletionFault> {
  const found = "thrown" in completed ? err(connectionFaultOf(completed.thrown)) : completionIn(completed.reply);
  if (!found.ok) return err({ ...found.error, message: mask(found.error.message) });
  const { refusal, model, fingerprint } = found.value;
  const masked = (text: string | null): string | null => text && mask(text);
  return ok({ ...found.value, refusal: masked(refusal), model: masked(model), fingerprint: masked(fingerprint) });
}

function completionIn(reply: Reply): Result<Completion, CompletionFault> {
  if (reply.status !== 200) return err(httpFault(reply));
  const value = parsedJson(reply.text);
  const parsed = Body.safeParse(value);
  if (parsed.success) return ok(contentOf(parsed.data));
  // Some proxies of several providers report the failure of a provider with status 200.
  const error = ErrorBody.safeParse(value).data?.error;
  const status = typeof error === "object" && typeof error.code === "number" ? error.code : 200;
  if (status >= 400) return err(httpFault({ ...reply, status }));
  return err({
    cause: "bad_completion",
    detail: "the response is not a chat completion",
    message: errorTextIn(reply.text),
  });
}

function contentOf({ choices, usage, model, system_fingerprint }: z.infer<typeof Body>): Completion {
  const [choice] = choices;
  const { content, refusal, tool_calls, reasoning_content } = choice?.message ?? {};
  const text = typeof content === "string" ? content : (content ?? []).map((part) => part.text ?? "").join("");
  // Some models write their reasoning before the answer.
  const written = text.replace(/^\s*<think>[\s\S]*?<\/think>/, "").trim();
  const call = tool_calls?.find((one) => one.function)?.function;
  return {
    text: (call && argumentsText(call.arguments)) || written || objectText(reasoning_content ?? ""),
    refusal: refusal || (choice?.finish_reason === "content_filter" ? "the content filter ended the answer" : null),
    isCutOff: choice?.finish_reason === "length",
    usage: usage ? { tokensIn: usage.prompt_tokens, tokensOut: usage.completion_tokens } : null,
    model: model ?? null,
    fingerprint: system_fingerprint ?? null,
  };
}

/** Returns a text that is one JSON object; empty for any other text, because reasoning also names what is not chosen. */
const objectText = (text: string): string => (z.looseObject({}).safeParse(parsedJson(text)).success ? text.trim() : "");

/** Returns the arguments of a tool call as JSON text. Some servers send the JSON text of that text. */
function argumentsText(given: string | object): string {
  const value = typeof given === "string" ? parsedJson(given) : given;
  if (typeof value === "string") return value.trim();
  return typeof given === "string" ? given.trim() : JSON.stringify(given);
}

function connectionFaultOf(thrown: unknown): CompletionFault {
  const isTimeout = thrown instanceof Error && ["AbortError", "TimeoutError"].includes(thrown.name);
  const message = messageOf(thrown) || codeOf(thrown) || "no connection";
  if (isTimeout) return { cause: "timeout", detail: "the model did not answer in time", message };
  return { cause: "connection", detail: `no connection to the endpoint: ${connectionFault(thrown).detail}`, message };
}

/** Returns the fault of a reply with a status other than 200. */
function httpFault({ status, retryAfter, text }: Reply): CompletionFault {
  const message = `HTTP ${status}${errorTextIn(text) && `: ${errorTextIn(text)}`}`;
  const fault = (cause: CompletionFault["cause"], what: string): CompletionFault => ({
    cause,
    detail: `the endpoint ${what} (HTTP ${status})`,
    message,
  });
  const wait =
    retryAfter === null ? "" : ` and asks to wait ${/^\d+$/.test(retryAfter) ? `${retryAfter} s` : "longer"}`;
  if (status === 429) return fault("rate_limited", `is busy${wait}`);
  if (status >= 500) return fault("server_error", "failed");
  if (status === 401 || status === 403) return fault("wrong_key", "rejects the API key");
  if (status === 404) return fault("unknown_model", "does not know the model or the address");
  return fault("rejected_request", "rejected the request");
}

/** Returns the error message in the body of a reply; empty if there is none. */
function errorTextIn(text: string): string {
  const error = ErrorBody.safeParse(parsedJson(text)).data?.error ?? "";
  return typeof error === "string" ? error : error.message;
}
