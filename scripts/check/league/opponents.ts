import { ok } from "#shared/lib/result.ts";
import type { Random } from "#shared/lib/rng.ts";
import type { Asker, SeatedPlayer } from "../../../referee/match/ask.ts";

/** The endpoint of an opponent in the orders of the check. It is never called. */
export const OPPONENT_ENDPOINT = "opponent:";

/** Returns an asker whose opponents of the player move at random in this process. `asker` asks the player. */
export const withOpponents = (asker: Asker, random: Random): Asker => ({
  invite: async (player, invitation, limitMs) =>
    isOpponent(player) ? ok(null) : asker.invite(player, invitation, limitMs),
  requestMove: async (player, request, limitMs) => {
    if (!isOpponent(player)) return asker.requestMove(player, request, limitMs);
    const { legal_actions = [] } = request as { readonly legal_actions?: readonly unknown[] };
    return { kind: "move", move: random.pick(legal_actions), raw: () => "", lateMs: 0 };
  },
  lastRoundTripMs: (endpoint) => asker.lastRoundTripMs(endpoint),
  notify: async (player, type, payload, limitMs) => {
    if (!isOpponent(player)) await asker.notify(player, type, payload, limitMs);
  },
});

const isOpponent = ({ endpoint }: SeatedPlayer): boolean => endpoint === OPPONENT_ENDPOINT;
