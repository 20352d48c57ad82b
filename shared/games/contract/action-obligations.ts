import { isDeepStrictEqual } from "node:util";
import type { Game, Role } from "#shared/games/game.ts";
import { createRandom, type Random } from "#shared/lib/rng.ts";
import { evidenceAt } from "./game-obligations.ts";
import { applyLegal, type Evidence, must, type Obligation, sampledSteps, type Trace } from "./obligation.ts";
import { canonicalJson, stateHash, throughJson } from "./values.ts";

/** The number of random JSON values that are tried as actions. */
const RANDOM_VALUES = 300;

const isShortText = (text: unknown): boolean => typeof text === "string" && text !== "" && text.length <= 200;

/** Returns actions to try: garbage, actions that were legal at some time, and similar values. */
function attemptsOf(trace: Trace, legal: readonly unknown[]): readonly unknown[] {
  const played = createRandom(trace.seed).shuffle(trace.steps.map((step) => step.action));
  const candidates = [...legal, ...played.slice(0, 30)];
  return [...GARBAGE, ...candidates, ...candidates.slice(0, 12).flatMap(nearMisses)];
}

/** Checks that an action is accepted exactly if it is listed. A role that is to act may do more than a sample lists. */
function tryAction(game: Game, role: Role, action: unknown, listed: ReadonlySet<string>, evidence: Evidence): void {
  const applied = game.applyAction(evidence.state, role, action);
  const shown = (): Evidence => ({ ...evidence, role, action, actual: applied });
  const isListed = listed.has(canonicalJson(action));
  must(applied.ok || !isListed, "applyAction rejects an action that legalActions lists", shown);
  const mayBeUnlisted = game.info.listsSample === true && listed.size > 0;
  must(
    !applied.ok || isListed || mayBeUnlisted,
    "applyAction accepts an action that legalActions does not list",
    shown,
  );
  if (!applied.ok)
    must(isShortText(applied.error?.message), "a rejection has no message of 1 to 200 characters", shown);
}

function tryEverything(game: Game, trace: Trace, step: number): void {
  const state = trace.states[step];
  const attempts = attemptsOf(
    trace,
    game.roles.flatMap((role) => game.legalActions(state, role)),
  );
  for (const role of rolesAndOthers(game)) {
    const legal = game.legalActions(state, role);
    const evidence = { ...evidenceAt(trace, step), role };
    const isToAct = game.toAct(state).includes(role);
    const problem = isToAct ? "lists no action of a role that is to act" : "lists actions of a role that is not to act";
    must(legal.length > 0 === isToAct, `legalActions ${problem}`, () => ({ ...evidence, actual: legal }));
    const listed = new Set(legal.map(canonicalJson));
    must(listed.size === legal.length, "legalActions lists an action twice", () => ({ ...evidence, actual: legal }));
    for (const action of attempts) tryAction(game, role, action, listed, evidence);
  }
}

function checkToAct(game: Game, trace: Trace): void {
  let open: readonly Role[] = [];
  for (const [step, { role }] of trace.steps.entries()) {
    const toAct = game.toAct(trace.states[step]);
    const evidence = (): Evidence => ({ ...evidenceAt(trace, step), actual: toAct });
    must(
      toAct.every((name) => game.roles.includes(name)),
      "toAct names a role that the game does not have",
      evidence,
    );
    if (!game.info.simultaneous)
      must(toAct.length === 1, "toAct names several roles, but info.simultaneous is false", evidence);
    else if (open.length > 0)
      must(isDeepStrictEqual(toAct, open), "toAct does not name the roles that have not chosen yet", () => ({
        ...evidence(),
        expected: open,
      }));
    open = toAct.filter((name) => name !== role);
  }
}

