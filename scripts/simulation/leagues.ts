import { isoAt } from "#shared/lib/clock.ts";
import { Config } from "#shared/runtime/config/config.ts";
import { START_MS } from "./machines/clock.ts";
import { OPERATOR_TOKEN } from "./operator.ts";
import { RESTART_AT_MS } from "./operator-plans.ts";
import { MOVE_MS, type Plan } from "./plan.ts";
import { punctualPlayers } from "./player-plans.ts";

/** A league that no plan starts. */
export const WAITING_LEAGUE = "next";
/** A league of the first two players. */
const FIRST_LEAGUE = "first";

/**
 * Returns the config of the managers of a plan: the league `sim`, and others that its players enter before. `startsAtMs` is the time of its start, since
 * that of the run. `endpoint` is that of several managers.
 */
export function configOf(plan: Plan, startsAtMs: number | undefined, endpoint: string | null): Config {
  const { game, clock, format, lateEntry, matchMs, roundMs, calls } = plan;
  const manager = {
    ...(endpoint !== null && { endpoint }),
    ...(calls && { operator_token: OPERATOR_TOKEN }),
  };
  const isWaiting = [plan.added, plan.former, plan.visitor].some((index) => index !== undefined);
  return Config.parse({
    leagues: [
      {
        ...{ league_id: "sim", game: game.id, options: game.options, clock, min_players: minPlayers(plan) },
        ...(lateEntry && { late_entry: lateEntry }),
        ...(format && { format: format.id, format_options: format.options }),
        ...(roundMs !== undefined && { round_ms: roundMs }),
        ...(startsAtMs !== undefined && { starts_at: isoAt(START_MS + startsAtMs) }),
      },
      ...(isWaiting ? [{ league_id: WAITING_LEAGUE, game: game.id, options: game.options }] : []),
      ...(plan.isSecondLeague
        ? [{ league_id: FIRST_LEAGUE, game: game.id, options: game.options, min_players: 2, max_players: 2 }]
        : []),
    ],
    timeouts: { move_ms: MOVE_MS, join_ms: MOVE_MS, ...(matchMs !== undefined && { match_ms: matchMs }) },
    ...(Object.keys(manager).length > 0 && { manager }),
  });
}

/** The number of players with which the league starts; undefined if an operator starts it. */
function minPlayers(plan: Plan): number | undefined {
  const { added, calls = [], isStartedByOperator } = plan;
  if (isStartedByOperator) return undefined;
  const isAddedLate =
    added !== undefined && !calls.some(({ tool, after }) => tool === "add_player" && after === "begin");
  return punctualPlayers(plan) - (isAddedLate ? 1 : 0);
}

/** The player that a machine runs. */
interface Identity {
  readonly name: string;
  readonly dataFolder: string;
  readonly leagueIds?: readonly string[];
}

/** Returns the player that a machine runs at a time, in ms since the start of the run. */
export function identityOf({ former, added, visitor, isSecondLeague }: Plan, index: number, atMs: number): Identity {
  const self = { name: `P${index + 1}`, dataFolder: `/player-${index}` };
  const isEarly = atMs < RESTART_AT_MS;
  if (isEarly && index === former)
    return { name: `Q${index + 1}`, dataFolder: `/former-${index}`, leagueIds: [WAITING_LEAGUE] };
  if (index === added) return { ...self, leagueIds: [WAITING_LEAGUE] };
  if (isEarly && isSecondLeague && index < 2) return { ...self, leagueIds: [FIRST_LEAGUE] };
  const isOnly = [former, added, visitor].every((other) => other === undefined) && !isSecondLeague;
  return isOnly ? self : { ...self, leagueIds: ["sim"] };
}
