import { expect, it } from "vitest";
import { needsLegalActions, playsGame } from "./registered-agent.ts";

it.each<[string, readonly string[], boolean, boolean]>([
  ["its id", ["nim.v1"], true, false],
  ["its id without version", ["nim"], true, false],
  ["any game", ["*"], true, true],
  ["it and any game", ["*", "nim.v1"], true, false],
  ["another game of a similar name", ["nim.v11", "ni"], false, true],
])(
  "a player that names %s plays a game, and lists the legal actions itself only if it names the game",
  (_, gameTypes, plays, needs) => {
    expect(playsGame({ gameTypes }, "nim.v1")).toBe(plays);
    expect(needsLegalActions({ gameTypes, wantsLegalActions: false }, "nim.v1")).toBe(needs);
    expect(needsLegalActions({ gameTypes, wantsLegalActions: true }, "nim.v1")).toBe(true);
  },
);
