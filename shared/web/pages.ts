import type { GameView } from "./game-view.ts";

export interface BoardPage {
  readonly mode: "page" | "app" | "embed";
  readonly game?: GameView;
  readonly seat?: { readonly role: string; readonly token: string };
}

export const boardPage = async ({ game }: BoardPage): Promise<string> =>
  `<!doctype html><pre>${game?.board ?? ""}</pre>`;
export const gamesPage = async (): Promise<string> => "<!doctype html><title>Games</title>";
