import { join, resolve } from "node:path";
import { styleText } from "node:util";
import { z } from "zod";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { messageOf } from "#shared/lib/result.ts";
import type { CallerAnswer, CallerQuestion } from "#shared/rpc/jsonrpc/caller-input.ts";
import { type CallResult, connectMcpHost, type McpHost } from "#shared/rpc/mcp/stateless-client.ts";
import { httpNetwork } from "#shared/rpc/network.ts";
import { DATA_FOLDER, LOOPBACK_HOST } from "#shared/runtime/defaults.ts";
import { systemDisk } from "#shared/runtime/files/disk.ts";
import { StoreInUse } from "#shared/runtime/files/locked-store.ts";
import { EXIT, fileFault, StartError } from "#shared/runtime/process/exit.ts";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import { openLog } from "#shared/runtime/process/logger.ts";
import { LEAGUE_COMMAND, VERSION } from "#shared/runtime/program.ts";
import { startReferee } from "../../referee/service.ts";
import { type OpenGame, openGames } from "../codenames/games.ts";
import { createModel, type Model } from "../codenames/model.ts";
import { type CodenamesFlags, planOf } from "../codenames/plan.ts";
import { TerminalForms } from "../codenames/terminal-forms.ts";

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
      ...{ host: LOOPBACK_HOST, ports, manager: null, dataFolder: data, expireAfterMs: EXPIRE_MS },
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
