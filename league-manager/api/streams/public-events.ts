import type { LeagueEvent } from "../../league/events.ts";
import { publicReason } from "../../league/outcome.ts";

/** A league's event as readers of its stream see it: without the fields for operators (PROTOCOL.md, section 4). */
export function publicEvent(leagueId: string, version: number, event: LeagueEvent): Readonly<Record<string, unknown>> {
  const { v: _, at, type, ...fields } = event;
  for (const hidden of HIDDEN[type] ?? []) delete (fields as Record<string, unknown>)[hidden];
  // A reader may rely on the field, so its text is replaced.
  if (event.type === "match_aborted")
    Object.assign(fields, { reason: publicReason({ ...event, termination: "aborted" }) });
  return { league_id: leagueId, version, type, at, ...fields };
}

/** Why a referee lost a match may name addresses. Referees recognize messages of their run by its id, so it is not public. */
const HIDDEN: Readonly<Partial<Record<LeagueEvent["type"], readonly string[]>>> = {
  opened: ["run_id"],
  player_entered: ["name_commitment"],
  match_released: ["detail"],
};
