import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "#shared/lib/clock.ts";
import type { StartGame } from "#shared/protocol/messages.ts";
import { openLog } from "#shared/runtime/process/logger.ts";
import type { TestAnswer } from "../testing/agents.ts";
import { startTestLeague, type TestLeague, type TestLeagueOptions } from "../testing/league.ts";

/** Starts a league whose referees answer START_GAME as given. Referees without a given answer accept. */
async function leagueWith(
  answers: Readonly<Record<string, TestAnswer>>,
  { players = 2, ...options }: TestLeagueOptions = {},
): Promise<TestLeague> {
  const league = await startTestLeague({ ...options, players: 0, referees: 2, minPlayers: players });
  for (const [id, answer] of Object.entries(answers)) answerOrders(league, id, answer);
  for (let n = 1; n <= players; n++) await league.registerPlayer(`P0${n}`);
  return league;
}
const answerOrders = (league: TestLeague, id: string, answer: TestAnswer): void => {
  league.agent(id).answer = ({ type }) => (type === "START_GAME" ? answer : "accepted");
};
const assignments = (league: TestLeague) => league.round().map(({ refereeId, epoch }) => `${refereeId} ${epoch}`);
const refereesOf = (league: TestLeague, roundId: number) => league.round(roundId).map(({ refereeId }) => refereeId);
const unfitNotice = (reason: string) =>
  `referee REF01 accepts no matches (${reason}); they are assigned to another referee if there is one`;

describe("a referee that answers probes and accepts no match", () => {
  test("loses its matches to the other referees with MATCH_WITHDRAWN, and gets none while there are others", async () => {
    const league = await leagueWith({ REF01: "foreign" }, { players: 6 });
    await league.eventually(() => expect(assignments(league)).toEqual(["REF02 2", "REF02 1", "REF02 2"]));
    expect(league.notices).toEqual([unfitNotice("foreign")]);
    const withdrawn = await league.eventually(() => {
      const messages = league.agent("REF01").of("MATCH_WITHDRAWN");
      expect(messages).toHaveLength(2);
      return messages.map(({ payload }) => payload);
    });
    expect(withdrawn).toContainEqual({ league_id: "rps", match_id: "R1M1", epoch: 1 });
    await league.eventually(() => expect(league.league().withdrawals).toEqual([]));
  });

  test("keeps its matches if no other referee plays the game", async () => {
    const league = await startTestLeague({ players: 0, referees: 1, minPlayers: 4 });
    await league.registerReferee("REF02", 64, ["chess.v1"]);
    answerOrders(league, "REF01", "foreign");
    for (const id of ["P01", "P02", "P03", "P04"]) await league.registerPlayer(id);
    await league.eventually(() => expect(league.notices).toEqual([unfitNotice("foreign")]));
    await league.clock.advance(5_000);
    expect(assignments(league)).toEqual(["REF01 1", "REF01 1"]);
    expect(league.agent("REF02").orders()).toEqual([]);
  });

  test("is offered one match after ten seconds, and gets its usual matches again after it has accepted it", async () => {
    const league = await leagueWith({ REF01: 503 }, { players: 6 });
    await league.eventually(() => expect(assignments(league)).toEqual(["REF02 2", "REF02 1", "REF02 2"]));
    expect(league.notices).toEqual([unfitNotice("HTTP 503")]);
    answerOrders(league, "REF01", "accepted");
    await league.playRound(1);
    await league.eventually(() => expect(refereesOf(league, 2)).toEqual(["REF02", "REF02", "REF02"]));
    await league.clock.advance(10_000);
    await league.playRound(2);
    await league.eventually(() => expect(refereesOf(league, 3)).toEqual(["REF01", "REF02", "REF02"]));
    await league.playRound(3);
    await league.eventually(() => expect(refereesOf(league, 4)).toEqual(["REF01", "REF02", "REF01"]));
  });

  test("is offered a waiting match after ten seconds even if nothing is committed", async () => {
    const league = await leagueWith({ REF01: 503 }, { players: 6, maxConcurrent: 1 });
    await league.eventually(() => expect(assignments(league)).toEqual(["null 2", "REF02 1", "null 1"]));
    answerOrders(league, "REF01", "accepted");
    await league.eventually(() => expect(assignments(league)).toEqual(["null 2", "REF02 1", "REF01 1"]));
    expect(league.clock.monotonic()).toBeLessThan(60_000);
  });

  test("loses the offered match if it rejects it again", async () => {
    const league = await leagueWith({ REF01: 503 }, { players: 4 });
    await league.eventually(() => expect(assignments(league)).toEqual(["REF02 2", "REF02 1"]));
    await league.clock.advance(10_000);
    await league.playRound(1);
    await league.eventually(() => expect(league.agent("REF01").orders().at(-1)).toMatchObject({ match_id: "R2M1" }));
    await league.eventually(() => expect(refereesOf(league, 2)).toEqual(["REF02", "REF02"]));
    expect(league.notices).toEqual([unfitNotice("HTTP 503")]);
  });
});

test("a rejected START_GAME is repeated with the same message id", async () => {
  const league = await leagueWith({ REF01: 503, REF02: 503 });
  const ids = await league.eventually(() => {
    const sent = league.agent("REF01").of("START_GAME");
    expect(sent.length).toBeGreaterThan(2);
    return sent.map(({ message_id }) => message_id);
  });
  expect(new Set(ids).size).toBe(1);
});

