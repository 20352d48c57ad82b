import { z } from "zod";
import { activePlayers, type Format, type LeagueView, type NewRound, type Next, openMatches } from "./format.ts";
import { keepPairs, nextOfSeries, pairOf, remainingOfSeries } from "./pair-series.ts";
import { rotation } from "./round-robin.ts";

const Options = z.strictObject({
  games: z
    .int()
    .min(1)
    .max(1_000_000)
    .default(100)
    .describe("The number of matches of each two players; in games of more than two roles, the number of rounds."),
});
type Options = z.infer<typeof Options>;

/** All pairs of the players. The first-named player alternates, so that every player is the first of about half of its pairs. */
const allPairs = keepPairs((view) => {
  const players = activePlayers(view);
  return players.flatMap((second, index) =>
    players
      .slice(0, index)
      .map((first, position) => ((index + position) % 2 === 1 ? pairOf(first, second) : pairOf(second, first))),
  );
});

/** Adds rounds of the rotation while slots are free. */
function nextOfRotation(view: LeagueView, slots: number, games: number): Next {
  const players = activePlayers(view);
  const left = games - view.rounds.length;
  if (players.length < view.roleCount || left <= 0) return "completed";
  const turns = rotation(players, view.roleCount);
  const matchesPerRound = Math.floor(players.length / view.roleCount);
  const count = Math.min(left, Math.ceil(slots / matchesPerRound));
  if (count === 0) return "wait";
  return {
    rounds: Array.from({ length: count }, (_, index) => turns[(view.rounds.length + index) % turns.length] as NewRound),
  };
}

export const matchFormat: Format<Options> = {
  id: "match",
  name: "Match",
  description:
    "Every two players play a number of matches with alternating roles, as many at the same time as possible.",
  options: Options,
  extendable: ["games"],
  roles: "any",
  opensRounds: "at_once",
  byePoints: 0,
  ignoresResults: true,
  tieBreaks: ["points", "wins", "draws"],

  next(view, slots, { games }) {
    if (view.roleCount !== 2) return nextOfRotation(view, slots, games);
    return nextOfSeries(view, allPairs(view, null), { games }, slots);
  },

  remaining(view, { games }) {
    if (view.roleCount === 2) return remainingOfSeries(view, allPairs(view, null), games);
    const players = activePlayers(view);
    const rounds = Math.max(0, games - view.rounds.length);
    return openMatches(view) + rounds * Math.floor(players.length / view.roleCount);
  },
};
