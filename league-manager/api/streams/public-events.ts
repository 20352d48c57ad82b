import type { LeagueEvent } from "../../league/events.ts";
import { publicReason } from "../../league/outcome.ts";

/** An event as readers of the league's stream receive it: without the fields that only operators may know (PROTOCOL.md, section 4). */
export function publicEvent(leagueId: string, version: number, event: LeagueEvent): Readonly<Record<string, unknown>> {
  const { v: _, at, type, ...fields } = event;
  for (const hidden of HIDDEN[type] ?? []) delete (fields as Record<string, unknown>)[hidden];
  // The field is part of the format, so its text is replaced instead of removed.
  if (event.type === "match_aborted")
    Object.assign(fields, { reason: publicReason({ ...event, termination: "aborted" }) });
  return { league_id: leagueId, version, type, at, ...fields };
}

/** `detail` may contain addresses. `run_id` identifies the messages of a run to its referees, so it is not public. */
const HIDDEN: Readonly<Partial<Record<LeagueEvent["type"], readonly string[]>>> = {
  opened: ["run_id"],
  player_entered: ["name_commitment"],
  match_released: ["detail"],
};
