import { parseEndpoint } from "#shared/protocol/addresses.ts";
import { EXIT, StartError } from "#shared/runtime/process/exit.ts";
import { wordsIn } from "../../referee/codenames/answers.ts";
import type { OpenGame, OpenGames, Players } from "./games.ts";
import type { ModelOptions } from "./model.ts";

export interface CodenamesFlags {
  readonly llm?: string;
  readonly model?: string;
  readonly keyEnv?: string;
  readonly timeoutMs: number;
  readonly maxTokens?: number;
  /** Roles with commas between them, `none` or `all`. */
  readonly people?: string;
  readonly redSpymaster?: "user" | "llm";
  readonly redTeam?: "user" | "llm";
  readonly blueSpymaster?: "user" | "llm";
  readonly blueTeam?: "user" | "llm";
  readonly words?: string;
  readonly url?: string;
  readonly data: string;
  /** A token, or true for the newest open game. */
  readonly continue?: string | true;
}

/** What a command line comes to. */
export interface Plan {
  /** The token of the game that is gone on with; null for a new one. */
  readonly token: string | null;
  readonly game: OpenGame | null;
  /** The referee that leads it; null for our own. */
  readonly url: string | null;
  /** null for a game of which nothing is known here but its token. */
  readonly players: Players | null;
  readonly llm: Pick<ModelOptions, "url" | "model" | "key" | "maxTokens"> | null;
  readonly keyEnv: string;
  readonly words: { readonly source: string; readonly words: string } | null;
  readonly canFillForms: boolean;
}

const ROLES = ["red_spymaster", "red_team", "blue_spymaster", "blue_team"] as const;
const DEFAULT_PEOPLE = "red_team";
const DEFAULT_KEY = "OPENAI_API_KEY";

const wrong = (message: string): never => {
  throw new StartError(`${message}\n(use --help to list the options)`, EXIT.usage);
};

/** Reads a command line; a StartError says what is wrong with it. */
export function planOf(flags: CodenamesFlags, games: OpenGames): Plan {
  const game = flags.continue === undefined ? null : gameToGoOn(flags, games);
  const token = game?.game_token ?? (typeof flags.continue === "string" ? flags.continue : null);
  const url = flags.url ?? game?.url ?? null;
  if (url !== null && !parseEndpoint(url)) wrong(`--url: ${url} is no http address`);
  if (token !== null && (flags.people ?? flags.words ?? givenRoles(flags).at(0)) !== undefined) {
    wrong("--continue goes on with the players and the words that the game has");
  }
  const players = game?.players ?? (token === null ? playersOf(flags) : null);
  const words = flags.words === undefined ? null : wordsOf(flags.words);
  const keyEnv = flags.keyEnv ?? game?.llm?.key_env ?? DEFAULT_KEY;
  const llm = llmOf(flags, game?.llm ?? null, keyEnv);
  const needsLlm = players !== null && Object.values(players).includes("llm");
  if (needsLlm && !llm) wrong("say --llm URL and --model NAME: these roles are played by an LLM");
  if (words?.source === "llm" && !llm) wrong("--words llm needs --llm URL and --model NAME");
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

function gameToGoOn(flags: CodenamesFlags, games: OpenGames): OpenGame | null {
  const wanted = flags.continue === true ? null : (flags.continue ?? null);
  const found = games.find(wanted);
  if (found || (wanted !== null && flags.url !== undefined)) return found;
  const known = wanted === null ? "no open game of Codenames" : "no open game with this token";
  throw new StartError(
    `${known} is kept in ${flags.data}; one of a referee that runs is found with its token and --url`,
  );
}

function llmOf(flags: CodenamesFlags, before: OpenGame["llm"], keyEnv: string): Plan["llm"] {
  const url = flags.llm ?? before?.url;
  const model = flags.model ?? before?.model;
  if (url === undefined && model === undefined) return null;
  if (url === undefined || model === undefined) return wrong("--llm URL and --model NAME go together");
  if (!parseEndpoint(url)) wrong(`--llm: ${url} is no http address`);
  const key = process.env[keyEnv] ?? null;
  if (key === null && flags.keyEnv !== undefined) wrong(`--key-env: ${keyEnv} is not set in the environment`);
  return { url, model, key, maxTokens: flags.maxTokens ?? before?.max_tokens ?? null };
}

const givenRoles = ({ redSpymaster, redTeam, blueSpymaster, blueTeam }: CodenamesFlags) =>
  [redSpymaster, redTeam, blueSpymaster, blueTeam].filter((who) => who !== undefined);

function playersOf(flags: CodenamesFlags): Players {
  const { people = DEFAULT_PEOPLE } = flags;
  const named: readonly string[] = people === "all" ? ROLES : people === "none" ? [] : people.split(",");
  const strange = named.find((name) => !ROLES.some((role) => role === name));
  if (strange !== undefined) wrong(`--people: "${strange}" is no role; say ${ROLES.join(", ")}, all or none`);
  const who = (role: string): "user" | "llm" => (named.includes(role) ? "user" : "llm");
  return {
    red_spymaster: flags.redSpymaster ?? who("red_spymaster"),
    red_team: flags.redTeam ?? who("red_team"),
    blue_spymaster: flags.blueSpymaster ?? who("blue_spymaster"),
    blue_team: flags.blueTeam ?? who("blue_team"),
  };
}

function wordsOf(text: string): Plan["words"] {
  if (text === "built-in" || text === "llm") return { source: text, words: "" };
  const found = wordsIn({ kind: "form", action: "accept", content: { words: text } });
  if ("problem" in found)
    return wrong(`--words: say built-in, llm or your own with commas between them: ${found.problem}`);
  return { source: "own", words: text };
}
