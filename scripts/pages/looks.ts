import type { BrowserContextOptions } from "playwright-core";
import { escapeHtml } from "#shared/lib/text.ts";
import type { View } from "./views.ts";

/** How a page is shown: the window and the colour scheme. */
export interface Look {
  readonly name: string;
  readonly context: BrowserContextOptions;
  /** Whether only pages with a form for projectors have this look. */
  readonly isProjector: boolean;
}

const WINDOWS = {
  desktop: { viewport: { width: 1280, height: 800 } },
  projector: { viewport: { width: 1920, height: 1080 } },
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
} as const;

/** All looks: each window in light and dark. */
export const LOOKS: readonly Look[] = Object.entries(WINDOWS).flatMap(([name, window]) =>
  (["light", "dark"] as const).map((colorScheme) => ({
    name: `${name}-${colorScheme}`,
    context: { ...window, colorScheme, reducedMotion: "reduce" as const },
    isProjector: name === "projector",
  })),
);

/** The looks in which a view is shown. */
export const looksOf = ({ hasProjector = false }: View): readonly Look[] =>
  LOOKS.filter(({ isProjector }) => hasProjector || !isProjector);

/** An image of a view in a look. */
export interface Shot {
  readonly name: string;
  readonly view: string;
  readonly look: string;
  readonly file: string;
  readonly faults: readonly string[];
}

/** Returns the page of all images, in rows of one view each. */
export function indexPage(shots: readonly Shot[]): string {
  const rows = [...new Set(shots.map(({ view }) => view))].map((view) => {
    const images = shots.filter((shot) => shot.view === view).map(figure);
    return `<h2 id="${escapeHtml(view)}">${escapeHtml(view)}</h2><div class="row">${images.join("")}</div>`;
  });
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Screenshots</title>
<style>body{font:14px system-ui;margin:16px}.row{display:flex;gap:16px;overflow-x:auto;align-items:start}
figure{margin:0}img{height:480px;border:1px solid #888}li{color:#b00}</style>
<h1>Screenshots</h1>${rows.join("\n")}</html>
`;
}

const figure = ({ look, file, faults }: Shot): string =>
  `<figure><a href="${escapeHtml(file)}"><img src="${escapeHtml(file)}" alt="" loading="lazy"></a><figcaption>${escapeHtml(look)}<ul>${faults
    .map((fault) => `<li>${escapeHtml(fault)}</li>`)
    .join("")}</ul></figcaption></figure>`;
