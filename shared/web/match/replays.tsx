import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { PackedReplay, Replay, ReportSetup } from "#shared/web/game-view.ts";
import { MatchSteps } from "./match-steps.tsx";

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
  const replay = useUnpacked(packed);
  const root = useRef<HTMLDivElement>(null);
  // When the browser followed the link, the element did not have this id yet, and there was no board to scroll to.
  useEffect(() => {
    if (!packed || location.hash !== `#${packed.anchor}` || replay === LOADING) return;
    root.current?.focus({ preventScroll: true });
    root.current?.scrollIntoView();
  }, [packed, replay]);
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
        <MatchSteps key={packed?.anchor} {...replay} facts={games[replay.game.template]} first={0} />
      )}
    </div>
  );
}

const LOADING = "Loading the match…";

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
  return packed && unpacked?.of === packed ? unpacked.replay : LOADING;
}

async function unpack(data: string): Promise<Replay> {
  const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return (await new Response(stream).json()) as Replay;
}
