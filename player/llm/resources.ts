import type { Clock } from "#shared/lib/clock.ts";
import type { Completions } from "#shared/rpc/llm/completions.ts";
import type { LlmSettings } from "#shared/runtime/config/llm.ts";
import type { MatchInfo } from "../sdk.ts";
import type { Recorder } from "./recorder.ts";
import type { Spending } from "./spending.ts";

/** The parts that all matches of a player share. */
export interface LlmResources {
  readonly settings: LlmSettings;
  readonly completions: Completions;
  readonly spending: Spending;
  readonly clock: Clock;
  /** Opens the record of a match. Throws an error of the file system if it cannot be written. */
  record(info: MatchInfo, system: string): Recorder;
}
