import type { BrowserContextOptions } from "playwright-core";
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
