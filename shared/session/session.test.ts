import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Game, RoundSummary } from "../games/game.ts";
import { err, ok, type Result } from "../lib/result.ts";
import type { Entry, Fault } from "./entry.ts";
import {
  type Command,
  create,
  type Decision,
  decide,
  endingOf,
  evolve,
  evolveCreated,
  type Rejection,
  type Session,
} from "./session.ts";
import { verdictOf } from "./verdict.ts";

/** Sequential: each takes one or two of what is left; who takes the last wins. */
const nim: Game<{ left: number }, { left: number; turn: string }, number, object> = {
  id: "nim.v1",
  roles: ["first", "second"],
  info: { name: "Nim", rules: "", simultaneous: false, hiddenInformation: false, maxActions: 10 },
  options: z.object({ left: z.int().min(1).default(3) }),
  action: z.int(),
  initialState: ({ options }) => ({ left: options.left, turn: "first" }),
  toAct: (state) => (state.left === 0 ? [] : [state.turn]),
  legalActions: () => [1, 2],
  applyAction(state, role, action) {
    if (role !== state.turn || state.left === 0) return err({ message: "not to act" });
    if (!(action === 1 || action === 2) || action > state.left) return err({ message: "take 1 or 2 of what is left" });
    return ok({ left: state.left - action, turn: role === "first" ? "second" : "first" });
  },
  isTerminal: (state) => state.left === 0,
  outcome: ({ left, turn }) =>
    left > 0
      ? null
      : { scores: { first: turn === "first" ? 0 : 1, second: turn === "first" ? 1 : 0 }, reason: "took_last" },
  viewState: (state) => state,
  toText: String,
};

type Choices = Readonly<Record<string, number>>;
interface DuelState {
  readonly rounds: readonly Choices[];
  readonly choices: Choices;
}
const points = (state: DuelState, role: string) =>
  state.rounds.filter((one) => one[role] === Math.max(...Object.values(one)));
const scoresOf = (state: DuelState) => ({ left: points(state, "left").length, right: points(state, "right").length });

/** Simultaneous: both choose 0 to 9 in secret; the higher number scores, equal ones score for both; two rounds. */
const duel: Game<object, DuelState, number, object> = {
  id: "duel.v1",
  roles: ["left", "right"],
  info: { name: "Duel", rules: "", simultaneous: true, hiddenInformation: true, maxActions: 4 },
  options: z.object({}),
  action: z.int(),
  initialState: () => ({ rounds: [], choices: {} }),
  toAct: (state) => (state.rounds.length === 2 ? [] : duel.roles.filter((role) => !(role in state.choices))),
  legalActions: () => [0, 9],
  applyAction(state, role, action) {
    if (!duel.toAct(state).includes(role)) return err({ message: "not to act" });
    if (!(action >= 0 && action <= 9)) return err({ message: "choose 0 to 9" });
    const choices = { ...state.choices, [role]: action };
    if (Object.keys(choices).length < 2) return ok({ ...state, choices });
    return ok({ rounds: [...state.rounds, choices], choices: {} });
  },
  isTerminal: (state) => state.rounds.length === 2,
  outcome: (state) => (state.rounds.length < 2 ? null : { scores: scoresOf(state), reason: "rounds_played" }),
  viewState: () => ({}),
  toText: String,
  rounds: (state): RoundSummary[] =>
    state.rounds.map((moves, index) => ({ round: index + 1, moves, winner: null, scores: scoresOf(state), facts: {} })),
};

const AT = "2025-01-01T00:00:00.000Z";
const SEED = "a seed";
const agents = { first: "agent-1", second: "agent-2", left: "agent-1", right: "agent-2" };
const seatsOf = (game: Game) =>
  Object.fromEntries(game.roles.map((role) => [role, agents[role as keyof typeof agents]]));

const setup = (game: Game) => ({ id: "s1", game, options: {}, participants: seatsOf(game), seed: SEED, at: AT });
function acted(tick: number, role: keyof typeof agents, action: unknown): Entry {
  return { type: "acted", tick, role, agent: agents[role], action, at: AT };
}
const fault = (role: string): Fault => ({ role, code: "G002", cause: "timeout", detail: "no answer within 30000 ms" });
function forfeited(tick: number, ...roles: string[]): Entry {
  return { type: "forfeited", tick, faults: roles.map(fault), at: AT };
}
const aborted = (tick: number): Entry => ({ type: "aborted", tick, reason: "referee_lost", at: AT });
const expired = (tick: number): Entry => ({ type: "expired", tick, at: AT });

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !(value instanceof z.ZodType)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}

/** An entry as it comes back from the log. */
const reread = <T extends Entry>(entry: T): T => JSON.parse(JSON.stringify(entry));

const given = (game: Game, ...entries: Entry[]): Session => entries.reduce(evolve, create(setup(game)).next);

