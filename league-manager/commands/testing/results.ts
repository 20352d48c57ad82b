import { rps } from "#shared/games/rps.ts";
import type { MatchResult } from "#shared/protocol/messages.ts";
import { outcomeOf, participantsOf } from "#shared/session/match-result.ts";
import type { Command } from "#shared/session/session.ts";
import { act, playSession } from "#shared/session/testing/play.ts";
import { AT } from "./commands.ts";

export const SEED = "seed of the match";

interface Pairing {
  readonly leagueId?: string;
  readonly matchId: string;
  readonly players: readonly [string, string];
  readonly epoch?: number;
}

const base = ({ leagueId = "rps", matchId, epoch = 1 }: Pairing) => ({
  league_id: leagueId,
  match_id: matchId,
  round_id: Number(/^R(\d+)/.exec(matchId)?.[1]),
  epoch,
});

/** The result of a match of rock-paper-scissors in which these commands were given. */
function resultOf(pairing: Pairing, commands: readonly Command[]): MatchResult {
  const about = base(pairing);
  const [player_1, player_2] = pairing.players;
  const roles = { player_1, player_2 };
  const participants = participantsOf({ ...about, roles });
  const setup = { id: "s", game: rps, options: rps.options.parse({}), participants, seed: SEED, at: AT };
  const { session, log, head } = playSession(setup, commands);
  return { ...about, ...outcomeOf(session, head, roles), log };
}

/** A result that the first player has won. */
export const won = (pairing: Pairing, more: Partial<MatchResult> = {}): MatchResult => ({
  ...resultOf(pairing, [act("player_1", "rock"), act("player_2", "scissors")]),
  ...more,
});

/** A result that the second player has lost, because it did not answer in time or, without a code, because it resigned. */
export const lost = (pairing: Pairing, code: "G002" | null = "G002"): MatchResult =>
  resultOf(pairing, [
    {
      type: "forfeit",
      faults: [{ role: "player_2", ...(code && { code }), cause: code ? "timeout" : "resigned", detail: "" }],
    },
  ]);

/** The report of a referee that could not play a match. */
export const aborted = (pairing: Pairing, reason = "our fault"): MatchResult => ({
  ...base(pairing),
  ...{ winner: null, final_scores: {}, match_points: {}, faults: [], log: [], log_head: "" },
  termination: "aborted",
  reason,
});
