import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { sha256Hex } from "#shared/lib/hash.ts";
import { newEnvelope } from "#shared/protocol/testing/envelope.ts";
import type { LiveEvent } from "../projections/live-events.ts";
import {
  abortedR1M1,
  logOf,
  ROLES,
  rpcOf,
  seedOf,
  startTestManager,
  type TestManager,
  type Wire,
  withLog,
  won,
  wonR2M1,
} from "../testing/test-manager.ts";

let manager: TestManager;

/** A running league of P01 and P02; R1M1 is assigned to REF01, no match to REF02. */
beforeEach(async () => {
  manager = await startTestManager([{ league_id: "rps", game: "rps.v1" }]);
  await manager.register("P01", "P02", "REF01", "REF02");
  const started = await tool("start_league", { league_id: "rps" }, manager.operator);
  expect(started).toMatchObject({ status: "STARTED", matches: 1 });
  expect(await manager.assigned("rps", "R1M1")).toMatchObject({ referee_id: "REF01", roles: ROLES });
});
afterEach(() => manager?.stop());

const tool: TestManager["tool"] = (...args) => manager.tool(...args);
const message: TestManager["message"] = (...args) => manager.message(...args);
const tokenOf = (name: string): string => manager.tokens[name] ?? name;
const schedule = (): Promise<Wire[]> => manager.schedule("rps");
const points = async (): Promise<unknown> =>
  (await tool("get_standings", { league_id: "rps" })).standings.map((row: Wire) => [row.player_id, row.points]);

const lateP02 = { player_id: "P02", role: "player_2", code: "G002", cause: "timeout", detail: "late" };
const NO_POINTS = [
  ["P01", 0],
  ["P02", 0],
];

