import { styleText } from "node:util";
import type { Cancel, Clock } from "#shared/lib/clock.ts";
import { sprtText } from "#shared/statistics/sprt.ts";
import { cutToWidth } from "../run/progress.ts";
import { type MatchState, namesIn, ratingsOf } from "./comparison.ts";
import { eloText, likelihoodText, percentText } from "./report.ts";

/** A line at the bottom of a terminal that is redrawn while games are played. */
export interface LiveLine {
  /** Draws the line soon. */
  changed(): void;
  /** Prints a line above it. */
  print(text: string): void;
  /** Erases it. */
  end(): void;
}

const REDRAW_MS = 200;
/** The text of many games takes long to compute. It is computed for at most a twentieth of the time. */
const PAUSE_SHARE = 20;

/** Creates a live line. `textOf` returns its text; it is called again after it has settled. Only `print` writes anything if the stream is not a terminal. */
export function createLiveLine(
  stream: NodeJS.WriteStream,
  clock: Clock,
  textOf: () => string | Promise<string>,
): LiveLine {
  let cancel: Cancel | null = null;
  let isDrawn = false;
  let hasEnded = false;
  /** `changed`: the line has changed while its text was computed. */
  let state: "idle" | "drawing" | "changed" = "idle";
  let pauseMs = REDRAW_MS;
  const erase = (): void => {
    if (isDrawn) stream.write("\r\x1b[2K");
    isDrawn = false;
  };
  const draw = async (): Promise<void> => {
    cancel = null;
    state = "drawing";
    const startedAt = clock.monotonic();
    const text = await textOf();
    const isChanged = (state as string) === "changed";
    state = "idle";
    if (hasEnded) return;
    pauseMs = Math.max(REDRAW_MS, PAUSE_SHARE * (clock.monotonic() - startedAt));
    erase();
    stream.write(styleText("dim", cutToWidth(text, (stream.columns || 80) - 1), { stream }));
    isDrawn = true;
    if (isChanged) changed();
  };
  const changed = (): void => {
    if (!stream.isTTY || hasEnded) return;
    if (state === "idle") cancel ??= clock.after(pauseMs, () => void draw());
    else state = "changed";
  };
  return {
    changed,
    print(text) {
      erase();
      stream.write(`${text}\n`);
      changed();
    },
    end() {
      hasEnded = true;
      cancel?.();
      erase();
    },
  };
}

/** Estimates how long the other games take. */
export interface Pace {
  /** The games per second, and the seconds that are left; null before there is an estimate. */
  of(
    games: number,
    gamesLeft: number | null,
  ): { readonly perSecond: number; readonly secondsLeft: number | null } | null;
}

export function createPace(clock: Pick<Clock, "monotonic">, gamesBefore: number): Pace {
  const startedAt = clock.monotonic();
  return {
    of(games, gamesLeft) {
      const seconds = (clock.monotonic() - startedAt) / 1000;
      const perSecond = (games - gamesBefore) / seconds;
      if (!(perSecond > 0) || !Number.isFinite(perSecond)) return null;
      return { perSecond, secondsLeft: gamesLeft === null ? null : gamesLeft / perSecond };
    },
  };
}

/** A duration as `45 s`, `3 min 20 s` or `2 h 5 min`. */
export function durationText(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** The live line of a match: the state of the games, and their pace. */
export function statusText(state: MatchState, pace: Pace): string {
  const { completed, total } = state.games;
  const [only, second] = state.comparisons;
  const gamesLeft = state.test ? (only?.gamesNeeded ?? null) : total - completed;
  const speed = pace.of(completed, gamesLeft);
  const rate = speed === null ? [] : [`${speed.perSecond.toFixed(speed.perSecond < 10 ? 1 : 0)} games/s`];
  const left = speed?.secondsLeft == null ? [] : [`${durationText(speed.secondsLeft)} left`];
  const score =
    only && second === undefined
      ? [
          `${only.wins}-${only.draws}-${only.losses}`,
          percentText(only),
          `Elo ${eloText(only)}`,
          `LOS ${likelihoodText(only.strength.superiority)}`,
          ...(only.sprt ? [sprtText(only.sprt)] : []),
        ]
      : [leaders(state)];
  return [`${completed}/${total}`, ...score, ...rate, ...left].join("  ");
}

function leaders(state: MatchState): string {
  const nameOf = namesIn(state);
  return ratingsOf(state)
    .slice(0, 3)
    .map(({ player, rating, error }) => `${nameOf(player)} ${rating.toFixed(0)} ± ${error.toFixed(0)}`)
    .join(", ");
}
