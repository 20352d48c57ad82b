import "#shared/lib/schema-messages.ts";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { counted, parsedJson } from "#shared/lib/text.ts";
import { completionFaults } from "#shared/rpc/llm/completions.ts";
import { LlmSettings } from "#shared/runtime/config/llm.ts";
import { fileNameOf } from "#shared/runtime/files/file-name.ts";
import { answerFaults } from "./answer.ts";

/** The reasons why a model has chosen no action, or an action that was not accepted. */
const llmFaults = [...completionFaults, ...answerFaults, "budget", "no_record"] as const;

export interface LlmFault {
  readonly cause: (typeof llmFaults)[number];
  /** The public text: it is in the log of the match. */
  readonly detail: string;
  /** The text for the user of the player. It is not in the log of the match. */
  readonly message: string;
}

const at = z.string();
const count = z.int().min(0);

/** The first line of the record of a match. */
const Begin = z.strictObject({
  type: z.literal("begin"),
  at,
  league_id: z.string(),
  match_id: z.string(),
  epoch: z.int(),
  game: z.string(),
  options: z.unknown(),
  role: z.string(),
  player_id: z.string(),
  seed_commitment: z.string(),
  model: z.string(),
  prompt_version: z.int(),
  package_version: z.string(),
  system: z.string(),
});

/** One answer of the model, or the reason why there is none. */
const Answered = z.strictObject({
  type: z.literal("answer"),
  at,
  tick: count,
  attempt: count,
  prompt: z.string(),
  seed: z.int(),
  /** How the answer was requested. */
  mode: z.string(),
  /** null if there is no answer. */
  answer: z.string().nullable(),
  /** The action for the referee; absent if there is none. */
  action: z.unknown().optional(),
  fault: z.strictObject({ cause: z.enum(llmFaults), detail: z.string(), message: z.string() }).nullable(),
  tokens_in: count,
  tokens_out: count,
  /** True if the endpoint does not count tokens. They are then estimated from the number of characters. */
  is_estimated: z.boolean(),
  /** null without a price. */
  cost: z.number().nullable(),
  /** The number of HTTP requests, with repetitions, and the duration of the last one. */
  requests: count,
  latency_ms: count,
  answered_by: z.string().nullable(),
  system_fingerprint: z.string().nullable(),
});
export type Answered = z.infer<typeof Answered>;

/** The referee has rejected an action. */
const Rejected = z.strictObject({ type: z.literal("rejected"), at, tick: count, reason: z.string() });

const End = z.strictObject({
  type: z.literal("end"),
  at,
  seed: z.string(),
  winner: z.string().nullable(),
  termination: z.string(),
  reason: z.string(),
});

/** A line of the record of a match. */
export const LlmRecord = z.discriminatedUnion("type", [Begin, Answered, Rejected, End]);
export type LlmRecord = z.infer<typeof LlmRecord>;
export type Begin = z.infer<typeof Begin>;

/** Returns the records in the text of a file. A line that a process did not complete is ignored. */
const recordsIn = (text: string): readonly LlmRecord[] =>
  text.split("\n").flatMap((line) => LlmRecord.safeParse(parsedJson(line)).data ?? []);

/** Writes the record of one match. A process that is started again continues the record. */
export class Recorder {
  readonly #folder: string;
  readonly #begin: Begin;
  readonly #manifest: Omit<LlmManifest, "matches">;
  readonly #file: string;

