import { parseEndpoint } from "#shared/protocol/addresses.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { wordsIn } from "../../referee/codenames/answers.ts";
import type { OpenGame, OpenGames, Players } from "./games.ts";
import type { ModelOptions } from "./model.ts";

/** The options of `league codenames`. */
export interface CodenamesFlags {
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
export function planOf(flags: CodenamesFlags, games: OpenGames): Plan {
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
