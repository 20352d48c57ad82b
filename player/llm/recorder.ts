import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { addToManifest, type LlmManifest, recordFile } from "./record-files.ts";
import type { Begin, LlmRecord } from "./records.ts";

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
