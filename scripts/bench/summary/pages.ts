import { median } from "../median.ts";
import type { Rate } from "../process.ts";
import type { Round } from "../rates.ts";
import type { Aim, MedianOf, RateRow, Summary } from "./figures.ts";

const MAX_BYTES = 45_000;
const MAX_STANDINGS_MS = 300;
/** A page that answers within this time is called responsive by the Web Vitals (INP). */
const MAX_KEY_MS = 200;
const MAX_RESULT_MS = 200;
const MAX_SLOWDOWN = 0.05;

/** The rows of a league without and with open pages. */
export function watchedRows(rateRow: RateRow, first: Round | undefined): Summary["rows"] {
  const { pages = 0, eventsPerSecond = 0 } = first?.watchedLeague ?? {};
  const note = `${eventsPerSecond.toFixed(0)} documents are sent per second`;
  return [
    rateRow("u  matches of a league", (round) => medianRate(round, "alone")),
    rateRow(`u  same, ${pages} open pages`, (round) => medianRate(round, "watched"), note),
  ];
}

/** The window with the median rate. */
function medianRate({ watchedLeague }: Round, kind: "alone" | "watched"): Rate {
  const rates = watchedLeague.pairs.map((pair) => pair[kind]).sort((one, other) => one.perSecond - other.perSecond);
  return rates[Math.floor(rates.length / 2)] as Rate;
}

/** The aims of pages in a browser. */
export function pageAims(medianOf: MedianOf): readonly Aim[] {
  const kilobytes = (kind: "league" | "match" | "game"): number => medianOf(({ pages }) => pages.bytes[kind]) / 1_000;
  const standingsMs = medianOf(({ pages }) => pages.standingsMs);
  const typing = (field: "updates" | "received" | "pressed" | "longestTaskMs" | "slowestKeyMs"): number =>
    medianOf(({ pages }) => pages.typing[field]);
  const sizes = [kilobytes("league"), kilobytes("match"), kilobytes("game")];
  const [league, match, game] = sizes.map((size) => `${size.toFixed(1)} kB`);
  return [
    {
      aim: `t  first load of a page under ${MAX_BYTES / 1_000} kB`,
      measured: `league ${league}, match ${match}, game ${game}`,
      isMet: Math.max(...sizes) < MAX_BYTES / 1_000,
    },
    {
      aim: `t  standings of 100 players painted within ${MAX_STANDINGS_MS} ms`,
      measured: `${standingsMs.toFixed(0)} ms`,
      isMet: standingsMs <= MAX_STANDINGS_MS,
    },
    {
      aim: "t  a person types while a crosstable of 100 players changes",
      measured: `${typing("received")} of ${typing("pressed")} keys, the slowest ${typing("slowestKeyMs").toFixed(0)} ms, longest task ${typing("longestTaskMs").toFixed(0)} ms, ${typing("updates")} changes`,
      isMet: typing("received") === typing("pressed") && typing("slowestKeyMs") <= MAX_KEY_MS,
    },
  ];
}

/** The aim for the time until a result is shown. */
export function resultAim(medianOf: MedianOf): Aim {
  const counts = ["4", "20", "100"];
  const middle = counts.map((players) => medianOf(({ pages }) => median(pages.results[players] ?? [])));
  const worst = counts.map((players) => medianOf(({ pages }) => Math.max(...(pages.results[players] ?? []))));
  const figures = counts.map((players, index) => `${players} players ${middle[index]} ms, worst ${worst[index]} ms`);
  return {
    aim: `t  a result is shown by open standings within ${MAX_RESULT_MS} ms`,
    measured: figures.join("; "),
    isMet: Math.max(...worst) <= MAX_RESULT_MS,
  };
}

/** The aim for a league whose pages are open. */
export function slowdownAim(medianOf: MedianOf): Aim {
  const ratio = (of: (rate: Rate) => number): number =>
    medianOf(({ watchedLeague }) => median(watchedLeague.pairs.map(({ alone, watched }) => of(watched) / of(alone))));
  const slowdown = 1 - ratio(({ perSecond }) => perSecond);
  const cpu = ratio(({ cpuTotal }) => cpuTotal) - 1;
  const percent = (share: number): string => `${(share * 100).toFixed(1)}%`;
  return {
    aim: "u  200 open pages slow a league by less than 5%",
    measured: `${percent(slowdown)}; ${percent(cpu)} more CPU time per match`,
    isMet: slowdown < MAX_SLOWDOWN,
  };
}
