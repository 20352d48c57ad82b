import { describe, expect, test } from "vitest";
import { codenames } from "#shared/games/codenames.ts";
import { rps } from "#shared/games/rps.ts";
import { type List, SharedList } from "#shared/lib/list.ts";
import type { FormatRound, LeagueView } from "./format.ts";
import { seatedRounds, sidesOf, type TeamPlay, teamView } from "./teams.ts";

const CODENAMES = [
  [0, 1],
  [2, 3],
];
const pairs: TeamPlay = {
  teams: [
    ["Ada", "Ben"],
    ["Cleo", "Dan"],
    ["Eve", "Finn"],
  ],
  sides: CODENAMES,
};

const viewWith = (rounds: List<FormatRound>, { teams }: TeamPlay, left: readonly string[] = []): LeagueView => ({
  seed: "seed",
  roleCount: 4,
  players: teams.flat().map((playerId) => ({ playerId, enteredAfter: 0, hasLeft: left.includes(playerId) })),
  rounds,
});

const played: FormatRound = {
  roundId: 1,
  matches: [
    {
      matchId: "R1M1",
      players: ["Ada", "Ben", "Cleo", "Dan"],
      outcome: { points: [3, 3, 0, 0], scores: [1, 1, 0, 0], termination: "normal" },
    },
  ],
  byes: ["Eve", "Finn"],
};

describe("teamView", () => {
  test("shows teams as the players of matches, with the points of their sides and byes", () => {
    expect(teamView(viewWith([played], pairs), pairs)).toMatchObject({
      roleCount: 2,
      players: [{ playerId: "T1" }, { playerId: "T2" }, { playerId: "T3" }],
      rounds: [{ matches: [{ players: ["T1", "T2"], outcome: { points: [3, 0] } }], byes: ["T3"] }],
    });
  });

  test("has the same teams as long as the players are the same, so that formats can keep what depends on them", () => {
    const view = viewWith([], pairs);
    const { players } = teamView(view, pairs);
    expect(teamView({ ...view, rounds: [played] }, { ...pairs }).players).toBe(players);
    expect(teamView(view, { ...pairs, sides: [[0], [1], [2], [3]] }).players).not.toBe(players);
    expect(teamView(viewWith([], pairs), pairs).players).not.toBe(players);
    const others = teamView(view, { ...pairs, teams: [["Ada", "Dan"]] }).players;
    expect(others.map(({ playerId }) => playerId)).toEqual(["T1"]);
  });

  test("a team has left when it cannot fill its side", () => {
    const { players } = teamView(viewWith([], pairs, ["Dan"]), pairs);
    expect(players.map(({ hasLeft }) => hasLeft)).toEqual([false, true, false]);
    const trio: TeamPlay = { teams: [["Ada", "Ben", "Cleo"]], sides: CODENAMES };
    expect(teamView(viewWith([], trio, ["Ben"]), trio).players[0]?.hasLeft).toBe(false);
  });

  test("a team has entered late if one of its players has, and without players it has left", () => {
    const view = viewWith([], pairs);
    const late = view.players.map((player) => ({ ...player, enteredAfter: player.playerId === "Dan" ? 2 : 0 }));
    const { players } = teamView({ ...view, players: late.slice(0, 4) }, pairs);
    expect(players).toEqual([
      { playerId: "T1", enteredAfter: 0, hasLeft: false },
      { playerId: "T2", enteredAfter: 2, hasLeft: false },
      { playerId: "T3", enteredAfter: 0, hasLeft: true },
    ]);
  });

  test("has the seed and the end of the league, and the scores of the sides", () => {
    const view = teamView({ ...viewWith([played], pairs), isEnded: true }, pairs);
    expect([view.seed, view.isEnded, view.rounds.at(0)?.matches[0]?.outcome?.scores]).toEqual(["seed", true, [1, 0]]);
    expect(teamView(viewWith([], pairs), pairs)).not.toHaveProperty("isEnded");
  });

  test("an aborted match has no points for a team either", () => {
    const [match] = played.matches;
    const outcome = { points: [], scores: [], termination: "aborted" } as const;
    const round: FormatRound = { ...played, matches: [{ matchId: "R1M1", players: match?.players ?? [], outcome }] };
    expect(teamView(viewWith([round], pairs), pairs).rounds.at(0)?.matches[0]?.outcome?.points).toEqual([]);
  });
});

test("the versions of a running league have the teams and seats of a copy", () => {
  const next = [{ pairings: [["T1", "T2"]], byes: ["T3"] }];
  let rounds = SharedList.of([played]);
  for (let step = 0; step < 3; step++) {
    const [shared, copy] = [viewWith(rounds, pairs), viewWith([...rounds], pairs)];
    expect([...teamView(shared, pairs).rounds]).toEqual(teamView(copy, pairs).rounds);
    const [seated] = seatedRounds(next, shared, pairs);
    expect([seated]).toEqual(seatedRounds(next, copy, pairs));
    const match = { matchId: `R${step + 2}M1`, players: seated?.pairings[0] ?? [], outcome: null };
    rounds = rounds.append({ roundId: step + 2, matches: [match], byes: ["Eve", "Finn"] });
  }
});

