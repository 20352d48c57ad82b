import { useEffect, useState } from "preact/hooks";

/** The step that is shown of a game, and the ways to other steps. Step n is the position after n turns. */
export interface Steps {
  readonly step: number;
  readonly first: number;
  readonly last: number;
  readonly isPlaying: boolean;
  /** Shows a step. The last one is shown as the game goes on. */
  go(step: number): void;
  /** Begins or ends to show the steps one after the other, from the first one if the last one is shown. */
  play(): void;
}

interface Options {
  /** The first step that can be shown; default: 0. */
  readonly first?: number;
  /** The step that is shown at the beginning; default: the last one, and each later one. */
  readonly start?: number | undefined;
  /** When this value changes, the last step is shown. */
  readonly follow?: unknown;
}

/** The time for which a step is shown while the steps are played. */
const STEP_MS = 1_000;

/** Elements that need the arrow keys, Home and End. */
const TAKES_KEYS = "input, select, textarea, [role=grid], [role=region], .wide";

/** The step that is shown. It is changed by functions and by the arrow keys, Home and End. */
export function useSteps(last: number, { first = 0, start, follow }: Options = {}): Steps {
  const [chosen, choose] = useState<number | null>(start ?? null);
  const [isPlaying, setPlaying] = useState(false);
  const step = Math.min(Math.max(chosen ?? last, first), last);
  // Several keys may be pressed before the next render.
  const move = (to: (step: number) => number): void => {
    setPlaying(false);
    choose((before) => {
      const next = to(Math.min(before ?? last, last));
      return next >= last ? null : Math.max(first, next);
    });
  };
  const go = (to: number): void => move(() => to);
  // Without `follow`, the step at which the page begins stays.
  useEffect(() => {
    if (follow !== undefined) go(Number.POSITIVE_INFINITY);
  }, [follow]);
  useEffect(() => {
    if (!isPlaying) return;
    const timer = setTimeout(() => {
      if (step + 1 < last) return choose(step + 1);
      choose(null);
      setPlaying(false);
    }, STEP_MS);
    return () => clearTimeout(timer);
  }, [isPlaying, step, last]);
  useEffect(() => {
    if (last === 0) return;
    const press = (event: KeyboardEvent): void => {
      const to = KEYS[event.key];
      if (!to || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target instanceof Element && event.target.closest(TAKES_KEYS)) return;
      event.preventDefault();
      move(to);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [first, last]);
  const play = (): void => {
    if (!isPlaying && step === last) choose(first);
    setPlaying(!isPlaying);
  };
  return { step, first, last, isPlaying, go, play };
}

/** The steps to which keys move. */
const KEYS: Readonly<Record<string, (step: number) => number>> = {
  ArrowLeft: (step) => step - 1,
  ArrowRight: (step) => step + 1,
  Home: () => 0,
  End: () => Number.POSITIVE_INFINITY,
};
