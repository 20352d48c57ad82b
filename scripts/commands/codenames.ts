import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { styleText } from "node:util";
import { z } from "zod";
import { type Clock, systemClock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { messageOf } from "#shared/lib/result.ts";
import { parseEndpoint } from "#shared/protocol/addresses.ts";
import type { CallerAnswer, CallerQuestion } from "#shared/rpc/jsonrpc/caller-input.ts";
import { type CompletionFault, Completions, completionOf } from "#shared/rpc/llm/completions.ts";
import { type CallResult, connectMcpHost, type McpHost } from "#shared/rpc/mcp/stateless-client.ts";
import { httpNetwork } from "#shared/rpc/network.ts";
import { DATA_FOLDER, LOOPBACK_HOST } from "#shared/runtime/defaults.ts";
import { systemDisk } from "#shared/runtime/files/disk.ts";
import { StoreInUse } from "#shared/runtime/files/locked-store.ts";
import { EXIT, fileFault, StartError } from "#shared/runtime/process/exit.ts";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import { openLog } from "#shared/runtime/process/logger.ts";
import { LEAGUE_COMMAND, VERSION } from "#shared/runtime/program.ts";
import { wordsIn } from "../../referee/codenames/questions.ts";
import { startReferee } from "../../referee/service.ts";
import { readJson, writeJsonAtomically } from "../run/json-file.ts";
import { TerminalForms } from "./terminal-forms.ts";

/** The referee of the game, in this process or at a URL. */
interface GameReferee {
  readonly endpoint: string;
  /** The port that names the data file of a referee in this process; null for a referee at a URL. */
  readonly port: number | null;
  stop(): Promise<void>;
}

/** The time after which an open game of a referee in this process expires if it is not continued. */
const EXPIRE_MS = 30 * 24 * 3600_000;
const TOKEN_META = "agent-league/game_token";
const CurrentRole = z.object({ role: z.string().nullable() });

/**
 * `league codenames`: an MCP host whose model is at an OpenAI-compatible endpoint and whose users are at this terminal. Resolves with the exit code.
 * Rejects with StartError if the options are wrong or the game is interrupted.
 */
export async function codenames(flags: CodenamesFlags): Promise<number> {
  const data = resolve(flags.data);
  const games = openGames(data);
  const plan = planOf(flags, games);
  const print = (line: string): void => void process.stderr.write(`${line}\n`);
  const interruption = new AbortController();
  const { signal } = interruption;
  const interrupted = new Promise<null>((settle) => signal.addEventListener("abort", () => settle(null)));
  const interrupt = (): void => {
    if (signal.aborted) process.exit(EXIT.interrupted);
    interruption.abort();
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, interrupt);
  const forms = new TerminalForms(process.stdin, process.stderr, interrupt);
  const model = plan.llm && createModel({ ...plan.llm, timeoutMs: flags.timeoutMs, signal, clock: systemClock, print });
  let token = plan.token;
  let referee: GameReferee | null = null;
  let host: McpHost | null = null;

  /** Stores a new game as soon as the referee has sent its token, so that the game can be continued after a failure. */
  const storeGame = (gameToken: unknown): void => {
    if (typeof gameToken !== "string" || !plan.players) return;
    const isNew = token === null;
    token = gameToken;
    const { url, players, llm, keyEnv } = plan;
    const storedLlm = llm && { url: llm.url, model: llm.model, key_env: keyEnv, max_tokens: llm.maxTokens };
    const port = referee?.port ?? null;
    if (isNew) games.add({ game_token: gameToken, begun_at: systemClock.iso(), url, port, players, llm: storedLlm });
  };

  try {
    referee = plan.url === null ? await startOwnReferee(data, plan.game, print) : refereeAt(plan.url);
    host = await connect(referee.endpoint, plan.canFillForms, model !== null);
    const answer = answering({ host, forms, model, words: plan.words, players: plan.players });
    const [tool, args] =
      token === null ? ["create_new_game", plan.players ?? {}] : ["continue_game", { game_token: token }];
    const result = await Promise.race([
      interrupted,
      host.call(tool, args, {
        ask(question, meta) {
          storeGame(meta[TOKEN_META]);
          return answer(question, token);
        },
        // The token is printed only when the command is interrupted.
        progress: (message) => print(coloured(message.replace(/^game_token \S+; /, ""))),
        signal,
      }),
    ]);
    if (result === null) {
      forms.close(); // returns from the alternate screen of a secret form, on which the next line would be lost
      print(token === null ? "\ninterrupted" : `\n${continueHint(flags, token)}`);
      return EXIT.interrupted;
    }
    return report(result, () => token !== null && games.remove(token));
  } catch (thrown) {
    if (thrown instanceof GameInUse) throw thrown;
    const fault = thrown instanceof StartError ? thrown.message : fileFault(thrown);
    const message = fault ?? `the game was interrupted: ${messageOf(thrown)}`;
    throw new StartError(token === null ? message : `${message}\n${continueHint(flags, token)}`, EXIT.failed);
  } finally {
    forms.close();
    await host?.close();
    await model?.close();
    await referee?.stop();
  }
}

/** Another process has the game open, so no command to continue it is printed. */
class GameInUse extends StartError {}

const refereeAt = (url: string): GameReferee => ({
  endpoint: `${url.replace(/\/+$/, "").replace(/\/mcp$/, "")}/mcp`,
  port: null,
  stop: async () => {},
});

/**
 * Starts a session host in this process on any free port. Its data file is named after the port at which the game was created. Rejects with GameInUse
 * if another process uses the file.
 */
async function startOwnReferee(
  data: string,
  game: OpenGame | null,
  print: (line: string) => void,
): Promise<GameReferee> {
  const log = openLog(join(data, "logs", "codenames.log"), "codenames");
  const ready = Promise.withResolvers<string>();
  const ports = [await freePort()];
  const storedPort = game?.port ?? null;
  const starting = startReferee(
    {
      host: LOOPBACK_HOST,
      ports,
      manager: null,
      dataFolder: data,
      expireAfterMs: EXPIRE_MS,
      ...(storedPort !== null && { storeName: `referee-${storedPort}` }),
    },
    {
      log,
      say: (line) => log.info(line),
      warn: print,
      report: (message) => "url" in message && ready.resolve(message.url),
      clock: systemClock,
      ids: systemIds,
      network: httpNetwork(systemClock),
      disk: systemDisk(systemClock),
    },
  );
  const referee = await starting.catch((thrown) => {
    if (storedPort === null || !(thrown instanceof StoreInUse)) throw thrown;
    throw new GameInUse(
      "this game is open in another terminal; continue it there, or close it there first",
      EXIT.failed,
    );
  });
  const endpoint = `${await ready.promise}/mcp`;
  return {
    endpoint,
    port: storedPort ?? Number(new URL(endpoint).port),
    async stop() {
      await referee.stop();
      await log.flushed(systemClock);
    },
  };
}

async function connect(endpoint: string, canFillForms: boolean, canPrompt: boolean): Promise<McpHost> {
  try {
    return await connectMcpHost({ endpoint, name: "league-codenames", version: VERSION, canFillForms, canPrompt });
  } catch (thrown) {
    throw new StartError(`no referee answers at ${endpoint}: ${messageOf(thrown)}`, EXIT.failed);
  }
}

interface AnswerSources {
  readonly host: McpHost;
  readonly forms: TerminalForms;
  readonly model: Model | null;
  /** The source of the words; null if the options do not name one. */
  readonly words: { readonly source: string; readonly words: string } | null;
  readonly players: OpenGame["players"] | null;
}

/** Returns a function that answers prompts with the model and forms at the terminal. Only the spymaster may see a form with the key card. */
function answering({ host, forms, model, words, players }: AnswerSources) {
  const sharesTerminal = !players || players.red_team === "user" || players.blue_team === "user";
  const roleOf = async (token: string | null): Promise<string | null> =>
    token === null ? null : CurrentRole.parse(await host.read(`game://context/current-role/${token}`)).role;
  return async (question: CallerQuestion, token: string | null): Promise<CallerAnswer> => {
    if (question.kind === "prompt")
      return model ? model.answer(question) : { kind: "failed", reason: "no LLM was named" };
    const wordsField = words && Object.entries(words).find(([name]) => name in question.fields);
    if (wordsField) return { kind: "form", action: "accept", content: Object.fromEntries([wordsField]) };
    const role = await roleOf(token);
    const isSecret = role?.endsWith("_spymaster") && sharesTerminal;
    return forms.fillIn(question, isSecret ? `the spymaster of team ${role?.split("_")[0]}` : null);
  };
}

/** Prints the result of the game. `remove` deletes the stored game, unless it can be continued. */
function report({ text, isError, structured }: CallResult, remove: () => void): number {
  if (isError) throw new StartError(text, EXIT.failed);
  if (structured.status !== "active") remove();
  process.stdout.write(`${text}\n`);
  return EXIT.ok;
}

function coloured(message: string): string {
  const [, team] = /^(red|blue)\b/.exec(message) ?? [];
  return team ? styleText(team as "red" | "blue", message, { stream: process.stderr }) : message;
}

function continueHint({ data }: CodenamesFlags, token: string): string {
  const command = `${LEAGUE_COMMAND} codenames`;
  // The token follows "=", because it may begin with a dash.
  return `The game is stored. Continue it with: ${command} --continue=${token}${data === DATA_FOLDER ? "" : ` --data ${data}`}`;
}

/** The options of `league codenames`. */
interface CodenamesFlags {
  readonly llm?: string;
  readonly model?: string;
  readonly keyEnv?: string;
  readonly timeoutMs: number;
  readonly maxTokens?: number;
  /** Roles separated by commas, `none` or `all`. */
  readonly people?: string;
  readonly redSpymaster?: "user" | "llm";
  readonly redTeam?: "user" | "llm";
  readonly blueSpymaster?: "user" | "llm";
  readonly blueTeam?: "user" | "llm";
  readonly words?: string;
  readonly url?: string;
  readonly data: string;
  /** The token of a game, or true for the newest open game. */
  readonly continue?: string | true;
}

/** The checked options of `league codenames`. */
interface Plan {
  /** The token of the game to continue; null for a new game. */
  readonly token: string | null;
  /** The stored data of the game to continue; null if there is none. */
  readonly game: OpenGame | null;
  /** The URL of the referee; null for a referee in this process. */
  readonly url: string | null;
  /** The players; null if only the token of the game is known. */
  readonly players: Players | null;
  readonly llm: Pick<ModelOptions, "url" | "model" | "key" | "maxTokens"> | null;
  readonly keyEnv: string;
  readonly words: { readonly source: string; readonly words: string } | null;
  readonly canFillForms: boolean;
}

const ROLES = ["red_spymaster", "red_team", "blue_spymaster", "blue_team"] as const;
const DEFAULT_PEOPLE = "red_team";
const DEFAULT_KEY = "OPENAI_API_KEY";

const usageError = (message: string): never => {
  throw new StartError(`${message}\n(use --help to list the options)`, EXIT.usage);
};

/** Checks the options. Throws StartError if they are invalid, or if there is no game to continue. */
function planOf(flags: CodenamesFlags, games: OpenGames): Plan {
  const game = flags.continue === undefined ? null : gameToContinue(flags, games);
  const token = game?.game_token ?? (typeof flags.continue === "string" ? flags.continue : null);
  const url = flags.url ?? game?.url ?? null;
  if (url !== null && !parseEndpoint(url)) usageError(`--url: ${url} is not an HTTP address`);
  if (token !== null && (flags.people ?? flags.words ?? givenRoles(flags).at(0)) !== undefined) {
    usageError("--continue uses the players and words of the game; leave out the options for them");
  }
  const players = game?.players ?? (token === null ? playersOf(flags) : null);
  const words = flags.words === undefined ? null : wordsOf(flags.words);
  const keyEnv = flags.keyEnv ?? game?.llm?.key_env ?? DEFAULT_KEY;
  const llm = llmOf(flags, game?.llm ?? null, keyEnv);
  const needsLlm = players !== null && Object.values(players).includes("llm");
  if (needsLlm && !llm) usageError("add --llm URL and --model NAME: some roles are played by an LLM");
  if (words?.source === "llm" && !llm) usageError("--words llm needs --llm URL and --model NAME");
  const canFillForms = words !== null || players === null || Object.values(players).includes("user");
  return {
    token,
    game,
    url,
    players,
    llm: needsLlm || players === null || words ? llm : null,
    keyEnv,
    words,
    canFillForms,
  };
}

function gameToContinue(flags: CodenamesFlags, games: OpenGames): OpenGame | null {
  const token = flags.continue === true ? null : (flags.continue ?? null);
  const found = games.find(token);
  if (found || (token !== null && flags.url !== undefined)) return found;
  const missing = token === null ? "no open game of Codenames" : "no open game with this token";
  throw new StartError(`${missing} in ${flags.data}; to continue a game of a running referee, add its token and --url`);
}

function llmOf(flags: CodenamesFlags, stored: OpenGame["llm"], keyEnv: string): Plan["llm"] {
  const url = flags.llm ?? stored?.url;
  const model = flags.model ?? stored?.model;
  if (url === undefined && model === undefined) return null;
  if (url === undefined || model === undefined) return usageError("--llm URL and --model NAME must be used together");
  if (!parseEndpoint(url)) usageError(`--llm: ${url} is not an HTTP address`);
  const key = process.env[keyEnv] ?? null;
  if (key === null && flags.keyEnv !== undefined) usageError(`--key-env: ${keyEnv} is not set in the environment`);
  return { url, model, key, maxTokens: flags.maxTokens ?? stored?.max_tokens ?? null };
}

const givenRoles = ({ redSpymaster, redTeam, blueSpymaster, blueTeam }: CodenamesFlags) =>
  [redSpymaster, redTeam, blueSpymaster, blueTeam].filter((kind) => kind !== undefined);

function playersOf(flags: CodenamesFlags): Players {
  const { people = DEFAULT_PEOPLE } = flags;
  const userRoles: readonly string[] = people === "all" ? ROLES : people === "none" ? [] : people.split(",");
  const unknown = userRoles.find((name) => !ROLES.some((role) => role === name));
  if (unknown !== undefined)
    usageError(`--people: "${unknown}" is not a role; choose from ${ROLES.join(", ")}, all and none`);
  const kindOf = (role: string): "user" | "llm" => (userRoles.includes(role) ? "user" : "llm");
  return {
    red_spymaster: flags.redSpymaster ?? kindOf("red_spymaster"),
    red_team: flags.redTeam ?? kindOf("red_team"),
    blue_spymaster: flags.blueSpymaster ?? kindOf("blue_spymaster"),
    blue_team: flags.blueTeam ?? kindOf("blue_team"),
  };
}

function wordsOf(text: string): Plan["words"] {
  if (text === "built-in" || text === "llm") return { source: text, words: "" };
  const found = wordsIn({ kind: "form", action: "accept", content: { words: text } });
  if ("problem" in found)
    return usageError(`--words: write built-in, llm or 25 words separated by commas: ${found.problem}`);
  return { source: "own", words: text };
}

const PlayerKind = z.enum(["user", "llm"]);
const roles = { red_spymaster: PlayerKind, red_team: PlayerKind, blue_spymaster: PlayerKind, blue_team: PlayerKind };
export const Players = z.object(roles);
export type Players = z.infer<typeof Players>;

/** A game that was started and is not over. */
const OpenGame = z.object({
  game_token: z.string(),
  begun_at: z.string(),
  /** The URL of the referee; null for a referee in the process of the command, whose data file is named after `port`. */
  url: z.string().nullable(),
  port: z.int().nullable(),
  players: Players,
  /** The model of the last start of the command. The key is not stored. */
  llm: z.object({ url: z.string(), model: z.string(), key_env: z.string(), max_tokens: z.int().nullable() }).nullable(),
});
type OpenGame = z.infer<typeof OpenGame>;

/** The open games of a data folder, for `--continue`. Each game has one file. */
interface OpenGames {
  add(game: OpenGame): void;
  remove(token: string): void;
  /** Returns the game with this token, or the newest game if the token is null. Returns null if there is none. */
  find(token: string | null): OpenGame | null;
}

/** Opens the games of a data folder. */
function openGames(dataFolder: string): OpenGames {
  const folder = join(dataFolder, "codenames");
  const fileOf = (token: string): string => join(folder, `${sha256Hex(token).slice(0, 16)}.json`);
  const read = (file: string): OpenGame | null => {
    const parsed = OpenGame.safeParse(readJson(file));
    return parsed.success ? parsed.data : null;
  };
  return {
    add(game) {
      mkdirSync(folder, { recursive: true });
      writeJsonAtomically(fileOf(game.game_token), game);
    },
    remove: (token) => rmSync(fileOf(token), { force: true }),
    find(token) {
      if (token !== null) return read(fileOf(token));
      const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".json")) : [];
      const games = names.flatMap((name) => read(join(folder, name)) ?? []);
      return games.sort((a, b) => a.begun_at.localeCompare(b.begun_at)).at(-1) ?? null;
    },
  };
}

