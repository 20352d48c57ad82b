import type { ComponentChildren, JSX } from "preact";
import { Board } from "#shared/web/boards/boards.tsx";
import type { Frame, GameFacts, GameView, Replay } from "#shared/web/game-view.ts";
import { GameClock, useTurnStart } from "#shared/web/layout/game-parts.tsx";
import { announcement, resultInWords, turnInWords } from "#shared/web/texts/game-texts.ts";
import { spoken } from "../../games/game.ts";
import { MoveList, PositionBoundary, StepBar, useSteps } from "./steps.tsx";

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

/** A match with the controls for its steps: buttons, a slider, the arrow keys and a list of its moves. */
export function MatchSteps({ game: fixed, frames, facts, first, player }: Props): JSX.Element {
  const last = frames.length - 1;
  const steps = useSteps(last, { start: first });
  const { step } = steps;
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
        <StepBar steps={steps} moves={frame?.moves} />
        {game && <p class="status">{resultInWords(game, facts) || turnInWords(game, "spectator")}</p>}
        <p class="unseen" aria-live="polite">
          {game && announcement(game, "spectator", facts)}
        </p>
      </div>
      <MoveList steps={steps} turns={frames.slice(1)} roles={fixed.roles} isPaired={facts?.board === "chess"} />
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
