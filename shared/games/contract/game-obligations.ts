import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { Game, Outcome, Role } from "#shared/games/game.ts";
import { messageOf } from "#shared/lib/result.ts";
import {
  applyLegal,
  type Evidence,
  JSON_ONLY,
  must,
  type Obligation,
  type Subject,
  sampledSteps,
  type Trace,
  viewersOf,
} from "./obligation.ts";
import { isPlainJson, stateHash, throughJson } from "./values.ts";

/** The obligations of the definition of a game. */
export const GAME_OBLIGATIONS: readonly Obligation[] = [
  {
    id: "options",
    title: "the schema `options` adds defaults, returns completed options unchanged, and rejects unknown options",
    advice: "use z.strictObject with a default for each option, without transforms to other types",
    needsNoTraces: true,
    check({ game, variants }) {
      for (const given of variants) {
        const parsed = game.options.parse(given);
        const again = game.options.safeParse(throughJson(parsed));
        const evidence = (): Evidence => ({
          options: given,
          expected: parsed,
          actual: again.data ?? messageOf(again.error),
        });
        must(again.success, "the parsed options are rejected when they are parsed again", evidence);
        must(isDeepStrictEqual(again.data, parsed), "the parsed options change when they are parsed again", evidence);
      }
      for (const options of [{ no_such_option: 1 }, null, [], "", 1])
        must(!game.options.safeParse(options).success, "options that do not exist are accepted", () => ({ options }));
    },
  },
  {
    id: "option-texts",
    title: "describes each of its options, and no others",
    advice: "write a text in info.options for each field of options: its meaning, range and default",
    needsNoTraces: true,
    check({ game }) {
      const { properties = {} } = z.toJSONSchema(game.options, { io: "input", unrepresentable: "any" });
      const expected = Object.keys(properties).sort();
      const actual = Object.keys(game.info.options ?? {}).sort();
      const evidence = (): Evidence => ({ expected, actual });
      must(isDeepStrictEqual(actual, expected), "info.options does not have the names of the options", evidence);
    },
  },
];

/** The number of last steps of a game that are applied again. */
const STEPS_AGAIN = 60;

const DETERMINISM =
  "compute the state from the arguments alone: no Math.random, clock or variables outside of the function; random numbers follow from createRandom(seed)";

/** Returns the evidence of a state of a random game. */
export const evidenceAt = ({ options, seed, states }: Trace, step: number): Evidence => ({
  options,
  seed,
  step,
  state: states[step],
});

/** Calls `check` for the final state of each random game. */
function forEachEnd({ game, traces }: Subject, check: (outcome: Outcome, evidence: () => Evidence) => void): void {
  for (const trace of traces) {
    const last = trace.states.length - 1;
    const outcome = game.outcome(trace.states[last]);
    if (outcome) check(outcome, () => ({ ...evidenceAt(trace, last), actual: outcome }));
  }
}

function checkReplay(game: Game, { options, seed, states, steps }: Trace): void {
  const mustBeEqual = (state: unknown, index: number, problem: string): void =>
    must(stateHash(state) === stateHash(states[index]), problem, () => ({
      options,
      seed,
      step: Math.max(0, index - 1),
      ...(index > 0 && { state: states[index - 1], ...steps[index - 1] }),
      expected: states[index],
      actual: state,
    }));
  let live = game.initialState({ options: game.options.parse(throughJson(options)), seed });
  let stored = throughJson(live);
  mustBeEqual(live, 0, "initialState returns another state for the same options and seed");
  for (const [index, { role, action }] of steps.entries()) {
    live = applyLegal(game, live, role, throughJson(action));
    stored = throughJson(applyLegal(game, stored, role, action));
    mustBeEqual(live, index + 1, "applyAction returns another state for the same state and action");
    mustBeEqual(stored, index + 1, "applyAction returns another state for a state that was stored as JSON");
  }
}

const teamsOf = ({ info, roles }: Game): readonly (readonly Role[])[] =>
  info.teams?.map((team) => team.roles) ?? roles.map((role) => [role]);