/** The obligations of actions and turns. */
export const ACTION_OBLIGATIONS: readonly Obligation[] = [
  {
    id: "listed-actions",
    title:
      "accepts every listed action and rejects every other action, for every role and for names that are not roles, even after the end",
    advice:
      "begin applyAction with a check that legalActions(state, role) lists the action, and return err({ message }) if not",
    check({ game, traces }) {
      for (const trace of traces) for (const step of sampledSteps(trace)) tryEverything(game, trace, step);
    },
  },
  {
    id: "action-form",
    title: "the schema `action` returns each legal action unchanged",
    advice: "make the schema `action` accept each listed action and return it unchanged",
    check({ game, traces }) {
      for (const { steps } of traces) {
        for (const { role, action } of steps) {
          const parsed = game.action.safeParse(throughJson(action));
          const isSame = parsed.success && isDeepStrictEqual(throughJson(parsed.data), throughJson(action));
          const actual = parsed.success ? parsed.data : parsed.error.message;
          must(isSame, "the schema `action` rejects or changes a legal action", () => ({ role, action, actual }));
        }
      }
    },
  },
  {
    id: "any-json",
    title: "never throws for any JSON value, parsed or not",
    advice: "check the type of the action before you use it; an action may be any JSON value and a role any text",
    check({ game, traces }) {
      const random = createRandom(`values for ${game.id}`);
      for (let count = 0; count < RANDOM_VALUES; count++) {
        const trace = random.pick(traces);
        const step = Math.floor(trace.states.length / 2);
        const role = random.pick(rolesAndOthers(game));
        const listed = new Set(game.legalActions(trace.states[step], role).map(canonicalJson));
        const value = randomJson(random);
        const parsed = game.action.safeParse(value);
        for (const action of parsed.success ? [value, parsed.data] : [value])
          tryAction(game, role, action, listed, evidenceAt(trace, step));
      }
    },
  },
  {
    id: "turns",
    title: "toAct returns one role in a sequential game, and all roles that have not chosen in a simultaneous game",
    advice:
      "set info.simultaneous to true if several roles act in one turn; toAct then omits each role that has chosen",
    check({ game, traces }) {
      for (const trace of traces) checkToAct(game, trace);
    },
  },
  {
    id: "order-of-choices",
    title: "the order of choices in a turn does not matter",
    advice: "store each choice under its role, and compute the next state from all choices when the last one is made",
    applies: ({ info }) => info.simultaneous,
    check({ game, traces }) {
      for (const trace of traces) {
        for (const step of sampledSteps(trace)) {
          const state = trace.states[step];
          const [first, second] = game.toAct(state);
          if (first === undefined || second === undefined) continue;
          for (const a of game.legalActions(state, first)) {
            for (const b of game.legalActions(state, second)) {
              const expected = applyLegal(game, applyLegal(game, state, first, a), second, b);
              const actual = applyLegal(game, applyLegal(game, state, second, b), first, a);
              const problem = `the next state depends on whether ${first} or ${second} chooses first`;
              must(stateHash(expected) === stateHash(actual), problem, () => ({
                ...evidenceAt(trace, step),
                action: { [first]: a, [second]: b },
                expected,
                actual,
              }));
            }
          }
        }
      }
    },
  },
];

/** Values that are not actions of any game. */
const GARBAGE: readonly unknown[] = [
  null,
  true,
  0,
  -0,
  -1,
  1.5,
  2 ** 53,
  "",
  " ",
  "--",
  "null",
  "__proto__",
  "constructor",
  "x".repeat(10_000),
  [],
  {},
  [[]],
  { number: 3 },
  { number: "3" },
  { length: 4 },
  { toString: "e2e4" },
  JSON.parse('{"__proto__": 1}'),
];

const NO_ROLES = ["spectator", "", "__proto__", "constructor", "toString", "WHITE"];

/** Returns the roles of a game and names that are not roles. */
const rolesAndOthers = (game: Game): readonly Role[] => [
  ...game.roles,
  ...NO_ROLES.filter((name) => !game.roles.includes(name)),
];

/** Returns values that are similar to an action. */
function nearMisses(action: unknown): readonly unknown[] {
  const wrapped = [[action], { action }, canonicalJson(action)];
  if (typeof action === "number") return [...wrapped, action + 10, -action, action + 0.5, String(action)];
  if (typeof action !== "string") return wrapped;
  const reversed = [...action].reverse().join("");
  const longer = [`${action}q`, `${action} `, ` ${action}`, `${action}\n`];
  return [...wrapped, ...longer, action.toUpperCase(), action.slice(0, -1), reversed];
}

/** Returns a random JSON value of at most `depth` levels. */
function randomJson(random: Random, depth = 3): unknown {
  const kind = random.int(0, depth > 0 ? 7 : 5);
  const items = <T>(make: () => T): T[] => Array.from({ length: random.int(0, 3) }, make);
  switch (kind) {
    case 0:
      return null;
    case 1:
      return random.next() < 0.5;
    case 2:
      return random.int(-10, 100);
    case 3:
      return random.next() * 10 ** random.int(0, 20);
    case 4:
      return items(() => String.fromCharCode(random.int(32, 0x3ff))).join("");
    case 5:
      return random.pick(["", "a1", "pass", "__proto__", "\u0000", "0", "-1"]);
    case 6:
      return items(() => randomJson(random, depth - 1));
    default:
      return Object.fromEntries(
        items(() => [random.pick(["type", "number", "move", "x", "length"]), randomJson(random, depth - 1)]),
      );
  }
}
