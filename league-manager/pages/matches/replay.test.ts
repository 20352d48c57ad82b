import { expect, it } from "vitest";
import { act } from "#shared/session/testing/play.ts";
import { matchAfter } from "../testing/matches.ts";
import { replayOf } from "./match-replay.ts";

const CHOICES = [act("player_1", "rock"), act("player_2", "scissors")];
const nameOf = (id: string): string => `name of ${id}`;

it("a replay has a frame for the start and one for each closed turn, and no choice before its turn is closed", () => {
  const replay = replayOf(matchAfter("rps.v1", CHOICES), nameOf);
  expect(replay?.frames.map(({ tick, status }) => [tick, status])).toEqual([
    [0, "active"],
    [2, "completed"],
  ]);
  expect(replay?.frames[0]).toMatchObject({ state: { choices: { player_1: null } }, board: "", last_action: null });
  expect(replay?.frames[1]).toMatchObject({ result: { winner: "player_1", termination: "normal" }, to_act: [] });
  expect(replay?.game.players.player_1?.name).toBe("name of P01");
});

it("a forfeit changes the last frame, and an abort does not quote its reason", () => {
  const moves = [act("white", "e2e4")];
  const fault = { role: "black", cause: "timeout", detail: "no answer" } as const;
  const forfeited = replayOf(matchAfter("chess.v1", [...moves, { type: "forfeit", faults: [fault] }]), nameOf);
  expect(forfeited?.frames.map(({ status }) => status)).toEqual(["active", "completed"]);
  expect(forfeited?.frames[1]).toMatchObject({ result: { winner: "white", termination: "forfeit" } });
  const aborted = matchAfter("chess.v1", [...moves, { type: "abort", reason: "http://10.0.0.1 failed" }]);
  expect(replayOf(aborted, nameOf)?.frames[1]?.result).toMatchObject({ termination: "aborted", reason: "aborted" });
});

it("a match without actions or of an unknown game has no replay", () => {
  const fault = { role: "white", cause: "timeout", detail: "no answer" } as const;
  expect(replayOf(matchAfter("chess.v1", [{ type: "forfeit", faults: [fault] }]), nameOf)).toBe(null);
  const match = matchAfter("rps.v1", CHOICES);
  const log = match.log.map((text) => text.replace("rps.v1", "my_game.v1"));
  expect(replayOf({ ...match, log }, nameOf)).toBe(null);
});

it("moves are texts for people, and a choice of a turn that was not closed is not among them", () => {
  const chess = replayOf(
    matchAfter("chess.v1", [
      act("white", "g1f3"),
      act("black", "e7e5"),
      { type: "forfeit", faults: [{ role: "white", cause: "resigned", detail: "resigned" }] },
    ]),
    nameOf,
  );
  expect(chess?.frames.map(({ moves }) => moves)).toEqual([
    [],
    [{ role: "white", text: "Nf3" }],
    [{ role: "black", text: "e5" }],
  ]);
  // With the moves before it in each frame, a replay would grow with the square of the length of the game.
  for (const { state } of chess?.frames ?? []) expect(state).not.toHaveProperty("moves");
  expect(replayOf(matchAfter("rps.v1", CHOICES), nameOf)?.frames.at(-1)?.moves).toEqual([
    { role: "player_1", text: "rock" },
    { role: "player_2", text: "scissors" },
  ]);
  const fault = { role: "player_2", cause: "timeout", detail: "no answer" } as const;
  const sealed = replayOf(
    matchAfter("rps.v1", [act("player_1", "rock"), { type: "forfeit", faults: [fault] }]),
    nameOf,
  );
  expect(sealed?.frames).toHaveLength(1);
  expect(JSON.stringify(sealed)).not.toContain('"rock"');
});
