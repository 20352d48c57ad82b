import type { z } from "zod";
import { isIso } from "#shared/lib/clock.ts";
import { chainHash, GENESIS } from "#shared/lib/hash-chain.ts";
import { messageOf } from "#shared/lib/result.ts";
import { parseJson, readLines, type Source } from "./source.ts";

/** A file of events, one stored text a line. */
interface LogFile<T> {
  readonly file: string;
  /** The schema of the events. */
  readonly schema: z.ZodType<T>;
  /** The hash of the last event in the league file. */
  readonly log_head: string;
}

/**
 * Reads a log of a league or an agent. Checks its chain, and the form and the time of every event. Calls `follow` with each event; `follow` throws
 * if the event cannot follow those before it. Returns whether every event can follow.
 */
export function readLog<T extends { readonly at: string }>(
  source: Source,
  { file, schema, log_head }: LogFile<T>,
  follow: (event: T, index: number) => void,
): boolean {
  const { findings } = source;
  const lines = readLines(source, file);
  if (lines.reduce(chainHash, GENESIS) !== log_head)
    findings.blame(file, "its events do not lead to the log_head in league.json: one was changed, added or removed");
  /** Only the first event with a flaw is blamed, because the others often have the same flaw. */
  const flaws = new Set<string>();
  for (const [index, line] of lines.entries()) {
    try {
      const event = schema.parse(parseJson(line));
      for (const flaw of flawsOf(line, event)) {
        if (!flaws.has(flaw)) findings.blame(file, `event ${index} ${flaw}`);
        flaws.add(flaw);
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

/** The flaws of an event's form. The manager stores events as the schema outputs them, so that equal events have equal hashes. */
function flawsOf(line: string, event: { readonly at: string }): readonly string[] {
  const flaws: string[] = [];
  if (JSON.stringify(event) !== line) flaws.push("is not written as the manager writes it");
  if (!isIso(event.at)) flaws.push("has no time of the form 2026-01-31T12:00:00.000Z");
  return flaws;
}
