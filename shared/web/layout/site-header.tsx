import type { JSX } from "preact";
import { type SitePart, siteLinks } from "../site-links.ts";
import { Podium } from "./podium.tsx";
import { siteServers } from "./site-servers.ts";

interface SiteHeaderProps {
  /** The part of the site that the page belongs to. */
  readonly part: SitePart;
  /** Whether the page is the first one of its part. */
  readonly isFirst?: boolean;
  /** The address of the same page for a projector; absent if it has none. */
  readonly projector?: string;
}

/** The links from each page to all others, at this server and at the other one of the site. */
export function SiteHeader({ part, isFirst = false, projector }: SiteHeaderProps): JSX.Element {
  return (
    <header class="site-head">
      <nav aria-label="Site">
        <a class="brand" href="/" aria-label="Home">
          <Podium />
        </a>
        {siteLinks(siteServers()).map((link) => (
          <a
            key={link.part}
            href={link.href}
            aria-current={part === link.part ? (isFirst ? "page" : "true") : undefined}
          >
            {link.text}
          </a>
        ))}
        {projector !== undefined && (
          <a class="projector-link" href={projector}>
            Projector
          </a>
        )}
      </nav>
    </header>
  );
}
