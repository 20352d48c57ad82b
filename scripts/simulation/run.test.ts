import { assert, beforeAll, describe, expect, it } from "vitest";
import { type Checker, createChecker } from "./checks/check.ts";
import { createCorrespondence } from "./checks/secrecy.ts";
import { DIALECT_PROGRAMS } from "./dialect-programs.ts";
import { FORGED } from "./hostile.ts";
import { World } from "./machines/world.ts";
import { type OperatorCall, type Plan, timeLimitMs } from "./plan.ts";
import { planOf } from "./random-plan.ts";
import { recordMessages, runPlan, shrink, warmUp } from "./run.ts";

beforeAll(warmUp);

const PLAN: Plan = {
  seed: "test",
  game: { id: "rps.v1", options: { best_of: 3 } },
  referees: 1,
  players: ["well", "well", "well"],
  disturbances: [],
  managers: 1,
  withoutSockets: [],
};

const callOf = (tool: OperatorCall["tool"], more: Partial<OperatorCall> = {}): OperatorCall => ({
  operator: 1,
  tool,
  at: 0,
  after: "start",
  isEnvelope: false,
  isForged: false,
  ...more,
});

describe("a simulated run", () => {
  it("has no fault without disturbances", async () => {
    const { faults, trace } = await runPlan(PLAN);
    expect(faults).toEqual([]);
    expect(trace.filter((line) => line.includes('"type":"match_completed"'))).toHaveLength(3);
  });

  it("has no fault if each process is killed once, two of them at a commit", async () => {
    const crash = { downMs: 500 } as const;
    const { faults, trace } = await runPlan({
      ...PLAN,
      disturbances: [
        { ...crash, type: "crash", at: 1_100, machine: "player 1" },
        { ...crash, type: "crash at commit", at: 1_200, machine: "referee 1", isCommitted: false },
        { ...crash, type: "crash at commit", at: 1_300, machine: "manager", isCommitted: true },
      ],
    });
    expect(faults).toEqual([]);
    expect(trace.filter((line) => /is killed/.test(line))).toHaveLength(3);
  });

  it("fails if the league does not end, and its plan is shrunk to the disturbance that prevents the end", async () => {
    const permanentCrash = { type: "crash", at: 1_100, machine: "referee 1", downMs: 3_600_000 } as const;
    const plan: Plan = {
      ...PLAN,
      disturbances: [
        { type: "clock set", at: 500, ms: 0, machine: "manager", byMs: 60_000 },
        permanentCrash,
        { type: "slow", at: 1_200, ms: 500, machine: "player 1", delayMs: 20 },
      ],
      calls: [callOf("resume_league", { after: "begin" })],
    };
    expect((await runPlan(plan)).faults[0]).toBe("end: the league did not end within 42 s");
    expect(await shrink(plan)).toMatchObject({ disturbances: [permanentCrash], calls: [] });
  });
});

describe("the calls of a simulated run", () => {
  /** The number of messages about matches over WebSockets and by POST. */
  const transportsOf = async (plan: Partial<Plan>) => {
    const { faults, trace } = await runPlan({ ...PLAN, ...plan });
    expect(faults).toEqual([]);
    const calls = trace.filter((line) => /"type":"(START_GAME|GAME_INVITE|MOVE_REQUEST|MATCH_RESULT)"/.test(line));
    const overSockets = calls.filter((line) => line.includes(" >> ")).length;
    return { overSockets, posted: calls.length - overSockets };
  };

  it("are made over WebSockets", async () => {
    expect(await transportsOf({})).toEqual({ overSockets: expect.any(Number), posted: 0 });
  });

  it("are made by POST to machines that accept no WebSockets", async () => {
    const withoutSockets = ["manager", "referee 1", "player 1", "player 2", "player 3"];
    expect(await transportsOf({ withoutSockets })).toEqual({ overSockets: 0, posted: expect.any(Number) });
  });

  it("are made by POST while a WebSocket is lost", async () => {
    const lossy = { type: "lossy", at: 1_000, ms: 5_000, machine: "player 1", share: 0.6 } as const;
    const { overSockets, posted } = await transportsOf({ disturbances: [lossy] });
    expect(Math.min(overSockets, posted)).toBeGreaterThan(0);
  });
});

