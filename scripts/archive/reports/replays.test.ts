import { inflateRawSync } from "node:zlib";
import { expect, it } from "vitest";
import { act } from "#shared/session/testing/play.ts";
import { replayOf } from "../../../league-manager/pages/matches/match-replay.ts";
import { matchAfter } from "../../../league-manager/pages/testing/matches.ts";
import type { ExportedMatch } from "../format.ts";
import { htmlReport, packed } from "./html.ts";

const CHOICES = [act("player_1", "rock"), act("player_2", "scissors")];
const nameOf = (id: string): string => `name of ${id}`;

it("a packed replay is unpacked to the same replay", () => {
  const replay = replayOf(matchAfter("rps.v1", CHOICES), nameOf);
  const { data } = packed("a", "b", replay as NonNullable<typeof replay>);
  expect(JSON.parse(inflateRawSync(Buffer.from(data, "base64")).toString())).toEqual(replay);
});

it("a report of many matches is limited: it lists 500 of them and replays 1,000", async () => {
  const match = matchAfter("rps.v1", CHOICES) as ExportedMatch;
  function* matches(): Iterable<ExportedMatch> {
    for (let number = 1; number <= 1_500; number++) yield { ...match, match_id: `R1M${number}` };
  }
  const league = { league_id: "class", game: "rps.v1", status: "running", roles: Object.keys(match.roles) };
  const report = await htmlReport();
  const html = await report([
    {
      ...league,
      players: [],
      byes: [],
      teams: [],
      matches,
      standings: ["P01", "P02"].map((player_id) => ({ player_id })),
    },
  ]);
  expect(html.length).toBeLessThan(2_000_000);
  expect(/The first \d+ of \d+ matches\./.exec(html)?.[0]).toBe("The first 500 of 1500 matches.");
  expect(/\d+ further matches/.exec(html)?.[0]).toBe("500 further matches");
});
