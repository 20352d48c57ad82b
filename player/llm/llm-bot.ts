import { readFileSync } from "node:fs";
import { basename } from "node:path";
import type { Game, Role } from "#shared/games/game.ts";
import { listName, wordOf } from "#shared/games/move-text.ts";
import { findGame, knownGameIds } from "#shared/games/registry.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { err, ok, type Result } from "#shared/lib/result.ts";
import { faultLine } from "#shared/lib/schema-messages.ts";
import { inOneLine, parsedJson } from "#shared/lib/text.ts";
import type { GameResult } from "#shared/protocol/messages.ts";
import type { AnswerFormat } from "#shared/rpc/llm/answer-format.ts";
import {
  type ChatMessage,
  type Completed,
  type Completion,
  Completions,
  completionOf,
} from "#shared/rpc/llm/completions.ts";
import { DEFAULT_KEY_VARIABLE, LlmSettings } from "#shared/runtime/config/llm.ts";
import { EXIT, fileFault, StartError } from "#shared/runtime/process/exit.ts";
import { VERSION } from "#shared/runtime/program.ts";
import { type BotHome, type LoadedBot, LoggedFault } from "../loaded-bot.ts";
import type { BotObject, MatchInfo, Turn } from "../sdk.ts";
import { actionIn } from "./answer.ts";
import {
  type Answered,
  type LlmFault,
  type LlmRecord,
  matchRecordsIn,
  Recorder,
  totalsLine,
  totalsOf,
} from "./records.ts";

/** Begins the text that selects a language model as a bot. */
export const LLM_PREFIX = "llm:";

/** The texts that select a language model, for messages. */
export const LLM_FORMS = "llm:URL#MODEL or llm:SETTINGS.json";

/** The text that selects a model of a config as a bot. It contains no secrets, because process lists show it. */
export const llmSpec = (settings: LlmSettings): string => `${LLM_PREFIX}${JSON.stringify(settings)}`;

/** Returns the API key in the environment; null if there is none. Throws StartError if the settings name a variable that is not set. */
function apiKeyOf({ api_key_env }: LlmSettings, environment: NodeJS.ProcessEnv): string | null {
  const key = environment[api_key_env ?? DEFAULT_KEY_VARIABLE]?.trim() || null;
  if (key === null && api_key_env !== undefined)
    throw new StartError(`${api_key_env} is not set in the environment`, EXIT.config);
  return key;
}

/** A language model as a bot. `spec` is `llm:URL#MODEL`, `llm:` and the path of a JSON file of settings, or the text of `llmSpec`. */
export async function llmBot(spec: string, clock: Clock, home: BotHome): Promise<LoadedBot> {
  const settings = settingsIn(spec.slice(LLM_PREFIX.length).trim());
  const { base_url, model, temperature, answer, extra } = settings;
  const completions = new Completions({
    url: base_url,
    model,
    key: apiKeyOf(settings, process.env),
    clock,
    repeatsRefused: true,
    mode: answer === "auto" ? null : answer,
    extra: { ...(temperature !== undefined && { temperature }), ...extra },
  });
  const spending = new Spending();
  let hasBegun = false;
  const recordsOf = (): readonly LlmRecord[] => matchRecordsIn(home.recordsFolder()).flatMap(({ records }) => records);
  const record = (info: MatchInfo, system: string): Recorder => {
    // The requests of a process before this one count towards the budget.
    if (!hasBegun) for (const one of recordsOf()) spending.add(one);
    hasBegun = true;
    const facts = { package_version: VERSION, prompt_version: PROMPT_VERSION };
    return new Recorder(
      home.recordsFolder(),
      { type: "begin", at: clock.iso(), ...beginOf(info), model, ...facts, system },
      { format: "agent-league.llm.v1", ...facts, settings },
    );
  };
  return {
    name: `llm:${basename(model)}`,
    hash: sha256Hex(JSON.stringify([settings, PROMPT_VERSION])),
    // A prompt is the text of the game, so the model plays the games that this process knows.
    games: knownGameIds(),
    readsHistory: false,
    create: () => new LlmPlayer({ settings, completions, spending, clock, record }),
    async close() {
      await completions.close();
      if (hasBegun) home.say(`${totalsLine(totalsOf(recordsOf()))}; records in ${home.recordsFolder()}`);
    },
  };
}

const beginOf = ({ leagueId, matchId, epoch, game, options, role, roles, seedCommitment }: MatchInfo) => ({
  league_id: leagueId,
  match_id: matchId,
  epoch,
  game,
  options,
  role,
  player_id: roles[role] ?? "",
  seed_commitment: seedCommitment,
});

