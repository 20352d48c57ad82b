import type { GameSummary, GameView } from "#shared/web/game-view.ts";
import type { NewGameDocument } from "#shared/web/play-documents.ts";
import { pathOf } from "../texts/links.ts";
import type { SavedGame } from "./saved-games.ts";
import { failureOf, unreachable } from "./transport.ts";

/** The choices of a person for a new game. */
interface WantedGame {
  readonly template: string;
  /** The name of a bot, "human" or "agent". */
  readonly opponent: string;
  readonly play_as: string;
  readonly name?: string;
  readonly options: Readonly<Record<string, string | number>>;
}

/** Returns the games of this server. Rejects with an `Error` whose message is for the person, as all functions here. */
export const listGames = async (): Promise<readonly GameSummary[]> =>
  (await request<{ games: readonly GameSummary[] }>("/api/games")).games;

/** Returns what a person can choose for a new game. */
export const newGameChoices = (): Promise<NewGameDocument> => request<NewGameDocument>("/api/new-game");

/** Creates a game. Returns the path of the person's seat. */
export async function createGame(wanted: WantedGame): Promise<string> {
  const headers = { "content-type": "application/json" };
  const { link } = await request<{ link: string }>("/api/games", {
    method: "POST",
    headers,
    body: JSON.stringify(wanted),
  });
  return pathOf(link);
}

/** Returns a game as the person sees it; null if the server does not have it any more. */
export async function ownGame({ gameId, token }: SavedGame): Promise<GameView | null> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`/api/games/${encodeURIComponent(gameId)}`, { headers });
  if (response.status === 404) return null;
  if (!response.ok) throw await failureOf(response);
  return (await response.json()) as GameView;
}

async function request<T>(path: string, init: RequestInit = {}): Promise<T> {
  const response = await fetch(path, init).catch(() => {
    throw unreachable();
  });
  if (!response.ok) throw await failureOf(response);
  return (await response.json()) as T;
}