/** Decides on a frozen session; the decision must be equal to the entry that is read back from the log. */
function when(session: Session, command: Command): Result<Decision, Rejection> {
  const { game, ...rest } = session;
  const decision = decide({ ...deepFreeze(rest), game }, command, AT);
  if (decision.ok) expect(evolve(session, reread(decision.value.entry))).toEqual(decision.value.next);
  return decision;
}

function act(role: string, action: unknown, expectedTick: number | null = null): Command {
  return { type: "act", role, action, expectedTick };
}
const entryOf = (decision: Result<Decision, Rejection>) => (decision.ok ? decision.value.entry : decision.error);
const codeOf = (decision: Result<Decision, Rejection>) => (decision.ok ? "ok" : decision.error.code);

describe("create", () => {
  test("commits to the seed by its SHA-256 and does not tell it", () => {
    const { entry, next } = create(setup(nim));
    const told = { session_id: "s1", game: "nim.v1", options: {}, participants: seatsOf(nim), at: AT };
    const seed_commitment = createHash("sha256").update(SEED).digest("hex");
    expect(entry).toEqual({ type: "created", ...told, seed_commitment });
    expect(next).toMatchObject({ id: "s1", tick: 0, status: "active", termination: null, reason: null });
    expect(JSON.stringify([entry, { ...next, game: null }])).not.toContain(SEED);
  });

  test("the entry, read again, begins the same session", () => {
    const { entry, next } = create({ ...setup(nim), options: { left: 5 } });
    expect(entry.type === "created" && evolveCreated(nim, reread(entry), SEED)).toEqual(next);
    expect(next.state).toEqual({ left: 5, turn: "first" });
  });

  test("options that the game does not take, and a role without an agent, are our own bugs", () => {
    expect(() => create({ ...setup(nim), options: { left: "many" } })).toThrow();
    expect(() => create({ ...setup(nim), participants: { first: "agent-1" } })).toThrow();
  });
});

describe("acting in turn", () => {
  test("leads to an entry that names role, agent, action and the tick it was taken at", () => {
    expect(entryOf(when(given(nim), act("first", 2, 0)))).toEqual(acted(0, "first", 2));
    expect(entryOf(when(given(nim, acted(0, "first", 1)), act("second", 1, 1)))).toEqual(acted(1, "second", 1));
  });

  test("the action that ends the game completes the session in the same entry", () => {
    const decision = when(given(nim, acted(0, "first", 1)), act("second", 2, 1));
    const ended = { status: "completed", termination: "normal", reason: "took_last", tick: 2 };
    expect(decision.ok && decision.value.next).toMatchObject(ended);
  });

  test("simultaneous roles act in any order to the same state", () => {
    const there = given(duel, acted(0, "left", 3), acted(1, "right", 5));
    const back = given(duel, acted(0, "right", 5), acted(1, "left", 3));
    expect(there.state).toEqual(back.state);
    expect([there.tick, there.turnTick]).toEqual([2, 2]);
    expect(given(duel, acted(0, "left", 3))).toMatchObject({ tick: 1, turnTick: 0 });
  });
});

describe("expected_tick", () => {
  const codesOf = (session: Session, role: string, expected: readonly (number | null)[]) =>
    expected.map((tick) => codeOf(when(session, act(role, 1, tick))));

  test("sequential: must be the tick", () => {
    const session = given(nim, acted(0, "first", 1));
    expect(codesOf(session, "second", [-1, 0, 1, 2])).toEqual(["CONFLICT", "CONFLICT", "ok", "CONFLICT"]);
  });

  test("simultaneous: is ignored in the open turn, also after the other role has acted", () => {
    expect(codesOf(given(duel, acted(0, "left", 1)), "right", [null, 0, 1, 2, 99])).toEqual(Array(5).fill("ok"));
  });

  test("simultaneous: an answer to a turn that has closed is a conflict", () => {
    const session = given(duel, acted(0, "left", 1), acted(1, "right", 1));
    expect(codesOf(session, "left", [null, 0, 1, 2, 3])).toEqual(["ok", "CONFLICT", "CONFLICT", "ok", "ok"]);
  });
});

