import type { Random } from "#shared/lib/rng.ts";
import type { PairResult } from "../bradley-terry.ts";
import { scoreOfElo } from "../normal.ts";

/** Draws a normally distributed number with mean 0 (Box and Muller). */
export const normalNumber = (random: Random, deviation: number): number =>
  deviation * Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());

/** Draws the outcome of one game: 0 for a loss, 1 for a draw, 2 for a win, with this expected score and probability of a draw. */
export function drawnOutcome(random: Random, score: number, drawRate: number): 0 | 1 | 2 {
  const number = random.next();
  if (number < drawRate) return 1;
  return number < score + drawRate / 2 ? 2 : 0;
}

/** A league of players with known strengths. */
interface SimulatedLeague {
  /** The strengths in Elo points, by player. */
  readonly strengths: ReadonlyMap<string, number>;
  readonly results: readonly PairResult[];
}

/** What kind of league is simulated. */
export interface LeagueShape {
  readonly players: number;
  /** The standard deviation of the strengths in Elo points. */
  readonly spread: number;
  /** The number of games of each pair. */
  readonly games: number;
  /** The probability of a draw between equal players. It decreases with the difference. */
  readonly drawRate: number;
  /** Whether two players meet, by their numbers. All meet by default. */
  readonly meet?: (i: number, j: number) => boolean;
}

/** Plays one league between players of random strength. */
export function simulatedLeague(random: Random, shape: LeagueShape): SimulatedLeague {
  const names = Array.from({ length: shape.players }, (_, i) => `P${i}`);
  const strengths = new Map(names.map((name) => [name, normalNumber(random, shape.spread)]));
  const results = names.flatMap((first, i) =>
    names
      .slice(0, i)
      .filter((_, j) => shape.meet?.(i, j) ?? true)
      .map((second) => {
        const score = scoreOfElo((strengths.get(first) ?? 0) - (strengths.get(second) ?? 0));
        const counts = [0, 0, 0];
        for (let game = 0; game < shape.games; game++) {
          const outcome = drawnOutcome(random, score, 2 * shape.drawRate * Math.min(score, 1 - score));
          counts[outcome] = (counts[outcome] ?? 0) + 1;
        }
        const [losses = 0, draws = 0, wins = 0] = counts;
        return { first, second, wins, draws, losses };
      }),
  );
  return { strengths, results };
}
