import { expect, it } from "vitest";
import { PlayedLeague, playerIds } from "../../testing/played-league.ts";
import { match } from "./match-document.ts";

it("the document of a match that is being played names the time since the start of the turn", async () => {
  const played = new PlayedLeague(playerIds(2), { game: "tic_tac_toe.v1" });
  const [found] = played.league.rounds.at(0)?.matches ?? [];
  Object.assign(found as object, { status: "assigned", refereeId: "REF01" });
  const clock = { initial_ms: 60_000, increment_ms: 0, remaining_ms: { x: 60_000, o: 60_000 } };
  const frame = { status: "active", tick: 0, to_act: ["x"], state: null, board: "", last_action: null, result: null };
  const frames = [{ ...frame, moves: [], clock }] as const;
  const context = played.context();
  const relay = { ...context.matches.relay, read: () => ({ session: "s", frames, elapsedMs: 7_000, state: "live" }) };
  const matches = { ...context.matches, relay } as typeof context.matches;
  const request = { league: played.league, params: { match: "R1M1" }, query: new URLSearchParams() };
  const document = await match.read({ ...context, matches }, request);
  expect(document?.current?.frame.clock).toEqual({ ...clock, elapsed_ms: 7_000 });
});