describe("a player in a simulated run", () => {
  const traceOf = async (plan: Partial<Plan>): Promise<readonly string[]> => {
    const { faults, trace } = await runPlan({ ...PLAN, ...plan });
    expect(faults).toEqual([]);
    return trace;
  };
  const forfeits = (trace: readonly string[]): readonly string[] =>
    trace.filter((line) => /"type":"match_completed".*"termination":"forfeit"/.test(line));

  it("that leaves loses its matches, and the league ends", async () => {
    const trace = await traceOf({ disturbances: [{ type: "leave", at: 0, machine: "player 1" }] });
    expect(trace.filter((line) => line.includes("player 1 has left"))).toHaveLength(1);
    expect(forfeits(trace)).toHaveLength(2);
  });

  it("that runs in two processes is registered once", async () => {
    const trace = await traceOf({ disturbances: [{ type: "copy", at: 0, machine: "player 1" }] });
    expect(trace.filter((line) => line.endsWith("player 1 copy starts"))).toHaveLength(1);
    expect(trace.filter((line) => line.includes('"type":"match_completed"'))).toHaveLength(3);
  });

  it.each(["inbox", ...DIALECT_PROGRAMS] as const)("with the contact %s plays its matches", async (contact) => {
    const trace = await traceOf({ contacts: [contact], game: { id: "even_odd.v1", options: {} } });
    expect(trace.filter((line) => /"type":"match_completed"/.test(line))).toHaveLength(3);
    expect(forfeits(trace)).toEqual([]);
  });

  it("that comes late plays the matches that it has missed", async () => {
    const trace = await traceOf({ players: ["slow", "well", "well"], lateMs: [0, 0, 1_500], lateEntry: "makeup" });
    expect(trace.filter((line) => line.includes("enters sim late"))).toHaveLength(1);
    expect(trace.filter((line) => line.includes('"type":"match_completed"'))).toHaveLength(3);
  });

  it("that is hostile attacks the others without an effect", async () => {
    const trace = await traceOf({ players: ["hostile", "well", "well", "well"], contacts: ["endpoint", "inbox"] });
    const attacks = [
      "START_GAME",
      "REMOVE_PLAYER",
      "PLAYER_REGISTER_REQUEST",
      "LEAGUE_REGISTER_REQUEST",
      "GET_STANDINGS",
    ];
    for (const type of attacks) {
      const sent = trace.filter((line) => / player 1 > /.test(line) && line.includes(`"${type}"`));
      expect(sent, type).not.toEqual([]);
    }
    expect(forfeits(trace)).toEqual([]);
  });

  it("that is killed at a request in the middle of a match is invited again", async () => {
    const crash = { type: "crash at message", at: 0, machine: "player 1", message: "MOVE_REQUEST", count: 2 } as const;
    const trace = await traceOf({ disturbances: [{ ...crash, afterMs: 0, downMs: 500 }] });
    expect(trace.filter((line) => line.endsWith("player 1 is killed at a message"))).toHaveLength(1);
    expect(forfeits(trace)).toEqual([]);
  });

  it("that lies sends each type of forged message without an effect", async () => {
    const trace = await traceOf({ players: ["lying", "well", "well"] });
    for (const type of FORGED) {
      const forged = trace.filter((line) => / player 1 > /.test(line) && line.includes(`"type":"${type}"`));
      expect(forged, type).not.toEqual([]);
    }
  });
});

