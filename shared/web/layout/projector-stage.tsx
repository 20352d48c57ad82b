import type { ComponentChildren, JSX } from "preact";
import { useContext, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { NextPage } from "./projector.ts";

interface ProjectorStageProps {
  /** Called after the last part was shown; by default the next page of the document follows. */
  readonly onEnd?: (() => void) | undefined;
  readonly children: ComponentChildren;
}

/** The smallest size of a bracket. One that is larger than the stage is made smaller, because parts of it do not show who plays whom next. */
const SMALLEST = 0.2;
/** The time for which a part of a long page is shown. */
const PART_MS = 10_000;
/** The enlargements of a short page, which fill the stage. */
const ZOOMS = [1.75, 1.5, 1.25];
/** The rows and items of a page. Lists inside an item belong to it, and the moves of a match scroll by themselves. */
const ROWS = "tbody tr, li:not(li li, .match li)";

/** The content of a page on a projector. It shows a part of a long table after the other, each with complete rows. */
export function ProjectorStage({ onEnd, children }: ProjectorStageProps): JSX.Element {
  const stage = useRef<HTMLDivElement>(null);
  const nextPage = useContext(NextPage);
  const [isPaused, setPaused] = useState(false);
  const end = useRef(() => {});
  end.current = onEnd ?? nextPage;
  useLayoutEffect(() => {
    if (stage.current) enlarge(stage.current);
  });
  useEffect(() => {
    if (isPaused) return;
    const timer = setInterval(() => {
      if (!stage.current || showNextPart(stage.current)) return;
      end.current();
    }, PART_MS);
    const resize = (): void => {
      if (stage.current) enlarge(stage.current);
    };
    addEventListener("resize", resize);
    return () => {
      clearInterval(timer);
      removeEventListener("resize", resize);
    };
  }, [isPaused]);
  return (
    <>
      <div class="stage" ref={stage}>
        <div class="stage-content">{children}</div>
      </div>
      <button type="button" class="stage-pause" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
        Stop turning pages
      </button>
    </>
  );
}

/** Enlarges a page that fills only a part of the stage, for the readers in the last row. A longer one is shown in parts, and a bracket as a whole. */
function enlarge(stage: HTMLElement): void {
  const content = stage.firstElementChild as HTMLElement;
  const fits = (zoom: number): boolean => {
    content.style.zoom = String(zoom);
    return stage.scrollHeight <= stage.clientHeight && stage.scrollWidth <= stage.clientWidth;
  };
  // A chart and a match have the size of the stage.
  const hasOwnSize = stage.querySelector(".points-chart, .match") !== null;
  if (fits(1)) {
    if (!hasOwnSize && !ZOOMS.some(fits)) fits(1);
  } else if (stage.querySelector(".bracket")) {
    for (let percent = 95; percent >= SMALLEST * 100 && !fits(percent / 100); percent -= 5);
  }
  hideCutRows(stage);
}

/** The height of the head of a table, which stays in view. */
const headHeight = (stage: HTMLElement): number => stage.querySelector("thead")?.offsetHeight ?? 0;

/** Returns the first row that is below the shown part, at least in part; null if there is none. */
function firstHidden(stage: HTMLElement): Element | null {
  const bottom = stage.getBoundingClientRect().bottom;
  const rows = [...stage.querySelectorAll(ROWS)];
  return rows.find((row) => row.getBoundingClientRect().bottom > bottom + 1) ?? null;
}

/** Shows the columns or rows after the shown ones. Returns false after the last ones, and shows the first ones again. */
function showNextPart(stage: HTMLElement): boolean {
  const pinned = stage.querySelector<HTMLElement>("tbody th")?.getBoundingClientRect();
  const left = stage.scrollLeft;
  const width = stage.clientWidth - (pinned ? pinned.right - stage.getBoundingClientRect().left : 0);
  stage.scrollLeft += Math.max(width, stage.clientWidth / 3);
  if (stage.scrollLeft > left + 1) return true;
  stage.scrollLeft = 0;
  const row = firstHidden(stage);
  const top = stage.scrollTop;
  if (row) stage.scrollTop += row.getBoundingClientRect().top - stage.getBoundingClientRect().top - headHeight(stage);
  const isShown = stage.scrollTop > top + 1;
  if (!isShown) stage.scrollTop = 0;
  hideCutRows(stage);
  return isShown;
}

/** Hides the row that is visible in part at the lower end. The next part begins with it. */
function hideCutRows(stage: HTMLElement): void {
  const { top, bottom } = stage.getBoundingClientRect();
  const cut = firstHidden(stage)?.getBoundingClientRect();
  const isCut = cut !== undefined && cut.top < bottom && cut.top > top + headHeight(stage);
  stage.style.clipPath = isCut ? `inset(0 0 ${Math.ceil(bottom - cut.top) + 1}px 0)` : "";
}
