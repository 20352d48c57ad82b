import { matchRef } from "#shared/lib/ids.ts";
import { listSummary } from "#shared/lib/list.ts";
import { invariant } from "#shared/lib/result.ts";
import { dialectToken, NATIVE } from "#shared/protocol/dialects/dialect.ts";
import { historyField, type Timeouts, transportsField } from "#shared/protocol/message-fields.ts";
import type { StartGame } from "#shared/protocol/messages.ts";
import { signFor } from "#shared/protocol/signing.ts";
import { createTally, type Tally } from "#shared/standings/standings.ts";
import { type Agent, needsLegalActions } from "../../agents/registered-agent.ts";
import { configIdOf, currentMatches, type League, type Match, optionsOf, type Round } from "../../league/league.ts";
import { restartReason } from "../../league/outcome.ts";
import type { ManagerState } from "../../ledger.ts";
import type { EndpointFor, MoveLimits } from "../effects-context.ts";

/** The seed of a match under its current epoch. */
export type SeedOf = (league: League, match: Match) => string;

/** The inputs of START_GAME that are not in the state. */
interface OrderContext {
  readonly seedOf: SeedOf;
  readonly timeouts: Timeouts;
  readonly moveLimits: MoveLimits;
  readonly endpointFor: EndpointFor;
}

/** The payload of START_GAME for a match that is assigned to a referee. */
export function startGameOf(
  { agents }: ManagerState,
  league: League,
  match: Match,
  referee: Agent,
  { seedOf, timeouts, moveLimits, endpointFor }: OrderContext,
): StartGame {
  const { join_ms, game_over_ms } = timeouts;
  const ref = matchRef(league.leagueId, match.matchId);
  const seats = league.roles.map((role, index): [string, StartGame["roles"][string]] => {
    const player = agents.get(match.players[index] ?? "");
    invariant(player, `${ref} has a registered player as ${role}`);
    const seat = seatOf(player, league.game, ref, moveLimits.ofPlayer(player.name));
    const endpoint = endpointFor(referee, player.endpoint);
    return [role, { ...seat, ...dialectFieldsOf(player, league), endpoint }];
  });
  return {
    league_id: league.leagueId,
    round_id: match.roundId,
    match_id: match.matchId,
    epoch: match.epoch,
    run_id: league.runId,
    game: league.game,
    options: optionsOf(league, match),
    ...(league.clock && { clock: league.clock }),
    ...(match.lastRelease && { restart_reason: restartReason(match) ?? "" }),
    seed: seedOf(league, match),
    roles: Object.fromEntries(seats),
    timeouts: { join_ms, move_ms: moveLimits.ofLeague(configIdOf(league)), game_over_ms },
  };
}

/** The payloads of START_GAME for all matches that are assigned to a referee. */
export function startGamesOf(state: ManagerState, refereeId: string, context: OrderContext): readonly StartGame[] {
  const referee = state.agents.get(refereeId);
  if (!referee) return [];
  return [...state.leagues.values()].flatMap((league) => {
    const assigned = currentMatches(league).filter(
      (match) => match.status === "assigned" && match.refereeId === refereeId,
    );
    return assigned.map((match) => startGameOf(state, league, match, referee, context));
  });
}

type RoleOfStartGame = StartGame["roles"][string];

const seatOf = (
  player: Agent,
  game: string,
  ref: string,
  moveMs: number | undefined,
): Omit<RoleOfStartGame, "endpoint"> => ({
  player_id: player.id,
  display_name: player.name,
  dialect: player.dialect,
  match_token: signFor(player.tokenHash, ref),
  legal_actions: needsLegalActions(player, game),
  round_results: player.wantsRoundResults,
  ...(moveMs !== undefined && { move_ms: moveMs }),
  ...historyField(player.wantsDeltaViews),
  ...transportsField(player.offersWebSocket),
});

/** The results of a league so far. */
const resultsOf = listSummary<Round, Tally>({
  empty: createTally,
  add(tally, { matches }, times) {
    for (const match of matches) tally.addMatch(match, times);
  },
});

/** The fields of a seat that only messages to players of other dialects contain: the token, and the player's results so far. */
function dialectFieldsOf({ id, name, dialect, tokenHash }: Agent, { rounds }: League): object {
  if (dialect === NATIVE) return {};
  const [row] = resultsOf(rounds).standings([{ player_id: id, display_name: name }]);
  const { wins = 0, draws = 0, losses = 0 } = row ?? {};
  return { dialect_token: dialectToken(id, tokenHash), standings: { wins, draws, losses } };
}