test("the rounds that have not changed are not converted again, in a running league and in a list of opened rounds", () => {
  const other = { ...played, roundId: 2 };
  const rounds = SharedList.of([played, other]);
  const [first] = teamView(viewWith(rounds, pairs), pairs).rounds;
  const changed = rounds.with(1, { ...other, byes: [] });
  for (const later of [changed, [...changed]]) {
    const [same, converted] = teamView(viewWith(later, pairs), pairs).rounds;
    expect(same).toBe(first);
    expect(converted?.byes).toEqual([]);
  }
});

test("the sides of a game are its teams, or its roles", () => {
  expect(sidesOf(codenames, codenames.roles)).toEqual(CODENAMES);
  expect(sidesOf(rps, rps.roles)).toEqual([[0], [1]]);
  expect([sidesOf(undefined, ["a", "b"]), sidesOf(codenames, codenames.roles.toReversed())]).toEqual([
    [[0], [1]],
    [
      [3, 2],
      [1, 0],
    ],
  ]);
});

test("a league of the same teams in another game has other sides", () => {
  const alone: TeamPlay = { teams: pairs.teams, sides: [[0], [2]] };
  const match = { matchId: "R1M1", players: ["Ada", "Ben", "Cleo", "Dan"], outcome: null };
  const round = { roundId: 1, matches: [match], byes: [] };
  const swapped: TeamPlay = { ...alone, sides: [[2], [0]] };
  for (const [play, expected] of [
    [alone, ["T1", "T2"]],
    [swapped, ["T2", "T1"]],
  ] as const)
    expect(teamView(viewWith([round], pairs), play).rounds.at(0)?.matches[0]?.players).toEqual(expected);
});

describe("seatedRounds", () => {
  test("partners change their roles in each further match of their team", () => {
    const round = { pairings: [["T2", "T1"]], byes: ["T3"] };
    const [first] = seatedRounds([round], viewWith([], pairs), pairs);
    expect(first).toEqual({ pairings: [["Cleo", "Dan", "Ada", "Ben"]], byes: ["Eve", "Finn"] });
    const [second] = seatedRounds([round], viewWith([played], pairs), pairs);
    expect(second?.pairings).toEqual([["Dan", "Cleo", "Ben", "Ada"]]);
  });

  test("the legs of a pairing are further matches of a team", () => {
    const round = {
      pairings: [
        ["T1", "T2"],
        ["T2", "T1"],
      ],
      byes: [],
    };
    const [legs] = seatedRounds([round], viewWith([], pairs), pairs);
    expect(legs?.pairings).toEqual([
      ["Ada", "Ben", "Cleo", "Dan"],
      ["Dan", "Cleo", "Ben", "Ada"],
    ]);
  });

  test("in a team with more players than roles they sit out in turn, and a member that has left is passed over", () => {
    const trios: TeamPlay = {
      teams: [
        ["Ada", "Ben", "Cleo"],
        ["Dan", "Eve", "Finn"],
      ],
      sides: [[0], [1]],
    };
    const four = Array.from({ length: 4 }, () => ({ pairings: [["T1", "T2"]], byes: [] }));
    const pairingsOf = (view: LeagueView) => seatedRounds(four, view, trios).flatMap(({ pairings }) => pairings);
    expect(pairingsOf(viewWith([], trios))).toEqual([
      ["Ada", "Dan"],
      ["Ben", "Eve"],
      ["Cleo", "Finn"],
      ["Ada", "Dan"],
    ]);
    expect(pairingsOf(viewWith([], trios, ["Eve"]))).toEqual([
      ["Ada", "Dan"],
      ["Ben", "Finn"],
      ["Cleo", "Dan"],
      ["Ada", "Finn"],
    ]);
  });

  test("the legs of a pairing have the same members, also in a team with more players than roles", () => {
    const trios: TeamPlay = {
      teams: [
        ["Ada", "Ben", "Cleo"],
        ["Dan", "Eve", "Finn"],
      ],
      sides: CODENAMES,
    };
    const round = {
      pairings: [
        ["T1", "T2"],
        ["T2", "T1"],
        ["T1", "T2"],
      ],
      byes: [],
    };
    const [first, second] = seatedRounds([round, round], viewWith([], trios), trios);
    expect(first?.pairings).toEqual([
      ["Ada", "Ben", "Dan", "Eve"],
      ["Eve", "Dan", "Ben", "Ada"],
      ["Ada", "Ben", "Dan", "Eve"],
    ]);
    expect(second?.pairings[0]).toEqual(["Ben", "Cleo", "Eve", "Finn"]);
    const [withoutTwo] = seatedRounds([round], viewWith([], trios, ["Ben", "Dan", "Eve"]), trios);
    // The second team can no longer fill its side, so that all of its members take turns.
    expect(withoutTwo?.pairings[0]).toEqual(["Ada", "Cleo", "Dan", "Eve"]);
  });
});