/** The obligations of states and outcomes. */
export const STATE_OBLIGATIONS: readonly Obligation[] = [
  {
    id: "ending",
    title: "toAct is empty if and only if the state is terminal and has an outcome",
    advice: "toAct returns [], isTerminal returns true and outcome returns an object in the same states",
    check({ game, traces }) {
      for (const trace of traces) {
        for (const [index, state] of trace.states.entries()) {
          const isOver = index === trace.states.length - 1;
          const actual = { toAct: game.toAct(state), isTerminal: game.isTerminal(state), outcome: game.outcome(state) };
          const isConsistent = actual.isTerminal === isOver && (actual.outcome !== null) === isOver;
          const problem = "toAct, isTerminal and outcome do not agree on whether the game is over";
          must(isConsistent, problem, () => ({ ...evidenceAt(trace, index), actual }));
        }
      }
    },
  },
  {
    id: "outcome",
    title: "an outcome scores every role and names its reason in snake_case",
    advice: "return { scores: { ROLE: NUMBER for each role }, reason: 'a_reason' }",
    check: (subject) =>
      forEachEnd(subject, ({ scores, reason }, evidence) => {
        const isComplete = isDeepStrictEqual(Object.keys(scores ?? {}).sort(), [...subject.game.roles].sort());
        must(isComplete, "the scores of the outcome do not name each role once", evidence);
        must(Object.values(scores).every(Number.isFinite), "a score of the outcome is not a finite number", evidence);
        must(/^[a-z]+(_[a-z]+)*$/.test(reason), "the reason of the outcome is not in snake_case", evidence);
      }),
  },
  {
    id: "teams",
    title: "if there are teams, every role is in one team, and the roles of a team have the same score",
    advice: "list each role in one team of info.teams, and give all roles of a team the same score",
    check(subject) {
      const teams = teamsOf(subject.game);
      const isPartition = isDeepStrictEqual(teams.flat().sort(), [...subject.game.roles].sort());
      must(isPartition, "info.teams does not list each role once", () => ({ actual: teams }));
      forEachEnd(subject, ({ scores }, evidence) => {
        const isShared = teams.every((team) => new Set(team.map((role) => scores[role])).size === 1);
        must(isShared, "two roles of a team have different scores", evidence);
      });
    },
  },
  {
    id: "replay",
    title: "replay gives the same hash at every step, from the log and from states that were stored as JSON",
    advice: DETERMINISM,
    check({ game, traces }) {
      for (const trace of traces) checkReplay(game, trace);
    },
  },
  {
    id: "earlier-states",
    title: "an earlier state remains usable and gives the same result again",
    advice: DETERMINISM,
    check({ game, traces }) {
      for (const trace of traces) {
        for (const [index, { role, action }] of [...trace.steps.entries()].reverse().slice(0, STEPS_AGAIN)) {
          const next = applyLegal(game, trace.states[index], role, action);
          const isSame = stateHash(next) === stateHash(trace.states[index + 1]);
          const problem = "applyAction returns another state when it is called again with an earlier state";
          must(isSame, problem, () => ({
            ...evidenceAt(trace, index),
            role,
            action,
            expected: trace.states[index + 1],
            actual: next,
          }));
        }
      }
    },
  },
  {
    id: "plain-json",
    title: "states, actions, views and outcomes are plain JSON",
    advice: JSON_ONLY,
    check({ game, traces }) {
      for (const trace of traces) {
        for (const step of sampledSteps(trace)) {
          const state = trace.states[step];
          const mustBeJson = (name: string, actual: unknown, more: Evidence = {}): void =>
            must(isPlainJson(actual), `${name} changes when it is stored as JSON`, () => ({
              ...evidenceAt(trace, step),
              ...more,
              expected: throughJson(actual),
              actual,
            }));
          mustBeJson("a state", state);
          mustBeJson("an outcome", game.outcome(state));
          for (const viewer of viewersOf(game)) mustBeJson("a view", game.viewState(state, viewer), { viewer });
        }
        for (const { role, action } of trace.steps)
          must(isPlainJson(action), "an action changes when it is stored as JSON", () => ({ role, action }));
      }
    },
  },
  {
    id: "rounds",
    title: "rounds close one after another, name every role, and end with the scores of the outcome",
    advice: "return all closed rounds, counted from 1, each with the moves of all roles; the last has the final scores",
    applies: ({ rounds }) => rounds !== undefined,
    check({ game, traces }) {
      for (const trace of traces) {
        const perState = trace.states.map((state) => game.rounds?.(state) ?? []);
        const all = perState.at(-1) ?? [];
        for (const [step, actual] of perState.entries()) {
          const isPrefix = isDeepStrictEqual(throughJson(actual), throughJson(all.slice(0, actual.length)));
          const problem = "a closed round differs from the same round at the end of the game";
          must(isPrefix, problem, () => ({ ...evidenceAt(trace, step), expected: all, actual }));
        }
        const isNumbered = all.every(({ round }, index) => round === index + 1);
        const last = (): Evidence => ({ ...evidenceAt(trace, trace.states.length - 1), actual: all });
        must(isNumbered, "the rounds are not numbered from 1", last);
        const roles = [...game.roles].sort();
        const haveMoves = all.every(({ moves }) => isDeepStrictEqual(Object.keys(moves).sort(), roles));
        must(haveMoves, "a round does not have the moves of all roles", last);
        const isFinal = isDeepStrictEqual(all.at(-1)?.scores, game.outcome(trace.states.at(-1))?.scores);
        must(isFinal, "the scores of the last round are not those of the outcome", last);
      }
    },
  },
];
