import type { z } from "zod";
import { isIso } from "#shared/lib/clock.ts";
import { chainHash, GENESIS } from "#shared/lib/hash-chain.ts";
import { messageOf } from "#shared/lib/result.ts";
import { parseJson, readLines, type Source } from "./source.ts";

/** A file of events, one stored text a line. */
export interface LogFile<T> {
  readonly file: string;
  /** What the events must be. */
  readonly schema: z.ZodType<T>;
  /** The hash of the last event, as the league file has it. */
  readonly log_head: string;
}

/**
 * Reads a log of a league or an agent: its chain, and every event with its form and its time. Calls `follow` with each event; it throws if the
 * event cannot follow from those before it. Returns whether every event could follow.
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
  /** One event with such a fault is named; the others often have the same. */
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

/** What is wrong with an event apart from its meaning. The manager stores events as the schema gives them, so that one content has one hash. */
function flawsOf(line: string, event: { readonly at: string }): readonly string[] {
  const flaws: string[] = [];
  if (JSON.stringify(event) !== line) flaws.push("is not written as the manager writes it");
  if (!isIso(event.at)) flaws.push("has no time of the form 2026-01-31T12:00:00.000Z");
  return flaws;
}
