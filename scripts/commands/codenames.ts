import { join, resolve } from "node:path";
import { styleText } from "node:util";
import { z } from "zod";
import { systemClock } from "#shared/lib/clock.ts";
import { systemIds } from "#shared/lib/ids.ts";
import { messageOf } from "#shared/lib/result.ts";
import type { Ask, Said } from "#shared/rpc/jsonrpc/input.ts";
import { type Called, connectMcpHost, type McpHost } from "#shared/rpc/mcp/host.ts";
import { httpNetwork } from "#shared/rpc/network.ts";
import { DATA_FOLDER, LOOPBACK_HOST } from "#shared/runtime/defaults.ts";
import { systemDisk } from "#shared/runtime/files/disk.ts";
import { StoreInUse } from "#shared/runtime/files/locked-store.ts";
import { EXIT, fileFault, StartError } from "#shared/runtime/process/exit.ts";
import { freePort } from "#shared/runtime/process/free-ports.ts";
import { openLog } from "#shared/runtime/process/logger.ts";
import { VERSION } from "#shared/runtime/process/version.ts";
import { startReferee } from "../../referee/service.ts";
import { type OpenGame, openGames } from "../codenames/games.ts";
import { createModel, type Model } from "../codenames/model.ts";
import { type CodenamesFlags, planOf } from "../codenames/plan.ts";
import { TerminalForms } from "../codenames/terminal-forms.ts";

/** A referee that leads the game: our own, in this process, or one that runs somewhere. */
interface Leader {
  readonly endpoint: string;
  readonly port: number | null;
  stop(): Promise<void>;
}

/** How long an open game of ours waits for somebody to go on with it. */
const EXPIRE_MS = 30 * 24 * 3600_000;
const TOKEN_META = "agent-league/game_token";
const CurrentRole = z.object({ role: z.string().nullable() });

/** `league codenames`: an MCP host whose model is an OpenAI-compatible endpoint and whose people sit at this terminal. */
export async function codenames(flags: CodenamesFlags): Promise<number> {
  const data = resolve(flags.data);
  const games = openGames(data);
  const plan = planOf(flags, games);
  const tell = (line: string): void => void process.stderr.write(`${line}\n`);
  const cut = new AbortController();
  const interrupted = new Promise<null>((settle) => cut.signal.addEventListener("abort", () => settle(null)));
  const interrupt = (): void => {
    if (cut.signal.aborted) process.exit(EXIT.interrupted);
    cut.abort();
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, interrupt);
  const people = new TerminalForms(process.stdin, process.stderr, interrupt);
  const model = plan.llm && createModel({ ...plan.llm, timeoutMs: flags.timeoutMs, signal: cut.signal, tell });
  let token = plan.token;
  let leader: Leader | null = null;
  let host: McpHost | null = null;

  /** Keeps the game's token as soon as it is told, so that the game can be gone on with whatever happens. */
  const keep = (told: unknown): void => {
    if (typeof told !== "string" || !plan.players) return;
    const isNew = token === null;
    token = told;
    const { url, players, llm, keyEnv } = plan;
    const kept = llm && { url: llm.url, model: llm.model, key_env: keyEnv, max_tokens: llm.maxTokens };
    const port = leader?.port ?? null;
    if (isNew) games.keep({ game_token: told, begun_at: systemClock.iso(), url, port, players, llm: kept });
  };

  try {
    leader = plan.url === null ? await ownReferee(data, plan.game, tell) : refereeAt(plan.url);
    host = await connected(leader.endpoint, plan.canFillForms, model !== null);
    const asked = asking({ host, people, model, words: plan.words, players: plan.players });
    const [tool, args] =
      token === null ? ["create_new_game", plan.players ?? {}] : ["continue_game", { game_token: token }];
    const called = await Promise.race([
      interrupted,
      host.call(tool, args, {
        ask(asks, meta) {
          keep(meta[TOKEN_META]);
          return asked(asks, token);
        },
        // The token is told when it is needed: by whoever leaves the game.
        progress: (message) => tell(coloured(message.replace(/^game_token \S+; /, ""))),
        signal: cut.signal,
      }),
    ]);
    if (called === null) {
      people.close(); // a secret form stands on a screen of its own, and what is told there goes with it
      tell(token === null ? "\ninterrupted" : `\n${howToGoOn(flags, token)}`);
      return EXIT.interrupted;
    }
    return report(called, () => token !== null && games.drop(token));
  } catch (thrown) {
    if (thrown instanceof GameInUse) throw thrown;
    const fault = thrown instanceof StartError ? thrown.message : fileFault(thrown);
    const why = fault ?? `the game was cut: ${messageOf(thrown)}`;
    throw new StartError(token === null ? why : `${why}\n${howToGoOn(flags, token)}`, EXIT.failed);
  } finally {
    people.close();
    await host?.close();
    await leader?.stop();
  }
}

