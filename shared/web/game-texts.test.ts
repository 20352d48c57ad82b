import { describe, expect, it } from "vitest";
import { games } from "../games/registry.ts";
import { factsOf } from "./game-view.ts";
import { chessAt } from "./testing/games.ts";
import { announcement, playerInWords, resultInWords, turnInWords } from "./texts/game-texts.ts";

const players = {
  white: { kind: "human", name: "Ann", joined: true },
  black: { kind: "agent", name: "Claude", joined: true },
} as const;
const game = { ...chessAt(), players };
const facts = factsOf(Object.values(games));
const ofChess = facts["chess.v1"];

describe("the texts about a game", () => {
  it.each([
    ["white", "Your move"],
    ["black", "Waiting for white (Ann)"],
    ["spectator", "white (Ann) to move"],
  ])("state for %s whose turn it is: %s", (role, words) => {
    expect(turnInWords(game, role)).toBe(words);
  });

  it("name a guest by the role and a bot as a title", () => {
    const white = { kind: "human", name: "Guest", joined: true } as const;
    expect(turnInWords({ ...game, players: { ...players, white } }, "black")).toBe("Waiting for white");
    expect(playerInWords({ kind: "bot", name: "random", joined: true })).toBe("Random");
  });

  it("write the roles of all games in one way", () => {
    const guest = { kind: "human", name: "Guest", joined: true } as const;
    for (const [role, words] of [
      ["x", "Waiting for X"],
      ["EVEN", "Waiting for even"],
      ["red_team", "Waiting for red team"],
    ] as const)
      expect(turnInWords({ ...game, players: { [role]: guest }, to_act: [role] }, "other")).toBe(words);
  });

  it("name the players that have not joined", () => {
    const white = { kind: "agent", name: "", joined: false } as const;
    const waiting = { ...game, status: "waiting_for_players", to_act: [], players: { ...players, white } } as const;
    expect(turnInWords(waiting, "black")).toBe("Waiting for white to join");
    expect(turnInWords({ ...waiting, players }, "black")).toBe("Waiting for the players to accept the invitation");
  });

  it.each([
    [["white"], "checkmate", "normal", "white (Ann) wins: checkmate"],
    [[], "threefold_repetition", "normal", "Draw: threefold repetition"],
    [["black"], "timeout", "forfeit", "black (Claude) wins: forfeit, no answer in time"],
    [["black"], "clock", "forfeit", "black (Claude) wins on time"],
    [[], "clock,clock", "forfeit", "No winner: forfeit, the clock ran out"],
    [["black"], "resigned", "forfeit", "black (Claude) wins by resignation"],
    [[], "timeout", "forfeit", "No winner: forfeit, no answer in time"],
    [[], "host_failure", "aborted", "Aborted: host failure"],
    [[], "no_activity", "expired", "Expired: no activity"],
  ])("describe the end with the winners %j and the reason %s: %s", (winners, reason, termination, words) => {
    const [winner = null] = winners;
    expect(resultInWords({ ...game, result: { winners, winner, reason, termination } }, ofChess)).toBe(words);
  });

  it("name the roles, actions and winners of Codenames without identifiers", () => {
    const roles = ["red_spymaster", "red_team", "blue_spymaster", "blue_team"];
    const seats = Object.fromEntries(roles.map((role) => [role, { kind: "agent", name: role, joined: true } as const]));
    const result = { winners: roles.slice(2), winner: null, reason: "agents_found", termination: "normal" };
    const last_action = { role: "red_spymaster", action: { type: "skip", reason: "no_answer" }, tick: 1 };
    const view = { ...game, template: "codenames.v1", roles, players: seats, to_act: ["red_team"], last_action };
    expect(resultInWords({ ...view, result }, facts[view.template])).toBe("team blue wins: agents found");
    expect(announcement(view, "spectator", facts[view.template])).toBe(
      "red spymaster: skip no answer. red team to move",
    );
  });

  it("announce a change of the game", () => {
    const fen = "rnbqkbnr/ppp2ppp/8/3pp3/Q1P5/8/PP1PPPPP/RNB1KBNR b KQkq - 0 3";
    const after = { ...chessAt(fen), last_action: { role: "white", action: "d1a4", tick: 5 } };
    expect(announcement({ ...after, players }, "black", ofChess)).toBe("white: queen d1 to a4. Check. Your move");
  });
});
