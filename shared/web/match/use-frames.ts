import { useEffect, useRef, useState } from "preact/hooks";
import type { FramesDocument, MatchDocument } from "../documents/match.ts";
import type { Frame } from "../replay-view.ts";

interface Known {
  session: string;
  frames: (Frame | undefined)[];
  isFetching: boolean;
}

const RETRY_MS = 2_000;

/**
 * Returns the frames of a match. The document has the last one; missing ones are fetched, so that there is neither a gap nor a double. A frame that is
 * not loaded yet is undefined. `path` is the path of the document.
 */
export function useFrames({ game, current }: Pick<MatchDocument, "game" | "current">, path: string) {
  const known = useRef<Known>({ session: "", frames: [], isFetching: false });
  const [, redraw] = useState(0);
  const session = game?.game_id ?? "";
  if (known.current.session !== session) known.current = { session, frames: [], isFetching: false };
  const { frames } = known.current;
  if (current) {
    // The first frame changes when the players have joined.
    if (current.index > 0 && frames[0]?.status === "waiting_for_players") frames[0] = undefined;
    // Without holes, which list methods skip.
    while (frames.length <= current.index) frames.push(undefined);
    frames.length = current.index + 1;
    frames[current.index] = current.frame;
  }
  const [attempt, retry] = useState(0);
  useEffect(() => {
    const mine = known.current;
    if (mine.isFetching || missingIn(mine.frames) < 0) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    mine.isFetching = true;
    fetchMissing(mine, path, () => mine === known.current && redraw((count) => count + 1))
      .catch(() => {
        timer = setTimeout(() => retry((count) => count + 1), RETRY_MS);
      })
      .finally(() => {
        mine.isFetching = false;
      });
    return () => clearTimeout(timer);
  }, [session, current?.index, path, attempt]);
  return frames as readonly (Frame | undefined)[];
}

const missingIn = (frames: Known["frames"]): number => frames.indexOf(undefined);

/** Fetches the missing frames in order. Calls `changed` after each answer. */
async function fetchMissing(known: Known, path: string, changed: () => void): Promise<void> {
  for (let from = missingIn(known.frames); from >= 0; from = missingIn(known.frames)) {
    const response = await fetch(`${path}/frames?from=${from}`, { headers: { accept: "application/json" } });
    if (!response.ok) throw new Error(`${response.status}`);
    const answer = (await response.json()) as FramesDocument;
    // The match is played again, and the page receives the new session as its document.
    if (answer.session !== known.session || answer.frames.length === 0) throw new Error("the frames have changed");
    for (const [offset, frame] of answer.frames.entries()) {
      if (from + offset < known.frames.length) known.frames[from + offset] ??= frame;
    }
    changed();
  }
}
