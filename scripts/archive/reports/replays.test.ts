import { inflateRawSync } from "node:zlib";
import { expect, it } from "vitest";
import { findGame } from "#shared/games/registry.ts";
import { outcomeOf, participantsOf } from "#shared/session/match-result.ts";
import type { Command } from "#shared/session/session.ts";
import { act, playSession } from "#shared/session/testing/play.ts";
import { AT } from "../../../league-manager/league/testing/leagues.ts";
import type { ExportedMatch } from "../format.ts";
import { htmlReport } from "./html.ts";
import { packed, replayOf } from "./replays.ts";

/** A match of the players P01 and P02 after these commands, which end it. */
function matchOf(gameId: string, commands: readonly Command[]): ExportedMatch {
  const game = findGame(gameId);
  if (!game) throw new Error(`no game ${gameId}`);
  const [first = "", second = ""] = game.roles;
  const match = { league_id: "class", match_id: "R1M1", round_id: 1, roles: { [first]: "P01", [second]: "P02" } };
  const options = game.options.parse({});
  const setup = { id: "s", game, options, participants: participantsOf(match), seed: "seed", at: AT };
  const { session, log, head } = playSession(setup, commands);
  const outcome = outcomeOf(session, head, match.roles) as Pick<ExportedMatch, "winner" | "faults">;
  const rest = { game: gameId, options, referee_id: "REF01", epoch: 1, seed: "seed", log: [...log] };
  return { ...match, ...outcome, ...rest } as ExportedMatch;
}

const CHOICES = [act("player_1", "rock"), act("player_2", "scissors")];
const nameOf = (id: string): string => `name of ${id}`;

it("a replay has a frame for the start and one for each closed turn, and no choice before its turn is closed", () => {
  const replay = replayOf(matchOf("rps.v1", CHOICES), nameOf);
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
  const forfeited = replayOf(matchOf("chess.v1", [...moves, { type: "forfeit", faults: [fault] }]), nameOf);
  expect(forfeited?.frames.map(({ status }) => status)).toEqual(["active", "completed"]);
  expect(forfeited?.frames[1]).toMatchObject({ result: { winner: "white", termination: "forfeit" } });
  const aborted = matchOf("chess.v1", [...moves, { type: "abort", reason: "http://10.0.0.1 failed" }]);
  expect(replayOf(aborted, nameOf)?.frames[1]?.result).toMatchObject({ termination: "aborted", reason: "aborted" });
});

it("a match without actions or of an unknown game has no replay", () => {
  const fault = { role: "white", cause: "timeout", detail: "no answer" } as const;
  expect(replayOf(matchOf("chess.v1", [{ type: "forfeit", faults: [fault] }]), nameOf)).toBe(null);
  const match = matchOf("rps.v1", CHOICES);
  const log = match.log.map((text) => text.replace("rps.v1", "my_game.v1"));
  expect(replayOf({ ...match, log }, nameOf)).toBe(null);
});

it("a packed replay is unpacked to the same replay", () => {
  const replay = replayOf(matchOf("rps.v1", CHOICES), nameOf);
  const { data } = packed("a", "b", replay as NonNullable<typeof replay>);
  expect(JSON.parse(inflateRawSync(Buffer.from(data, "base64")).toString())).toEqual(replay);
});

it("a report of many matches is limited: it lists 500 of them and replays 1,000", async () => {
  const match = matchOf("rps.v1", CHOICES);
  function* matches(): Iterable<ExportedMatch> {
    for (let number = 1; number <= 1_500; number++) yield { ...match, match_id: `R1M${number}` };
  }
  const league = { league_id: "class", game: "rps.v1", status: "running", roles: Object.keys(match.roles) };
  const report = await htmlReport();
  const html = report([
    {
      ...{ ...league, players: [], byes: [], teams: [], matches },
      standings: ["P01", "P02"].map((player_id) => ({ player_id })),
    },
  ]);
  expect(html.length).toBeLessThan(2_000_000);
  expect(/The first \d+ of \d+ matches\./.exec(html)?.[0]).toBe("The first 500 of 1500 matches.");
  expect(/\d+ further matches/.exec(html)?.[0]).toBe("500 further matches");
});
