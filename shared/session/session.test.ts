import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Game, RoundSummary } from "#shared/games/game.ts";
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
import { resultOf, verdictOf } from "./verdict.ts";

/** A sequential game: roles take one or two of the remaining stones; the role that takes the last stone wins. */
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
    if (!(action === 1 || action === 2) || action > state.left) return err({ message: "take 1 or 2 stones" });
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
  state.rounds.filter((choices) => choices[role] === Math.max(...Object.values(choices)));
const scoresOf = (state: DuelState) => ({ left: points(state, "left").length, right: points(state, "right").length });

/** A simultaneous game of two rounds: the higher of two secret numbers scores; equal numbers score for both. */
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

/** Returns an entry as it is read back from the log. */
const reread = <T extends Entry>(entry: T): T => JSON.parse(JSON.stringify(entry));

const given = (game: Game, ...entries: Entry[]): Session => entries.reduce(evolve, create(setup(game)).next);

/** Decides a command on a frozen session. Checks that the entry, read back from the log, leads to the same session. */
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
  test("commits to the seed with its SHA-256 and does not reveal it", () => {
    const { entry, next } = create(setup(nim));
    const fields = { session_id: "s1", game: "nim.v1", options: {}, participants: seatsOf(nim), at: AT };
    const seed_commitment = createHash("sha256").update(SEED).digest("hex");
    expect(entry).toEqual({ type: "created", ...fields, seed_commitment });
    expect(next).toMatchObject({ id: "s1", tick: 0, status: "active", termination: null, reason: null });
    expect(JSON.stringify([entry, { ...next, game: null }])).not.toContain(SEED);
  });

  test("records an entry that begins the same session when it is read back", () => {
    const { entry, next } = create({ ...setup(nim), options: { left: 5 } });
    expect(entry.type === "created" && evolveCreated(nim, reread(entry), SEED)).toEqual(next);
    expect(next.state).toEqual({ left: 5, turn: "first" });
  });

  test("throws for options that the game rejects and for a role without an agent", () => {
    expect(() => create({ ...setup(nim), options: { left: "many" } })).toThrow();
    expect(() => create({ ...setup(nim), participants: { first: "agent-1" } })).toThrow();
    expect(() => create({ ...setup(nim), participants: { first: "agent-1", third: "agent-2" } })).toThrow(
      "nim.v1 is played by first and second, not by first and third",
    );
  });
});

describe("an action", () => {
  test("is recorded with its role, its agent and the tick at which it was taken", () => {
    expect(entryOf(when(given(nim), act("first", 2, 0)))).toEqual(acted(0, "first", 2));
    expect(entryOf(when(given(nim, acted(0, "first", 1)), act("second", 1, 1)))).toEqual(acted(1, "second", 1));
  });

  test("completes the session if it ends the game", () => {
    const decision = when(given(nim, acted(0, "first", 1)), act("second", 2, 1));
    const ended = { status: "completed", termination: "normal", reason: "took_last", tick: 2 };
    expect(decision.ok && decision.value.next).toMatchObject(ended);
  });

  test("leads to the same state in any order of simultaneous roles", () => {
    const leftFirst = given(duel, acted(0, "left", 3), acted(1, "right", 5));
    const rightFirst = given(duel, acted(0, "right", 5), acted(1, "left", 3));
    expect(leftFirst.state).toEqual(rightFirst.state);
    expect([leftFirst.tick, leftFirst.turnTick]).toEqual([2, 2]);
    expect(given(duel, acted(0, "left", 3))).toMatchObject({ tick: 1, turnTick: 0 });
  });
});

describe("expected_tick", () => {
  const codesOf = (session: Session, role: string, expected: readonly (number | null)[]) =>
    expected.map((tick) => codeOf(when(session, act(role, 1, tick))));

  test("must be the current tick in a sequential game", () => {
    const session = given(nim, acted(0, "first", 1));
    expect(codesOf(session, "second", [-1, 0, 1, 2])).toEqual(["CONFLICT", "CONFLICT", "ok", "CONFLICT"]);
  });

  test("is ignored in the open turn of a simultaneous game, even after the other role has acted", () => {
    expect(codesOf(given(duel, acted(0, "left", 1)), "right", [null, 0, 1, 2, 99])).toEqual(Array(5).fill("ok"));
  });

  test("is a conflict if it lies in a closed turn of a simultaneous game", () => {
    const session = given(duel, acted(0, "left", 1), acted(1, "right", 1));
    expect(codesOf(session, "left", [null, 0, 1, 2, 3])).toEqual(["ok", "CONFLICT", "CONFLICT", "ok", "ok"]);
  });
});

