import { reasonInWords, winnersInWords, winnersOf } from "#shared/games/game.ts";
import { findGame } from "#shared/games/registry.ts";
import { inOneLine } from "#shared/lib/text.ts";
import { type AgentEvent, type AgentState, MAX_FAILS, transition } from "#shared/protocol/lifecycle.ts";
import type { GameError, GameResult, RoundEnd, StandingsUpdate } from "#shared/protocol/messages.ts";
import { LEAGUE_COMMAND } from "#shared/runtime/program.ts";
import type { MatchInfo } from "./sdk.ts";

/** Shows the notifications of the manager and the referees on the terminal and collects the facts for get_my_state. */
export interface NotificationLog {
  registered(playerId: string, leagueIds: readonly string[]): void;
  /** A match has begun in which the player has this id. A player that does not register itself has no other source for its id. */
  matchBegun(playerId: string): void;
  matchEnded(info: MatchInfo, result: GameResult): void;
  /** The referee reports a fault of this player. */
  gameError(error: GameError): void;
  roundStarted(): void;
  roundEnded(round: RoundEnd): void;
  standings(update: StandingsUpdate): void;
  /** The player stops. Shows that it stays registered in leagues that are not over. */
  stopping(): void;
  facts(): Facts;
}

interface Facts {
  /** null until it is known. */
  readonly player_id: string | null;
  /** The state that the manager sent last; it sends the state after each round. */
  readonly state: AgentState;
  /** The sum over all leagues of the player. */
  readonly points: number;
  readonly leagues: readonly { readonly league_id: string; readonly points: number; readonly rank: number | null }[];
}

/** The roles that have won. If a team has won, `winner` is null, and its roles have the most match points. */
export function winningRoles(
  { roles }: Pick<MatchInfo, "roles">,
  { winner, match_points }: GameResult,
): readonly string[] {
  const players = Object.entries(roles);
  if (winner !== null) return players.filter(([, id]) => id === winner).map(([role]) => role);
  const scores = Object.fromEntries(players.map(([role, id]) => [role, match_points[id] ?? 0]));
  return winnersOf({ scores }) ?? [];
}

const SHUT_DOWN = `this player is shut down: the operator has removed it, or it did not answer in ${MAX_FAILS} matches in a row. Its later matches are lost`;

function staysRegistered(playerId: string, leagueIds: readonly string[]): string {
  const stays = `${playerId} stays registered in ${leagueIds.join(", ")} and loses its matches`;
  const removal = `The operator can remove it with: ${LEAGUE_COMMAND} remove ${playerId} --data FOLDER, with the data folder of the league`;
  return inOneLine(`${stays}. To continue, enter the same command again. ${removal}`);
}

/** How a match has ended for the player: "rps R1M1 as player_1: won (won series)", "rps R1M1 as player_1: won (opponent: bot error)". */
function endOfMatch(info: MatchInfo, result: GameResult): string {
  const { leagueId, matchId, role } = info;
  const winners = winningRoles(info, result);
  const resultWithoutWinner = result.termination === "normal" ? "drawn" : "no winner";
  const outcome = winners.length === 0 ? resultWithoutWinner : winners.includes(role) ? "won" : "lost";
  const teams = findGame(info.game)?.info.teams;
  const team = teams && winners.length > 1 ? `, ${winnersInWords(teams, winners)} wins` : "";
  const isForfeit = result.termination === "forfeit" && winners.length > 0;
  const [own, other] = teams ? ["own team", "other team"] : ["this player", "opponent"];
  const whose = isForfeit ? `${winners.includes(role) ? other : own}: ` : "";
  return `${leagueId} ${matchId} as ${role}: ${outcome}${team} (${whose}${reasonInWords(result.reason)})`;
}

/** The number of players in standings, after a rank. A truncated list holds the player's own entry only, and may come without `total`. */
function ofPlayers({ standings, truncated, total }: StandingsUpdate): string {
  const players = truncated === true ? total : standings.length;
  return players === undefined ? "" : ` of ${players}`;
}

export function createNotificationLog(say: (line: string) => void): NotificationLog {
  let playerId: string | null = null;
  /** Whether the player has registered itself. */
  let isRegistered = false;
  let state: AgentState = "INIT";
  const leagues = new Map<string, { points: number; rank: number | null }>();
  /** Leagues whose last round has ended. The next standings of such a league are final. */
  const over = new Set<string>();
  /** Leagues that have shut this player down while they run. */
  const withoutPlayer = new Set<string>();
  const leagueOf = (leagueId: string) => {
    const league = leagues.get(leagueId) ?? { points: 0, rank: null };
    leagues.set(leagueId, league);
    return league;
  };
  const step = (event: AgentEvent): void => {
    const next = transition(state, event);
    if (next.ok) state = next.value;
  };
  return {
    registered(id, leagueIds) {
      playerId = id;
      isRegistered = true;
      // The player enters another league after its leagues are over.
      if (state === "SHUTDOWN" && leagueIds.some((leagueId) => !leagues.has(leagueId))) state = "INIT";
      step("register_success");
      for (const leagueId of leagueIds) leagueOf(leagueId);
    },
    matchBegun(id) {
      playerId = id;
      // A player that does not register itself may play in one league after another.
      if (state === "INIT" || state === "SHUTDOWN") state = "REGISTERED";
      step("league_start");
    },
    matchEnded(info, result) {
      leagueOf(info.leagueId).points += result.match_points[info.roles[info.role] ?? ""] ?? 0;
      say(inOneLine(endOfMatch(info, result)));
    },
    gameError({ league_id, match_id, error_code, message }) {
      say(inOneLine(`${league_id} ${match_id}: ${error_code} ${message}`.slice(0, 500)));
    },
    roundStarted: () => step("league_start"),
    roundEnded({ league_id, next_round_id }) {
      if (next_round_id === null) over.add(league_id);
      else over.delete(league_id);
    },
    standings(update) {
      const { league_id, round_id, standings } = update;
      const entry = standings.find((row) => row.player_id === playerId);
      if (!entry) return;
      const { rank, points } = entry;
      leagues.set(league_id, { rank, points });
      state = entry.state ?? state;
      if ([...leagues.keys()].every((leagueId) => over.has(leagueId))) step("league_end");
      const when = over.has(league_id) ? "is over" : `after round ${round_id}`;
      say(inOneLine(`${league_id} ${when}: rank ${rank}${ofPlayers(update)}, points ${points}`));
      const isShutDown = entry.state === "SHUTDOWN" && !over.has(league_id);
      if (isShutDown && !withoutPlayer.has(league_id)) say(inOneLine(`${league_id}: ${SHUT_DOWN}`));
      withoutPlayer[isShutDown ? "add" : "delete"](league_id);
    },
    stopping() {
      const open = [...leagues.keys()].filter((leagueId) => !over.has(leagueId) && !withoutPlayer.has(leagueId));
      if (playerId !== null && isRegistered && open.length > 0) say(staysRegistered(playerId, open));
    },
    facts: () => ({
      player_id: playerId,
      state,
      points: [...leagues.values()].reduce((sum, league) => sum + league.points, 0),
      leagues: [...leagues].map(([league_id, { points, rank }]) => ({ league_id, points, rank })),
    }),
  };
}
