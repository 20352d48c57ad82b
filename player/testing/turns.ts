import { systemClock } from "#shared/lib/clock.ts";
import type { ClockState } from "#shared/lib/time-control.ts";
import type { GameInvite, MoveRequest } from "#shared/protocol/messages.ts";
import { turnOf } from "../matches/turn.ts";
import type { MatchInfo, Turn } from "../sdk.ts";

/** The facts of a match of rock-paper-scissors. */
export const matchInfo = (): MatchInfo => ({
  leagueId: "rps",
  matchId: "R1M1",
  epoch: 1,
  game: "rps.v1",
  options: { best_of: 3 },
  role: "player_1",
  roles: { player_1: "P01", player_2: "P02" },
  seedCommitment: "",
});

interface TurnOptions {
  readonly limitMs?: number;
  readonly history?: Turn["history"];
  readonly log?: (line: string) => void;
  readonly end?: AbortSignal;
  readonly clock?: ClockState;
}

/** A turn of that match, as the player gives it to a bot. */
export function playerTurn(tick: number, options: TurnOptions = {}): Turn {
  const { limitMs = 30_000, history = [], log = () => {}, end = new AbortController().signal, clock } = options;
  const { role, roles, game, matchId, leagueId } = matchInfo();
  const invite = { game, your_role: role, roles, match_id: matchId, league_id: leagueId, bot_seed: "seed" };
  const request = {
    tick,
    game_state: { round: tick + 1 },
    legal_actions: ["rock", "paper", "scissors"],
    time_limit_seconds: limitMs / 1_000,
    clock,
  };
  const context = { game: undefined, invite: invite as unknown as GameInvite, history, end, log, clock: systemClock };
  return turnOf(context, request as unknown as MoveRequest, 1);
}
