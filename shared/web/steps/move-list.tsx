import { Component, type JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { spoken } from "../../games/game.ts";
import type { MoveOfTurn } from "../replay-view.ts";
import { roleInWords } from "../texts/game-texts.ts";
import { type MoveGroup, moveGroups, numberOfPly } from "./move-groups.ts";
import type { Steps } from "./use-steps.ts";

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