describe("MATCH_RESULT", () => {
  it.each([
    ["a caller without a token", "referee:REF01", undefined],
    ["a caller with a wrong token", "referee:REF01", "wrong"],
    ["a player under the referee's name", "referee:REF01", "P01"],
    ["a referee under another's name", "referee:REF02", "REF01"],
    ["a referee that does not have the match", "referee:REF02", "REF02"],
  ])("from %s is rejected and changes nothing", async (_caller, sender, token) => {
    const rejected = await message("MATCH_RESULT", sender, won(), token && tokenOf(token));
    expect(rejected).toMatchObject({ isError: true, type: "LEAGUE_ERROR", payload: { error_code: "L004" } });
    expect(await points()).toEqual(NO_POINTS);
    expect((await schedule())[0]).toMatchObject({ status: "assigned", winner: null });
  });

  it.each([
    ["a player", "player:P01", "P01"],
    ["the referee under a player's name", "player:REF01", "REF01"],
  ])("from %s is rejected with -32602: the sender has the wrong type", async (_caller, sender, token) => {
    const rejected = await message("MATCH_RESULT", sender, won(), tokenOf(token));
    const fault = `MATCH_RESULT must come from a referee, not from ${sender}`;
    expect(rejected).toMatchObject({ code: -32602, data: { faults: [{ path: "sender", message: fault }] } });
    expect(await points()).toEqual(NO_POINTS);
  });

  it("is recorded once; the same result again is acknowledged, and a different one is rejected with the recorded one", async () => {
    const first = await message("MATCH_RESULT", "referee:REF01", won(), tokenOf("REF01"));
    expect(first).toMatchObject({ type: "MATCH_RESULT_RESPONSE", payload: { status: "RECORDED" } });
    const again = await message("MATCH_RESULT", "referee:REF01", won(), tokenOf("REF01"));
    expect(again).toMatchObject({ payload: { status: "ALREADY_RECORDED" } });
    const other = won({ winner: "P02", match_points: { P01: 0, P02: 3 } });
    const contradicted = await message("MATCH_RESULT", "referee:REF01", other, tokenOf("REF01"));
    const conflict = "another result of rps/R1M1 is recorded: normal, winner P01";
    expect(contradicted).toMatchObject({ type: "GAME_ERROR", payload: { error_code: "G001", message: conflict } });
    expect(await points()).toEqual([
      ["P01", 3],
      ["P02", 0],
    ]);
  });

  it("is recorded once when copies arrive at the same time with the token in the Authorization header", async () => {
    const envelope = newEnvelope("MATCH_RESULT", "referee:REF01", won());
    const answers = await Promise.all([1, 2, 3].map(() => tool("league_message", envelope, tokenOf("REF01"))));
    const statuses = answers.map(({ payload }) => payload.status).sort();
    expect(statuses).toEqual(["ALREADY_RECORDED", "ALREADY_RECORDED", "RECORDED"]);
    expect(await points()).toContainEqual(["P01", 3]);
  });

  it.each([
    ["match", { match_id: "R9M9" }, { type: "GAME_ERROR", payload: { error_code: "G003" } }],
    ["league", { league_id: "nowhere" }, { type: "LEAGUE_ERROR", payload: { error_code: "L005" } }],
  ])("of an unknown %s is rejected", async (_case, more, error) => {
    const rejected = await message("MATCH_RESULT", "referee:REF01", won(more), tokenOf("REF01"));
    expect(rejected).toMatchObject({ isError: true, ...error });
  });

  it.each([
    ["points that no rule gives", { match_points: { P01: 5, P02: 0 } }],
    ["points for both", { match_points: { P01: 3, P02: 3 } }],
    ["other players", { match_points: { P01: 3, P07: 0 } }],
    ["a winner without the points", { winner: "P02" }],
    ["a log that does not lead to its head", { log_head: "0".repeat(64) }],
    ["no log", { log: [], log_head: "" }],
    ["the loser as its winner", { winner: "P02", match_points: { P01: 0, P02: 3 } }],
    ["scores that were not reached", { final_scores: { P01: 2, P02: 0 } }],
    ["scores of unknown players", JSON.parse('{"final_scores":{"__proto__":1,"zz":-1e308}}')],
    ["another reason", { reason: "\u001b[31mwon\nP99 registered" }],
    ["a negative round", { round_id: -7 }],
    ["a later round", { round_id: 2 }],
    ["a fault that is not in its log", { faults: [lateP02] }],
    [
      "a forfeit that is not in its log",
      { ...withLog(logOf({ entries: 1 })), termination: "forfeit", faults: [lateP02] },
    ],
    ["a log that does not end", withLog(logOf({ entries: 2 }))],
    ["the log of another seed", withLog(logOf({ seed: "mine" }))],
    ["the log of a match with other options", withLog(logOf({ options: { best_of: 3 } }))],
    ["an aborted match that gives points", { termination: "aborted", log: [], log_head: "" }],
  ])("with %s is rejected and gives no points", async (_case, more) => {
    const rejected = await message("MATCH_RESULT", "referee:REF01", won(more), tokenOf("REF01"));
    expect(rejected).toMatchObject({ isError: true });
    expect(await points()).toEqual(NO_POINTS);
  });

  it.each([
    ["points", { match_points: { P01: 3, P02: 0 } }],
    ["faults", { faults: [lateP02] }],
    ["the head of a log", { log_head: "a".repeat(64) }],
  ])("of an aborted match without a log is rejected if it has %s", async (_case, more) => {
    const empty = { winner: null, match_points: {}, final_scores: {}, log: [], log_head: "" };
    const result = won({ ...empty, termination: "aborted", ...more });
    const rejected = await message("MATCH_RESULT", "referee:REF01", result, tokenOf("REF01"));
    expect(rejected).toMatchObject({ isError: true, payload: { error_code: "G001" } });
    expect(await points()).toEqual(NO_POINTS);
  });

  it("of an older epoch is rejected", async () => {
    await message("MATCH_RESULT", "referee:REF01", abortedR1M1(), tokenOf("REF01"));
    const outdated = await message("MATCH_RESULT", "referee:REF01", won(), tokenOf("REF01"));
    expect(outdated).toMatchObject({ isError: true, payload: { error_code: "L004" } });
    expect(await points()).toEqual(NO_POINTS);
  });

  it("of a match that is not assigned yet is rejected", async () => {
    const match = { league_id: "rps", player1_id: "P01", player2_id: "P02", round_id: 2 };
    expect(await tool("schedule_match", match, manager.operator)).toMatchObject({ match_id: "R2M1" });
    for (const referee of ["REF01", "REF02"]) {
      const early = await message("MATCH_RESULT", `referee:${referee}`, wonR2M1(), tokenOf(referee));
      expect(early).toMatchObject({ isError: true, payload: { error_code: "L004" } });
    }
    expect((await schedule())[1]).toMatchObject({ match_id: "R2M1", status: "scheduled", winner: null });
    await message("MATCH_RESULT", "referee:REF01", won(), tokenOf("REF01"));
    const { referee_id: assignee } = await manager.assigned("rps", "R2M1");
    const inTime = await message("MATCH_RESULT", `referee:${assignee}`, wonR2M1(), tokenOf(assignee));
    expect(inTime).toMatchObject({ payload: { status: "RECORDED" } });
  });

  it("from a caller that knows only the hash of the referee's token is rejected", async () => {
    const hash = sha256Hex(tokenOf("REF01"));
    const rejected = await message("MATCH_RESULT", "referee:REF01", won(), hash);
    expect(rejected).toMatchObject({ isError: true, payload: { error_code: "L004" } });
    expect(await points()).toEqual(NO_POINTS);
  });
});

