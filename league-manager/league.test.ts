import { expect, it } from "vitest";
import { createRandom } from "#shared/lib/rng.ts";
import { Config, type LeagueConfig } from "#shared/runtime/config.ts";
import { foldStandings } from "./league/standings.ts";
import {
  addMatch,
  completeMatch,
  createLeague,
  currentRound,
  drawUp,
  type League,
  type Match,
  matchesOf,
  type RecordedResult,
  restoreLeague,
  rowOf,
  standingsOf,
} from "./league.ts";

const config = Config.parse({ leagues: [{ league_id: "rps", game: "rps.v1" }] }).leagues[0] as LeagueConfig;

const nameOf = (playerId: string): string => `name of ${playerId}`;

/** What a match of two may end with. */
const ENDS = [
  { termination: "normal", points: [3, 0] },
  { termination: "normal", points: [1, 1] },
  { termination: "forfeit", points: [0, 3] },
  { termination: "forfeit", points: [0, 0] },
  { termination: "aborted", points: [] },
] as const;

function resultOf({ leagueId, roundId, matchId, roles }: Match, { termination, points }: (typeof ENDS)[number]) {
  const match_points = Object.fromEntries(points.map((point, seat) => [Object.values(roles)[seat] ?? "", point]));
  const winner = Object.keys(match_points).find((id) => match_points[id] === 3) ?? null;
  const about = { league_id: leagueId, round_id: roundId, match_id: matchId, epoch: 1, reason: "any", log_head: "" };
  return { ...about, winner, match_points, final_scores: {}, faults: [], termination } satisfies RecordedResult;
}

const begun = (players: number): League => {
  const league = createLeague(config);
  for (let n = 1; n <= players; n++) league.entrants.add(`P${String(n).padStart(2, "0")}`);
  drawUp(league);
  return league;
};

/** Standings, rounds and counts as they follow from all matches at once. */
function folded({ entrants, matches }: League) {
  const all = [...matches.values()];
  const results = all.flatMap(({ result }) => (result ? [{ ...result, points: result.match_points }] : []));
  const players = [...entrants].sort().map((player_id) => ({ player_id, display_name: nameOf(player_id) }));
  const open = all.filter(({ result }) => !result).map(({ roundId }) => roundId);
  return {
    standings: foldStandings(players, results),
    completed: results.length,
    current: open.length === 0 ? null : Math.min(...open),
    rounds: Object.groupBy(all, ({ roundId }) => roundId),
  };
}

const kept = (league: League) => ({
  standings: standingsOf(league, nameOf),
  completed: league.completed,
  current: currentRound(league),
  rounds: Object.fromEntries([...league.matches.values()].map(({ roundId }) => [roundId, matchesOf(league, roundId)])),
});

it.each(["a", "b", "c", "d", "e"])("what is counted as results come is what all of them give: %s", (seed) => {
  const random = createRandom(seed);
  const league = begun(random.int(2, 9));
  const [first = "", second = ""] = league.entrants;
  for (let open = [...league.matches.values()]; open.length > 0; ) {
    const match = open.splice(random.int(0, open.length - 1), 1)[0] as Match;
    completeMatch(league, match, resultOf(match, random.pick(ENDS)), "REF01");
    if (random.int(0, 3) === 0 && open.length > 0) {
      const roundId = random.int(1, 12);
      const matchId = `R${roundId}M${matchesOf(league, roundId).length + 1}`;
      open.push(addMatch(league, roundId, matchId, { player_1: first, player_2: second }));
    }
    expect(kept(league)).toEqual(folded(league));

    const all = [...league.matches.values()];
    const restored = restoreLeague(config, {
      ...{ meta: new Map(), agents: [], leagues: [{ league_id: "rps", status: "running" }] },
      entrants: [...league.entrants].map((player_id) => ({ league_id: "rps", player_id })),
      matches: all.map(rowOf),
      results: all.flatMap(({ result, ...at }) => {
        const row = { league_id: "rps", match_id: at.matchId, epoch: 1, referee_id: at.refereeId, seed: "" };
        return result ? [{ ...row, result: JSON.stringify(result), recorded_at: "" }] : [];
      }),
    });
    expect(kept(restored)).toEqual(kept(league));
  }
});

it("each result is counted once, however often the standings are asked for", () => {
  const league = begun(8);
  let reads = 0;
  for (const match of league.matches.values()) {
    const { match_points, ...rest } = resultOf(match, ENDS[0]);
    const counted = {
      ...rest,
      get match_points() {
        reads++;
        return match_points;
      },
    };
    completeMatch(league, match, counted, null);
    standingsOf(league, nameOf);
  }
  expect(reads).toBe(league.matches.size);
});