function settingsIn(text: string): LlmSettings {
  const isFile = !/^https?:|^\{/.test(text);
  const value = text.startsWith("{") ? parsedJson(text) : isFile ? fileContent(text) : settingsOfUrl(text);
  const parsed = LlmSettings.safeParse(value);
  if (parsed.success) return parsed.data;
  const from = isFile ? `${text}: ` : `${LLM_PREFIX} `;
  throw new StartError(inOneLine(`${from}${parsed.error.issues.map(faultLine).join("; ")}`), EXIT.config);
}

/** Returns the settings of `URL#MODEL`. A model may contain "#". */
function settingsOfUrl(text: string): object {
  const at = text.indexOf("#");
  if (at < 0 || at === text.length - 1) {
    throw new StartError(
      `${LLM_PREFIX}${text} names no model, e.g. llm:http://127.0.0.1:11434/v1#llama3.2`,
      EXIT.config,
    );
  }
  return { base_url: text.slice(0, at), model: text.slice(at + 1) };
}

function fileContent(file: string): unknown {
  if (file === "") throw new StartError(`${LLM_PREFIX} names no model: use ${LLM_FORMS}`, EXIT.config);
  try {
    const value = parsedJson(readFileSync(file, "utf8"));
    if (value !== undefined) return value;
  } catch (thrown) {
    throw new StartError(fileFault(thrown) ?? `${file} cannot be read`, EXIT.config);
  }
  throw new StartError(`${file} is not JSON: it has the settings of a language model (docs/bots.md)`, EXIT.config);
}

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
class LlmPlayer implements BotObject {
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
        type: "answer",
        at: clock.iso(),
        tick: open.tick,
        attempt: open.answers,
        prompt,
        seed,
        mode: completions.mode,
        answer,
        ...more,
        ...usage,
        requests: completed?.requests ?? 0,
        latency_ms: completed?.latencyMs ?? 0,
        answered_by: completion?.model ?? null,
        system_fingerprint: completion?.fingerprint ?? null,
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

/** The parts that all matches of a player share. */
interface LlmResources {
  readonly settings: LlmSettings;
  readonly completions: Completions;
  readonly spending: Spending;
  readonly clock: Clock;
  /** Opens the record of a match. Throws an error of the file system if it cannot be written. */
  record(info: MatchInfo, system: string): Recorder;
}

/** The version of the texts of the prompts. Raise it with each change of a text or of the format, because records name the version of their prompts. */
const PROMPT_VERSION = 1;

/** The schema is the same for every turn and game, because endpoints compile each schema, which takes seconds. */
const ANSWER_FORMAT: AnswerFormat = {
  name: "play",
  description: "Plays an action in the match.",
  schema: {
    type: "object",
    properties: {
      reason: { type: "string", description: "why, in at most two sentences" },
      action: { type: "string", description: "the action, as it is written in the list of legal moves" },
    },
    required: ["reason", "action"],
    additionalProperties: false,
  },
};

const FORM = '{"reason": "why, in at most two sentences", "action": "the action"}';

/** The maximum number of legal actions in a prompt. A chess position has at most 218. */
const MAX_LISTED = 250;

/** Returns the first prompt of every turn of a match. */
const systemPrompt = ({ info }: Game, options: unknown, role: Role): string =>
  [
    `You play a match of ${info.name} as the role ${role}. Play to win.`,
    `Rules: ${info.rules}`,
    `Options of this match: ${JSON.stringify(options)}`,
    `Answer with one JSON object and nothing else: ${FORM}`,
  ].join("\n\n");

/** Returns the prompt of a turn. It is computed from the view of the role alone. */
function turnPrompt(game: Game, view: unknown, role: Role, legal: readonly unknown[]): string {
  const listed = legal.slice(0, MAX_LISTED).map((action) => wordOf(action, game));
  const more = legal.length > MAX_LISTED ? `, and ${legal.length - MAX_LISTED} more, in the form of the rules` : "";
  return `${game.toText(view, role)}\n\n${listName(game)}: ${listed.join(", ")}${more}\n\nChoose the action of ${role}.`;
}

/** Returns the prompt after an answer that was not accepted. */
const retryPrompt = (reason: string): string =>
  `Your answer was not accepted: ${reason}. Answer with one JSON object and nothing else: ${FORM}`;

type Usage = Pick<Answered, "tokens_in" | "tokens_out" | "is_estimated" | "cost">;

/** A rough average for English text. */
const CHARACTERS_PER_TOKEN = 4;
const PRICED_TOKENS = 1_000_000;

/** Returns the tokens and the cost of an answer; zero without an answer. */
function usageOf(
  messages: readonly ChatMessage[],
  completion: Completion | null,
  price: LlmSettings["price"] | null,
): Usage {
  const estimate = (texts: readonly string[]): number => Math.ceil(texts.join("").length / CHARACTERS_PER_TOKEN);
  const counted = completion?.usage ?? null;
  const tokens_in = counted?.tokensIn ?? (completion ? estimate(messages.map(({ content }) => content)) : 0);
  const tokens_out = counted?.tokensOut ?? (completion ? estimate([completion.text]) : 0);
  const cost = price ? (tokens_in * price.input + tokens_out * price.output) / PRICED_TOKENS : null;
  return { tokens_in, tokens_out, is_estimated: completion !== null && counted === null, cost };
}

/** The sum of the costs and tokens of a player. */
class Spending {
  #cost = 0;
  #tokens = 0;

  add(record: LlmRecord): void {
    if (record.type !== "answer") return;
    this.#cost += record.cost ?? 0;
    this.#tokens += record.tokens_in + record.tokens_out;
  }

  /** Returns the reason why the budget is spent; null if it is not. Requests under way when it is spent can exceed it. */
  faultOf(budget: LlmSettings["budget"]): string | null {
    if (budget?.cost !== undefined && this.#cost >= budget.cost) return `cost ${this.#cost} of ${budget.cost}`;
    if (budget?.tokens !== undefined && this.#tokens >= budget.tokens)
      return `${this.#tokens} of ${budget.tokens} tokens`;
    return null;
  }
}
