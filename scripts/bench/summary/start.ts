import { median } from "../median.ts";
import type { Starts } from "../start/start-times.ts";
import type { Aim, MedianOf, Summary } from "./figures.ts";

/** The rows of what each kind of process loads at its start. */
export function startRows({ loaded }: Pick<Starts, "loaded">): Summary["rows"] {
  return loaded.map(({ script, modules, kilobytes, packages }) => {
    const largest = packages.slice(0, 4).map((one) => `${one.name} ${one.modules}, ${one.kilobytes} kB`);
    const note = `${modules} modules, ${kilobytes} kB, of which ${largest.join("; ")}`;
    return [`v  loaded by ${script}`, ...Array.from({ length: 5 }, () => ""), note];
  });
}

/** The aim for the duration of `npm start`. */
export function startAim(medianOf: MedianOf, processes: number | undefined): Aim {
  const first = medianOf((round) => round.starts.firstMs);
  const following = medianOf((round) => median(round.starts.followingMs));
  return {
    aim: "e  npm start at most 2.0 s after the first",
    measured: `first ${(first / 1_000).toFixed(2)} s, then ${(following / 1_000).toFixed(2)} s, peak ${medianOf(
      (round) => round.starts.peakMb,
    ).toFixed(0)} MB in ${processes} processes`,
    isMet: following <= 2_000,
  };
}
