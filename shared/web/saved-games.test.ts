import { beforeEach, expect, it } from "vitest";
import { chessAt } from "./testing/games.ts";
import { forgetGame, savedGames, saveGame, seatPathOf } from "./transports/saved-games.ts";

let stored: string | null = null;
const storage = {
  getItem: () => stored,
  setItem: (_: string, text: string) => {
    stored = text;
  },
};
beforeEach(() => {
  stored = null;
});
const game = (game_id: string) => ({ ...chessAt(), game_id, your_role: "white" });
const ids = () => savedGames(storage).map(({ gameId }) => gameId);

it("a game is saved once, the newest first, with the way to its seat", () => {
  for (const id of ["one", "two", "one"]) saveGame(game(id), `token ${id}`, storage);
  expect(ids()).toEqual(["one", "two"]);
  const [saved] = savedGames(storage);
  expect(saved).toMatchObject({ role: "white", opponents: "Claude" });
  expect(saved && seatPathOf(saved)).toBe("/game/one#seat=token%20one");
  forgetGame("one", storage);
  expect(ids()).toEqual(["two"]);
});

it("a game that is watched is not saved", () => {
  saveGame(game("one"), "", storage);
  saveGame({ ...game("one"), your_role: "spectator" }, "token", storage);
  expect(stored).toBeNull();
});

it("keeps the newest fifty games", () => {
  for (let number = 0; number < 60; number++) saveGame(game(String(number)), "token", storage);
  expect(ids()).toHaveLength(50);
  expect(ids()[0]).toBe("59");
});

it.each(["", "{", "null", '{"a":1}', '[null, 1, {"gameId": 5}]'])("an unreadable storage has no games: %j", (text) => {
  stored = text;
  expect(savedGames(storage)).toEqual([]);
});

it.each(["gameId", "token", "template", "role", "opponents"])("an entry without a readable %s is left out", (field) => {
  for (const id of ["one", "two"]) saveGame(game(id), "token", storage);
  const [two, one] = savedGames(storage);
  stored = JSON.stringify([{ ...two, [field]: { not: "a text" } }, one]);
  expect(ids()).toEqual(["one"]);
});

it("a storage that is full or not permitted is no error", () => {
  const fails = () => {
    throw new Error("QuotaExceededError");
  };
  expect(() => saveGame(game("one"), "token", { getItem: fails, setItem: fails })).not.toThrow();
  expect(savedGames(null)).toEqual([]);
});
