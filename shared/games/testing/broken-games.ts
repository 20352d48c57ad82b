/** Games that violate the obligations of the contract, one for each violation. */
import { z } from "zod";
import nim from "../../../scripts/starters/game/game.ts";
import { err, ok } from "../../lib/result.ts";
import type { Evidence } from "../contract/obligation.ts";
import type { Game } from "../game.ts";
import { rps } from "../rps.ts";

export type NimState = ReturnType<typeof nim.initialState>;
export const NIM = nim as Game;
export const withInfo = (info: Partial<Game["info"]>): Game => ({ ...NIM, info: { ...NIM.info, ...info } });
export const heapOf = (state: unknown): number => (state as NimState).left;

/** Nim in which each state has more fields than Nim. */
const withFields = (fields: (state: NimState) => object, more: Partial<Game> = {}): Game => ({
  ...NIM,
  initialState: (setup) => ({
    ...nim.initialState(setup as { options: { heap: number }; seed: string }),
    ...fields({ left: 5, turn: "first_player" }),
  }),
  applyAction(state, role, action) {
    const { left, turn } = state as NimState;
    const next = nim.applyAction({ left, turn }, role, action as number);
    return next.ok ? ok({ ...next.value, ...fields(next.value) }) : next;
  },
  ...more,
});

let calls = 0;
let lowest = Number.POSITIVE_INFINITY;
export const RPS = rps as Game;

/** A violation: the id of the obligation, a game, the problem, and the fields of the evidence. */
export type Violating = readonly [id: string, game: Game, problem: RegExp, fields: readonly (keyof Evidence)[]];

/** Games that violate the obligations of definitions, states, actions and turns. */
export const BROKEN_RULES: readonly Violating[] = [
  [
    "options",
    { ...NIM, options: z.object({ heap: z.int().default(5) }) },
    /options that do not exist are accepted/,
    ["options"],
  ],
  [
    "options",
    { ...NIM, options: z.strictObject({ heap: z.int().default(5).transform(String) }) },
    /rejected when they are parsed again/,
    ["options", "actual"],
  ],
  ["option-texts", withInfo({ options: {} }), /info\.options does not have the names/, ["expected", "actual"]],
  ["plays", withInfo({ maxActions: 2 }), /does not end within maxActions, which is 2/, ["seed", "step", "state"]],
  [
    "plays",
    { ...NIM, applyAction: () => err({ message: "no" }) },
    /applyAction rejects \d of first_player, which legalActions lists/,
    ["state", "role", "action"],
  ],
  [
    "plays",
    { ...NIM, legalActions: () => [] },
    /toAct names first_player, but legalActions lists no action/,
    ["state", "role"],
  ],
  [
    "plays",
    { ...NIM, applyAction: (state) => ok(Object.assign(state as object, { left: 0 })) },
    /applyAction changes one of its arguments: Cannot assign to read only property 'left'/,
    ["state", "role", "action"],
  ],
  ["ending", { ...NIM, isTerminal: () => false }, /do not agree on whether the game is over/, ["state", "actual"]],
  [
    "outcome",
    { ...NIM, outcome: (state) => (heapOf(state) === 0 ? { scores: { first_player: 1 }, reason: "a" } : null) },
    /scores of the outcome do not name each role/,
    ["state", "actual"],
  ],
  [
    "outcome",
    {
      ...NIM,
      outcome: (state) =>
        heapOf(state) === 0 ? { scores: { first_player: 1, second_player: 0 }, reason: "Last Stick" } : null,
    },
    /not in snake_case/,
    ["actual"],
  ],
  [
    "teams",
    withInfo({ teams: [{ name: "all", roles: ["first_player", "second_player"] }] }),
    /two roles of a team have different scores/,
    ["state", "actual"],
  ],
  [
    "teams",
    withInfo({ teams: [{ name: "all", roles: ["first_player"] }] }),
    /does not list each role once/,
    ["actual"],
  ],
  ["replay", withFields(() => ({ call: calls++ })), /another state for the same/, ["step", "expected", "actual"]],
  [
    "earlier-states",
    withFields((state) => {
      const isOld = state.left > lowest;
      lowest = state.left === 5 ? 5 : Math.min(lowest, state.left);
      return isOld ? { isOld } : {};
    }),
    /when it is called again with an earlier state/,
    ["state", "role", "action", "expected", "actual"],
  ],
  ["plain-json", withFields(() => ({ winner: undefined })), /a state changes when it is stored as JSON/, ["state"]],
  [
    "rounds",
    { ...RPS, rounds: (state, from) => (RPS.rounds?.(state, from) ?? []).map((round) => ({ ...round, moves: {} })) },
    /does not have the moves of all roles/,
    ["state", "actual"],
  ],
  [
    "listed-actions",
    {
      ...NIM,
      applyAction: (state, role, action) =>
        action === null ? ok(state) : nim.applyAction(state as NimState, role, action as number),
    },
    /accepts an action that legalActions does not list/,
    ["state", "role", "action"],
  ],
  [
    "listed-actions",
    {
      ...NIM,
      applyAction: (state, role, action) =>
        typeof action === "number" && heapOf(state) > 0 && NIM.roles.includes(role)
          ? nim.applyAction(state as NimState, (state as NimState).turn, action)
          : err({ message: "no" }),
    },
    /accepts an action that legalActions does not list/,
    ["role"],
  ],
  [
    "listed-actions",
    {
      ...NIM,
      applyAction: (state, role, action) =>
        NIM.legalActions(state, role).includes(action)
          ? nim.applyAction(state as NimState, role, action as number)
          : err({ message: "" }),
    },
    /no message of 1 to 200 characters/,
    ["action", "actual"],
  ],
  ["action-form", { ...NIM, action: z.string() }, /rejects or changes a legal action/, ["role", "action", "actual"]],
  [
    "any-json",
    {
      ...NIM,
      applyAction(state, role, action) {
        if (typeof action === "object" && action !== null && "type" in action) throw new Error("no such type");
        return nim.applyAction(state as NimState, role, action as number);
      },
    },
    /applyAction throws Error: no such type/,
    ["state", "action"],
  ],
  [
    "turns",
    {
      ...NIM,
      toAct: (state) => (heapOf(state) > 0 ? ["first_player", "second_player"] : []),
      legalActions: (state) => [1, 2].filter((count) => count <= heapOf(state)),
      applyAction: (state, _, action) =>
        [1, 2].includes(action as number) && (action as number) <= heapOf(state)
          ? ok({ ...(state as NimState), left: heapOf(state) - (action as number) })
          : err({ message: "no" }),
    },
    /several roles, but info\.simultaneous is false/,
    ["actual"],
  ],
  [
    "order-of-choices",
    {
      ...RPS,
      applyAction(state, role, action) {
        const next = RPS.applyAction(state, role, action);
        const { first = role } = state as { first?: string };
        return next.ok ? ok({ ...(next.value as object), first }) : next;
      },
    },
    /the next state depends on whether player_1 or player_2 chooses first/,
    ["state", "action", "expected", "actual"],
  ],
];