describe("rejections of decide, in order of precedence", () => {
  const completed: [string, Session][] = [
    ["completed", given(nim, acted(0, "first", 2), acted(1, "second", 1))],
    ["forfeited", given(nim, forfeited(0, "first"))],
    ["aborted", given(nim, aborted(0))],
    ["expired", given(duel, expired(0))],
  ];

  test.each(completed)("1. SESSION_OVER after the session was %s; the message names an expiry", (end, session) => {
    const commands: Command[] = [
      act("unknown", 99, 99),
      { type: "forfeit", faults: [fault("first")] },
      { type: "abort", reason: "late" },
      { type: "expire" },
    ];
    const error = { code: "SESSION_OVER", message: `The session ${end === "expired" ? "has expired" : "is over"}` };
    expect(commands.map((command) => when(session, command))).toEqual(Array(4).fill({ ok: false, error }));
  });

  test("2. ALREADY_ACTED in a simultaneous turn, before a wrong tick and an illegal action", () => {
    const session = given(duel, acted(0, "left", 1));
    expect(codeOf(when(session, act("left", 99, 99)))).toBe("ALREADY_ACTED");
    expect(codeOf(when(session, act("left", 2, 1)))).toBe("ALREADY_ACTED");
  });

  test("3. CONFLICT before NOT_YOUR_TURN and ILLEGAL_ACTION, so a second answer to a sequential turn is a CONFLICT", () => {
    const session = given(nim, acted(0, "first", 1));
    expect(codeOf(when(session, act("first", 99, 0)))).toBe("CONFLICT");
    expect(codeOf(when(session, act("first", 1, 0)))).toBe("CONFLICT");
  });

  test("4. NOT_YOUR_TURN before ILLEGAL_ACTION, including a role that the game does not have", () => {
    const session = given(nim, acted(0, "first", 1));
    expect(codeOf(when(session, act("first", 99, 1)))).toBe("NOT_YOUR_TURN");
    expect(codeOf(when(session, act("unknown", 1, 1)))).toBe("NOT_YOUR_TURN");
  });

  test("a role that the game does not have gets NOT_YOUR_TURN before a CONFLICT and in a simultaneous turn", () => {
    const rejection = { code: "NOT_YOUR_TURN", message: "No such role" };
    expect(entryOf(when(given(nim), act("unknown", 1, 7)))).toEqual(rejection);
    expect(entryOf(when(given(duel), act("unknown", 1)))).toEqual(rejection);
  });

  test("5. ILLEGAL_ACTION with the message of the game", () => {
    expect(entryOf(when(given(nim), act("first", 3, 0)))).toEqual({
      code: "ILLEGAL_ACTION",
      message: "take 1 or 2 stones",
    });
    expect(codeOf(when(given(duel, acted(0, "left", 1)), act("right", 10)))).toBe("ILLEGAL_ACTION");
  });
});

describe("forfeit, abort and expire", () => {
  test("record their entry at the current tick", () => {
    const session = given(nim, acted(0, "first", 1));
    expect(entryOf(when(session, { type: "forfeit", faults: [fault("second")] }))).toEqual(forfeited(1, "second"));
    expect(entryOf(when(session, { type: "abort", reason: "referee_lost" }))).toEqual(aborted(1));
    expect(entryOf(when(session, { type: "expire" }))).toEqual(expired(1));
  });

  test("throw for a forfeit without faults, or of a role that is not in the game", () => {
    expect(() => decide(given(nim), { type: "forfeit", faults: [] }, AT)).toThrow();
    expect(() => decide(given(nim), { type: "forfeit", faults: [fault("unknown")] }, AT)).toThrow();
  });
});

describe("the verdict (PROTOCOL.md, section 2)", () => {
  const firstRound = [acted(0, "left", 7), acted(1, "right", 1)];
  const none = { left: 0, right: 0 };
  test.each([
    [
      "gives 3 and 0 points for a win",
      [...firstRound, acted(2, "left", 7), acted(3, "right", 1)],
      "left",
      { left: 3, right: 0 },
      { left: 2, right: 0 },
      "rounds_played",
    ],
    [
      "gives 1 point to each role for a draw",
      [...firstRound, acted(2, "left", 1), acted(3, "right", 7)],
      null,
      { left: 1, right: 1 },
      { left: 1, right: 1 },
      "rounds_played",
    ],
    [
      "gives 3 points to the other role for a forfeit, whatever the score",
      [...firstRound, forfeited(2, "left")],
      "right",
      { left: 0, right: 3 },
      { left: 1, right: 0 },
      "timeout",
    ],
    [
      "has the score 0 to 0 before the first round closes",
      [acted(0, "left", 1), forfeited(1, "right")],
      "left",
      { left: 3, right: 0 },
      none,
      "timeout",
    ],
    ["gives no points if both roles forfeit", [forfeited(0, "left", "right")], null, none, none, "timeout,timeout"],
    ["gives no points for an abort", [...firstRound, aborted(2)], null, none, { left: 1, right: 0 }, "referee_lost"],
    ["gives no points for an expiry", [expired(0)], null, none, none, "expired"],
  ] as const)("%s", (_, entries, winner, matchPoints, scores, reason) => {
    const session = given(duel, ...entries);
    const verdict = verdictOf(session);
    expect(verdict).toMatchObject({ winner, points: matchPoints, scores, reason });
    expect(resultOf(session)).toEqual({
      winner,
      winners: winner === null ? [] : [winner],
      reason,
      termination: session.termination,
    });
    const end = endingOf(duel, JSON.parse(JSON.stringify(session.state)), entries.at(-1) as Entry);
    expect(end && verdictOf(end)).toEqual(verdict);
  });

  test("names the termination, and does not exist while the session is active", () => {
    const terminations = [aborted(0), expired(0), forfeited(0, "left")].map(
      (entry) => verdictOf(given(duel, entry)).termination,
    );
    expect(terminations).toEqual(["aborted", "expired", "forfeit"]);
    expect(() => verdictOf(given(duel))).toThrow(/not ended/);
    for (const last of [create(setup(duel)).entry, acted(0, "left", 1)])
      expect(endingOf(duel, given(duel).state, last)).toBe(null);
  });
});
