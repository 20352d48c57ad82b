import { spoken } from "#shared/games/game.ts";
import { cutTo, inOneLine } from "#shared/lib/text.ts";
import { POINTS } from "#shared/session/verdict.ts";
import type { Awaited } from "../agents/awaited.ts";
import type { Outcome } from "../league/league.ts";
import type { Standing } from "../league/standings.ts";
import type { LiveEvent } from "./live.ts";

/**
 * A player's new state, for people. Null if another line reports it already: the lines about the start and the end of a league include
 * its players, and a shutdown after timeouts has a notice.
 */
export function stateLine(event: Extract<LiveEvent, { type: "player_state" }>): string | null {
  const { name, agent_id, was, state } = event;
  const player = `${name} (${agent_id})`;
  if (state === "SUSPENDED") return `${player} is suspended: it did not answer in time`;
  if (was === "SUSPENDED" && state === "ACTIVE") return `${player} is active again`;
  return state === "REGISTERED" ? `${player} is registered again` : null;
}

/** So many names of missing players are listed. */
const MOST_MISSING = 10;

/** What an open league waits for, for people. */
export const waitingLine = (leagueId: string, awaited: Awaited): string => `${leagueId} waits: ${waitingText(awaited)}`;

/** The same without the league. */
export function waitingText({ present, needed, missing, isWithoutReferee }: Awaited): string {
  const others = missing.length - MOST_MISSING;
  const listed = [...missing.slice(0, MOST_MISSING), ...(others > 0 ? [`${others} more`] : [])];
  const last = listed.at(-1) ?? "";
  const names = listed.length > 1 ? `${listed.slice(0, -1).join(", ")} and ${last}` : last;
  const absent = names === "" ? "" : `, ${names} ${listed.length === 1 ? "has" : "have"} not`;
  return `${present} of ${needed} players have come${absent}${isWithoutReferee ? "; no referee has come" : ""}`;
}

/** The display name of a player; the id of a player who is not in the standings. */
export const nameIn = (standings: readonly Standing[], playerId: string): string =>
  standings.find((row) => row.player_id === playerId)?.display_name ?? playerId;

type Result = Pick<Outcome, "termination" | "reason"> & {
  /** Match points by player id. Empty for an aborted match. */
  readonly points: Readonly<Record<string, number>>;
  readonly faults: readonly { readonly player_id: string; readonly detail: string }[];
};

const DETAIL_CHARACTERS = 200;

/** How a match ended, in one line for people: the winners (several if a team has won), the reason, and the faults of a forfeit. */
export const resultLine = (result: Result, standings: readonly Standing[]): string =>
  resultText(result, (playerId) => nameIn(standings, playerId));

/** The same with names from any source. */
export function resultText({ points, termination, reason, faults }: Result, nameOf: (playerId: string) => string) {
  const winners = Object.keys(points).filter((playerId) => points[playerId] === POINTS.win);
  const verdict =
    winners.length === 0
      ? { normal: "draw", forfeit: "no winner", aborted: "aborted" }[termination]
      : `${winners.map(nameOf).join(" and ")} ${winners.length === 1 ? "wins" : "win"}`;
  const details = faults.map((fault) => `${nameOf(fault.player_id)}: ${fault.detail}`);
  const why = inOneLine(details.join("; ") || spoken(reason));
  return why === verdict ? verdict : `${verdict} (${cutTo(DETAIL_CHARACTERS, why)})`;
}
