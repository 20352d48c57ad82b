import { z } from "zod";
import { activePlayers, type Format } from "./format.ts";
import { keepPairs, nextOfSeries, pairOf, remainingOfSeries } from "./pair-series.ts";

const Options = z.strictObject({
  champion: z
    .string()
    .min(1)
    .optional()
    .describe("The player that plays all matches, by name; the first player if it is absent."),
  games: z
    .int()
    .min(1)
    .max(100_000)
    .default(2)
    .describe("The number of matches of the champion with each other player."),
});
type Options = z.infer<typeof Options>;

/** The pairs of the champion and its opponents. There are none if the champion is not in the league. */
const pairsOf = keepPairs((view, named: string | undefined) => {
  const champion = named ?? view.players[0]?.playerId ?? "";
  const players = activePlayers(view);
  if (!players.includes(champion)) return [];
  return players
    .filter((player) => player !== champion)
    .map((player, index) => (index % 2 === 0 ? pairOf(champion, player) : pairOf(player, champion)));
});

/** The league ends early if the champion leaves, because no other player is paired with another one. */
export const gauntlet: Format<Options> = {
  id: "gauntlet",
  name: "Gauntlet",
  description: "One player, the champion, plays a number of matches with alternating roles against every other player.",
  options: Options,
  extendable: ["games"],
  playerOption: "champion",
  roles: "two",
  opensRounds: "at_once",
  byePoints: 0,
  ignoresResults: true,
  tieBreaks: ["points", "wins", "draws"],
  next: (view, slots, { champion, games }) => nextOfSeries(view, pairsOf(view, champion), { games }, slots),
  remaining: (view, { champion, games }) => remainingOfSeries(view, pairsOf(view, champion), games),
};
