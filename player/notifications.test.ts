import { expect, test } from "vitest";
import type { GameResult } from "#shared/protocol/messages.ts";
import { createNotificationLog } from "./notifications.ts";

function newLog() {
  const lines: string[] = [];
  const notifications = createNotificationLog((line) => lines.push(line));
  notifications.registered("P01", ["l", "other"]);
  return { lines, notifications };
}

const match = {
  leagueId: "l",
  matchId: "R1M1",
  epoch: 1,
  game: "rps.v1",
  options: {},
  role: "player_1",
  seedCommitment: "",
};
const result = {
  league_id: "l",
  match_id: "R1M1",
  final_scores: {},
  match_points: {},
  seed: "s",
  log_head: "h",
};

test.each<[string | null, GameResult["termination"], string, string]>([
  ["P01", "normal", "won_series", "won (won series)"],
  ["P02", "forfeit", "timeout", "lost (this player: timeout)"],
  ["P01", "forfeit", "bot_error", "won (opponent: bot error)"],
  [null, "normal", "drawn", "drawn (drawn)"],
  [null, "forfeit", "timeout,timeout", "no winner (timeout, timeout)"],
  [null, "aborted", "expired", "no winner (expired)"],
])(
  "a match with winner %s and termination %s is shown with its result for the player",
  (winner, termination, reason, text) => {
    const { lines, notifications } = newLog();
    notifications.matchEnded(
      { ...match, roles: { player_1: "P01", player_2: "P02" } },
      { ...result, winner, termination, reason },
    );
    expect(lines).toEqual([`l R1M1 as player_1: ${text}`]);
  },
);

test("a GAME_ERROR is shown on one line", () => {
  const { lines, notifications } = newLog();
  notifications.gameError({
    league_id: "l",
    match_id: "R1M1",
    error_code: "G002",
    message: "no answer\nwithin 500 ms",
  });
  expect(lines).toEqual(["l R1M1: G002 no answer within 500 ms"]);
});

test.each([
  [
    { red_spymaster: 3, red_team: 3, blue_spymaster: 0, blue_team: 0 },
    "red_team",
    "normal",
    "won, team red wins (agents found)",
  ],
  [
    { red_spymaster: 3, red_team: 3, blue_spymaster: 0, blue_team: 0 },
    "blue_team",
    "normal",
    "lost, team red wins (agents found)",
  ],
  [{ red_spymaster: 1, red_team: 1, blue_spymaster: 1, blue_team: 1 }, "red_team", "normal", "drawn (agents found)"],
  [
    { red_spymaster: 0, red_team: 0, blue_spymaster: 0, blue_team: 0 },
    "red_team",
    "forfeit",
    "no winner (agents found)",
  ],
] as const)(
  "the result of a team game with points %j names the winning team to %s",
  (match_points, role, termination, text) => {
    const { lines, notifications } = newLog();
    const roles = Object.fromEntries(Object.keys(match_points).map((id) => [id, id]));
    const info = { ...match, game: "codenames.v1", role, roles };
    notifications.matchEnded(info, { ...result, match_points, winner: null, termination, reason: "agents_found" });
    expect(lines).toEqual([`l R1M1 as ${role}: ${text}`]);
  },
);

test("a league is shown as over with the standings after its last round, and other leagues are not", () => {
  const { lines, notifications } = newLog();
  const row = { display_name: "P", played: 1, wins: 1, draws: 0, losses: 0, points: 3 };
  const standings = ["P02", "P01"].map((player_id, index) => ({ ...row, player_id, rank: index + 1 }));
  const end = (league_id: string, round_id: number, next_round_id: number | null): void => {
    notifications.roundEnded({ league_id, round_id, next_round_id, matches_completed: 1, summary: {} });
    notifications.standings({ league_id, round_id, standings });
  };
  end("l", 1, 2);
  end("l", 2, null);
  end("other", 1, 2);
  notifications.standings({ league_id: "not mine", round_id: 1, standings: standings.slice(0, 1) });
  expect(lines).toEqual([
    "l after round 1: rank 2 of 2, points 3",
    "l is over: rank 2 of 2, points 3",
    "other after round 1: rank 2 of 2, points 3",
  ]);
});

test("the state, points and rank of a player follow from its notifications", () => {
  const { notifications } = newLog();
  const row = { display_name: "P", played: 1, wins: 1, draws: 0, losses: 0, player_id: "P01", rank: 2 };
  const facts: unknown[] = [notifications.facts()];
  notifications.roundStarted();
  const roles = { player_1: "P01", player_2: "P02" };
  const won = { ...result, winner: "P01", termination: "normal", reason: "won", match_points: { P01: 3 } } as const;
  notifications.matchEnded({ ...match, roles }, won);
  facts.push(notifications.facts());
  notifications.standings({ league_id: "other", round_id: 1, standings: [{ ...row, points: 1, state: "SUSPENDED" }] });
  facts.push(notifications.facts());
  for (const league_id of ["l", "other"]) {
    notifications.roundEnded({ league_id, round_id: 1, next_round_id: null, matches_completed: 1, summary: {} });
    notifications.standings({ league_id, round_id: 1, standings: [{ ...row, points: 3, state: "ACTIVE" }] });
  }
  facts.push(notifications.facts());
  const league = (league_id: string, points: number, rank: number | null) => ({ league_id, points, rank });
  expect(facts).toEqual([
    { player_id: "P01", state: "REGISTERED", points: 0, leagues: [league("l", 0, null), league("other", 0, null)] },
    { player_id: "P01", state: "ACTIVE", points: 3, leagues: [league("l", 3, null), league("other", 0, null)] },
    { player_id: "P01", state: "SUSPENDED", points: 4, leagues: [league("l", 3, null), league("other", 1, 2)] },
    { player_id: "P01", state: "SHUTDOWN", points: 6, leagues: [league("l", 3, 2), league("other", 3, 2)] },
  ]);
});

