import { reasonInWords } from "#shared/games/game.ts";
import { counted, cutTo, inOneLine } from "#shared/lib/text.ts";
import { POINTS } from "#shared/session/verdict.ts";
import type { Standing } from "#shared/standings/standings.ts";
import type { Awaited } from "../agents/awaited-players.ts";
import type { Outcome } from "../league/league.ts";
import { DECIDED_REASONS } from "../league/outcome.ts";
import type { LiveEvent } from "./live-events.ts";

/**
 * The line about a player's new state. Null if another line reports it: the lines about the start and the end of a league include its players, and a
 * shutdown after timeouts has a notice.
 */
export function stateLine(event: Extract<LiveEvent, { type: "player_state" }>): string | null {
  const { name, agent_id, was, state } = event;
  const player = `${name} (${agent_id})`;
  if (state === "SUSPENDED") return `${player} is suspended: it did not answer in time`;
  if (was === "SUSPENDED" && state === "ACTIVE") return `${player} is active again`;
  return state === "REGISTERED" ? `${player} is registered again` : null;
}

/** The maximum number of names of missing players in a line. */
const MAX_MISSING_NAMES = 10;

/** The line about what an open league waits for. */
export const waitingLine = (leagueId: string, awaited: Awaited): string => `${leagueId} waits: ${waitingText(awaited)}`;

/** The same without the id of the league. */
export function waitingText({ present, needed, missing, isWithoutReferee }: Awaited): string {
  const others = missing.length - MAX_MISSING_NAMES;
  const listed = [...missing.slice(0, MAX_MISSING_NAMES), ...(others > 0 ? [`${others} more`] : [])];
  const last = listed.at(-1) ?? "";
  const names = listed.length > 1 ? `${listed.slice(0, -1).join(", ")} and ${last}` : last;
  const absent = names === "" ? "" : `; missing: ${names}`;
  const noReferee = isWithoutReferee ? "; no referee is registered" : "";
  return `${present} of ${needed} players are registered${absent}${noReferee}`;
}

type LeagueStarted = Extract<LiveEvent, { type: "league_started" }>;

/** What a league plays: "rps.v1, Swiss system, rounds 5, 20 matches". */
export const startText = ({ game, format, matches }: LeagueStarted): string =>
  [
    game,
    ...(format === undefined ? [] : [format]),
    ...(matches === null ? [] : [counted(matches, "match", "matches")]),
  ].join(", ");

/** The maximum number of names of players with a bye in a line. */
const MAX_BYE_NAMES = 5;

/** A round and its byes: "round 2 of 5 (Final); bye: Ann". */
export function roundText({ round_id, rounds, label, byes }: Extract<LiveEvent, { type: "round_started" }>): string {
  const others = byes.length - MAX_BYE_NAMES;
  const names = [...byes.slice(0, MAX_BYE_NAMES), ...(others > 0 ? [`${others} more`] : [])].join(", ");
  const total = rounds === null ? "" : ` of ${rounds}`;
  const name = label === undefined ? "" : ` (${label})`;
  return `round ${round_id}${total}${name}${names === "" ? "" : `; bye: ${names}`}`;
}

/** The number of completed matches and of all matches, if it is known: "5/20". */
export const countText = (completed: number, matches: number | null): string =>
  matches === null ? `${completed}` : `${completed}/${matches}`;

/** The display name of a player, or its id if it is not in the standings. */
export const nameIn = (standings: readonly Standing[], playerId: string): string =>
  standings.find((row) => row.player_id === playerId)?.display_name ?? playerId;

type Result = Pick<Outcome, "termination" | "reason"> & {
  /** Match points by player id. Empty for an aborted match. */
  readonly points: Readonly<Record<string, number>>;
  readonly faults: readonly { readonly player_id: string; readonly detail: string }[];
};

const DETAIL_CHARACTERS = 200;

/** The line about the end of a match: the winners (several if a team has won), and the reason or the faults of a forfeit. */
export const resultLine = (result: Result, standings: readonly Standing[]): string =>
  resultText(result, (playerId) => nameIn(standings, playerId));

/** The same with a function that gives the names. */
export function resultText({ points, termination, reason, faults }: Result, nameOf: (playerId: string) => string) {
  const winners = Object.keys(points).filter((playerId) => points[playerId] === POINTS.win);
  const verdict =
    winners.length === 0
      ? {
          normal: "draw",
          forfeit: "no winner",
          aborted: DECIDED_REASONS.includes(reason) ? reasonInWords(reason) : "aborted",
        }[termination]
      : `${winners.map(nameOf).join(" and ")} ${winners.length === 1 ? "wins" : "win"}`;
  const detail = detailText({ reason, faults }, nameOf);
  return detail === verdict ? verdict : `${verdict} (${detail})`;
}

/** Why a match ended: the reason, or the faults of a forfeit. */
export function detailText(
  { reason, faults }: Pick<Result, "reason" | "faults">,
  nameOf: (playerId: string) => string,
) {
  const details = faults.map((fault) => `${nameOf(fault.player_id)}: ${fault.detail}`);
  return cutTo(DETAIL_CHARACTERS, inOneLine(details.join("; ") || reasonInWords(reason)));
}