describe("rejections, in this order", () => {
  const over: [string, Session][] = [
    ["played out", given(nim, acted(0, "first", 2), acted(1, "second", 1))],
    ["forfeited", given(nim, forfeited(0, "first"))],
    ["aborted", given(nim, aborted(0))],
    ["expired", given(duel, expired(0))],
  ];

  test.each(over)("1. SESSION_OVER: %s, before all other rejections; the message names an expiry", (how, session) => {
    const commands: Command[] = [
      act("nobody", 99, 99),
      { type: "forfeit", faults: [fault("first")] },
      { type: "abort", reason: "late" },
      { type: "expire" },
    ];
    const error = { code: "SESSION_OVER", message: `The session ${how === "expired" ? "has expired" : "is over"}` };
    expect(commands.map((command) => when(session, command))).toEqual(Array(4).fill({ ok: false, error }));
  });

  test("2. ALREADY_ACTED: in a simultaneous turn, before a wrong tick and an illegal action", () => {
    const session = given(duel, acted(0, "left", 1));
    expect(codeOf(when(session, act("left", 99, 99)))).toBe("ALREADY_ACTED");
    expect(codeOf(when(session, act("left", 2, 1)))).toBe("ALREADY_ACTED");
  });

  test("3. CONFLICT: before the turn and an illegal action; so the second answer of a sequential turn is one", () => {
    const session = given(nim, acted(0, "first", 1));
    expect(codeOf(when(session, act("first", 99, 0)))).toBe("CONFLICT");
    expect(codeOf(when(session, act("first", 1, 0)))).toBe("CONFLICT");
  });

  test("4. NOT_YOUR_TURN: before an illegal action; also for a role that the game does not have", () => {
    const session = given(nim, acted(0, "first", 1));
    expect(codeOf(when(session, act("first", 99, 1)))).toBe("NOT_YOUR_TURN");
    expect(codeOf(when(session, act("nobody", 1, 1)))).toBe("NOT_YOUR_TURN");
  });

  test("5. ILLEGAL_ACTION: in the game's own words", () => {
    expect(entryOf(when(given(nim), act("first", 3, 0)))).toEqual({
      code: "ILLEGAL_ACTION",
      message: "take 1 or 2 of what is left",
    });
    expect(codeOf(when(given(duel, acted(0, "left", 1)), act("right", 10)))).toBe("ILLEGAL_ACTION");
  });
});

describe("ends by forfeit, abort and expiry", () => {
  test("forfeit, abort and expire each lead to their entry at the session's tick", () => {
    const session = given(nim, acted(0, "first", 1));
    expect(entryOf(when(session, { type: "forfeit", faults: [fault("second")] }))).toEqual(forfeited(1, "second"));
    expect(entryOf(when(session, { type: "abort", reason: "referee_lost" }))).toEqual(aborted(1));
    expect(entryOf(when(session, { type: "expire" }))).toEqual(expired(1));
  });

  test("a forfeit without faults, or of a role that is not in the game, throws", () => {
    expect(() => decide(given(nim), { type: "forfeit", faults: [] }, AT)).toThrow();
    expect(() => decide(given(nim), { type: "forfeit", faults: [fault("nobody")] }, AT)).toThrow();
  });
});

describe("verdict (PROTOCOL.md, section 2)", () => {
  const one = [acted(0, "left", 7), acted(1, "right", 1)];
  const none = { left: 0, right: 0 };
  test.each([
    [
      "a win is 3 and 0",
      [...one, acted(2, "left", 7), acted(3, "right", 1)],
      "left",
      { left: 3, right: 0 },
      { left: 2, right: 0 },
      "rounds_played",
    ],
    [
      "a draw is 1 and 1",
      [...one, acted(2, "left", 1), acted(3, "right", 7)],
      null,
      { left: 1, right: 1 },
      { left: 1, right: 1 },
      "rounds_played",
    ],
    [
      "a forfeit is 3 to the other, whatever the score",
      [...one, forfeited(2, "left")],
      "right",
      { left: 0, right: 3 },
      { left: 1, right: 0 },
      "timeout",
    ],
    [
      "before the first round closes the score is 0 to 0",
      [acted(0, "left", 1), forfeited(1, "right")],
      "left",
      { left: 3, right: 0 },
      none,
      "timeout",
    ],
    ["both at fault in one turn: 0 and 0", [forfeited(0, "left", "right")], null, none, none, "timeout,timeout"],
    ["aborted: no points, also for who leads", [...one, aborted(2)], null, none, { left: 1, right: 0 }, "referee_lost"],
    ["expired: no points", [expired(0)], null, none, none, "expired"],
  ] as const)("%s", (_, entries, winner, matchPoints, scores, reason) => {
    const session = given(duel, ...entries);
    const verdict = verdictOf(session);
    expect(verdict).toMatchObject({ winner, points: matchPoints, scores, reason });
    const end = endingOf(duel, JSON.parse(JSON.stringify(session.state)), entries.at(-1) as Entry);
    expect(end && verdictOf(end)).toEqual(verdict);
  });

  test("names how it ended; there is none while it goes on", () => {
    const terminations = [aborted(0), expired(0), forfeited(0, "left")].map(
      (entry) => verdictOf(given(duel, entry)).termination,
    );
    expect(terminations).toEqual(["aborted", "expired", "forfeit"]);
    expect(() => verdictOf(given(duel))).toThrow(/not ended/);
    for (const last of [create(setup(duel)).entry, acted(0, "left", 1)])
      expect(endingOf(duel, given(duel).state, last)).toBe(null);
  });
});
