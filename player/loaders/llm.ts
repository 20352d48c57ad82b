import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { knownGameIds } from "#shared/games/registry.ts";
import type { Clock } from "#shared/lib/clock.ts";
import { sha256Hex } from "#shared/lib/hash.ts";
import { faultLine } from "#shared/lib/schema-messages.ts";
import { inOneLine, parsedJson } from "#shared/lib/text.ts";
import { Completions } from "#shared/rpc/llm/completions.ts";
import { DEFAULT_KEY_VARIABLE, LlmSettings } from "#shared/runtime/config/llm.ts";
import { EXIT, fileFault, StartError } from "#shared/runtime/process/exit.ts";
import { VERSION } from "#shared/runtime/program.ts";
import { LlmPlayer } from "../llm/llm-player.ts";
import { PROMPT_VERSION } from "../llm/prompt.ts";
import { matchRecordsIn } from "../llm/record-files.ts";
import { Recorder } from "../llm/recorder.ts";
import type { LlmRecord } from "../llm/records.ts";
import { Spending } from "../llm/spending.ts";
import { totalsLine, totalsOf } from "../llm/totals.ts";
import type { BotHome, LoadedBot } from "../loaded-bot.ts";
import type { MatchInfo } from "../sdk.ts";

/** Begins the text that selects a language model as a bot. */
export const LLM_PREFIX = "llm:";

/** The texts that select a language model, for messages. */
export const LLM_FORMS = "llm:URL#MODEL or llm:SETTINGS.json";

/** The text that selects a model of a config as a bot. It contains no secrets, because process lists show it. */
export const llmSpec = (settings: LlmSettings): string => `${LLM_PREFIX}${JSON.stringify(settings)}`;

/** Returns the API key in the environment; null if there is none. Throws StartError if the settings name a variable that is not set. */
export function apiKeyOf({ api_key_env }: LlmSettings, environment: NodeJS.ProcessEnv): string | null {
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
    ...{ url: base_url, model, key: apiKeyOf(settings, process.env), clock, repeatsRefused: true },
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
  ...{ league_id: leagueId, match_id: matchId, epoch, game, options, role },
  ...{ player_id: roles[role] ?? "", seed_commitment: seedCommitment },
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