describe("an operator in a simulated run", () => {
  it("pauses a league, annuls a match and has it played again", async () => {
    const { faults, counts } = await runPlan({
      ...PLAN,
      calls: [
        callOf("pause_league"),
        callOf("annul_match", { at: 500, match: "R1M1" }),
        callOf("schedule_match", { at: 600, players: ["P1", "P2"], round: 3 }),
        callOf("resume_league", { at: 1_000 }),
      ],
    });
    expect(faults).toEqual([]);
    const types = ["paused", "match_annulled", "match_scheduled", "resumed", "completed"];
    expect(types.map((type) => counts[`event of a league: ${type}`])).toEqual([1, 1, 1, 1, 1]);
  });

  it("repeats a call that the manager has not answered because it was killed", async () => {
    const { faults, counts, trace } = await runPlan({
      ...PLAN,
      calls: [
        callOf("reset_token", { after: "begin", at: 1_500, players: ["P1"] }),
        callOf("pause_league", { after: "begin", at: 1_500 }),
        callOf("resume_league", { at: 1_000 }),
      ],
      disturbances: [{ type: "crash", at: 1_500, machine: "manager", downMs: 1_000 }],
    });
    expect(faults).toEqual([]);
    expect(trace.filter((line) => line.includes("operator 1 > manager") && line.includes("reset_token"))).not.toEqual(
      [],
    );
    expect(counts["event of an agent: token_reset"]).toBe(1);
  });

  it("resets the token of a player, which returns with its new token", async () => {
    const { faults, trace, counts } = await runPlan({
      ...PLAN,
      calls: [callOf("reset_token", { players: ["P1"], handOverMs: 300 })],
    });
    expect(faults).toEqual([]);
    expect(counts["event of an agent: token_reset"]).toBe(1);
    expect(trace.filter((line) => line.endsWith("player 1 is restarted by its owner"))).toHaveLength(2);
  });
});

describe("the comparison of sealed choices", () => {
  it("finds no difference before the turn closes, and finds the changed choice afterwards", async () => {
    const sent = createCorrespondence();
    await recordMessages(PLAN, sent, null, Number.POSITIVE_INFINITY);
    const sealed = sent.sealedChoice();
    assert(sealed);
    const repeated = createCorrespondence();
    await recordMessages(PLAN, repeated, sealed.choice, Number.POSITIVE_INFINITY);
    expect(sent.differences(repeated, sealed)).toEqual([]);
    expect(sent.differences(repeated, { ...sealed, before: sent.length() })).toEqual([
      expect.stringContaining(`the choice of ${sealed.choice.machine} in ${sealed.choice.turn} shows`),
    ]);
  });

  it("ignores messages that are sent after the end of a league, because the repetition ends with it", async () => {
    // An SPRT ends while other matches are being played.
    expect((await runPlan(planOf("406255"))).faults).toEqual([]);
  });
});

/** Plays a plan; resolves with the faults that the checker finds. */
async function faultsOf(plan: Plan, checker: Checker): Promise<readonly string[]> {
  const world = new World(plan, { ...checker, trace: () => {} });
  await world.play(checker.isOver, timeLimitMs(plan));
  await world.stop();
  return checker.faults(world.database);
}

describe("the checker", () => {
  it("finds a well-behaved player that is charged", async () => {
    const silent: Plan = { ...PLAN, players: ["silent", "well"] };
    const checker = createChecker({ ...silent, players: ["well", "well"] });
    expect(await faultsOf(silent, checker)).toEqual([expect.stringContaining("was charged for timeout")]);
  });

  it("finds an acknowledged result that is not recorded", async () => {
    const checker = createChecker(PLAN);
    const envelope = (type: string, payload: object) => ({ type, payload });
    const request = { params: { arguments: envelope("MATCH_RESULT", { match_id: "R9M9", epoch: 1, log_head: "x" }) } };
    const reply = { result: { content: [{ text: JSON.stringify(envelope("MATCH_RESULT_RESPONSE", {})) }] } };
    checker.onAnswer(
      { from: "referee 1", to: "manager", body: JSON.stringify(request), isOverSocket: false },
      JSON.stringify(reply),
    );
    expect(await faultsOf(PLAN, checker)).toEqual([
      "results: the acknowledged result of R9M9, epoch 1, is not recorded",
    ]);
  });

  it("finds a state that changes while its turn is open", () => {
    const checker = createChecker(PLAN);
    const ask = (game_state: object): void => {
      const payload = { match_id: "R1M1", epoch: 1, your_role: "player_2", game_round: 1, tick: 0, game_state };
      const body = JSON.stringify({ params: { arguments: { type: "MOVE_REQUEST", payload } } });
      checker.onRequest({ from: "referee 1", to: "player 2", body, isOverSocket: false }, 0);
    };
    ask({ scores: {} });
    ask({ scores: {}, choice: "rock" });
    return expect(checker.faults(null)).resolves.toContainEqual(
      expect.stringContaining("the state changed while the turn of tick 0 was open"),
    );
  });
});
