import { parseEntry } from "#shared/session/entry.ts";
import type { ExportedMatch } from "../format.ts";

/** An action of a completed match, as a line of `actions.jsonl`. */
interface ActionLine {
  readonly league_id: string;
  readonly match_id: string;
  /** The number of actions before this one. */
  readonly tick: number;
  readonly role: string;
  readonly player_id: string;
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly action: unknown;
  /** The time that the role was charged; absent in a match without clocks. */
  readonly spent_ms?: number;
}

/** Yields the actions of a match as lines of JSON (JSON Lines). */
export function* actionLines({ league_id, match_id, roles, log }: ExportedMatch): Iterable<string> {
  for (const text of log) {
    const entry = parseEntry(text);
    if (entry.type !== "acted") continue;
    const { tick, role, at: time, action, spent_ms } = entry;
    const line: ActionLine = {
      ...{ league_id, match_id, tick, role, player_id: roles[role] ?? "", time, action },
      ...(spent_ms !== undefined && { spent_ms }),
    };
    yield `${JSON.stringify(line)}\n`;
  }
}
