import type { Game } from "#shared/games/game.ts";

/**
 * Returns the view of a role at the start of a match. An invitation contains the options but not the seed, so the opening is known only in games whose
 * initial state does not use the seed; otherwise null.
 */
export function openingView(game: Game, options: unknown, role: string): unknown {
  const parsed = game.options.safeParse(options);
  if (!parsed.success) return null;
  let usesSeed = false;
  const setup = {
    options: parsed.data,
    get seed() {
      usesSeed = true;
      return "";
    },
  };
  const state = game.initialState(setup);
  return usesSeed ? null : game.viewState(state, role);
}
