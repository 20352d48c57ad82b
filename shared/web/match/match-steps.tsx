import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { spoken } from "../../games/game.ts";
import { Board } from "../boards/boards.tsx";
import type { GameFacts } from "../game-facts.ts";
import type { GameView } from "../game-view.ts";
import { GameClock, useTurnStart } from "../layout/game-clock.tsx";
import type { Frame, Replay } from "../replay-view.ts";
import { announcement, resultInWords, turnInWords } from "../texts/game-texts.ts";
import { MoveList } from "./move-list.tsx";
import { PositionBoundary } from "./position-boundary.tsx";

interface Props {
  readonly game: Replay["game"];
  /** The steps of the match. A step that is not loaded yet is undefined. */
  readonly frames: readonly (Frame | undefined)[];
  readonly facts: GameFacts | undefined;
  /** The step that is shown first; default: the last one, and each later one while the match is played. */
  readonly first?: number;
  /** The name of the player of a role; default: the name as text. */
  readonly player?: (role: string) => ComponentChildren;
}

/** The time for which a step is shown while the match is replayed by itself. */
const STEP_MS = 1_000;

/** A match with the controls for its steps: buttons, a slider, the arrow keys and a list of its moves. */
export function MatchSteps({ game: fixed, frames, facts, first, player }: Props): JSX.Element {
  const last = frames.length - 1;
  const { step, go, isPlaying, play } = useSteps(last, first);
  const frame = frames[step];
  const turnStart = useTurnStart(frames[last]);
  const game: GameView | null = frame ? { ...fixed, ...frame } : null;
  return (
    <div class="match-steps">
      <div class="match-board">
        <Players fixed={fixed} frame={frame} turnStart={step === last ? turnStart : null} player={player} />
        <div class="board">
          {game && (
            <PositionBoundary position={frame ?? null}>
              <Board facts={facts} game={game} side="spectator" canAct={false} pending={null} onPlay={() => {}} />
            </PositionBoundary>
          )}
          {!game && <p>Loading the position…</p>}
        </div>
        {last > 0 && (
          <>
            <Controls step={step} last={last} go={go} isPlaying={isPlaying} play={play} />
            <p class="step-text">
              {`Step ${step} of ${last}`}
              {frame && frame.moves.length > 0 && ` · ${movesInWords(frame)}`}
            </p>
          </>
        )}
        {game && <p class="status">{resultInWords(game, facts) || turnInWords(game, "spectator")}</p>}
        <p class="unseen" aria-live="polite">
          {game && announcement(game, "spectator", facts)}
        </p>
      </div>
      <MoveList frames={frames} roles={fixed.roles} step={step} go={go} isPaired={facts?.board === "chess"} />
    </div>
  );
}

const movesInWords = ({ moves }: Frame): string => moves.map(({ role, text }) => `${spoken(role)}: ${text}`).join(", ");

/** The step that is shown. Without a choice of the reader it is the last one, so that the page follows a match that is played. */
function useSteps(last: number, first: number | undefined) {
  const [chosen, choose] = useState<number | null>(first ?? null);
  const [isPlaying, play] = useState(false);
  const step = Math.min(chosen ?? last, last);
  // Several keys may be pressed before the next render.
  const move = (to: (step: number) => number): void => {
    play(false);
    choose((before) => {
      const next = to(Math.min(before ?? last, last));
      return next >= last ? null : Math.max(0, next);
    });
  };
  const go = (to: number): void => move(() => to);
  useEffect(() => {
    if (!isPlaying) return;
    const timer = setTimeout(() => {
      if (step + 1 < last) return choose(step + 1);
      choose(null);
      play(false);
    }, STEP_MS);
    return () => clearTimeout(timer);
  }, [isPlaying, step, last]);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const to = KEYS[event.key];
      if (!to || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target instanceof Element && event.target.closest("input, select, textarea, [role=grid], .wide"))
        return;
      event.preventDefault();
      move(to);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [last]);
  const toggle = (): void => {
    if (!isPlaying && step === last) choose(0);
    play(!isPlaying);
  };
  return { step, go, isPlaying, play: toggle };
}

/** The steps to which keys move. */
const KEYS: Readonly<Record<string, (step: number) => number>> = {
  ArrowLeft: (step) => step - 1,
  ArrowRight: (step) => step + 1,
  Home: () => 0,
  End: () => Number.POSITIVE_INFINITY,
};

interface ControlsProps {
  readonly step: number;
  readonly last: number;
  readonly go: (step: number) => void;
  readonly isPlaying: boolean;
  readonly play: () => void;
}

function Controls({ step, last, go, isPlaying, play }: ControlsProps): JSX.Element {
  const button = (text: string, label: string, to: number): JSX.Element => (
    <button type="button" aria-label={label} aria-disabled={to === step} onClick={() => go(to)}>
      <span aria-hidden="true">{text}</span>
    </button>
  );
  return (
    <div class="steps" role="group" aria-label="Steps of the match">
      {button("«", "First step", 0)}
      {button("‹", "Previous step", Math.max(0, step - 1))}
      <button type="button" aria-label={isPlaying ? "Pause" : "Play"} onClick={play}>
        <span aria-hidden="true">{isPlaying ? "❚❚" : "▶"}</span>
      </button>
      {button("›", "Next step", Math.min(last, step + 1))}
      {button("»", "Last step", last)}
      <input
        type="range"
        min={0}
        max={last}
        value={step}
        aria-label="Step"
        aria-valuetext={`${step} of ${last}`}
        onInput={(event) => go(event.currentTarget.valueAsNumber)}
      />
    </div>
  );
}

interface PlayersProps {
  readonly fixed: Replay["game"];
  readonly frame: Frame | undefined;
  readonly turnStart: number | null;
  readonly player: Props["player"];
}

function Players({ fixed, frame, turnStart, player }: PlayersProps): JSX.Element {
  return (
    <ul class="players">
      {fixed.roles.map((role) => (
        <li key={role} class={frame?.to_act.includes(role) ? "acting" : ""}>
          <span class={`side side-${role}`} aria-hidden="true" />
          <strong>{spoken(role)}</strong> {player ? player(role) : <bdi>{fixed.players[role]?.name}</bdi>}
          {frame && <GameClock game={frame} role={role} turnStart={turnStart} />}
        </li>
      ))}
    </ul>
  );
}
