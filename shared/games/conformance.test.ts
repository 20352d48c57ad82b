/**
 * Checks every obligation of game.ts for every registered game, over whole random games. The obligations on views are
 * in conformance-views.test.ts. This file does not depend on the rules of a game, which are tested beside it.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRandom } from "../lib/rng.ts";
import type { Game, Role } from "./game.ts";
import { findGame, gameIds, games } from "./registry.ts";
import {
  applyLegal,
  canonicalJson,
  sampleOf,
  stateHash,
  type Trace,
  throughJson,
  tracesOf,
  variantsOf,
  viewersOf,
} from "./testing/simulate.ts";

const garbage = [
  ...[null, true, 0, -0, -1, 1.5, 2 ** 53, "", " ", "--", "null", "__proto__", "constructor", "x".repeat(10_000)],
  ...[
    [],
    {},
    [[]],
    { number: 3 },
    { number: "3" },
    { length: 4 },
    { toString: "e2e4" },
    JSON.parse('{"__proto__": 1}'),
  ],
];
const nonRoles = ["spectator", "", "__proto__", "constructor", "toString", "WHITE"];

const rolesOf = (game: Game): Role[] => [...game.roles, ...nonRoles];

function nearMisses(action: unknown): unknown[] {
  const wrapped = [[action], { action }, canonicalJson(action)];
  if (typeof action === "number") return [...wrapped, action + 10, -action, action + 0.5, String(action)];
  if (typeof action !== "string") return wrapped;
  const reversed = [...action].reverse().join("");
  const longer = [`${action}q`, `${action} `, ` ${action}`, `${action}\n`];
  return [...wrapped, ...longer, action.toUpperCase(), action.slice(0, -1), reversed];
}

const isShortText = (text: unknown): boolean => typeof text === "string" && text !== "" && text.length <= 200;

/** If the list is a sample, a role that is to act may do more than it contains. */
const mayAcceptUnlisted = (game: Game, legal: readonly unknown[]): boolean =>
  game.info.listsSample === true && legal.length > 0;

/** Returns actions to try: garbage, actions that were legal at some time, and similar values. */
function attemptsOf(trace: Trace, legal: readonly unknown[]): unknown[] {
  const played = createRandom(trace.seed).shuffle(trace.steps.map((step) => step.action));
  const candidates = [...legal, ...played.slice(0, 30)];
  return [...garbage, ...candidates, ...candidates.slice(0, 12).flatMap(nearMisses)];
}

describe("registry", () => {
  it("finds registered games only", () => {
    for (const id of [...nonRoles, "hasOwnProperty", "chess", "chess.v2"]) expect(findGame(id)).toBeUndefined();
    for (const id of gameIds) expect(findGame(id)).toBe(games[id]);
  });
});

describe.each(gameIds)("%s: the game", (id) => {
  const game: Game = games[id];

  it("has the id under which it is registered, and at least two roles", () => {
    expect(game.id).toBe(id);
    expect(new Set(game.roles).size).toBe(game.roles.length);
    expect(game.roles.length).toBeGreaterThanOrEqual(2);
    expect(game.roles).not.toContain("spectator");
  });

  it("completes options to plain JSON that parses to itself, and rejects unknown options", () => {
    for (const options of variantsOf(id)) {
      const parsed = game.options.parse(options);
      expect(game.options.parse(throughJson(parsed))).toStrictEqual(parsed);
    }
    expect(game.options.safeParse({ no_such_option: 1 }).success).toBe(false);
    for (const wrong of [null, [], "", 1]) expect(game.options.safeParse(wrong).success).toBe(false);
  });
});

describe.each(gameIds)("%s: states", (id) => {
  const game: Game = games[id];

  it("toAct is empty if and only if the state is terminal and has an outcome", () => {
    for (const { states } of tracesOf(id)) {
      for (const [index, state] of states.entries()) {
        const isOver = index === states.length - 1;
        expect([game.toAct(state).length === 0, game.isTerminal(state), game.outcome(state) !== null]).toEqual([
          isOver,
          isOver,
          isOver,
        ]);
      }
    }
  });

  it("an outcome scores every role and names its reason in snake_case", () => {
    for (const { states } of tracesOf(id)) {
      const outcome = game.outcome(states.at(-1));
      expect(Object.keys(outcome?.scores ?? {}).sort()).toEqual([...game.roles].sort());
      expect(Object.values(outcome?.scores ?? {}).every(Number.isFinite)).toBe(true);
      expect(outcome?.reason).toMatch(/^[a-z]+(_[a-z]+)*$/);
    }
  });

  it("if there are teams, every role is in one team, and the roles of a team have the same score", () => {
    const teams = game.info.teams?.map(({ roles }) => roles) ?? game.roles.map((role) => [role]);
    expect(teams.flat().sort()).toEqual([...game.roles].sort());
    for (const { states } of tracesOf(id)) {
      const { scores = {} } = game.outcome(states.at(-1)) ?? {};
      for (const team of teams) expect(new Set(team.map((role) => scores[role])).size).toBe(1);
    }
  });

  it("replay gives the same hash at every step, from the log and from states that were stored as JSON", () => {
    for (const { options, seed, states, steps } of tracesOf(id)) {
      let live = game.initialState({ options: game.options.parse(throughJson(options)), seed });
      let stored = throughJson(live);
      expect(stateHash(live)).toBe(stateHash(states[0]));
      for (const [index, { role, action }] of steps.entries()) {
        live = applyLegal(game, live, role, throughJson(action));
        stored = throughJson(applyLegal(game, stored, role, action));
        const hash = stateHash(states[index + 1]);
        expect([stateHash(live), stateHash(stored)]).toEqual([hash, hash]);
      }
    }
  });

  it("an earlier state remains usable and gives the same result again", () => {
    for (const { states, steps } of tracesOf(id)) {
      for (const [index, { role, action }] of [...steps.entries()].reverse().slice(0, 60)) {
        const state = states[index];
        const before = stateHash(state);
        expect(stateHash(applyLegal(game, state, role, action))).toBe(stateHash(states[index + 1]));
        expect(stateHash(state)).toBe(before);
      }
    }
  });

  it("states, actions, views and outcomes are plain JSON", () => {
    for (const trace of tracesOf(id)) {
      for (const state of sampleOf(trace)) {
        const views = viewersOf(game).map((viewer) => game.viewState(state, viewer));
        for (const value of [state, game.outcome(state), ...views]) expect(throughJson(value)).toStrictEqual(value);
      }
      for (const { action } of trace.steps) expect(throughJson(action)).toStrictEqual(action);
    }
  });
});

