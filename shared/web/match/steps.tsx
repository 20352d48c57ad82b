import { Component, type ComponentChildren, type JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { spoken } from "#shared/games/game.ts";
import type { MoveOfTurn } from "#shared/web/game-view.ts";
import { roleInWords } from "#shared/web/texts/game-texts.ts";
import { type MoveGroup, moveGroups, numberOfPly } from "./move-groups.ts";

/** The moves of one turn. */
interface Turn {
  readonly moves: readonly MoveOfTurn[];
}

interface MoveListProps {
  readonly steps: Steps;
  /** The turns of the game. A turn that is not loaded yet is undefined. */
  readonly turns: readonly (Turn | undefined)[];
  readonly roles: readonly string[];
  /** Whether two moves have one number, as in chess. */
  readonly isPaired: boolean;
}

/**
 * The moves of a game. Each shows the position after it. The tab key reaches only the shown move, because a long game has hundreds of moves; the keys
 * of `useSteps` lead to the others.
 */
export function MoveList({ steps, turns, roles, isPaired }: MoveListProps): JSX.Element | null {
  const { step, go } = steps;
  const list = useRef<HTMLDivElement>(null);
  const goTo = useRef(go);
  goTo.current = go;
  const show = useRef((to: number): void => goTo.current(to)).current;
  useLayoutEffect(() => {
    const current = list.current?.querySelector<HTMLElement>("[aria-current]");
    if (!list.current || !current) return;
    if (list.current.contains(document.activeElement)) current.focus({ preventScroll: true });
    // `scrollIntoView` would also scroll the page.
    list.current.scrollTop = current.offsetTop - list.current.clientHeight / 2;
  }, [step, turns.length]);
  if (turns.length === 0) return null;
  const blackBegins = isPaired && turns[0]?.moves[0]?.role === roles[1];
  return (
    <section class="move-list" aria-labelledby="moves-heading">
      <h2 id="moves-heading">Moves</h2>
      <div ref={list} class={isPaired ? "moves paired" : "moves"}>
        {moveGroups(turns.length, blackBegins).map((group) => (
          <Group
            key={group.from}
            {...group}
            turns={turns.slice(group.from, group.to)}
            current={step > group.from && step <= group.to ? step : step === 0 && group.from === 0 ? 0 : null}
            first={steps.first}
            {...{ blackBegins, isPaired, show }}
          />
        ))}
      </div>
    </section>
  );
}

interface GroupProps extends MoveGroup, Pick<MoveListProps, "isPaired" | "turns"> {
  /** The shown step, if it belongs to this group; otherwise null. */
  readonly current: number | null;
  /** The first step that can be shown. */
  readonly first: number;
  readonly blackBegins: boolean;
  readonly show: (step: number) => void;
}

class Group extends Component<GroupProps> {
  override shouldComponentUpdate(next: GroupProps): boolean {
    const { turns, current, first, blackBegins, isPaired } = this.props;
    if (current !== next.current || first !== next.first) return true;
    if (blackBegins !== next.blackBegins || isPaired !== next.isPaired) return true;
    return turns.length !== next.turns.length || turns.some((turn, index) => turn !== next.turns[index]);
  }

  override render({ from, turns, current, first, blackBegins, isPaired, show }: GroupProps): JSX.Element {
    return (
      <ol start={from + 1}>
        {turns.map((turn, index) => {
          const to = from + index + 1;
          // Without a shown move, the first one can be reached by the tab key.
          const hasTabStop = to === current || (current === 0 && to === 1);
          return (
            <li key={to} class={to === 1 && blackBegins ? "single" : undefined}>
              <span class="number">{isPaired ? numberOfPly(to - 1, blackBegins) : `${to}.`}</span>
              <button
                type="button"
                tabIndex={hasTabStop ? 0 : -1}
                disabled={to < first}
                aria-current={to === current ? "step" : undefined}
                aria-label={isPaired && turn ? turn.moves.map(inWords).join(", ") : undefined}
                onClick={() => show(to)}
              >
                {turn ? textOf(turn, isPaired) : "…"}
              </button>
            </li>
          );
        })}
      </ol>
    );
  }
}

const inWords = ({ role, text }: MoveOfTurn): string => `${roleInWords(role)} ${text}`;

function textOf({ moves }: Turn, isPaired: boolean): string {
  if (isPaired) return moves.map(({ text }) => text).join(" ");
  return moves.map(({ role, text }) => `${spoken(role)}: ${text}`).join(" · ");
}

interface StepBarProps {
  readonly steps: Steps;
  /** The moves of the turn before the shown position; undefined if there are none or they are not loaded. */
  readonly moves: readonly MoveOfTurn[] | undefined;
}

/** The buttons and the slider for the steps of a game, with the move of the shown step. */
export function StepBar({ steps, moves = [] }: StepBarProps): JSX.Element | null {
  const { step, first, last, isPlaying, go, play } = steps;
  if (last === 0) return null;
  const button = (sign: string, label: string, to: number): JSX.Element => (
    <button type="button" aria-label={label} title={label} aria-disabled={to === step} onClick={() => go(to)}>
      <span aria-hidden="true">{sign}</span>
    </button>
  );
  const moved = moves.map(({ role, text }) => `${spoken(role)}: ${text}`).join(", ");
  return (
    <>
      <div class="steps" role="group" aria-label="Steps">
        {button("«", "First step", first)}
        {button("‹", "Previous step", Math.max(first, step - 1))}
        <button type="button" aria-label={isPlaying ? "Pause" : "Play"} onClick={play}>
          <span aria-hidden="true">{isPlaying ? "❚❚" : "▶"}</span>
        </button>
        {button("›", "Next step", Math.min(last, step + 1))}
        {button("»", "Last step", last)}
        <input
          type="range"
          min={first}
          max={last}
          value={step}
          aria-label="Step"
          aria-valuetext={`${step} of ${last}`}
          onInput={(event) => go(event.currentTarget.valueAsNumber)}
        />
      </div>
      <p class="step-text">
        {`Step ${step} of ${last}`}
        {moved !== "" && ` · ${moved}`}
      </p>
    </>
  );
}

/** The step that is shown of a game, and the ways to other steps. Step n is the position after n turns. */
interface Steps {
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

interface PositionBoundaryProps {
  /** The position that is shown. */
  readonly position: object | null;
  readonly children: ComponentChildren;
}

interface State {
  /** The last position that could not be shown. */
  readonly failed: object | null;
}

/** Shows a text instead of a position that a board cannot show, for example because the view of a referee is wrong. The next position is shown again. */
export class PositionBoundary extends Component<PositionBoundaryProps, State> {
  override state: State = { failed: null };

  override componentDidCatch(): void {
    this.setState({ failed: this.props.position });
  }

  override render() {
    const { position, children } = this.props;
    const isFailed = position !== null && this.state.failed === position;
    return isFailed ? <p>The position cannot be shown.</p> : children;
  }
}
