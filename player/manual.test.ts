import { expect, test } from "vitest";
import { chess } from "#shared/games/chess.ts";
import { createManualBot } from "./manual.ts";
import type { MatchInfo, Turn } from "./sdk.ts";

/** What a person reads when asked in match R1M1 of league l. */
function asked(turn: Pick<Turn, "game" | "role" | "view" | "legal">): string {
  const lines: string[] = [];
  const object = createManualBot().bot.create();
  object.start?.({ leagueId: "l", matchId: "R1M1" } as MatchInfo);
  const clock = { deadline: new Date(), remainingMs: () => 19_400 };
  const rest = { tick: 0, history: [], clock, signal: new AbortController().signal };
  void object.choose({ ...turn, ...rest, log: (line: string) => lines.push(line) } as unknown as Turn);
  return lines.join("\n");
}

test("a person who is asked reads which match, how long, what is legal and how to answer", () => {
  const view = { phase: "commit" } as never;
  const told = asked({ game: "rps.v1", role: "player_1", view, legal: ["rock", "paper", "scissors"] as never });
  const ask = "your move as player_1 in l/R1M1 (rps.v1), within 20 s: call make_move.";
  expect(told).toBe(`${ask} Legal moves: rock, paper, scissors. {"phase":"commit"}`);
});

test("of very many legal moves the first are named, and how many more there are", () => {
  const fen = "7k/8/8/3Q4/8/2N2N2/8/K5R1 w - - 0 1";
  const state = chess.initialState({ options: chess.options.parse({ fen }), seed: "" });
  const legal = chess.legalActions(state, "white");
  expect(legal.length).toBeGreaterThan(40);
  const told = asked({
    game: "chess.v1",
    role: "white",
    view: chess.viewState(state, "white") as never,
    legal: legal as never,
  });
  expect(told).toContain(`${legal.slice(0, 30).join(", ")}, and ${legal.length - 30} more. {"fen":`);
});
