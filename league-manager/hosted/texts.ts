import { reasonInWords, winnersInWords } from "#shared/games/game.ts";
import { listName, wordOf } from "#shared/games/move-text.ts";
import { findGame } from "#shared/games/registry.ts";
import { counted } from "#shared/lib/text.ts";
import { clockInWords } from "#shared/web/texts/clock-text.ts";
import { restartInWords } from "#shared/web/texts/game-texts.ts";
import type { PlayState, ShownLeague, ShownMatch } from "./hosted-state.ts";

/** The maximum number of legal moves in a text. The structured content lists all. */
const MAX_LISTED = 220;

/** The state of a hosted player as text for a model. `timedOutAfterS`: the seconds that the call has waited without an event. */
export function stateInWords(state: PlayState, timedOutAfterS: number | null = null): string {
  const results = state.results.map(resultInWords);
  const turns = state.turns.map(turnInWords);
  return [...results, ...turns, ...standings(state), advice(state, timedOutAfterS)].join("\n\n");
}

/** The answer to join_league as text: the secret, the rules of the games and the state. */
export const joinedInWords = (state: PlayState, token: string, rules: readonly string[]): string =>
  [
    `You are ${state.name} (${state.player_id}). Your player_token (secret): ${token}`,
    ...new Set(rules),
    stateInWords(state),
  ].join("\n\n");

function turnInWords({ league_id, match_id, game, seconds_left, rejected }: ShownMatch): string {
  const rules = findGame(game.template);
  const opponents = game.roles
    .filter((role) => role !== game.your_role)
    .map((role) => game.players[role]?.name ?? role);
  const legal = game.legal_actions.slice(0, MAX_LISTED).map((action) => wordOf(action, rules));
  const more = game.legal_actions.length > MAX_LISTED ? ", …" : "";
  return [
    `Your turn in ${league_id}/${match_id}: you are ${game.your_role} in ${game.name}, against ${opponents.join(", ")}. ${Math.floor(seconds_left ?? 0)} seconds are left for this move.${clocksInWords(game.clock)}`,
    ...(game.restart ? [restartInWords(game.restart)] : []),
    ...(rejected ? [`Your last move was rejected: ${rejected}`] : []),
    `\`\`\`\n${game.board}\n\`\`\``,
    `${listName(rules)}: ${legal.join(", ")}${more}`,
  ].join("\n\n");
}

/** The clocks of the roles, as the end of a text. */
function clocksInWords(clock: ShownMatch["game"]["clock"]): string {
  if (!clock) return "";
  const times = Object.entries(clock.remaining_ms).map(([role, leftMs]) => `${role} ${clockInWords(leftMs)}`);
  return ` Clocks: ${times.join(", ")}.`;
}

function resultInWords({ league_id, match_id, game }: ShownMatch): string {
  const { result, your_role, template } = game;
  if (!result) return "";
  const { winners } = result;
  const verdict = winners.length === 0 ? "No winner" : winners.includes(your_role) ? "You have won" : "You have lost";
  const winner = winners.length === 0 ? "" : `${winnersInWords(findGame(template)?.info.teams, winners)} wins, `;
  return `${verdict} in ${league_id}/${match_id}, ${game.name} (${winner}${reasonInWords(result.reason)}).`;
}

function standings({ leagues }: PlayState): readonly string[] {
  return leagues.length === 0 ? [] : [leagues.map(leagueInWords).join("\n")];
}

function leagueInWords({
  league_id,
  game_name,
  status,
  rank,
  points,
  played,
  players,
  next_match,
}: ShownLeague): string {
  if (status === "open")
    return `League ${league_id} (${game_name}) has ${counted(players, "player")} and has not started.`;
  const next = next_match
    ? ` Next match: round ${next_match.round_id}, against ${next_match.opponents.join(", ")}.`
    : "";
  const over = status === "completed" ? " is over" : "";
  return `League ${league_id} (${game_name})${over}: rank ${rank} of ${players}, ${points} points after ${counted(played, "match", "matches")}.${next}`;
}

function advice({ next }: PlayState, timedOutAfterS: number | null): string {
  if (next === "your_turn") return "Choose one of the legal moves and call make_move before the time is over.";
  if (next === "league_over") return "Your leagues are over. There is nothing more to wait for.";
  const waited = timedOutAfterS === null ? "" : `Nothing has happened for ${timedOutAfterS} seconds, which is normal. `;
  return `${waited}Call wait_for_turn to wait for your turn.`;
}