/** Another process has the game open, so this one shows no command to go on with it. */
class GameInUse extends StartError {}

const refereeAt = (url: string): Leader => ({
  endpoint: `${url.replace(/\/+$/, "").replace(/\/mcp$/, "")}/mcp`,
  port: null,
  stop: async () => {},
});

/**
 * A session host in this process, as `npm run host` starts one, on any free port. Its data file is named after the port on which the game began.
 */
async function ownReferee(data: string, game: OpenGame | null, tell: (line: string) => void): Promise<Leader> {
  const log = openLog(join(data, "logs", "codenames.log"), "codenames");
  const ready = Promise.withResolvers<string>();
  const ports = [await freePort()];
  const kept = game?.port ?? null;
  const starting = startReferee(
    {
      ...{ host: LOOPBACK_HOST, ports, manager: null, dataFolder: data, expireAfterMs: EXPIRE_MS },
      ...(kept !== null && { storeName: `referee-${kept}` }),
    },
    {
      log,
      say: (line) => log.info(line),
      warn: tell,
      report: (told) => "url" in told && ready.resolve(told.url),
      clock: systemClock,
      ids: systemIds,
      network: httpNetwork(systemClock),
      disk: systemDisk(systemClock),
    },
  );
  const referee = await starting.catch((thrown) => {
    if (kept === null || !(thrown instanceof StoreInUse)) throw thrown;
    throw new GameInUse(
      "this game is open in another terminal; go on with it there, or close it there first",
      EXIT.failed,
    );
  });
  const endpoint = `${await ready.promise}/mcp`;
  return {
    endpoint,
    port: kept ?? Number(new URL(endpoint).port),
    async stop() {
      await referee.stop();
      await log.flushed(systemClock);
    },
  };
}

async function connected(endpoint: string, canFillForms: boolean, canPrompt: boolean): Promise<McpHost> {
  try {
    return await connectMcpHost({ endpoint, name: "league-codenames", version: VERSION, canFillForms, canPrompt });
  } catch (thrown) {
    throw new StartError(`no referee answers at ${endpoint}: ${messageOf(thrown)}`, EXIT.failed);
  }
}

interface Answering {
  readonly host: McpHost;
  readonly people: TerminalForms;
  readonly model: Model | null;
  /** Where the words come from, when the command line has said so. */
  readonly words: { readonly source: string; readonly words: string } | null;
  readonly players: OpenGame["players"] | null;
}

/** Prompts go to the model, forms to the people; a spymaster's with the key is for that person alone. */
function asking({ host, people, model, words, players }: Answering) {
  const sharesTerminal = !players || players.red_team === "user" || players.blue_team === "user";
  const roleOf = async (token: string | null): Promise<string | null> =>
    token === null ? null : CurrentRole.parse(await host.read(`game://context/current-role/${token}`)).role;
  return async (asks: Ask, token: string | null): Promise<Said> => {
    if (asks.kind === "prompt") return model ? model(asks) : { kind: "failed", why: "no LLM was named" };
    const given = words && Object.entries(words).find(([name]) => name in asks.fields);
    if (given) return { kind: "form", action: "accept", content: Object.fromEntries([given]) };
    const role = await roleOf(token);
    const isSecret = role?.endsWith("_spymaster") && sharesTerminal;
    return people.fillIn(asks, isSecret ? `the spymaster of team ${role?.split("_")[0]}` : null);
  };
}

function report({ text, isError, structured }: Called, drop: () => void): number {
  if (isError) throw new StartError(text, EXIT.failed);
  if (structured.status !== "active") drop();
  process.stdout.write(`${text}\n`);
  return EXIT.ok;
}

function coloured(message: string): string {
  const [, team] = /^(red|blue)\b/.exec(message) ?? [];
  return team ? styleText(team as "red" | "blue", message, { stream: process.stderr }) : message;
}

function howToGoOn({ data }: CodenamesFlags, token: string): string {
  const command = process.env.npm_lifecycle_event === "league" ? "npm run league -- codenames" : "league codenames";
  // A token may begin with a dash, as an option does.
  return `The game waits. Go on with it: ${command} --continue=${token}${data === DATA_FOLDER ? "" : ` --data ${data}`}`;
}
