import { z } from "zod";
import type { Format, LeagueView } from "./format.ts";
import { BYE_POINTS, pairSwiss, swissPlayers } from "./swiss-pairing.ts";
import { activePlayers, openMatches } from "./view.ts";

const Options = z.strictObject({
  rounds: z
    .int()
    .min(1)
    .max(1000)
    .optional()
    .describe(
      "The number of rounds. Without it: the smallest number of rounds after which one player can be left without a loss.",
    ),
});
type Options = z.infer<typeof Options>;

/** The number of rounds of the options, or log2 of the number of players at the start, rounded up. */
const roundCount = (view: LeagueView, { rounds }: Options): number =>
  rounds ?? Math.max(1, Math.ceil(Math.log2(view.players.filter(({ enteredAfter }) => enteredAfter === 0).length)));

/** The league ends early if no two players can be paired without a second meeting. */
export const swiss: Format<Options> = {
  id: "swiss",
  name: "Swiss system",
  description: "In each round players with equal or similar points meet, and no two players meet twice.",
  options: Options,
  extendable: ["rounds"],
  roles: "two",
  opensRounds: "in_order",
  byePoints: BYE_POINTS,
  tieBreaks: ["points", "buchholz", "sonneborn-berger", "wins"],

  next(view, _slots, options) {
    if (view.rounds.length >= roundCount(view, options) || activePlayers(view).length < 2) return "completed";
    if (openMatches(view) > 0) return "wait";
    const round = pairSwiss(swissPlayers(view));
    return round === null ? "completed" : { rounds: [round] };
  },

  plannedRounds: roundCount,
  earlyEnd: "the players that are left cannot be paired without a second meeting",

  remaining(view, options) {
    const rounds = Math.max(0, roundCount(view, options) - view.rounds.length);
    return openMatches(view) + rounds * Math.floor(activePlayers(view).length / 2);
  },
};
