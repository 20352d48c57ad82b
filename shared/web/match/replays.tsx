import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { spoken } from "../../games/game.ts";
import { boardOf } from "../boards/boards.ts";
import type { FactsOfGames } from "../game-facts.ts";
import type { GameView } from "../game-view.ts";
import type { PackedReplay, Replay, ReportSetup } from "../replay-view.ts";
import { clockInWords } from "../texts/clock-text.ts";
import { announcement, resultInWords, turnInWords } from "../texts/game-texts.ts";

/** The matches of a report: a choice of the match, and the match step by step. The address names the match after `#`. */
export function Replays({ games, replays }: ReportSetup): JSX.Element {
  const [index, choose] = useState(Math.max(0, indexInAddress(replays)));
  useEffect(() => {
    const follow = (): void => {
      const named = indexInAddress(replays);
      if (named >= 0) choose(named);
    };
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, [replays]);
  const packed = replays[index];
  const root = useRef<HTMLDivElement>(null);
  // The element did not have this id yet when the browser followed the link.
  useEffect(() => {
    if (packed && location.hash === `#${packed.anchor}`) root.current?.focus();
  }, [packed]);
  const replay = useUnpacked(packed);
  return (
    <div ref={root} id={packed?.anchor ?? ""} tabIndex={-1}>
      <p class="choice">
        <label>
          Match{" "}
          <select value={index} onInput={(event) => choose(event.currentTarget.selectedIndex)}>
            {replays.map(({ anchor, label }, number) => (
              <option key={anchor} value={number}>
                {label}
              </option>
            ))}
          </select>
        </label>
      </p>
      {typeof replay === "string" ? (
        <p role="status">{replay}</p>
      ) : (
        <Steps key={packed?.anchor} replay={replay} games={games} />
      )}
    </div>
  );
}

const indexInAddress = (replays: readonly PackedReplay[]): number =>
  replays.findIndex(({ anchor }) => `#${anchor}` === location.hash);

/** Returns the unpacked replay, or the text to show instead. */
function useUnpacked(packed: PackedReplay | undefined): Replay | string {
  const [unpacked, setUnpacked] = useState<{ readonly of: PackedReplay; readonly replay: Replay | string }>();
  useEffect(() => {
    if (!packed) return;
    let isCurrent = true;
    const show = (replay: Replay | string): void => {
      if (isCurrent) setUnpacked({ of: packed, replay });
    };
    unpack(packed.data).then(show, () => show("This browser cannot unpack the match."));
    return () => {
      isCurrent = false;
    };
  }, [packed]);
  return packed && unpacked?.of === packed ? unpacked.replay : "Loading the match…";
}

async function unpack(data: string): Promise<Replay> {
  const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return (await new Response(stream).json()) as Replay;
}

interface StepsProps {
  readonly replay: Replay;
  readonly games: FactsOfGames;
}

/** A match with the controls for its steps. */
function Steps({ replay, games }: StepsProps): JSX.Element {
  const last = replay.frames.length - 1;
  const [step, setStep] = useState(0);
  const frame = replay.frames[step];
  if (!frame) return <p>The match has no steps.</p>;
  const game: GameView = { ...replay.game, ...frame };
  const facts = games[game.template];
  const Board = boardOf(facts);
  const controls: readonly (readonly [text: string, label: string, to: number])[] = [
    ["«", "First step", 0],
    ["‹", "Previous step", Math.max(0, step - 1)],
    ["›", "Next step", Math.min(last, step + 1)],
    ["»", "Last step", last],
  ];
  return (
    <div class="table">
      <ul class="players">
        {game.roles.map((role) => (
          <li key={role} class={game.to_act.includes(role) ? "acting" : ""}>
            <span class={`side side-${role}`} aria-hidden="true" />
            <strong>{spoken(role)}</strong> {game.players[role]?.name}
            {game.clock && <span class="clock"> {clockInWords(game.clock.remaining_ms[role] ?? 0)}</span>}
          </li>
        ))}
      </ul>
      <div class="board">
        <Board game={game} side="spectator" canAct={false} pending={null} onPlay={() => {}} />
      </div>
      <div class="steps" role="group" aria-label="Steps of the match">
        {controls.map(([text, label, to]) => (
          <button type="button" key={label} aria-label={label} aria-disabled={to === step} onClick={() => setStep(to)}>
            <span aria-hidden="true">{text}</span>
          </button>
        ))}
        <input
          type="range"
          min={0}
          max={last}
          value={step}
          aria-label="Step"
          aria-valuetext={`${step} of ${last}`}
          onInput={(event) => setStep(event.currentTarget.valueAsNumber)}
        />
      </div>
      <p class="step-text">
        Step {step} of {last}. {lastActionText(game)}
      </p>
      <p class="status">{resultInWords(game, facts) || turnInWords(game, "spectator")}</p>
      <p class="unseen" aria-live="polite">
        {announcement(game, "spectator", facts)}
      </p>
    </div>
  );
}

function lastActionText({ last_action }: GameView): string {
  if (!last_action) return "";
  const { role, action } = last_action;
  return `${spoken(role)}: ${typeof action === "string" ? action : JSON.stringify(action)}`;
}
