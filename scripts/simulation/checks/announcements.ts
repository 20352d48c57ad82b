import type { LeagueEvent } from "../../../league-manager/league/events.ts";
import type { Plan } from "../plan.ts";
import type { CheckedEnvelope } from "./envelopes.ts";
import type { LogEntry } from "./log.ts";
import { type Fault, faultsOf } from "./rules.ts";

/** Checks which announcements the players receive, by the entries and the rounds of their leagues. */
interface Announcements {
  /** A request of a manager or a referee that has arrived. */
  onRequest(to: string, request: CheckedEnvelope): void;
  /** `names` are the display names of the players, by id. */
  faults(log: readonly LogEntry[], names: ReadonlyMap<string, string>): readonly Fault[];
}

interface Received {
  readonly to: string;
  readonly type: string;
  readonly leagueId: string;
  readonly roundId: number;
}

const ANNOUNCEMENTS: ReadonlySet<string> = new Set([
  ...["ROUND_ANNOUNCEMENT", "ROUND_START", "ROUND_END", "LEAGUE_STANDINGS_UPDATE"],
]);

export function createAnnouncements(plan: Plan): Announcements {
  const received: Received[] = [];
  const started = new Set<string>();
  const early = new Set<string>();
  return {
    onRequest(to, { type, payload }) {
      const leagueId = String(payload.league_id);
      const roundId = Number(payload.round_id);
      if (ANNOUNCEMENTS.has(type)) received.push({ to, type, leagueId, roundId });
      const key = `${to} ${leagueId} ${roundId}`;
      if (type === "ROUND_START") started.add(key);
      if (type === "GAME_INVITE" && !started.has(key) && answersAtOnce(plan, to))
        early.add(`${to} was invited to ${payload.match_id} before it had received the start of its round`);
    },
    faults: (log, names) =>
      faultsOf("schedule", new Set([...early, ...received.flatMap((one) => faultOf(one, log, names))])),
  };
}

/** Whether a player answers the start of a round in less than 250 ms, after which it would be invited anyway. */
const answersAtOnce = ({ managers, disturbances, calls, former, added, visitor, ...plan }: Plan, to: string): boolean =>
  /^player \d+$/.test(to) &&
  managers === 1 &&
  disturbances.length === 0 &&
  [calls, former, added, visitor, plan.contacts, plan.lateMs, plan.isSecondLeague].every((part) => part === undefined);

/** Returns a fault if a player has not entered the league of an announcement, or if the end of a round is that of one that was not opened. */
function faultOf(
  { to, type, leagueId, roundId }: Received,
  log: readonly LogEntry[],
  names: ReadonlyMap<string, string>,
): readonly string[] {
  const events = log.flatMap(({ stream, event }) => (stream === `league:${leagueId}` ? [event as LeagueEvent] : []));
  const faults: string[] = [];
  const hasEntered = (machine: string): boolean =>
    events.some(
      (event) =>
        event.type === "player_entered" && names.get(event.player_id)?.slice(1) === machine.slice("player ".length),
    );
  if (/^player \d+$/.test(to) && !hasEntered(to))
    faults.push(`${to} has received ${type} of the league ${leagueId}, which it has not entered`);
  const opened = events.flatMap((event) => (event.type === "round_opened" ? [event.round_id] : []));
  // Rounds that are opened as soon as they are paired have no event.
  if (type === "ROUND_END" && opened.length > 0 && roundId > Math.max(...opened))
    faults.push(`${to} has received the end of round ${roundId} of ${leagueId}, which was not opened`);
  return faults;
}