test("START_GAME keeps its message id if a player has changed and the payload has not", async () => {
  const league = await leagueWith({ REF01: 503, REF02: 503 });
  const sent = () => league.agent("REF01").of("START_GAME");
  await league.eventually(() => expect(sent().length).toBeGreaterThan(0));
  const version = () => league.ledger().state.agents.get("P01")?.version ?? 0;
  const before = version();
  await league.registerPlayer("P01", undefined, { announcements: false });
  expect(version()).toBeGreaterThan(before);
  const count = sent().length;
  await league.eventually(() => expect(sent().length).toBeGreaterThan(count + 1));
  const ids = new Map(sent().map(({ payload, message_id }) => [message_id, JSON.stringify(payload)]));
  expect(ids.size).toBe(new Set(ids.values()).size);
});

test("START_GAME gets another message id if a player has registered again with other capabilities", async () => {
  const league = await leagueWith({ REF01: 503, REF02: 503 });
  const sent = () => [...league.agent("REF01").of("START_GAME"), ...league.agent("REF02").of("START_GAME")];
  await league.eventually(() => expect(sent().length).toBeGreaterThan(1));
  await league.registerPlayer("P01", undefined, { legal_actions: false });
  await league.eventually(() => {
    const values = sent().map(({ payload }) => (payload as StartGame).roles.player_1?.legal_actions);
    expect(new Set(values)).toEqual(new Set([true, false]));
  });
  const idsOf = (isWanted: boolean): Set<string> => {
    const messages = sent().filter(({ payload }) => (payload as StartGame).roles.player_1?.legal_actions === isWanted);
    return new Set(messages.map(({ message_id }) => message_id));
  };
  expect([...idsOf(true)].filter((id) => idsOf(false).has(id))).toEqual([]);
});

test("only agents that offer the transport websocket are called over a WebSocket", async () => {
  const league = await startTestLeague({ players: 1, minPlayers: 2, referees: 0 });
  await league.registerReferee("REF01", undefined, undefined, { transports: ["websocket"] });
  await league.registerPlayer("P02", undefined, { transports: ["websocket"] });
  await league.order("REF01", "R1M1");
  const upgrades = ["P01", "P02", "REF01"].map((id) => league.agent(id).upgrades);
  expect(upgrades).toEqual([0, expect.any(Number), expect.any(Number)]);
  expect(Math.min(...upgrades.slice(1))).toBeGreaterThan(0);
});

test("an answer to START_GAME that is not an envelope is explained in the notice and in the log", async () => {
  const folder = mkdtempSync(join(tmpdir(), "hand-over-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const log = openLog(join(folder, "manager.log"), "manager");
  const league = await leagueWith({ REF01: "plain" }, { log });
  await league.eventually(() => expect(league.notices).toHaveLength(1));
  const reason =
    /not a league\.v2 envelope.*; the answer to START_GAME must be an envelope of type START_GAME_RESPONSE/;
  expect(league.notices[0]).toMatch(reason);
  await log.flushed(systemClock);
  const [line = "{}"] = readFileSync(join(folder, "manager.log"), "utf8").split("\n");
  const logged = { match: "rps/R1M1", referee: "REF01", reason: expect.stringMatching(reason) };
  expect(JSON.parse(line)).toMatchObject({ ...logged, answer: { raw: expect.stringContaining("ACCEPTED") } });
});

test("a match that its only referee knows under a later epoch is handed over under the next one", async () => {
  const league = await startTestLeague({ players: 0, referees: 1, minPlayers: 2 });
  league.agent("REF01").answer = ({ type, payload }) =>
    type === "START_GAME" && Number(payload.epoch) <= 2 ? { newestEpoch: 2 } : "accepted";
  for (const id of ["P01", "P02"]) await league.registerPlayer(id);
  await league.eventually(() => expect(assignments(league)).toEqual(["REF01 3"]));
  expect(league.notices).toEqual([]);
});

test("a referee that always claims a later epoch releases a match at most twenty times", async () => {
  const league = await startTestLeague({ players: 0, referees: 1, minPlayers: 2 });
  league.agent("REF01").answer = ({ type, payload }) =>
    type === "START_GAME" ? { newestEpoch: Number(payload.epoch) } : "accepted";
  for (const id of ["P01", "P02"]) await league.registerPlayer(id);
  await league.eventually(() => expect(assignments(league)).toEqual(["REF01 21"]));
  await league.clock.advance(5_000);
  await league.eventually(() => expect(league.notices).toEqual([unfitNotice("superseded")]));
  expect(assignments(league)).toEqual(["REF01 21"]);
});

describe("a full referee", () => {
  test("loses a match to a referee with free capacity and stays fit", async () => {
    const league = await leagueWith({ REF01: "full" });
    await league.eventually(() => expect(assignments(league)).toEqual(["REF02 2"]));
    expect(league.notices).toEqual([]);
  });

  test("keeps a match while other referees have no free capacity, and plays it when it accepts it", async () => {
    const league = await leagueWith({ REF01: "full" }, { players: 4, maxConcurrent: 1 });
    await league.clock.advance(6_000);
    await league.eventually(() => expect(league.agent("REF01").orders().length).toBeGreaterThan(12));
    answerOrders(league, "REF01", "accepted");
    const orders = league.agent("REF01").orders().length;
    await league.eventually(() => expect(league.agent("REF01").orders().length).toBeGreaterThan(orders));
    await league.clock.advance(3_000);
    expect(league.agent("REF01").orders()).toHaveLength(orders + 1);
    expect(assignments(league)).toEqual(["REF01 1", "REF02 1"]);
  });
});
