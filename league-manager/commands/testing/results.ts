import { rps } from "#shared/games/rps.ts";
import type { MatchResult } from "#shared/protocol/messages.ts";
import { outcomeOf, participantsOf } from "#shared/session/match-result.ts";
import type { Command } from "#shared/session/session.ts";
import { act, playSession } from "#shared/session/testing/play.ts";
import { AT } from "./commands.ts";

/** The seed of every match. */
export const SEED = "seed of the match";

interface Pairing {
  readonly leagueId?: string;
  readonly matchId: string;
  readonly players: readonly [string, string];
  readonly epoch?: number;
}

const identifiersOf = ({ leagueId = "rps", matchId, epoch = 1 }: Pairing) => ({
  league_id: leagueId,
  match_id: matchId,
  round_id: Number(/^R(\d+)/.exec(matchId)?.[1]),
  epoch,
});

/** The result of a match of rock-paper-scissors after these commands to its session. */
function resultOf(pairing: Pairing, commands: readonly Command[]): MatchResult {
  const identifiers = identifiersOf(pairing);
  const [player_1, player_2] = pairing.players;
  const roles = { player_1, player_2 };
  const participants = participantsOf({ ...identifiers, roles });
  const setup = { id: "s", game: rps, options: rps.options.parse({}), participants, seed: SEED, at: AT };
  const { session, log, head } = playSession(setup, commands);
  return { ...identifiers, ...outcomeOf(session, head, roles), log };
}

/** The result of a match that the first player won, with some fields replaced. */
export const won = (pairing: Pairing, more: Partial<MatchResult> = {}): MatchResult => ({
  ...resultOf(pairing, [act("player_1", "rock"), act("player_2", "scissors")]),
  ...more,
});

/** The result of a match that the second player lost by timeout or, with the code null, by resignation. */
export const lost = (pairing: Pairing, code: "G002" | null = "G002"): MatchResult =>
  resultOf(pairing, [
    {
      type: "forfeit",
      faults: [{ role: "player_2", ...(code && { code }), cause: code ? "timeout" : "resigned", detail: "" }],
    },
  ]);

/** The report of a referee that aborted a match. */
export const aborted = (pairing: Pairing, reason = "our fault"): MatchResult => ({
  ...identifiersOf(pairing),
  winner: null,
  final_scores: {},
  match_points: {},
  faults: [],
  log: [],
  log_head: "",
  termination: "aborted",
  reason,
});