test("a player that does not register itself takes its id from its matches and is active again in the next league", () => {
  const notifications = createNotificationLog(() => {});
  const facts = [notifications.facts()];
  notifications.matchBegun("P03");
  facts.push(notifications.facts());
  const row = { display_name: "P", played: 1, wins: 0, draws: 0, losses: 1, points: 0, rank: 2 };
  notifications.roundEnded({ league_id: "l", round_id: 1, next_round_id: null, matches_completed: 1, summary: {} });
  notifications.standings({ league_id: "l", round_id: 1, standings: [{ ...row, player_id: "P03" }] });
  facts.push(notifications.facts());
  notifications.matchBegun("P01");
  facts.push(notifications.facts());
  expect(facts.map(({ player_id, state }) => [player_id, state])).toEqual([
    [null, "INIT"],
    ["P03", "ACTIVE"],
    ["P03", "SHUTDOWN"],
    ["P01", "ACTIVE"],
  ]);
});

test("truncated standings are shown with the rank of the player and, if the message states it, the number of players", () => {
  const { lines, notifications } = newLog();
  const row = { rank: 17, player_id: "P01", display_name: "Ann", played: 1, wins: 1, draws: 0, losses: 0, points: 3 };
  const update = { league_id: "l", round_id: 1, standings: [row] };
  const truncated = { ...update, truncated: true, resource: "league://l/standings" };
  notifications.standings({ ...truncated, total: 102 });
  notifications.standings(truncated);
  notifications.standings(update);
  expect(lines).toEqual([
    "l after round 1: rank 17 of 102, points 3",
    "l after round 1: rank 17, points 3",
    "l after round 1: rank 17 of 1, points 3",
  ]);
  expect(notifications.facts().leagues[0]).toEqual({ league_id: "l", points: 3, rank: 17 });
});

test("a player that is shut down during a league is told so once, and not that it stays registered", () => {
  const { lines, notifications } = newLog();
  const row = { rank: 2, player_id: "P01", display_name: "Ann", points: 3, wins: 1, draws: 0, losses: 0, played: 1 };
  for (const round_id of [1, 2])
    notifications.standings({ league_id: "l", round_id, standings: [{ ...row, state: "SHUTDOWN" }] });
  expect(lines).toEqual([
    "l after round 1: rank 2 of 1, points 3",
    "l: this player is shut down: the operator has removed it, or it did not answer in 3 matches in a row. Its later matches are lost",
    "l after round 2: rank 2 of 1, points 3",
  ]);
  notifications.stopping();
  expect(lines.at(-1)).toMatch(/^P01 stays registered in other /);
});

test("a player that stops before the end of its leagues stays registered, and the line names the command that removes it", () => {
  const { lines, notifications } = newLog();
  notifications.roundEnded({ league_id: "l", round_id: 1, next_round_id: null, matches_completed: 1, summary: {} });
  notifications.stopping();
  expect(lines).toEqual([
    "P01 stays registered in other and loses its matches. To continue, enter the same command again. The operator can remove it with: npm run league -- remove P01 --data FOLDER, with the data folder of the league",
  ]);
  notifications.roundEnded({ league_id: "other", round_id: 1, next_round_id: null, matches_completed: 1, summary: {} });
  notifications.stopping();
  expect(lines).toHaveLength(1);
});

test("a player that has not registered itself stops without a line", () => {
  const lines: string[] = [];
  const notifications = createNotificationLog((line) => lines.push(line));
  notifications.matchBegun("P01");
  notifications.matchEnded(
    { ...match, roles: { player_1: "P01", player_2: "P02" } },
    { ...result, winner: "P01", termination: "normal", reason: "won_series" },
  );
  notifications.stopping();
  expect(lines).toEqual(["l R1M1 as player_1: won (won series)"]);
});

test("a player that enters another league after its leagues are over is registered again", () => {
  const notifications = createNotificationLog(() => {});
  const ann = { rank: 1, player_id: "P01", display_name: "Ann", played: 1, wins: 1, draws: 0, losses: 0, points: 3 };
  notifications.registered("P01", ["l"]);
  notifications.roundStarted();
  notifications.roundEnded({
    league_id: "l",
    round_id: 1,
    matches_completed: 1,
    next_round_id: null,
    summary: { winners: {} },
  });
  notifications.standings({ league_id: "l", round_id: 1, standings: [ann] });
  expect(notifications.facts().state).toBe("SHUTDOWN");
  notifications.registered("P01", ["l"]);
  expect(notifications.facts().state).toBe("SHUTDOWN");
  notifications.registered("P01", ["l", "next"]);
  expect(notifications.facts().state).toBe("REGISTERED");
});
