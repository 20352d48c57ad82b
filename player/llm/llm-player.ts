import { findGame } from "#shared/games/registry.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { inOneLine } from "#shared/lib/text.ts";
import type { GameResult } from "#shared/protocol/messages.ts";
import { type ChatMessage, type Completed, type Completion, completionOf } from "#shared/rpc/llm/completions.ts";
import { fileFault } from "#shared/runtime/process/exit.ts";
import { LoggedFault } from "../loaded-bot.ts";
import type { BotObject, MatchInfo, Turn } from "../sdk.ts";
import { actionIn } from "./answer.ts";
import { ANSWER_FORMAT, retryPrompt, systemPrompt, turnPrompt } from "./prompt.ts";
import type { Recorder } from "./recorder.ts";
import type { Answered, LlmFault } from "./records.ts";
import type { LlmResources } from "./resources.ts";
import { usageOf } from "./spending.ts";

/** The number of answers that a model may give in one turn. */
const MAX_ANSWERS = 3;
/** The part of the time limit that is left for the answer to the referee. */
const RESERVE_SHARE = 0.1;
const MAX_RESERVE_MS = 500;
const MAX_SEED = 2 ** 31 - 1;

/** Faults after which another request in the same turn can succeed. */
const TRANSIENT: ReadonlySet<LlmFault["cause"]> = new Set([
  "connection",
  "rate_limited",
  "server_error",
  "bad_completion",
]);

/** The turn that is being played. */
interface OpenTurn {
  readonly tick: number;
  readonly messages: ChatMessage[];
  /** The number of answers of the model. */
  answers: number;
  /** The last answer, if its action was sent to the referee. */
  sent: string | null;
  /** The fault that ends the turn; null while the model can be asked. */
  fault: LlmFault | null;
}

/** Plays one match with a language model. It never sends an action that the model has not chosen. */
export class LlmPlayer implements BotObject {
  readonly #resources: LlmResources;
  #info: MatchInfo | null = null;
  #recorder: Recorder | null = null;
  #open: OpenTurn | null = null;

  constructor(resources: LlmResources) {
    this.#resources = resources;
  }

  start(info: MatchInfo): void {
    this.#info = info;
    const game = findGame(info.game);
    const system = game ? systemPrompt(game, info.options, info.role) : "";
    this.#recorder = this.#resources.record(info, system);
  }

  /** Resolves with an action that the model has chosen. Rejects with LoggedFault if it chooses none within the time limit. */
  async choose(turn: Turn): Promise<unknown> {
    const open = this.#turnOf(turn);
    try {
      if (turn.rejection !== null && open.sent !== null) this.#reject(open, turn, turn.rejection);
      while (open.fault === null) {
        const asked = await this.#ask(open, turn);
        if (asked.ok) return asked.value;
        this.#log(turn, asked.error);
        const isTransient = TRANSIENT.has(asked.error.cause);
        if (isTransient) throw new LoggedFault(publicText(asked.error));
        if (!isAnswerFault(asked.error) || open.answers >= MAX_ANSWERS) open.fault = asked.error;
      }
    } catch (thrown) {
      const fault = fileFault(thrown);
      if (fault === null) throw thrown;
      open.fault = { cause: "no_record", detail: "the record of the match cannot be written", message: fault };
      this.#log(turn, open.fault);
    }
    throw new LoggedFault(publicText(open.fault));
  }

  end({ seed, winner, termination, reason: unmasked }: GameResult): void {
    const { clock, completions } = this.#resources;
    const reason = completions.masked(unmasked);
    this.#recorder?.end({ type: "end", at: clock.iso(), seed, winner, termination, reason });
  }

