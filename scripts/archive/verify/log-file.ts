import type { z } from "zod";
import { isIso } from "#shared/lib/clock.ts";
import { chainHash, GENESIS } from "#shared/lib/hash.ts";
import { messageOf } from "#shared/lib/result.ts";
import { parseJson, readLines, type Source } from "./source.ts";

/** A file of events: one line for each stored event. */
interface LogFile<T> {
  readonly file: string;
  /** The schema of the events. */
  readonly schema: z.ZodType<T>;
  /** The expected hash of the last event. */
  readonly log_head: string;
}

/**
 * Reads the log of a league or an agent, and checks its hash chain and the form and time of each event. Calls `follow` with each event; `follow` throws
 * if the event does not follow from the events before it. Returns whether `follow` accepted every event.
 */
export function readLog<T extends { readonly at: string }>(
  source: Source,
  { file, schema, log_head }: LogFile<T>,
  follow: (event: T, index: number) => void,
): boolean {
  const { findings } = source;
  const lines = readLines(source, file);
  if (lines.reduce(chainHash, GENESIS) !== log_head)
    findings.blame(
      file,
      "the hash of its last event is not the log_head in league.json: an event was changed, added or removed",
    );
  /** The flaws that have been reported. Each is reported only for its first event, because later events often have the same flaw. */
  const reported = new Set<string>();
  for (const [index, line] of lines.entries()) {
    try {
      const event = schema.parse(parseJson(line));
      for (const flaw of flawsOf(line, event)) {
        if (!reported.has(flaw)) findings.blame(file, `event ${index} ${flaw}`);
        reported.add(flaw);
      }
      follow(event, index);
    } catch (thrown) {
      findings.blame(file, `event ${index}: ${messageOf(thrown)}`);
      return false;
    }
  }
  if (lines.length === 0) findings.blame(file, "has no events");
  return true;
}

/** Returns the flaws of an event's form. The manager stores events in the form of the schema's output, so that equal events have equal hashes. */
function flawsOf(line: string, event: { readonly at: string }): readonly string[] {
  const flaws: string[] = [];
  if (JSON.stringify(event) !== line) flaws.push("does not have the form in which the manager writes it");
  if (!isIso(event.at)) flaws.push("has no time of the form 2026-01-31T12:00:00.000Z");
  return flaws;
}
