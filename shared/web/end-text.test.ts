import { describe, expect, it } from "vitest";
import { games } from "../games/registry.ts";
import { factsOf, type GameResult, type GameView } from "./game-view.ts";
import { testingGame } from "./testing/games.ts";
import { endInWords } from "./texts/game-texts.ts";

const facts = factsOf(Object.values(games));

const ended = (template: string, result: Partial<GameResult>): GameView => ({
  ...testingGame(template).view("spectator"),
  status: "completed",
  result: { winners: [], winner: null, reason: "checkmate", termination: "normal", ...result },
});
const end = (game: GameView, role: string) => {
  const { title, reason, tone } = endInWords(game, role, facts[game.template]) ?? {};
  return [title, reason, tone];
};

describe("the end of a game in words", () => {
  it("says who has won from the side of the reader", () => {
    const game = ended("chess.v1", { winners: ["white"], winner: "white" });
    expect(end(game, "white")).toEqual(["You won", "Checkmate", "win"]);
    expect(end(game, "black")).toEqual(["You lost", "Checkmate", "loss"]);
    expect(end(game, "spectator")).toEqual(["White (Ann) won", "Checkmate", "none"]);
    expect(endInWords({ ...game, result: null }, "white", facts["chess.v1"])).toBeNull();
  });

  it("says to the loser of a game of rounds that these were fewer", () => {
    const game = ended("rps.v1", { winners: ["player_1"], reason: "rounds_won" });
    expect(end(game, "player_1")).toEqual(["You won", "More rounds won", "win"]);
    expect(end(game, "player_2")).toEqual(["You lost", "Fewer rounds won", "loss"]);
  });

  it("names a team", () => {
    const game = ended("codenames.v1", { winners: ["red_spymaster", "red_team"], reason: "assassin" });
    expect(end(game, "red_team")).toEqual(["Your team won", "The assassin was guessed", "win"]);
    expect(end(game, "blue_team")).toEqual(["Your team lost", "The assassin was guessed", "loss"]);
    expect(end(game, "spectator")[0]).toBe("Team red won");
  });

  it.each([
    [{ reason: "draw_agreed" }, ["Draw", "The players agreed to a draw", "draw"]],
    [
      { reason: "timeout,refused", termination: "forfeit" },
      ["No winner", "No answer in time, The player could not be reached", "none"],
    ],
    [
      { reason: "expired", termination: "expired" },
      ["The game has expired", "No player moved within the time limit", "none"],
    ],
    [{ reason: "bot_failed", termination: "aborted" }, ["The game was stopped", "The bot stopped working", "none"]],
    [{ reason: "last_taken", winners: ["white"] }, ["You won", "Last taken", "win"]],
  ])("describes %j", (result, words) => {
    expect(end(ended("chess.v1", result), "white")).toEqual(words);
  });
});