  #turnOf(turn: Turn): OpenTurn {
    if (this.#open?.tick === turn.tick) return this.#open;
    const { game, messages } = { game: findGame(turn.game), messages: [] as ChatMessage[] };
    if (!game || !this.#info) throw new Error("the match has not begun");
    messages.push({ role: "system", content: systemPrompt(game, this.#info.options, turn.role) });
    messages.push({ role: "user", content: turnPrompt(game, turn.view, turn.role, turn.legal) });
    this.#open = { tick: turn.tick, messages, answers: 0, sent: null, fault: null };
    return this.#open;
  }

  /** Records that the referee has rejected the action of the last answer, and prepares another request. */
  #reject(open: OpenTurn, turn: Turn, unmasked: string): void {
    const reason = this.#resources.completions.masked(unmasked);
    const fault: LlmFault = { cause: "illegal_move", detail: reason, message: reason };
    this.#recorder?.add({ type: "rejected", at: this.#resources.clock.iso(), tick: open.tick, reason });
    this.#log(turn, fault);
    if (open.answers >= MAX_ANSWERS) open.fault = fault;
    else askAgain(open, open.sent ?? "", reason);
    open.sent = null;
  }

  /** Sends one request and records its answer. */
  async #ask(open: OpenTurn, turn: Turn): Promise<Result<unknown, LlmFault>> {
    const { clock, settings, completions, spending } = this.#resources;
    const recorder = this.#recorder;
    const masked = (text: string): string => completions.masked(text);
    if (!recorder) return err({ cause: "no_record", detail: "the record of the match cannot be written", message: "" });
    const seed = turn.random.int(0, MAX_SEED);
    const remainingMs = turn.clock.remainingMs();
    const limitMs = remainingMs - Math.min(MAX_RESERVE_MS, remainingMs * RESERVE_SHARE);
    const endsAtMs = clock.monotonic() + limitMs;
    const record = (completed: Completed | null, completion: Completion | null, more: Outcome): void => {
      const prompt = masked(open.messages.at(-1)?.content ?? "");
      const answer = completion && masked(completion.text);
      const usage = usageOf(open.messages, completion, settings.price ?? null);
      const answered: Answered = {
        ...{ type: "answer", at: clock.iso(), tick: open.tick, attempt: open.answers, prompt, seed },
        ...{ mode: completions.mode, answer, ...more, ...usage },
        ...{ requests: completed?.requests ?? 0, latency_ms: completed?.latencyMs ?? 0 },
        ...{ answered_by: completion?.model ?? null, system_fingerprint: completion?.fingerprint ?? null },
      };
      spending.add(answered);
      recorder.add(answered);
    };
    const unanswered = (fault: LlmFault, completed: Completed | null = null): Result<unknown, LlmFault> => {
      record(completed, null, { fault });
      return err(fault);
    };

    const spent = spending.faultOf(settings.budget);
    if (spent !== null) return unanswered({ cause: "budget", detail: "the budget is spent", message: spent });
    if (limitMs <= 0) return unanswered(TOO_LATE);
    const completed = await completions.request(
      { messages: open.messages, maxTokens: settings.max_tokens, format: ANSWER_FORMAT, seed },
      {
        signal: AbortSignal.any([turn.signal, clock.timeout(Math.ceil(limitMs))]),
        remainingMs: () => endsAtMs - clock.monotonic(),
        onRepeat: (reason, pauseMs) =>
          turn.log(`${this.#where()}: the endpoint ${reason}; repeating the request in ${pauseMs / 1000} s`),
      },
    );
    // The match is over, or the player stops: the model is not at fault.
    if (turn.signal.aborted && turn.clock.remainingMs() > 0)
      throw new LoggedFault("the turn ended before the model answered");
    const completion = completionOf(completed, masked);
    if (!completion.ok) return unanswered(completion.error, completed);
    open.answers++;
    const read = readIn(completion.value, turn, masked);
    if (read.ok) {
      open.sent = completion.value.text;
      record(completed, completion.value, { action: maskedIn(read.value, masked), fault: null });
      return read;
    }
    record(completed, completion.value, { fault: read.error });
    askAgain(open, completion.value.text, read.error.detail);
    return read;
  }

  #where(): string {
    return inOneLine(`${this.#info?.leagueId} ${this.#info?.matchId}`);
  }

  #log(turn: Turn, { cause, detail, message }: LlmFault): void {
    const more = message === "" || message === detail ? "" : ` (${message.slice(0, 300)})`;
    turn.log(inOneLine(`${this.#where()}: ${cause}: ${detail}${more}`));
  }
}

type Outcome = Pick<Answered, "fault" | "action">;
/** Masks the API key in a text. */
type Mask = (text: string) => string;

const TOO_LATE: LlmFault = { cause: "timeout", detail: "the time of the turn is over", message: "" };

/** Returns the text of a fault for the log of the match, with its cause for programs. */
const publicText = (fault: LlmFault | null): string => `LLM ${fault?.cause}: ${fault?.detail}`;

const isAnswerFault = ({ cause }: LlmFault): boolean =>
  cause === "refusal" || cause === "no_action" || cause === "truncated" || cause === "illegal_move";

/** Returns the action in an answer, or the fault. A view that the game cannot read is no fault of the model, so such an error is thrown. */
function readIn(completion: Completion, { game: id, view, role, legal }: Turn, mask: Mask): Result<unknown, LlmFault> {
  const game = findGame(id);
  if (!game) throw new Error(`unknown game ${id}`);
  const read = actionIn(completion, { game, view, role, legal, mask });
  if (read.ok) return ok(read.value);
  return err({ ...read.error, message: completion.refusal ?? "" });
}

/** Returns an action with its texts masked, for the record. The referee receives the action as it is. */
function maskedIn(value: unknown, mask: Mask): unknown {
  if (typeof value === "string") return mask(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((entry) => maskedIn(entry, mask));
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, maskedIn(field, mask)]));
}

/** Adds the last answer and the reason why it was not accepted to the messages. */
function askAgain({ messages }: OpenTurn, answer: string, reason: string): void {
  // Some endpoints accept no empty message.
  if (answer !== "") messages.push({ role: "assistant", content: answer });
  messages.push({ role: "user", content: retryPrompt(reason) });
}
