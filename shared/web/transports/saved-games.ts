import type { GameView } from "#shared/web/game-view.ts";
import { playerInWords } from "#shared/web/texts/game-texts.ts";

/** A game of the person at this browser, with the token of the seat. */
export interface SavedGame {
  readonly gameId: string;
  readonly token: string;
  readonly template: string;
  readonly role: string;
  /** The names of the other players. */
  readonly opponents: string;
}

const KEY = "agent-league/games";
/** The maximum number of games; the oldest ones are forgotten. */
const MAX_SAVED = 50;

type Storage = Pick<globalThis.Storage, "getItem" | "setItem">;

/** Returns the games of this browser, those that were opened last first. */
export function savedGames(storage: Storage | null = browserStorage()): readonly SavedGame[] {
  try {
    const games: unknown = JSON.parse(storage?.getItem(KEY) ?? "[]");
    return Array.isArray(games) ? games.filter(isSavedGame) : [];
  } catch {
    return [];
  }
}

/** Remembers a game with the token of its seat. Does nothing for a spectator. */
export function saveGame(game: GameView, token: string, storage: Storage | null = browserStorage()): void {
  if (token === "" || game.your_role === "spectator") return;
  const { game_id: gameId, template, your_role: role, roles, players } = game;
  const others = roles.filter((one) => one !== role).map((one) => playerInWords(players[one]));
  const saved: SavedGame = { gameId, token, template, role, opponents: others.join(", ") };
  const rest = savedGames(storage).filter((one) => one.gameId !== gameId);
  write(storage, [saved, ...rest].slice(0, MAX_SAVED));
}

export function forgetGame(gameId: string, storage: Storage | null = browserStorage()): void {
  write(
    storage,
    savedGames(storage).filter((game) => game.gameId !== gameId),
  );
}

/** Returns the path of the page of the seat. */
export const seatPathOf = ({ gameId, token }: Pick<SavedGame, "gameId" | "token">): string =>
  `/game/${encodeURIComponent(gameId)}#seat=${encodeURIComponent(token)}`;

function write(storage: Storage | null, games: readonly SavedGame[]): void {
  try {
    storage?.setItem(KEY, JSON.stringify(games));
  } catch {
    // The storage is full or not permitted. The link of the seat still works.
  }
}

/** The storage of this browser; null if the person has disabled it. */
function browserStorage(): Storage | null {
  try {
    return localStorage;
  } catch {
    return null;
  }
}

const isSavedGame = (value: unknown): value is SavedGame => {
  const game = value as SavedGame | null | undefined;
  const fields = [game?.gameId, game?.token, game?.template, game?.role, game?.opponents];
  return fields.every((field) => typeof field === "string");
};

const NAME_KEY = "agent-league/name";

/** Returns the name that the person at this browser has entered last; "" for none. */
export function savedName(): string {
  try {
    return localStorage.getItem(NAME_KEY) ?? "";
  } catch {
    return "";
  }
}

export function saveName(name: string): void {
  try {
    localStorage.setItem(NAME_KEY, name);
  } catch {
    // The storage is not permitted. The name is entered again.
  }
}
