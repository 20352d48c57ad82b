import type { JSX } from "preact";
import { Podium } from "./podium.tsx";

interface Props {
  /** The part of the site that the page belongs to. */
  readonly part: "leagues" | "play" | null;
  /** Whether the page is the first one of its part. */
  readonly isFirst?: boolean;
  /** The address of the same page for a projector; absent if it has none. */
  readonly projector?: string;
}

/** The links from each page to all others. */
export function SiteHeader({ part, isFirst = false, projector }: Props): JSX.Element {
  const current = (one: Props["part"]): "page" | "true" | undefined =>
    part === one ? (isFirst ? "page" : "true") : undefined;
  return (
    <header class="site-head">
      <nav aria-label="Site">
        <a class="brand" href="/" aria-label="Home">
          <Podium />
        </a>
        <a href="/leagues" aria-current={current("leagues")}>
          Leagues
        </a>
        <a href="/play" aria-current={current("play")}>
          Play
        </a>
        {projector !== undefined && (
          <a class="projector-link" href={projector}>
            Projector
          </a>
        )}
      </nav>
    </header>
  );
}