interface ModelOptions {
  /** The base of an OpenAI-compatible API, e.g. `http://127.0.0.1:11434/v1`. */
  readonly url: string;
  readonly model: string;
  /** The API key; never printed. */
  readonly key: string | null;
  /** The maximum number of tokens of an answer; null for the number that the prompt names. */
  readonly maxTokens: number | null;
  /** The time limit for one answer, with pauses and repetitions. */
  readonly timeoutMs: number;
  /** Aborts all requests. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Prints a line for the user. */
  print(line: string): void;
}

/**
 * Answers the prompts of an MCP server with a model at an OpenAI-compatible endpoint. A single failure is returned as a failed answer, and the game
 * repeats the prompt. Rejects with StartError if the endpoint fails three times in a row or rejects the caller, so that no player loses turns by it.
 */
interface Model {
  answer(prompt: Extract<CallerQuestion, { kind: "prompt" }>): Promise<CallerAnswer>;
  /** Closes the connections to the endpoint. */
  close(): Promise<void>;
}

const FAILURES_IN_A_ROW = 3;
/** The causes for which an endpoint rejects every request of the caller. */
const REJECTIONS: ReadonlySet<CompletionFault["cause"]> = new Set(["wrong_key", "unknown_model"]);

/** Creates a model. */
export function createModel(options: ModelOptions): Model {
  const { timeoutMs, maxTokens, clock, print } = options;
  const completions = new Completions(options);
  const { endpoint } = completions;
  let failures = 0;
  const failed = (message: string, isDown: boolean): CallerAnswer => {
    const reason = printable(message);
    if (isDown && ++failures >= FAILURES_IN_A_ROW) {
      throw new StartError(`the LLM at ${endpoint} failed ${failures} times in a row: ${reason}`, EXIT.failed);
    }
    print(`the LLM gave no answer: ${reason}`);
    return { kind: "failed", reason };
  };

  return {
    close: () => completions.close(),
    async answer({ system, text, maxTokens: maxTokensOfPrompt }) {
      const endsAtMs = clock.monotonic() + timeoutMs;
      const messages = [
        { role: "system", content: system },
        { role: "user", content: text },
      ] as const;
      const completed = await completions.request(
        { messages, maxTokens: maxTokens ?? maxTokensOfPrompt },
        {
          signal: AbortSignal.any([clock.timeout(timeoutMs), options.signal]),
          remainingMs: () => endsAtMs - clock.monotonic(),
          onRepeat: (reason, pauseMs) => print(`the LLM ${reason}; repeating the request in ${pauseMs / 1000} s`),
        },
      );
      options.signal.throwIfAborted();
      const completion = completionOf(completed, (quoted) => completions.masked(quoted));
      if (!completion.ok) {
        const { cause, message, detail } = completion.error;
        if (REJECTIONS.has(cause)) throw new StartError(`the LLM at ${endpoint} answered ${printable(message)}`);
        if (cause === "timeout") return failed(`no answer within ${timeoutMs} ms`, true);
        return failed(cause === "bad_completion" ? detail : message, true);
      }
      failures = 0;
      const { text: answer, refusal, isCutOff } = completion.value;
      if (answer !== "") return { kind: "text", text: answer };
      if (refusal !== null) return failed(`the model refused: ${refusal}`, false);
      return failed(
        `the answer is empty${isCutOff ? ": it was cut off; raise the limit with --max-tokens" : ""}`,
        false,
      );
    },
  };
}

/** Returns a text on one line, without control characters. */
const printable = (text: string): string =>
  text
    .replace(/[\p{C}\s]+/gu, " ")
    .trim()
    .slice(0, 200);