  /** Throws an error of the file system if the record cannot be written. */
  constructor(folder: string, begin: Begin, manifest: Omit<LlmManifest, "matches">) {
    this.#folder = folder;
    this.#begin = begin;
    this.#manifest = manifest;
    this.#file = join(folder, recordFile(begin));
    mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
    const text = existsSync(this.#file) ? readFileSync(this.#file, "utf8") : "";
    // The last line of a process that was killed may be incomplete.
    if (text !== "" && !text.endsWith("\n")) this.#append("\n");
    if (text === "") this.add(begin);
    addToManifest(folder, { ...manifest, matches: [] });
  }

  add(record: LlmRecord): void {
    this.#append(`${JSON.stringify(record)}\n`);
  }

  /** Adds the end of the match, and the match with its seed to the manifest. */
  end(record: Extract<LlmRecord, { type: "end" }>): void {
    this.add(record);
    const { league_id, match_id, epoch } = this.#begin;
    const match = { league_id, match_id, epoch, seed: record.seed, file: recordFile(this.#begin) };
    addToManifest(this.#folder, { ...this.#manifest, matches: [match] });
  }

  #append(text: string): void {
    appendFileSync(this.#file, text, { mode: 0o600 });
  }
}

/** The folder of the records of all language models below a data folder; each player has a folder in it. */
export const recordsFolder = (dataFolder: string): string => join(dataFolder, "llm");

/** The file with the settings and seeds of a player's matches. With them, the matches can be repeated as far as the model allows. */
const LLM_MANIFEST = "manifest.json";

export const LlmManifest = z.strictObject({
  format: z.literal("agent-league.llm.v1"),
  package_version: z.string(),
  prompt_version: z.int(),
  settings: LlmSettings,
  /** The matches that have ended, with the seeds from which the numbers in the requests derive. */
  matches: z.array(
    z.strictObject({
      league_id: z.string(),
      match_id: z.string(),
      epoch: z.int(),
      seed: z.string(),
      file: z.string(),
    }),
  ),
});
export type LlmManifest = z.infer<typeof LlmManifest>;

/** Returns the name of the record of a match in the folder of its player. Each attempt at a match has another seed. */
const recordFile = ({ league_id, match_id, seed_commitment }: Begin): string =>
  join(fileNameOf(league_id), `${fileNameOf(match_id)}-${seed_commitment.slice(0, 8)}.jsonl`);

/** Writes a manifest. It keeps the matches of the manifest that is already in the folder. */
function addToManifest(folder: string, manifest: LlmManifest): void {
  const file = join(folder, LLM_MANIFEST);
  const known = manifestIn(folder)?.matches ?? [];
  const others = known.filter(({ file: name }) => !manifest.matches.some((match) => match.file === name));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const text = `${JSON.stringify({ ...manifest, matches: [...others, ...manifest.matches] }, null, 2)}\n`;
  writeFileSync(`${file}.new`, text, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

export function manifestIn(folder: string): LlmManifest | null {
  const file = join(folder, LLM_MANIFEST);
  return existsSync(file) ? (LlmManifest.safeParse(parsedJson(readFileSync(file, "utf8"))).data ?? null) : null;
}

/** The record of one match with its file, which is relative to the folder of its player. */
interface MatchRecord {
  readonly file: string;
  readonly records: readonly LlmRecord[];
}

/** Returns the records in the folder of a player, sorted by file. */
export const matchRecordsIn = (folder: string): readonly MatchRecord[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".jsonl"))
        .sort()
        .map((file) => ({ file, records: recordsIn(readFileSync(join(folder, file), "utf8")) }))
    : [];

/** The sums over the records of a player. */
export interface LlmTotals {
  readonly answers: number;
  readonly tokens_in: number;
  readonly tokens_out: number;
  /** Whether some tokens are estimated, because the endpoint does not count them. */
  readonly is_estimated: boolean;
  /** null without a price. */
  readonly cost: number | null;
  /** The median and the maximum duration of the requests with an answer; null without answers. */
  readonly latency_ms: { readonly median: number; readonly max: number } | null;
  /** The number of faults by cause. */
  readonly faults: Readonly<Record<string, number>>;
}

export function totalsOf(records: readonly LlmRecord[]): LlmTotals {
  const answers = records.filter((record) => record.type === "answer");
  const latencies = answers
    .flatMap(({ answer, latency_ms }) => (answer === null ? [] : [latency_ms]))
    .sort((a, b) => a - b);
  const faults: Record<string, number> = {};
  for (const record of records) {
    const cause =
      record.type === "rejected" ? "illegal_move" : record.type === "answer" ? record.fault?.cause : undefined;
    if (cause !== undefined) faults[cause] = (faults[cause] ?? 0) + 1;
  }
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  return {
    answers: latencies.length,
    tokens_in: sum(answers.map(({ tokens_in }) => tokens_in)),
    tokens_out: sum(answers.map(({ tokens_out }) => tokens_out)),
    is_estimated: answers.some(({ is_estimated }) => is_estimated),
    cost: answers.some(({ cost }) => cost !== null) ? sum(answers.map(({ cost }) => cost ?? 0)) : null,
    latency_ms:
      latencies.length === 0
        ? null
        : { median: latencies[Math.floor(latencies.length / 2)] ?? 0, max: latencies.at(-1) ?? 0 },
    faults,
  };
}

/** Returns the totals of a player on one line. */
export function totalsLine(totals: LlmTotals): string {
  const { answers, tokens_in, tokens_out, is_estimated, cost, latency_ms, faults } = totals;
  const count = (tokens: number): string => tokens.toLocaleString("en");
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
  const causes = Object.entries(faults).map(([cause, times]) => `${cause} ${times}`);
  return [
    counted(answers, "answer"),
    `${count(tokens_in)} tokens in, ${count(tokens_out)} out${is_estimated ? " (estimated)" : ""}`,
    ...(cost === null ? [] : [`cost ${Number(cost.toPrecision(4))}`]),
    ...(latency_ms === null
      ? []
      : [`latency ${seconds(latency_ms.median)} median, ${seconds(latency_ms.max)} at most`]),
    causes.length === 0 ? "no faults" : `faults: ${causes.join(", ")}`,
  ].join("; ");
}
