import { ok } from "#shared/lib/result.ts";
import { createRandom } from "#shared/lib/rng.ts";
import type { Asker, SeatedPlayer } from "../../../referee/match/ask.ts";

/** The endpoint of an opponent in the orders of the check. It is never called. */
export const OPPONENT_ENDPOINT = "opponent:";

/**
 * Returns an asker whose opponents of the player move at random in this process. Their moves depend on the seed of the match only, which `seedOf` returns
 * by the id of the match. `asker` asks the player.
 */
export const withOpponents = (asker: Asker, seedOf: (matchId: string) => string): Asker => ({
  invite: async (player, invitation, limitMs) =>
    isOpponent(player) ? ok(null) : asker.invite(player, invitation, limitMs),
  requestMove: async (player, request, limitMs) => {
    if (!isOpponent(player)) return asker.requestMove(player, request, limitMs);
    const { match_id, tick, legal_actions = [] } = request as OpponentRequest;
    const random = createRandom(`${seedOf(match_id)}/${player.role}/${tick}`);
    return { kind: "move", move: random.pick(legal_actions), raw: () => "", lateMs: 0 };
  },
  lastRoundTripMs: (endpoint) => asker.lastRoundTripMs(endpoint),
  inOrder: (player) => (isOpponent(player) ? null : asker.inOrder(player)),
  notify: async (player, type, payload, limitMs) => {
    if (!isOpponent(player)) await asker.notify(player, type, payload, limitMs);
  },
});

interface OpponentRequest {
  readonly match_id: string;
  readonly tick: number;
  readonly legal_actions?: readonly unknown[];
}

const isOpponent = ({ endpoint }: SeatedPlayer): boolean => endpoint === OPPONENT_ENDPOINT;