describe("MATCH_RESULT of the only referee", () => {
  it("is accepted only under the epoch of the repeated match", async () => {
    const secondManager = await startTestManager([{ league_id: "rps", game: "rps.v1" }]);
    try {
      await secondManager.register("P01", "P02", "REF01");
      await secondManager.tool("start_league", { league_id: "rps" }, secondManager.operator);
      const report = async (result: object) =>
        (await secondManager.message("MATCH_RESULT", "referee:REF01", result, secondManager.tokens.REF01)).payload;
      await secondManager.assigned("rps", "R1M1");
      expect(await report(abortedR1M1())).toEqual({ status: "RECORDED" });
      expect(await secondManager.assigned("rps", "R1M1")).toMatchObject({ referee_id: "REF01" });
      for (const epoch of [1, 3]) expect(await report(won({ epoch }))).toMatchObject({ error_code: "L004" });
      expect(await secondManager.schedule("rps")).toMatchObject([{ status: "assigned", winner: null }]);
      const again = won({ epoch: 2, ...withLog(logOf({ seed: seedOf("R1M1", 2) })) });
      expect(await report(again)).toEqual({ status: "RECORDED" });
      expect(await secondManager.schedule("rps")).toMatchObject([{ status: "completed", winner: "P01" }]);
    } finally {
      await secondManager.stop();
    }
  });
});

test("the reason that a referee gives for an aborted match is not published", async () => {
  const events: LiveEvent[] = [];
  const secondManager = await startTestManager(
    [{ league_id: "rps", game: "rps.v1" }],
    {},
    (event) => void events.push(event),
  );
  try {
    await secondManager.register("P01", "P02", "REF01");
    await secondManager.tool("start_league", { league_id: "rps" }, secondManager.operator);
    for (const epoch of [1, 2, 3]) {
      await secondManager.assigned("rps", "R1M1");
      const result = abortedR1M1({ epoch, reason: "cannot open /home/referee/file" });
      await secondManager.message("MATCH_RESULT", "referee:REF01", result, secondManager.tokens.REF01);
    }
    const [row] = await secondManager.schedule("rps");
    expect(row).toMatchObject({ status: "completed", termination: "aborted", reason: "aborted" });
    const { body } = await secondManager.post(rpcOf("resources/read", { uri: "match://rps/R1M1" }));
    expect(JSON.parse(body.result.contents[0].text).result).toMatchObject({
      termination: "aborted",
      reason: "aborted",
    });
    const page = await (await fetch(new URL("/", secondManager.url))).text();
    for (const text of [JSON.stringify(body), page]) expect(text).not.toContain("/home/referee");
    expect(events.find(({ type }) => type === "match_completed")).toMatchObject({
      match: { reason: "cannot open /home/referee/file" },
    });
  } finally {
    await secondManager.stop();
  }
});