describe.each(gameIds)("%s: rounds", (id) => {
  const game: Game = games[id];

  it("rounds close one after another, name every role, and end with the scores of the outcome", () => {
    for (const { states } of tracesOf(id)) {
      const perState = states.map((state) => game.rounds?.(state) ?? []);
      const allRounds = perState.at(-1) ?? [];
      for (const rounds of perState) expect(rounds).toEqual(allRounds.slice(0, rounds.length));
      for (const [index, round] of allRounds.entries()) {
        expect(round.round).toBe(index + 1);
        expect(Object.keys(round.moves).sort()).toEqual([...game.roles].sort());
      }
      if (game.rounds) expect(allRounds.at(-1)?.scores).toEqual(game.outcome(states.at(-1))?.scores);
    }
  });
});

describe.each(gameIds)("%s: actions", (id) => {
  const game: Game = games[id];

  function tryEverything(trace: Trace, state: unknown): void {
    const everyRole = game.roles.flatMap((role) => game.legalActions(state, role));
    for (const role of rolesOf(game)) {
      const legal = game.legalActions(state, role);
      expect(legal.length > 0).toBe(game.toAct(state).includes(role));
      const listed = new Set(legal.map(canonicalJson));
      expect(listed.size).toBe(legal.length);
      const mistakes = attemptsOf(trace, everyRole).filter((action) => {
        const applied = game.applyAction(state, role, action);
        const isExpected =
          applied.ok === listed.has(canonicalJson(action)) || (applied.ok && mayAcceptUnlisted(game, legal));
        return !isExpected || (!applied.ok && !isShortText(applied.error.message));
      });
      expect({ role, mistakes }).toEqual({ role, mistakes: [] });
    }
  }

  it("accepts every listed action and rejects every other action, for every role and for names that are not roles, even after the end", () => {
    for (const trace of tracesOf(id)) for (const state of sampleOf(trace)) tryEverything(trace, state);
  });

  it("a legal action parses to itself", () => {
    for (const { steps } of tracesOf(id)) {
      for (const { action } of steps) expect(game.action.parse(throughJson(action))).toStrictEqual(action);
    }
  });

  it("never throws for any JSON value, parsed or not", () => {
    const states = tracesOf(id).map((trace) => trace.states[Math.floor(trace.states.length / 2)]);
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.constantFrom(...states),
        fc.constantFrom(...rolesOf(game)),
        (json, state, role) => {
          const parsed = game.action.safeParse(json);
          const listed = new Set(game.legalActions(state, role).map(canonicalJson));
          for (const action of parsed.success ? [json, parsed.data] : [json]) {
            const { ok } = game.applyAction(state, role, action);
            expect(ok === listed.has(canonicalJson(action)) || (ok && mayAcceptUnlisted(game, [...listed]))).toBe(true);
          }
        },
      ),
      { seed: 1, numRuns: 300 },
    );
  });
});

describe.each(gameIds)("%s: turns", (id) => {
  const game: Game = games[id];

  it("toAct returns one role in a sequential game, and all roles that have not chosen in a simultaneous game", () => {
    for (const { states, steps } of tracesOf(id)) {
      let open: readonly Role[] = [];
      for (const [index, { role }] of steps.entries()) {
        const toAct = game.toAct(states[index]);
        for (const name of toAct) expect(game.roles).toContain(name);
        if (!game.info.simultaneous) expect(toAct).toHaveLength(1);
        else if (open.length > 0) expect(toAct).toEqual(open);
        open = toAct.filter((name) => name !== role);
      }
    }
  });

  if (!game.info.simultaneous) return;
  it("the order of choices in a turn does not matter", () => {
    for (const trace of tracesOf(id)) {
      for (const state of sampleOf(trace)) {
        const [first, second] = game.toAct(state);
        if (first === undefined || second === undefined) continue;
        for (const a of game.legalActions(state, first)) {
          for (const b of game.legalActions(state, second)) {
            const inOrder = applyLegal(game, applyLegal(game, state, first, a), second, b);
            const reversed = applyLegal(game, applyLegal(game, state, second, b), first, a);
            expect(stateHash(inOrder)).toBe(stateHash(reversed));
          }
        }
      }
    }
  });
});
